"""The verdicts of a campaign, kept as JSON, and what docs/privacy/audit.md says of them."""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

from scipy.stats import beta, binom

from mutants.by_hand import BY_HAND, by_name
from mutants.equivalent import reason
from mutants.targets import DRAWN

__all__ = ["commit_of", "page_of_mutants", "summary", "write_page", "write_verdicts"]

VERDICTS = Path(__file__).with_name("verdicts.json")
PAGE = Path(__file__).parents[2] / "docs" / "privacy" / "audit.md"
HEADING = "## Mutants"
GOAL = 0.95

Found = list[dict[str, Any]]


def _survivors(found: Found) -> Found:
    return [each for each in found if each["verdict"] == "survived"]


def _why(each: dict[str, Any]) -> str | None:
    return reason(each["path"], each["before"], each["after"])


def summary(found: Found) -> tuple[str, bool]:
    """What was found, in words, and whether it is what must be reached."""
    names = {mutant.name for mutant in BY_HAND}
    by_hand = [each for each in found if each["id"] in names]
    generated = [each for each in found if each["id"] not in names]
    lines, good = [], True
    for what, part in (("written by hand", by_hand), ("generated", generated)):
        lost = _survivors(part)
        share = 1 - len(lost) / max(1, len(part))
        lines.append(f"{len(part)} mutants {what}: {len(part) - len(lost)} caught ({share:.1%})")
    good = not _survivors(by_hand) and few(len(_survivors(generated)), len(generated))
    for each in _survivors(by_hand):
        lines.append(f"survived: {each['id']}")
    for each in _survivors(generated):
        if _why(each) is None:
            good = False
            change = f"{each['before']}  =>  {each['after']}"
            lines.append(f"survived, unexplained: {each['path']}:{each['line']}  {change}")
    return "\n".join(lines), good


def commit_of(*, clean: bool = False) -> str:
    """The commit of this checkout; if asked, one that holds all code and tests that are there."""

    def git(*words: str) -> str:
        done = subprocess.run(
            ["git", *words], cwd=PAGE.parent, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    if clean and git("status", "--porcelain", ":/src", ":/tests"):
        raise SystemExit("Commit what you have changed first: verdicts are about a commit.")
    return git("rev-parse", "--short=8", "HEAD")


def write_verdicts(found: Found, places: int) -> None:
    """Keeps what the page needs."""
    names = {mutant.name for mutant in BY_HAND}
    modules: dict[str, dict[str, int]] = {}
    for each in found:
        if each["id"] not in names:
            row = modules.setdefault(each["path"], {"caught": 0, "hangs": 0, "survived": 0})
            row[each["verdict"]] += 1
    kept = {
        "places": places,
        "commits": dict(Counter(each["commit"] for each in found).most_common()),
        "by_hand": {
            each["id"]: {
                "path": each["path"], "flaw": by_name(each["id"]).flaw,
                "verdict": each["verdict"], "by": _test(each["by"]),
            }
            for each in found
            if each["id"] in names
        },
        "modules": dict(sorted(modules.items())),
        "mended": sum("once" in each and each["verdict"] != "survived" for each in found),
        "survivors": sorted(
            ({key: each[key] for key in ("path", "line", "before", "after")} | {"why": _why(each)}
             for each in _survivors(found) if each["id"] not in names),
            key=lambda each: (each["path"], each["line"], each["after"]),
        ),
    }  # fmt: skip
    VERDICTS.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


def _test(nodeid: str) -> str:
    """The test that noticed, without its parameters."""
    return nodeid.partition("[")[0]


def _code(text: str) -> str:
    return "`" + text.replace("|", "\\|") + "`"


def few(lost: int, tried: int) -> bool:
    """Whether so many survive by chance, once in a hundred times, if no more than 5% do."""
    return float(binom.sf(lost - 1, tried, 1 - GOAL)) > 0.01  # noqa: PLR2004


def worst(lost: int, tried: int) -> float:
    """The upper end of Clopper and Pearson for the share of places that survive, at 95%."""
    return float(beta.ppf(0.95, lost + 1, tried - lost)) if tried > lost else 1.0


def page_of_mutants() -> list[str]:
    """The section of the page; nothing if there was no campaign yet."""
    if not VERDICTS.exists():
        return []
    kept = json.loads(VERDICTS.read_text(encoding="utf-8"))
    modules: dict[str, dict[str, int]] = kept["modules"]
    tried = sum(sum(row.values()) for row in modules.values())
    lost = sum(row["survived"] for row in modules.values())
    hung = sum(row["hangs"] for row in modules.values())
    mended = kept.get("mended", 0)  # whose tests were written for them, so they say nothing
    told = sum(each["why"] is not None for each in kept["survivors"])
    share = f"{1 - (lost + mended) / max(1, tried):.0%}"
    number = len(kept["by_hand"]) + tried
    commits = [f"`{name}` ({times})" for name, times in kept["commits"].items()]
    known: dict[str, dict[str, str]] = kept["by_hand"]
    caught = sum(each["verdict"] != "survived" for each in known.values())
    words = [
        HEADING, "",
        "The code is broken on purpose, one small change at a time; the tests must notice",
        f"(`make mutants`; {number} mutants, of commit {', '.join(commits)}).", "",
        f"**By hand** ({len(known)}): {caught} caught. Why they are unsound stands in",
        "`audits/mutants/by_hand.py`, which test noticed in `audits/mutants/verdicts.json`; golden",
        "files do not count.", "",
        f"**Generated** ({tried}; {DRAWN} by default) from {kept['places']:,} places of the",
        f"operators of Cosmic Ray in {len(modules)} modules that hold the guarantee: at first",
        f"{tried - lost - mended} caught ({share}), {hung} because the tests did not end. So at",
        f"most {worst(lost + mended, tried):.0%} of all places survive (95% confidence), harmless",
        "changes among them.",
        f"Tests written since catch {mended}. Of the other {lost}, {told} have a reason in",
        "`audits/mutants/equivalent.py`: nothing changes, or nothing but time, room or words.",
    ]  # fmt: skip
    words += [
        f"- **Not caught**: `{each['path']}`, line {each['line']}: {_code(each['after'])}"
        for each in kept["survivors"]
        if each["why"] is None
    ]
    if later := [mutant.name for mutant in BY_HAND if mutant.name not in known]:
        words += ["", f"Written since, and tried in no campaign yet: {', '.join(later)}."]
    return [*words, ""]


def write_page() -> None:
    """Puts the section into the page, in place of the one that is there."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    first = lines.index(HEADING) if HEADING in lines else None
    if first is None:
        first = last = next(
            (i for i, line in enumerate(lines) if line.startswith("## `audits/")), len(lines)
        )
    else:
        after = range(first + 1, len(lines))
        last = next((i for i in after if lines[i].startswith("## ")), len(lines))
    lines[first:last] = page_of_mutants()
    PAGE.write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")
