"""Writes a software bill of materials for the core and for each extra: `make dist`.

They are CycloneDX documents, made by cyclonedx-bom (Apache-2.0, kept by the CycloneDX project) from
environments that hold the wheel and what it needs, and nothing else. What that tool does not do is
here. Scripts that hedgerow brings along are added by what `VENDORED.txt` says, and compared with
the wheel. A license that asks those who use hedgerow for more than a notice is refused, and so is a
package without a stated license.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

from extras import user_extras
from installed import clean, environment

STATIC = "hedgerow/studio/static/"
VENDORED = re.compile(r"^(\S+)\n +(\S+) (\S+), \S+\n +(.*)\n +SHA-256 (\w{64})$", re.M)
NPM = "pkg:npm/{}@{}"
REFUSED = re.compile(
    r"\b(A?GPL|SSPL|BUSL)|GNU (Affero )?General Public|Business Source|Commons Clause", re.I
)
# The license of the compiler's own libraries, which makes no demands on what was compiled.
EXCEPTION = re.compile(r"\S*GPL\S* WITH GCC-exception\S*", re.I)
# Packages that state theirs in a way that cannot be read, by the text that they come with.
READ = {"partd": "BSD-3-Clause"}
VALID = """
import sys
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
problem = JsonStrictValidator(SchemaVersion.V1_6).validate_str(open(sys.argv[1]).read())
sys.exit(problem and str(problem))
"""


def vendored(notes: str, wheel: zipfile.ZipFile) -> list[dict[str, Any]]:
    """Components for the scripts of others that lie in the wheel, unchanged."""
    found = []
    for file, name, version, license, told in VENDORED.findall(notes):
        if hashlib.sha256(wheel.read(STATIC + file)).hexdigest() != told:
            sys.exit(f"{file} is not the one that VENDORED.txt tells of.")
        if "Zero" not in license:
            sys.exit(f"{file}: which SPDX identifier is {license!r}?")
        found.append(
            {
                "type": "library",
                "name": name,
                "version": version,
                "bom-ref": NPM.format(name, version),
                "purl": NPM.format(name, version),
                "hashes": [{"alg": "SHA-256", "content": told}],
                "licenses": [{"license": {"id": "0BSD", "acknowledgement": "declared"}}],
                "properties": [{"name": "hedgerow:file", "value": STATIC + file}],
            }
        )
    scripts = {name.removeprefix(STATIC) for name in wheel.namelist() if name.endswith(".min.js")}
    if scripts != {file for file, *_ in VENDORED.findall(notes)}:
        sys.exit(f"VENDORED.txt does not tell of exactly {sorted(scripts)}.")
    return found


def with_ours(bill: dict[str, Any], brought: list[dict[str, Any]]) -> dict[str, Any]:
    """The bill with hedgerow as its subject, and what hedgerow brings along as components."""
    (ours,) = (one for one in bill["components"] if one["name"] == "hedgerow")
    place = ours["bom-ref"]
    ours["purl"] = f"pkg:pypi/hedgerow@{ours['version']}"
    # where the wheel lay when it was installed concerns nobody
    ours.pop("externalReferences", None)
    bill["metadata"]["component"] = ours
    bill["components"] = [one for one in bill["components"] if one is not ours] + brought
    for line in bill["dependencies"]:
        if line["ref"] == place:
            line["dependsOn"] = sorted(
                [*line.get("dependsOn", []), *(b["bom-ref"] for b in brought)]
            )
    bill["dependencies"] += [{"ref": one["bom-ref"]} for one in brought]
    return bill


def license_of(component: dict[str, Any]) -> str:
    """The licenses that a component states, in one line.

    Examples:
        >>> license_of({"licenses": [{"expression": "MIT OR Apache-2.0"}]})
        'MIT OR Apache-2.0'
        >>> names = "License :: OSI Approved :: BSD License", "Copyright by somebody. All that"
        >>> license_of({"licenses": [{"license": {"name": name}} for name in names]})
        'BSD License; Copyright by somebody. All that'
        >>> license_of({})
        ''
    """
    stated = []
    for entry in component.get("licenses", []):
        one = entry.get("license", {})
        text = entry.get("expression") or one.get("id") or one.get("name", "")
        # some packages put the whole text there, which begins with its name
        stated.append(text.strip().partition("\n")[0].rpartition(" :: ")[2])
    return "; ".join(dict.fromkeys(stated))


def refused(license: str) -> bool:
    """Whether a license asks for too much, or is not stated.

    Examples:
        >>> [refused(text) for text in ("MIT", "MIT OR GPL-2.0-only", "LGPL-2.1-or-later")]
        [False, False, False]
        >>> [refused(text) for text in ("", "GPL-3.0-only", "MIT AND GPL-2.0-only", "BUSL-1.1")]
        [True, True, True, True]
        >>> refused("BSD-3-Clause AND GPL-3.0-or-later WITH GCC-exception-3.1")
        False
    """
    return not license or all(
        REFUSED.search(EXCEPTION.sub("", way)) for way in re.split(r"\bOR\b", license)
    )


def main(wheel: Path, sdist: Path, given: argparse.Namespace) -> None:
    """Writes the bills into dist/ and prints all licenses; ends with an error if one is refused."""
    folder = wheel.parents[2]
    tool = environment(folder / "cyclonedx", "cyclonedx-bom>=7")
    with zipfile.ZipFile(wheel) as files:
        notes = files.read(f"{STATIC}VENDORED.txt").decode()
        brought = vendored(notes, files)
    licenses: dict[str, str] = {}
    needed: dict[str, list[str]] = {}
    for extra in ("", *user_extras()):
        python = environment(folder / f"bill-{extra}", f"{wheel}[{extra}]")
        name = "-".join(filter(None, ("-".join(wheel.name.split("-")[:2]), extra)))
        target = folder.parent / "dist" / f"{name}.cdx.json"
        command = [tool.with_name("cyclonedx-py"), "environment", "--output-reproducible"]
        done = subprocess.run([*command, python], env=clean(), capture_output=True, text=True)
        if done.returncode:
            sys.exit(done.stderr)
        bill = with_ours(json.loads(done.stdout), brought)
        text = json.dumps(bill, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
        if str(folder) in text or os.fspath(Path.home()) in text:
            sys.exit(f"{target.name} names folders of this machine.")
        target.write_text(text, encoding="utf-8")
        subprocess.run([tool, "-c", VALID, target], check=True)
        for one in (bill["metadata"]["component"], *bill["components"]):
            label = f"{one['name']} {one['version']}"
            licenses[label] = license_of(one) or READ.get(one["name"], "")
            needed.setdefault(label, []).append(extra or "core")
        print(f"dist/{target.name}: {len(bill['components'])} components", flush=True)
    for label in sorted(licenses, key=str.lower):
        where = "core" if "core" in needed[label] else ", ".join(needed[label])
        print(f"{label:34} {where:28} {licenses[label][:80]}")
    if wrong := [label for label, license in licenses.items() if refused(license)]:
        sys.exit(f"Not to be used, by their license or for want of one: {', '.join(wrong)}")
