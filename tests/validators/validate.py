"""Holds the files of a catalog against their formats, with tools from the registries.

Runs in an environment of its own (`.venv-validators`): python validate.py FOLDER ... What is wrong
is printed, a line for each fault, with the number of the folder and the format before it.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

BASE = "https://data.example.org/clinic/"


def csvw_faults(folder: Path) -> Iterator[str]:
    from csvw import CSVW

    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        package = CSVW(str(folder / "tables-metadata.json"), validate=True)
        if not package.is_valid:
            yield "the description and the tables differ"
        yield from (str(one.message) for one in (*package.warnings, *seen))


def frictionless_faults(folder: Path) -> Iterator[str]:
    from frictionless import Package

    report = Package(str(folder / "datapackage.json")).validate()
    yield from (str(one) for one in report.flatten(["type", "message"]))


def croissant_faults(folder: Path) -> Iterator[str]:
    import mlcroissant

    try:
        dataset = mlcroissant.Dataset(jsonld=str(folder / "croissant.json"))
        for one in dataset.metadata.record_sets:
            for _ in dataset.records(record_set=one.uuid):
                pass
    except Exception as error:  # it has no class of its own for all that may be wrong
        yield " ".join(str(error).split())


def dcat_faults(folder: Path) -> Iterator[str]:
    """Against the models of DCAT-AP 3 and of HealthDCAT-AP that Health-RI publishes."""
    from pydantic import ValidationError
    from rdflib import Graph, URIRef
    from rdflib.namespace import DCAT, FOAF, RDF, Namespace
    from sempyro.dcat import DCATDataset, DCATDistribution
    from sempyro.foaf import Agent
    from sempyro.healthdcatap import (
        HEALTHDCATAPDataset,
        HEALTHDCATAPDistribution,
        HEALTHDCATAPKind,
        HEALTHDCATAPPublisher,
    )
    from sempyro.spdx import Checksum

    graph = Graph()
    graph.parse(folder / "dcat.jsonld", format="json-ld", publicID=BASE)
    terms = "http://healthdataportal.eu/ns/health#healthCategory"
    health = (None, URIRef(terms), None) in graph
    spdx, vcard = (
        Namespace(x) for x in ("http://spdx.org/rdf/terms#", "http://www.w3.org/2006/vcard/ns#")
    )
    models: dict[Any, Any] = {
        DCAT.Dataset: HEALTHDCATAPDataset if health else DCATDataset,
        DCAT.Distribution: HEALTHDCATAPDistribution if health else DCATDistribution,
        FOAF.Agent: HEALTHDCATAPPublisher if health else Agent,
        vcard.Organization: HEALTHDCATAPKind,
        spdx.Checksum: Checksum,
    }  # fmt: skip
    inner = {FOAF.Agent, vcard.Organization, spdx.Checksum}

    def read(node: Any, kind: Any) -> Any:
        found: dict[str, Any] = {}
        for name, field in models[kind].model_fields.items():
            values = []
            for value in graph.objects(node, URIRef(str(field.json_schema_extra["rdf_term"]))):
                of = graph.value(value, RDF.type)
                values.append(read(value, of) if of in inner else str(value))
            if values:
                found[name] = values if "List" in str(field.annotation) else values[0]
        return models[kind](**found)

    for kind in (DCAT.Dataset, DCAT.Distribution):
        nodes = list(graph.subjects(RDF.type, kind))
        if not nodes:
            yield f"there is no {kind}"
        for node in nodes:
            try:
                read(node, kind)
            except ValidationError as error:
                yield " ".join(str(error).split())


CHECKS = {
    "csvw": csvw_faults,
    "frictionless": frictionless_faults,
    "croissant": croissant_faults,
    "dcat": dcat_faults,
}

if __name__ == "__main__":
    warnings.simplefilter("ignore")  # of the tools themselves
    for number, folder in enumerate(sys.argv[1:]):
        for name, check in CHECKS.items():
            for fault in check(Path(folder)):
                print(f"{number}: {name}: {fault}")
