"""A release as catalogs take it: its tables, described in the formats that portals read.

CSV on the Web (W3C), Data Package (Frictionless), Croissant (MLCommons) and a record in DCAT-AP, or
HealthDCAT-AP, with a data dictionary. All of it follows from the release and its public schema.
"""

from __future__ import annotations

import csv
import datetime
import hashlib
import io
import json
import re
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

import yaml  # type: ignore[import-untyped,unused-ignore]

from hedgerow.errors import ReleaseError, UsageError
from hedgerow.estimate.measurements import exact
from hedgerow.estimate.partition import csv_blocks
from hedgerow.present import words
from hedgerow.present.dossier import ODD, Booked, mechanisms, preparation
from hedgerow.present.report import doubt
from hedgerow.release import Release
from hedgerow.release.files import METADATA, TABLES, describe_tables, package_version
from hedgerow.schema import Attribute, Categorical, Schema
from hedgerow.schema.taxonomy import Taxonomy
from hedgerow.verification.verify import Verdict

DICTIONARY, VALUES = "data-dictionary.csv", "values.csv"
PACKAGE, CROISSANT, DCAT = "datapackage.json", "croissant.json", "dcat.jsonld"

_EUROPE = "http://publications.europa.eu/resource/authority"
_HEALTH_LAW = "http://data.europa.eu/eli/reg/2025/327/oj"  # the European Health Data Space
_CSV_TYPE = "https://www.iana.org/assignments/media-types/text/csv"
_LICENSES = {  # by letters and digits alone: the name in SPDX's list, and its address
    "cc0": ("CC0-1.0", "https://creativecommons.org/publicdomain/zero/1.0/"),
    "cc010": ("CC0-1.0", "https://creativecommons.org/publicdomain/zero/1.0/"),
    "ccby40": ("CC-BY-4.0", "https://creativecommons.org/licenses/by/4.0/"),
    "ccbysa40": ("CC-BY-SA-4.0", "https://creativecommons.org/licenses/by-sa/4.0/"),
    "ccbync40": ("CC-BY-NC-4.0", "https://creativecommons.org/licenses/by-nc/4.0/"),
    "odbl10": ("ODbL-1.0", "https://opendatacommons.org/licenses/odbl/1-0/"),
    "odcby10": ("ODC-By-1.0", "https://opendatacommons.org/licenses/by/1-0/"),
    "pddl10": ("PDDL-1.0", "https://opendatacommons.org/licenses/pddl/1-0/"),
}
# types of CSV on the Web, which are those of Data Package, in Croissant
_TYPES = {"string": "sc:Text", "integer": "sc:Integer", "number": "sc:Float", "date": "sc:Date"}


@dataclass(frozen=True, kw_only=True)
class Listing:
    """What a catalog wants to know beside the release itself.

    Args:
        url: Where the files of the archive will lie, as a web address.
        health: The category of health data, as a web address; the record is then HealthDCAT-AP.
        published: The date of publication, YYYY-MM-DD; a ledger may know it.
    """

    url: str = ""
    health: str = ""
    published: str | None = None

    def __post_init__(self) -> None:
        for name, address in (("--url", self.url), ("--health-category", self.health)):
            if address and not (_is_web(address) and re.fullmatch(r"[!-~]+", address)):
                raise UsageError(
                    f"{address!r} is not a web address",
                    hint=f"Write {name} https://data.example.org/clinic/.",
                )


def catalog(
    release: Release, verdict: Verdict, listing: Listing, booked: Booked | None = None
) -> dict[str, bytes]:
    """The files for a catalog, by their names.

    Args:
        release: A private release.
        verdict: What `hedgerow.verify` found.
        listing: What the release does not say.
        booked: The data set in the budget ledger, if there is one.

    Raises:
        ReleaseError: If the release is a test or fails its checks.
        UsageError: If HealthDCAT-AP is asked for and the schema does not say who publishes.

    Example:
        >>> import hedgerow
        >>> from hedgerow import sample
        >>> release = hedgerow.publish(sample.people(500, seed=3), sample.schema(), epsilon=1)
        >>> files = catalog(release, hedgerow.verify(release), Listing())
        >>> [name for name in files if not name.startswith("tables/")]
        ['tables-metadata.json', 'data-dictionary.csv', 'values.csv', 'datapackage.json', \
'croissant.json', 'dcat.jsonld']
    """
    refuse_doubtful(release, verdict)
    named = release.named_tables()
    described = describe_tables(release, named)
    tables = {f"{TABLES}/{name}.csv": csv_blocks(table) for name, (_, table) in named.items()}
    files = {name: b"".join(blocks) for name, blocks in tables.items()}
    files[METADATA] = _json(described)
    files[DICTIONARY] = _csv(_dictionary(release.schema))
    files[VALUES] = _csv(_values(release.schema))
    entry = None if booked is None else booked[1]
    known = listing.published is not None or (entry is not None and entry.state == "published")
    about = _About(
        release=release,
        listing=listing,
        issued=publication_date(listing.published, booked) if known else None,
        tables=described["tables"],
        files=dict(files),
    )
    files[PACKAGE] = _json(_package(about))
    files[CROISSANT] = _json(_croissant(about))
    files[DCAT] = _json(_dcat(about))
    return files


