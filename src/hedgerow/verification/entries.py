"""Nothing goes along in a manifest: it has the entries of its format, and no free text in them.

A part of `verify`. What nobody reads, nobody checks either, and it could hold anything: a count, a
name, a row. So settings and ledgers hold numbers and short names alone. Entries that a later
version may have added are told of, and refused if a release says that this version wrote it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from hedgerow.estimate.measurements import exact
from hedgerow.registry import OURS
from hedgerow.release.manifest import NOTE, package_version
from hedgerow.verification.prices import Failed
from hedgerow.verification.rules import Rules, Stated

_SHOWN = 5
_NAME = re.compile("[A-Za-z0-9_.+/-]{1,40}")
_RELEASE_ID = re.compile("[0-9a-f]{32}")  # 128 random bits
_VERSION = re.compile(r"unknown|[0-9][0-9A-Za-z.+!-]{0,39}")
_PHRASES = frozenset(("least squares",))  # of the setting `consistency`
_SENTENCES = frozenset(("unit_of_protection", "neighbors"))  # held to the schema elsewhere

_GUARANTEE = (
    "epsilon delta accounting neighbors unit_of_protection began_as_draft private row_wise_query "
    "epsilon_decimal"
)
_LEDGER = "accounting person_rows budgets entries paths conversion suppression release_id"
_HEAD = "name place_kind by_class sparse unit threshold max_contribution logits law tables"


def check_settings(rules: Rules, stated: Stated) -> str:
    """The settings are those of the method, and each is a number or a short name."""
    if rules.settings is None:
        return "the rules of this method name no settings, so any were taken"
    settings = stated.settings
    chosen = settings.get("chosen", {})
    if not settings.keys() <= rules.settings or not chosen.keys() <= rules.chosen:
        raise Failed("the settings hold something that the method does not have")
    alone = [
        value for name, value in settings.items() if name != "chosen" and name not in rules.nested
    ]
    if not all(_plain(value) for value in [*alone, *chosen.values()]):
        raise Failed("a setting is neither a number nor a short name")
    return "the settings are those of the method"


def check_entries(manifest: Mapping[str, Any]) -> str:
    """The manifest has the entries of its format; what else there is, is named.

    Raises:
        Failed: If there is more, or text where none belongs.
    """
    ledger = manifest["ledger"]
    if not _RELEASE_ID.fullmatch(ledger.get("release_id", "0" * 32)):
        raise Failed("the id of the release in the ledger is not 32 hexadecimal digits")
    if not _VERSION.fullmatch(manifest["package_version"]):
        raise Failed("the version of the package is none")
    unknown = sorted(set(_unknown(manifest)))
    ours = manifest["package_version"] == package_version() and manifest["method"] in OURS
    if unknown and ours:  # a method of another package may keep books of its own
        raise Failed(f"entries that this version does not write: {named(unknown)}")
    stray = [
        name
        for name in ("guarantee", "ledger", "measurements", "frontier", "rows")
        if not _plainly(manifest.get(name), unless=_SENTENCES if name == "guarantee" else ())
    ]
    if stray:
        raise Failed(f"a text where a number or a short name belongs, in: {', '.join(stray)}")
    words = "guarantee and ledger hold what the format has, and no free text"
    if unknown:
        words += f"; entries not known here, which nothing checked: {named(unknown)}"
    notes = sorted(name for name in manifest if name.startswith(NOTE))
    if notes:
        words += f"; notes of other programs, which nothing checked: {named(notes)}"
    return words


def named(names: Iterable[str]) -> str:
    """Some names from a stranger, in quotes, so that nobody takes them for our words.

    Example:
        >>> named(["x_a", "x_b"])
        "'x_a', 'x_b'"
    """
    every = list(names)
    more = " and others" if len(every) > _SHOWN else ""
    return ", ".join(repr(name) for name in every[:_SHOWN]) + more


def _unknown(manifest: Mapping[str, Any]) -> Iterable[str]:
    """The entries below the top that the format does not have."""
    ledger = manifest["ledger"]
    parts: list[tuple[str, Any, str]] = [
        ("guarantee", manifest["guarantee"], _GUARANTEE),
        ("ledger", ledger, _LEDGER),
        ("rows", manifest["rows"], "seed weight estimator"),
        ("ledger.budgets", ledger.get("budgets", {}), "epsilon rho"),
        ("ledger.conversion", ledger.get("conversion", {}), "rho epsilon delta"),
        ("ledger.suppression", ledger.get("suppression", {}), "rate threshold sampling_rate"),
    ]
    parts += [("ledger.budgets", one, "unit units") for one in ledger.get("budgets", {}).values()]
    below = {"entries": "purpose budget depth units nodes", "paths": "leaves spent"}
    for key, names in below.items():
        parts += [(f"ledger.{key}", one, names) for one in ledger.get(key, ())]
    parts += [("measurements", one, _HEAD) for one in manifest.get("measurements", ())]
    for place, found, names in parts:
        yield from (f"{place}.{key}" for key in found.keys() - set(names.split()))


def _plain(value: object) -> bool:
    """Whether something is a number, a truth value, nothing, or a short name."""
    if not isinstance(value, str):
        return value is None or isinstance(value, (bool, int, float))
    if value in _PHRASES or _NAME.fullmatch(value):
        return True
    try:
        exact(value)  # fractions may be long
    except ValueError:
        return False
    return True


def _plainly(value: object, unless: Iterable[str] = ()) -> bool:
    """Whether all that something holds is plain, the names of its entries too."""
    if isinstance(value, dict):
        names = [name for name in value if name not in unless]
        return all(_plain(name) and _plainly(value[name]) for name in names)
    if isinstance(value, list):
        return all(_plainly(one) for one in value)
    return _plain(value)
