"""A package that is installed adds a method and a score, and all commands know them.

`tests/plugin_example` is that package. Installing it is copying it and writing its metadata, as an
installer does; nothing is fetched.
"""

from __future__ import annotations

import json
import re
import shutil
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from hedgerow import sample
from hedgerow.errors import UnverifiableError

EXAMPLE = Path(__file__).parents[1] / "plugin_example"


@dataclass(frozen=True)
class Done:
    """How a command ended."""

    returncode: int
    stdout: str
    stderr: str


@dataclass(frozen=True)
class Machine:
    """Runs the command in a process of its own, with or without the package."""

    folder: Path
    site: Path
    child: Callable[..., tuple[int, str, str]]

    def __call__(self, *words: object, installed: bool = True) -> Done:
        here = f"sys.path.insert(0, {str(self.site)!r})\n" if installed else ""
        program = f"{here}os.chdir({str(self.folder)!r})\nimport hedgerow.cli\nhedgerow.cli.main()"
        return Done(*self.child(program, *words))


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A folder to work in, and one where the package is installed."""
    site, folder = tmp_path_factory.mktemp("site"), tmp_path_factory.mktemp("work")
    shutil.copytree(EXAMPLE / "hedgerow_equalparts", site / "hedgerow_equalparts")
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    info = site / "hedgerow_equalparts-1.0.dist-info"
    info.mkdir()
    head = f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    (info / "METADATA").write_text(head, encoding="utf-8")
    lines = []
    for group, points in project["entry-points"].items():
        lines += [f"[{group}]", *(f"{name} = {value}" for name, value in points.items())]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    sample.write(folder, rows=300, seed=1)
    return folder, site


@pytest.fixture
def machine(places: tuple[Path, Path], child: Callable[..., tuple[int, str, str]]) -> Machine:
    return Machine(*places, child)


def published(machine: Machine, out: str, *words: object) -> None:
    done = machine(
        "publish", "people.csv", "--schema", "schema.yaml", "--epsilon", 1, "--out", out,
        *words,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_a_method_is_published_with_verified_and_audited(machine: Machine) -> None:
    published(machine, "parts", "--method", "equalparts", "--parts", 3)
    done = machine("verify", "parts", "--json")
    assert done.returncode == 0, done.stdout
    assert json.loads(done.stdout)["epsilon"] == "1"
    shown = machine("report", "parts", "--out", "parts.html")
    assert shown.returncode == 0, shown.stderr
    page = (machine.folder / "parts.html").read_text(encoding="utf-8")
    assert "cuts one attribute into parts of equal width" in page
    done = machine("audit", "--method", "equalparts", "--runs", 20, "--seed", 1)
    assert done.returncode == 0 and "No claim was broken" in done.stdout, done.stderr


def test_its_rules_are_kept(machine: Machine) -> None:
    """A release that says other parts than it has is refused."""
    # a number alone is always cut, and other parts cut it elsewhere
    (machine.folder / "ages.yaml").write_text(
        "name: ages\nunit: row\nattributes:\n  age: {type: numeric, low: 0, high: 99}\n", "utf-8"
    )
    (machine.folder / "ages.csv").write_text("age\n" + "5\n60\n" * 100, "utf-8")
    done = machine(
        "publish", "ages.csv", "--schema", "ages.yaml", "--epsilon", 1, "--out", "other",
        "--method", "equalparts", "--parts", 3,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert machine("verify", "other").returncode == 0
    manifest = machine.folder / "other" / "manifest.json"
    facts = json.loads(manifest.read_text(encoding="utf-8"))
    facts["settings"]["parts"] = 2
    manifest.write_text(json.dumps(facts), encoding="utf-8")
    done = machine("verify", "other")
    assert done.returncode == 6 and "not parts of equal width" in done.stdout


def test_its_settings_are_options(machine: Machine) -> None:
    help_ = machine("publish", "--help").stdout
    assert "--parts N" in help_ and "Into how many parts" in help_ and "|equalparts" in help_
    done = machine("plan", "--schema", "schema.yaml", "--epsilon", 1, "--parts", 3)
    assert done.returncode == 2 and "take --method equalparts" in done.stderr
    done = machine(
        "plan", "--schema", "schema.yaml", "--epsilon", 1, "--method", "equalparts", "--parts", "x"
    )
    assert done.returncode == 2 and "parts must be a whole number" in done.stderr


def test_a_score_guides_our_methods(machine: Machine) -> None:
    published(machine, "margin", "--method", "diffgen", "--score", "margin")
    assert machine("verify", "margin").returncode == 0
    done = machine("audit", "--method", "margin", "--runs", 20, "--seed", 1)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    "words", [("--method", "equalparts"), ("--score", "margin", "--method", "diffmulti")]
)
def test_without_the_package_nothing_is_verified_and_nothing_published(
    machine: Machine, words: tuple[str, ...]
) -> None:
    out = words[1] + " of others"
    published(machine, out, *words)
    done = machine("verify", out, installed=False)
    assert done.returncode == UnverifiableError.exit_code == 7
    assert "cannot be verified here" in done.stderr
    assert f"{words[1]!r} is not installed" in done.stderr
    done = machine("verify", out, "--json", installed=False)
    assert done.returncode == 7
    found = json.loads(done.stdout)
    assert (found["ok"], found["known"]) == (False, False)
    done = machine("report", out, "--out", f"{out}.html", installed=False)
    assert done.returncode == 7 and "THIS RELEASE CANNOT BE VERIFIED HERE" in done.stderr
    text = (machine.folder / f"{out}.html").read_text(encoding="utf-8")
    assert "What it promises cannot be verified here." in text and "DO NOT RELY" not in text
    done = machine(
        "publish", "people.csv", "--schema", "schema.yaml", "--epsilon", 1, "--out", "no", *words,
        installed=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert ("diffgen" if words[0] == "--method" else "discernibility") in done.stderr


def test_a_damaged_release_of_an_unknown_method_is_damaged(machine: Machine) -> None:
    published(machine, "damaged", "--method", "equalparts")
    (machine.folder / "damaged" / "table.csv").write_text("x", encoding="utf-8")
    assert machine("verify", "damaged", installed=False).returncode == 6


def test_a_plugin_needs_hedgerow_extend_alone() -> None:
    lines = [
        line for path in EXAMPLE.rglob("*.py") for line in path.read_text("utf-8").splitlines()
    ]
    imports = {
        line.split()[1] for line in lines if line.startswith(("from hedgerow", "import hedg"))
    }
    assert {one for one in imports if not one.startswith("hedgerow_")} == {"hedgerow.extend"}


GUIDE = Path(__file__).parents[2] / "docs" / "extending.md"
MISTAKES = re.findall(
    r"[Rr]eplace\n\n```python\n(.*?)```\n\nby\n\n```python\n(.*?)```",
    GUIDE.read_text(encoding="utf-8"),
    re.DOTALL,
)
ENDS = [  # of publish, verify and audit, and what the audit says
    (0, 6, 1, "tells neighbors apart by 1.6, not 1"),
    (1, 6, 1, "LeakError"),
    (0, 0, 1, "infinite"),
    (0, 0, 1, "tells neighbors apart by 3.2, not 1"),
]


@pytest.mark.parametrize("place", range(4))
def test_the_mistakes_of_the_guide_are_found(tmp_path: Path, machine: Machine, place: int) -> None:
    """`docs/extending.md`, step 7, as it is written."""
    right, wrong = MISTAKES[place]
    site = tmp_path / "site"
    shutil.copytree(machine.site, site)
    method = site / "hedgerow_equalparts" / "method.py"
    text = method.read_text(encoding="utf-8")
    assert len(MISTAKES) == len(ENDS) and text.count(right) == 1
    method.write_text(text.replace(right, wrong), encoding="utf-8")
    sample.write(tmp_path, rows=300, seed=1)
    broken = Machine(tmp_path, site, machine.child)
    words = ("--schema", "schema.yaml", "--method", "equalparts", "--epsilon", 1, "--out", "parts")
    runs = 100 if place == 3 else 20  # few neighbors move two scores apart
    done = [
        broken("publish", "people.csv", *words),
        broken("verify", "parts"),
        broken("audit", "--method", "equalparts", "--epsilon", 1, "--runs", runs, "--seed", 1),
    ]
    *codes, said = ENDS[place]
    assert ("Verification refuses this release" in done[0].stderr) == (place == 0)
    assert [one.returncode for one in done] == codes, done
    assert said in done[2].stdout + done[2].stderr