def open_answers(release: Release, listing: Listing) -> list[str]:
    """What a catalog would like to know and nobody has said."""
    about, names = release.schema.metadata, ("institution", "contact", "license")
    silent = [f"metadata: {name}" for name in names if not getattr(about, name)]
    return silent if listing.url else [*silent, "--url"]


def write_archive(files: Mapping[str, bytes], path: Path) -> None:
    """Writes the files as a zip archive: the same files give the same archive."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)


# What all formats say, once.


@dataclass(frozen=True, kw_only=True)
class _About:
    """A release and its files, and what follows from them.

    Args:
        release: The release.
        listing: What the release does not say.
        issued: The date of publication, if it is known.
        tables: Its tables, as CSV on the Web describes them.
        files: What the files hold that are described.
    """

    release: Release
    listing: Listing
    issued: str | None
    tables: list[dict[str, Any]]
    files: dict[str, bytes]

    @cached_property
    def said(self) -> dict[str, Any]:
        """Title, description and keywords."""
        about = self.release.schema.metadata
        parts = [self.release.describe().summary, *words.guarantee(self.release)]
        parts += [f"Period of the data: {about.period}."] if about.period else []
        parts += [f"Published for: {about.purpose}."] if about.purpose else []
        return {
            "identifier": f"sha256:{_digest(b''.join(self.files.values()))}",
            "title": self.release.schema.name,
            "description": " ".join(parts),
            "keywords": ["differential privacy", "noisy counts"],
        }

    @property
    def contact(self) -> dict[str, str]:
        """Whom to ask: a name, and an address of mail or of a page if the text holds one."""
        if not (text := self.release.schema.metadata.contact):
            return {}
        mail = re.search(r"[\w.+-]+@[\w-]+(\.[\w-]+)+", text, re.ASCII)
        page = re.search(r"https?://[^\s<>\"{}|\\^`]+", text)
        known = {"mail": mail, "page": page}
        return {"name": text} | {name: match[0] for name, match in known.items() if match}

    @property
    def license(self) -> tuple[str, str] | None:
        """Its name, and its address or nothing."""
        if not (text := self.release.schema.metadata.license):
            return None
        plain = re.sub(r"[^a-z0-9]", "", text.lower())
        return _LICENSES.get(plain, (text, text if _is_web(text) else ""))


def _is_web(text: str) -> bool:
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.netloc)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _json(document: Any) -> bytes:
    return (json.dumps(document, indent=1, ensure_ascii=False) + "\n").encode()


def _csv(rows: list[list[str]]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()


# The data dictionary: what each attribute is, and every value that it can take.


_COLUMNS = {
    "attribute": "name of the attribute, as in the tables",
    "type": "number, date or category",
    "lowest": "the lowest value that the schema allows",
    "highest": "where the last step begins",
    "step": "the distance of two values",
    "values": "how many values there are",
    "missing": "what became of a record without a value",
    "outside": "what became of a value that the schema does not allow",
    "class": "whether it is the class, by which all other attributes are counted",
}


def _dictionary(schema: Schema) -> list[list[str]]:
    rows = [list(_COLUMNS)]
    for one in schema.columns:
        ends, many = ("", "", ""), str(one.size)
        if isinstance(one, Categorical):
            kind, many = "category", str(len(one.taxonomy.leaves))
        else:
            kind = "date" if one.kind == "date" else "number"
            step = words.decimal(one.step) + (" days" if kind == "date" else "")
            ends, many = (str(one.edge(0)), str(one.edge(one.grid - 1)), step), str(one.grid)
        target = "yes" if one is schema.target else "no"
        rows.append([one.name, kind, *ends, many, ODD[one.missing], ODD[one.outside], target])
    if items := schema.items:
        rows.append(["item", "category", "", "", "", str(len(items.labels)), "", "", "no"])
    return rows


def _values(schema: Schema) -> list[list[str]]:
    rows = [["attribute", "value", "group"]]
    for one in schema.columns:
        if isinstance(one, Categorical):
            rows += [[one.name, value, group] for value, group in _leaves(one.taxonomy)]
    if items := schema.items:
        pairs = _leaves(items.taxonomy) if items.semantic else ((v, "") for v in items.labels)
        rows += [["item", value, group] for value, group in pairs]
    return rows


def _leaves(taxonomy: Taxonomy) -> Iterator[tuple[str, str]]:
    """Every value with the group right above it; none where that is the root."""
    above = {child: node for node, below in enumerate(taxonomy.children) for child in below}
    for node, below in enumerate(taxonomy.children):
        if not below:
            parent = above.get(node, 0)
            yield taxonomy.labels[node], taxonomy.labels[parent] if parent else ""


def _sentence(one: Attribute) -> str:
    """What an attribute is, in a sentence of a data dictionary."""
    odd = f"A missing value {ODD[one.missing]}, one outside {ODD[one.outside]}."
    if not isinstance(one, Categorical):
        return f"{one.edge(0)} to {one.edge(one.grid - 1)}. {odd}"
    leaves = one.taxonomy.leaves
    shown = f"One of: {', '.join(leaves)}" if len(leaves) <= 12 else f"{len(leaves)} values"
    return f"{shown}. {odd}"


# Each format.


def _package(about: _About) -> dict[str, Any]:
    """A Data Package (Frictionless)."""
    described = [
        (one["url"], one["dc:title"], [
            (column["name"], column["datatype"], column.get("dc:description"))
            for column in one["tableSchema"]["columns"]
        ])
        for one in about.tables
    ] + [
        (path, title, [(name, "string", text) for name, text in columns.items()])
        for path, title, columns in _BESIDE
    ]  # fmt: skip
    resources = [
        {
            "name": slug(path.removesuffix(".csv")), "path": path, "title": title,
            "profile": "tabular-data-resource", "format": "csv", "mediatype": "text/csv",
            "encoding": "utf-8", "bytes": len(about.files[path]),
            "hash": f"sha256:{_digest(about.files[path])}",
            "schema": {"fields": [
                {"name": name, "type": kind} | ({"description": text} if text else {})
                for name, kind, text in fields
            ], "missingValues": [""]},
        }
        for path, title, fields in described
    ]  # fmt: skip
    said, licenses, contributors = about.said, None, None
    if about.license is not None:
        name, address = about.license
        known = name in {one for one, _ in _LICENSES.values()}
        licenses = [
            ({"name": name} if known else {"title": name})
            | ({"path": address} if address else {} if known else {"name": slug(name)})
        ]
    if (institution := about.release.schema.metadata.institution) is not None:
        mail = {"email": about.contact["mail"]} if "mail" in about.contact else {}
        contributors = [{"title": institution, "role": "publisher", **mail}]
    return _known({
        "profile": "tabular-data-package", "name": slug(said["title"]), "id": said["identifier"],
        "title": said["title"], "description": said["description"], "keywords": said["keywords"],
        "resources": resources, "licenses": licenses, "contributors": contributors,
        "homepage": about.listing.url or None,
    })  # fmt: skip


def _known(document: dict[str, Any]) -> dict[str, Any]:
    """A document without what is not known."""
    return {key: value for key, value in document.items() if value is not None}


_BESIDE: list[tuple[str, str, dict[str, str]]] = [
    (DICTIONARY, "data dictionary", _COLUMNS),
    (VALUES, "all values", {
        "attribute": _COLUMNS["attribute"], "value": "the value, as the tables write it",
        "group": "the group of values that it belongs to, if there is one",
    }),
]  # fmt: skip


def _croissant(about: _About) -> dict[str, Any]:
    """A description in Croissant (MLCommons), version 1.0."""
    distribution, sets = [], []
    for table in about.tables:
        path, content = table["url"], about.files[table["url"]]
        distribution.append({
            "@type": "cr:FileObject", "@id": path, "name": path, "contentUrl": path,
            "encodingFormat": "text/csv", "sha256": _digest(content),
            "contentSize": f"{len(content)} B",
        })  # fmt: skip
        name = path.removeprefix(f"{TABLES}/").removesuffix(".csv")
        sets.append({
            "@type": "cr:RecordSet", "@id": name, "name": name, "description": table["dc:title"],
            "field": [{
                "@type": "cr:Field", "@id": f"{name}/{column['name']}", "name": column["name"],
                "description": column.get("dc:description", column["name"]),
                "dataType": _TYPES[column["datatype"]],
                "source": {"fileObject": {"@id": path}, "extract": {"column": column["name"]}},
            } for column in table["tableSchema"]["columns"]],
        })  # fmt: skip
    said, publisher = about.said, None
    if (institution := about.release.schema.metadata.institution) is not None:
        publisher = {"@type": "sc:Organization", "name": institution}
    return _known({
        "@context": _CROISSANT, "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": slug(said["title"]), "description": said["description"],
        "identifier": said["identifier"], "keywords": said["keywords"],
        "isLiveDataset": False, "distribution": distribution, "recordSet": sets,
        "license": about.license and (about.license[1] or about.license[0]),
        "creator": publisher, "publisher": publisher, "datePublished": about.issued,
        "url": about.listing.url or None,
    })  # fmt: skip


_CROISSANT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    **{
        name: f"cr:{name}"
        for name in (
            "citeAs", "column", "equivalentProperty", "extract", "field", "fileProperty",
            "fileObject", "fileSet", "format", "includes", "isLiveDataset", "jsonPath", "key",
            "md5", "parentField", "path", "recordSet", "references", "regex", "repeated",
            "replace", "samplingRate", "separator", "source", "subField", "transform",
        )
    },
}  # fmt: skip


def _dcat(about: _About) -> dict[str, Any]:
    """A record in DCAT-AP 3, or in HealthDCAT-AP if a category of health data is given."""
    listing, said, contact = about.listing, about.said, about.contact
    institution = about.release.schema.metadata.institution
    base = f"{listing.url.removesuffix('/')}/" if listing.url else ""
    if listing.health and not (institution and contact and base):
        raise UsageError(
            "a record in HealthDCAT-AP names the publisher, whom to ask, and where the data lies",
            hint="Add metadata: institution and contact to the schema, and --url https://....",
        )
    law = {"dcatap:applicableLegislation": {"@id": _HEALTH_LAW}} if listing.health else {}
    license: dict[str, Any] = {}
    if about.license is not None:
        name, address = about.license
        node = {"@id": address} if address else {"dct:title": name}
        license = {"dct:license": {"@type": "dct:LicenseDocument", **node}}
    distributions = []
    algorithm = _node("spdx:checksumAlgorithm_sha256", "spdx:ChecksumAlgorithm")
    for table in about.tables:
        path, title, content = table["url"], table["dc:title"], about.files[table["url"]]
        distributions.append({
            "@id": urljoin(base, path),
            "@type": "dcat:Distribution",
            "dct:title": title,
            "dct:description": f"Noisy counts with 95% intervals: {title}.",
            "dcat:accessURL": {"@id": urljoin(base, path)},
            "dcat:downloadURL": {"@id": urljoin(base, path)},
            "dcat:mediaType": _node(_CSV_TYPE, "dct:MediaType"),
            "dct:format": _node(f"{_EUROPE}/file-type/CSV", "dct:MediaTypeOrExtent"),
            "dcat:byteSize": _typed(len(content), "nonNegativeInteger"),
            "dct:conformsTo": _node(urljoin(base, METADATA), "dct:Standard"),
            "spdx:checksum": {"@type": "spdx:Checksum", "spdx:algorithm": algorithm,
                              "spdx:checksumValue": _typed(_digest(content), "hexBinary")},
            **license,
            **law,
        })  # fmt: skip
    columns = [
        {
            "@type": "csvw:Column",
            "csvw:name": one.name,
            "csvw:title": one.name,
            "csvw:datatype": "string" if isinstance(one, Categorical) else one.kind,
            "dct:description": _sentence(one),
        }
        for one in about.release.schema.columns
    ]
    record: dict[str, Any] = {
        "@context": _DCAT,
        "@id": urljoin(base, "#dataset"),
        "@type": "dcat:Dataset",
        "dct:identifier": said["identifier"],
        "dct:title": said["title"],
        "dct:description": said["description"],
        "dcat:keyword": said["keywords"],
        "dct:accessRights": _node(f"{_EUROPE}/access-right/PUBLIC", "dct:RightsStatement"),
        "foaf:page": _node(urljoin(base, DICTIONARY), "foaf:Document"),
        "csvw:tableSchema": {"@type": "csvw:Schema", "csvw:column": columns},
        "dcat:distribution": distributions,
    }
    person: dict[str, Any] = {}
    if contact:
        person = {"@type": "vcard:Organization", "vcard:fn": contact["name"]}
        if "mail" in contact:
            person["vcard:hasEmail"] = {"@id": f"mailto:{contact['mail']}"}
        if "page" in contact:
            person["vcard:hasURL"] = {"@id": contact["page"]}
        record["dcat:contactPoint"] = person
    if institution is not None:
        place = urljoin(base, "#publisher")
        agent = {"foaf:name": institution, "dct:identifier": place}
        record["dct:publisher"] = _node(place, "foaf:Agent") | agent
    if about.issued is not None:
        record["dct:issued"] = _typed(about.issued, "date")
    if listing.health:
        record |= law
        record["dct:publisher"]["dcat:contactPoint"] = person
        record["dcat:theme"] = _node(f"{_EUROPE}/data-theme/HEAL", "skos:Concept")
        record["healthdcatap:healthCategory"] = _node(listing.health, "skos:Concept")
        many = max(0, round(float(about.release.count_all().estimate[0])))
        record["healthdcatap:numberOfRecords"] = _typed(many, "nonNegativeInteger")
    return record


_DCAT = {
    "csvw": "http://www.w3.org/ns/csvw#",
    "dcat": "http://www.w3.org/ns/dcat#",
    "dcatap": "http://data.europa.eu/r5r/",
    "dct": "http://purl.org/dc/terms/",
    "foaf": "http://xmlns.com/foaf/0.1/",
    "healthdcatap": "http://healthdataportal.eu/ns/health#",
    "skos": "http://www.w3.org/2004/02/skos/core#",
    "spdx": "http://spdx.org/rdf/terms#",
    "vcard": "http://www.w3.org/2006/vcard/ns#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
}


def _node(address: str, kind: str) -> dict[str, Any]:
    return {"@id": address, "@type": kind}


def _typed(value: object, kind: str) -> dict[str, str]:
    return {"@value": str(value), "@type": f"xsd:{kind}"}


# A release as a deployment record in the format of the OpenDP Deployments Registry.
#
# What hedgerow cannot know is left for a person: texts that begin with `TO COMPLETE`.


OPEN = "TO COMPLETE: "
_PRODUCTS = {
    "table": "Summary statistics",
    "marginals": "Summary statistics",
    "transactions": "Summary statistics",
    "rows": "Dataset",
}


def deployment_record(
    release: Release, verdict: Verdict, published: str | None, booked: Booked | None = None
) -> dict[str, Any]:
    """The record, as YAML would hold it.

    Args:
        release: A private release.
        verdict: What `hedgerow.verify` found.
        published: The date of publication, YYYY-MM-DD; the ledger may know it.
        booked: The data set in the budget ledger, if there is one.

    Raises:
        ReleaseError: If the release is a test or fails its checks: there is nothing to register.
        UsageError: If the date is not known, or is none.
    """
    refuse_doubtful(release, verdict)
    schema, promise = release.schema, release.guarantee
    about, outline = schema.metadata, release.describe()
    budgets = {name: exact(promise[name]) for name in ("epsilon", "delta")}
    several = booked is not None and len([x for x in booked[0].entries if x.counts]) > 1
    total = OPEN + "whether further releases of the same data are planned"
    if booked is not None:
        spent, most = booked[0].spent, (booked[0].epsilon, booked[0].delta)
        total = (
            f"A budget ledger keeps all releases of the data set {booked[0].name} within a total: "
            f"{words.strength(*spent)} of {words.strength(*most)} is spent."
        )
    return {
        "url_slug": slug(schema.name),
        "status": "Draft",
        "tier": 3,
        "deployment": {
            "basic": {
                "name": schema.name,
                "data_curators": [about.institution or OPEN + "who publishes the data product"],
                "description": f"{outline.summary} Published: "
                f"{words.many(outline.number, outline.part)}. Method: {release.method}.",
                "intended_use": about.purpose or OPEN + "what the data product is to be used for",
                "data_product_type": _PRODUCTS[release.kind],
                "data_product_region": OPEN + "which region the data describes, or whose laws apply"
                + (f" (period of the data: {about.period})" if about.period else ""),
                "publication_date": publication_date(published, booked),
            },
            "dp_variant": {
                "variant_name": "Approximate DP" if budgets["delta"] else "Pure DP",
                "data_domain": f"All data sets that the public schema {schema.name} describes "
                f"(SHA-256 of the schema: {schema.hash}).",
                "unprotected_quantities": "None. The schema is public and published as it is.",
            },
            "privacy_loss": {
                "privacy_unit": str(promise.get("unit_of_protection", outline.protected)),
                "privacy_unit_details": f"Neighboring data sets: {promise.get('neighbors')}. "
                f"The protected unit is {outline.protected}.",
                "privacy_parameters": {  # never below what is promised
                    name: int(text) if (text := words.decimal(one)).isdigit() else float(text)
                    for name, one in budgets.items()
                    if one or name == "epsilon"
                },
                "privacy_parameters_details": f"Exactly: epsilon {promise['epsilon']}, delta "
                f"{promise['delta']}; accounting: {promise.get('accounting')}.",
            },
            "deployment_model": {
                "model_name": "Central",
                "actors": OPEN + "who holds the raw data, and who receives the data product "
                f"(recipients: {about.recipients or 'not stated'})",
                "release_type": "Many releases" if several else "One release",
                "release_type_details": total,
                "data_source_type": "Static",
                "access_type": "Non-interactive",
            },
            "accounting": {
                "post_processing": f"{outline.processed} None of it looks at the data again.",
                "composition": "Charges add up along every path to a published number, and the "
                "largest sum is what was spent; parts of a path are disjoint.",
            },
            "implementation": {
                "preprocessing_and_hyperparameter_tuning": " ".join(
                    [*preparation(schema), OPEN + "how settings and epsilon were chosen"]
                ),
                "mechanisms": f"{mechanisms(release)} Library: hedgerow {package_version()}.",
                "justification": OPEN + "why these settings were chosen",
            },
            "administrative": {
                "notes": f"`hedgerow verify` recomputed "
                f"{words.strength(verdict.epsilon, verdict.delta)} from the release alone; "
                f"{len(verdict.checks)} checks hold.",
                "registry_authors": [about.contact or OPEN + "who filled in this record"],
            },
        },
    }  # fmt: skip


def refuse_doubtful(release: Release, verdict: Verdict) -> None:
    """Raises if there is nothing to register: the release is a test, or fails its checks.

    Args:
        release: The release.
        verdict: What `hedgerow.verify` found.
    """
    doubted = doubt(release, verdict)
    if doubted is not None or not release.guarantee["private"]:
        why = "it is a test, made with a seed" if doubted is None else doubted.why
        raise ReleaseError(
            f"this release cannot be registered: {why}", hint="Publish one without a seed."
        )


def record_text(record: dict[str, Any]) -> str:
    """The record as the text of a YAML file."""
    text: str = yaml.safe_dump(record, sort_keys=False, allow_unicode=True, width=100)
    return text


def open_places(record: Any, place: str = "") -> list[str]:
    """Where a person must complete a record.

    Example:
        >>> open_places({"a": {"b": "TO COMPLETE: x", "c": ["d", "e TO COMPLETE: y"]}})
        ['a.b', 'a.c']
    """
    if isinstance(record, dict):
        return [x for k, v in record.items() for x in open_places(v, f"{place}.{k}".lstrip("."))]
    if isinstance(record, list):
        return [x for value in record for x in open_places(value, place)]
    return [place] if isinstance(record, str) and OPEN in record else []


def slug(name: str) -> str:
    """A name as web addresses have it.

    Example:
        >>> slug("Clinic discharges, 2024")
        'clinic-discharges-2024'
    """
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "release"


def publication_date(given: str | None, booked: Booked | None) -> str:
    """When a release was published, as YYYY-MM-DD: as somebody says, or as a ledger knows.

    Args:
        given: What somebody says.
        booked: The data set in the budget ledger, if there is one.

    Raises:
        UsageError: If the date is not known, or is none.
    """
    entry, text = None if booked is None else booked[1], given
    if text is None and entry is not None and entry.state == "published":
        text = entry.booked[:10]
    if text is None:
        raise UsageError(
            "nothing says when the release was published, and a record needs the date",
            hint="Add --published 2026-01-31, or the budget ledger that booked it as published.",
        )
    try:
        return datetime.date.fromisoformat(text).isoformat()
    except ValueError:
        raise UsageError(f"{text} is not a date", hint="Write it as 2026-01-31.") from None
