"""What pyproject.toml and the README claim about the package is what `make dist` tries."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import extras

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
OPTIONAL: dict[str, list[str]] = PROJECT["optional-dependencies"]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_a_package_has_one_lower_bound_wherever_it_is_named() -> None:
    """Environments for tests hold all of them, so a second, lower bound would never be tried."""
    bounds: dict[str, set[str]] = {}
    for requirement in [*PROJECT["dependencies"], *sum(OPTIONAL.values(), [])]:
        name, bound = re.fullmatch(r"([\w.-]+)(.*)", requirement).groups()  # type: ignore[union-attr]
        bounds.setdefault(name, set()).add(bound)
    assert {name: found for name, found in bounds.items() if len(found) > 1} == {}


def test_what_users_may_install_is_there_when_tests_run() -> None:
    tested = {*OPTIONAL["plot"], *OPTIONAL["test"]}
    for extra in extras.user_extras():
        assert set(OPTIONAL[extra]) <= tested, extra


def test_every_extra_is_tried_and_told() -> None:
    features = (*extras.FEATURES, extras.POSTGRES, extras.STUDIO)
    assert {feature.extra for feature in features} == set(extras.user_extras())
    assert OPTIONAL.keys() >= extras.FOR_DEVELOPERS
    for extra in extras.user_extras():
        assert f"`{extra}` (" in README


def test_the_platforms_that_are_claimed_are_the_ones_that_are_told() -> None:
    claimed = set(PROJECT["classifiers"])
    assert {text for text in claimed if text.startswith("Operating System")} == {
        "Operating System :: POSIX :: Linux"
    }
    pythons = {text.rpartition(" :: ")[2] for text in claimed if re.search(r":: 3\.\d+$", text)}
    (told,) = re.findall(r"tested on Linux \(x86-64\) with CPython ([\d., and]+) \(", README)
    assert pythons == set(re.findall(r"3\.\d+", told))
    assert min(pythons) == PROJECT["requires-python"].removeprefix(">=")
