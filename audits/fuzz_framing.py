"""One more line in a text file: the codes of all other records stay, or the run stops.

A case puts one line of arbitrary bytes (in the mode with line breaks, any bytes) between two
records of a sound file. What the readers make of the other records must not change. The files come
with every delimiter and line break, plain and gzipped, and are read in blocks of a few bytes.
"""

from __future__ import annotations

import codecs
import gzip
import io
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout, suppress
from functools import cache
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np

from fuzz_mutate import spoil_bytes
from fuzz_readers import Reader
from hedgerow import data as table
from hedgerow.counting.streamed import Memory, StreamedEngine, StreamedItems
from hedgerow.data import text as csv_file
from hedgerow.data import transactions as fimi
from hedgerow.data.table import collect
from hedgerow.errors import HedgerowError
from hedgerow.schema import Schema

__all__ = ["Inserted", "Style", "differ", "line_readers", "rows_of", "streamed_rows"]

Row = tuple[Any, ...]
_WHOLE = 1 << 16  # larger than any file here
SMALL = Memory(chunk=1 << 9, rows=1 << 11, bounds=1 << 16, batch=1 << 20)


class Style(NamedTuple):
    """How a file is written, and how many bytes of it are read at a time."""

    delimiter: str
    end: bytes
    mark: bool
    last_break: bool
    block: int
    gzipped: bool


class Interrupted(Exception):
    """A command went as far as it should."""


class Inserted(NamedTuple):
    """The bytes that are put in, and before which record."""

    style: Style
    place: int
    content: bytes


RULES = {"missing": "other", "outside": "other"}
PEOPLE: dict[str, Any] = {
    "name": "people",
    "unit": "row",
    "attributes": {
        "age": {"type": "numeric", "low": 0, "high": 99, **RULES},
        "job": {"type": "categorical", "values": ["cook", "a, b; c|d", 'so "so"', "é"], **RULES},
        "well": {"type": "boolean", **RULES},
        "id": {"role": "identifier"},
    },
}
PERSONS: dict[str, Any] = {
    "name": "persons",
    "unit": "person",
    "attributes": {
        "age": {"type": "numeric", "low": 0, "high": 99, **RULES},
        "tag": {"type": "numeric", "low": 0, "high": 9, **RULES},
        "id": {"role": "person", "max_rows": 2},
    },
}
ITEMS: dict[str, Any] = {
    "universe": ["a", "b", "c", "d", "e f", "é"], "separator": ";", "empty": "dummy",
    "max_items": 3,
}  # fmt: skip
CLICKS = {"name": "clicks", "unit": "row", "items": ITEMS | {"universe": {"range": [-3, 30]}}}
BOUGHT = {"name": "bought", "unit": "row", "items": ITEMS | {"column": "x"}}
LONG = {
    "name": "long",
    "unit": "person",
    "items": {**ITEMS, "person": "who", "item": "x", "separator": " "},
}

ROWS = [
    ["5", "cook", "yes", "1"], ["17", "a, b; c|d", "no", "2"], ["99", 'so "so"', "", "3"],
    ["?", "é", "true", "4"], ["0", "smith", "x", ""], ["1.5", "", "0", "x y"],
    ["", "", "", "0"], ["88", "cook", "yes", "9"], ["7", "é", "no", "7"],
]  # fmt: skip
PERSON_ROWS = [
    [str(10 * tag + number), str(tag), f"p{tag}"] for number in range(3) for tag in range(5)
]
LONG_ROWS = [
    [f"p{person}", item]
    for number in range(2)
    for person, items in enumerate(("ab", "bc", "cd", "a", "d"))
    for item in items[number : number + 1]
]
COLUMN_ROWS = [["a;b"], ["c"], ["d;e f;a"], ["é;a;b;c;d"], ["x"], ["b;b;c"], ['";d']]
LINES = [b"1;2", b"", b"3", b"-3;30;7;7", b"x;5", b"8;9;10;11", b" 4 ;6", b"0;12"]

WORDS = (
    b'"', b'"', b'"', b'""', b'"""', b',"', b'";', b'",', b'"\t', b'|"', b",", b";", b"\t", b"|",
    b";", b" ", b"\0", b"\0" * 4, codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE,
    b"\xff", b"\x80", b"\xc3", b"\xc3\xa9", b"\xed\xa0\x80", b"\xf0\x9f\x98\x80", b"\x85",
    b"\xe2\x80\xa8", b"\x0b", b"\x0c", b"\x1a", b"\x1c", b"\x1f\x8b", b"\x1f\x8b\x08\0", b"PAR1",
    b"PK\3\4", b"\\", b'\\"', b"'", b"#", b"=", b"nan", b"?", b"1e999", b"5", b"99", b"p1", b"cook",
    b"a", b"age", b"-", b"9" * 400, b"x" * 5000, b'"' * 33, b'"' * 500, b"," * 70,
)  # fmt: skip
TAME = tuple(
    word for word in WORDS if b'"' not in word and word.decode("utf-8", "replace").encode() == word
)
BREAKS = (b"\n", b"\r", b"\r\n", b"\n\n", b'"\n', b'\n"', b'"\r\n"', b'",\n', b"\r\r\n")


def rows_of(codes: Any) -> list[Row]:
    """The rows of a matrix of codes."""
    return [tuple(row) for row in codes.tolist()]


def records_of(start: Any, codes: Any) -> list[Row]:
    """Records of items."""
    return [tuple(codes[i:j].tolist()) for i, j in zip(start[:-1], start[1:], strict=True)]


def streamed_rows(source: Any, schema: Schema, **how: Any) -> Counter[Row]:
    """The rows that the streamed engine holds, which have no order."""
    stream, held = table.RowStream(source, schema, **how), list[Any]()
    with StreamedEngine.read(stream, SMALL, threads=1) as engine:  # type: ignore[arg-type]
        sizes = engine.domain.sizes.tolist()
        edges = tuple(np.arange(size + 1, dtype=np.int32) for size in sizes)
        engine.cell_counts(edges).map(held.append)
    ((cells, counts),) = held
    codes = np.column_stack(np.unravel_index(cells, [*sizes, engine.domain.classes]))
    return Counter(dict(zip(rows_of(codes), counts.tolist(), strict=True)))


@cache
def _publish_command() -> Any:
    """The command of the studio's jobs, to be run in this process."""
    import typer

    from hedgerow.cli import app

    return typer.main.get_command(app).commands["publish"]  # type: ignore[attr-defined]


def by_studio(path: Path, schema: Schema, delimiter: str | None = None) -> list[Row]:
    """The rows that a release counts which is begun in the studio."""
    import hedgerow
    from hedgerow.studio.folder import argument
    from hedgerow.studio.steps import Way
    from hedgerow.studio.views.publish import _command

    found: list[Any] = []

    def publish(source: Any, known: Schema, *, delimiter: Any, line_breaks: Any, **_: Any) -> Any:
        try:
            rows = table.read(source, known, delimiter=delimiter, line_breaks=line_breaks)
            found.append(rows_of(rows.codes))
        except HedgerowError as error:
            found.append(error)
        raise Interrupted  # it is only read

    root = path.parent.resolve()
    (root / "of-studio.yaml").write_text(schema.to_yaml(), encoding="utf-8")
    chosen = {"data": path.name, "schema": "of-studio.yaml"}
    if delimiter is not None:
        chosen["delimiter"] = "tab" if delimiter == "\t" else delimiter
    way = Way(root=root, step="publish", chosen=chosen)
    nothing: Any = SimpleNamespace(get=lambda name: "")  # but what was chosen on the way
    _, *words = _command(nothing, way, "marginals", argument(root, root / "of-studio"))
    words = [str(getattr(word, "path", word)) for word in words]  # as `Jobs` does
    with (
        patch.object(hedgerow, "publish", publish), suppress(SystemExit),
        redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()),
    ):  # fmt: skip
        _publish_command().main([*words, "--json"], standalone_mode=False, obj={"method": None})
    if isinstance(found[0], HedgerowError):
        raise found[0]
    rows: list[Row] = found[0]
    return rows


def differ(
    before: Any, after: Any, place: int | None, added: int, people: bool, tag: int | None = None
) -> None:
    """Raises an AssertionError if other records changed.

    Args:
        before: The rows without the insertion: a list, or a Counter if they have no order.
        after: The rows with it.
        place: Where it was put in, among the rows of a list.
        added: How many records the insertion may have made.
        people: Whether rows belong to people, of whom so many may have changed.
        tag: Where in a row a number stands that tells whose it is.
    """
    if isinstance(before, list) and not people:
        assert place is not None
        head, tail = before[:place], before[place:]
        extra = len(after) - len(before)
        if not 0 <= extra <= added or after[:place] != head or after[place + extra :] != tail:
            raise AssertionError("another record changed")
        return
    gone, new = Counter(before) - Counter(after), Counter(after) - Counter(before)
    whose = len(gone) if tag is None else len({row[tag] for row in gone})
    if whose > (added if people else 0) or new.total() > added * (3 if people else 1):
        raise AssertionError("another record changed")


def _style(random: Random) -> Style:
    return Style(
        random.choice(",;\t|"),
        random.choice((b"\n", b"\n", b"\r\n", b"\r")),
        random.random() < 0.2,
        random.random() < 0.7,
        random.choice((1, 3, 8, 17, 40, 41, 100, 101, 1 << 16, 1 << 22)),
        random.random() < 0.2,
    )


def _quoted(value: str, delimiter: str) -> str:
    if any(sign in value for sign in (delimiter, '"', "\r", "\n")):
        return '"' + value.replace('"', '""') + '"'
    return value


def _lines(rows: Sequence[Sequence[str]], delimiter: str) -> list[bytes]:
    return [delimiter.join(_quoted(v, delimiter) for v in row).encode() for row in rows]


def _content(random: Random, lines: Sequence[bytes], delimiter: bytes, breaks: bool) -> bytes:
    """Bytes that might be taken for a record, or for something that is none."""
    words = (*WORDS, *BREAKS * 3) if breaks else WORDS
    kind = random.random()
    if kind < 0.45:
        content = random.choice(lines)
        for _ in range(random.choice((1, 1, 2, 3))):
            content = spoil_bytes(random, content, words)
    elif kind < 0.75:
        width = random.choice(lines).count(delimiter) + 1
        tame = [word for word in TAME if delimiter not in word]
        some = tame if random.random() < 0.7 else words
        many = [random.choice((0, 1, 1, 2)) for _ in range(width)]
        parts = [b"".join(random.choices(some, k=number)) for number in many]
        if random.random() < 0.4:
            quoted = random.choice((b'"%s"', b'"%s"', b'"%s""x"', b'"%s"x', b'""""%s'))
            value = b"".join(random.choices((*TAME, delimiter), k=2))
            parts[random.randrange(width)] = quoted % value
        content = delimiter.join(parts)
    elif kind < 0.95:
        content = b"".join(random.choices(words, k=random.randrange(1, 9)))
    else:
        content = random.randbytes(random.choice((1, 5, 30, 300)))
    if random.random() < 0.01:
        content += random.choice((b"x", b'"', b",", b"\xff")) * random.choice((10_000, 300_000))
    return content if breaks else content.translate(None, b"\r\n")


class _Reading(NamedTuple):
    """A way to read: how the file looks, and what comes out."""

    name: str
    share: float
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    read: Callable[[Path, Style], Any]
    breaks: bool = False
    people: bool = False
    tag: int | None = None
    codec: str = "utf-8"
    zipped: bool = False


def _readings() -> Iterator[_Reading]:
    people, persons, bought, long = map(Schema.from_dict, (PEOPLE, PERSONS, BOUGHT, LONG))
    weights = table.WeightColumns(("id",), low=0.0, high=9.0)
    head, person_head = list(PEOPLE["attributes"]), list(PERSONS["attributes"])
    broken = [["8", "a\nb", '"', "1\r\n2"], ["9", "\r", "", ""], *ROWS]
    broken_items = [["a;\n;b"], *COLUMN_ROWS]
    weigh = [[*row[:3], str(place)] for place, row in enumerate(ROWS)]

    def asked(style: Style, breaks: bool) -> dict[str, Any]:
        return {"delimiter": style.delimiter if style.block % 2 else None, "line_breaks": breaks}

    def memory(schema: Schema, breaks: bool = False) -> Callable[[Path, Style], Any]:
        return lambda p, s: rows_of(table.read(p, schema, **asked(s, breaks)).codes)

    def streamed(schema: Schema, breaks: bool = False) -> Callable[[Path, Style], Any]:
        return lambda p, s: streamed_rows(p, schema, **asked(s, breaks))

    def predicted(path: Path, style: Style) -> Any:
        codes, known = table.encode_rows(path, people, **asked(style, False))
        return [(*row, ok) for row, ok in zip(rows_of(codes), known.tolist(), strict=True)]

    def weighted(path: Path, style: Style) -> Any:
        found = collect(table.RowStream(path, people, asked(style, False)["delimiter"], weights))
        return rows_of(np.column_stack([found.codes, found.weights]))

    def transactions(schema: Schema, breaks: bool = False) -> Callable[[Path, Style], Any]:
        def read(path: Path, style: Style) -> Any:
            found = table.read_transactions(path, schema, **asked(style, breaks))
            return records_of(found.start, found.codes)

        return read

    def streamed_items(path: Path, style: Style) -> Any:
        delimiter = asked(style, False)["delimiter"]
        with StreamedItems.read(path, bought, SMALL, delimiter=delimiter) as engine:
            return [r for part in engine._parts for r in records_of(*part.records)]

    yield _Reading("line in a table", 6, head, ROWS, memory(people))
    yield _Reading("line, streamed", 1, head, ROWS, streamed(people))
    yield _Reading("line for prediction", 1, head, ROWS, predicted)
    yield _Reading("line with weights", 1, head, weigh, weighted)

    def studio(path: Path, style: Style) -> Any:
        return by_studio(path, people, asked(style, False)["delimiter"])

    yield _Reading("line by the studio", 1, head, ROWS, studio)
    yield _Reading("record with breaks", 4, head, broken, memory(people, True), True)
    yield _Reading("breaks, streamed", 1, head, broken, streamed(people, True), True)
    yield _Reading(
        "line of a person", 2, person_head, PERSON_ROWS, memory(persons), people=True, tag=1
    )
    yield _Reading(
        "person, streamed", 0.5, person_head, PERSON_ROWS, streamed(persons), people=True
    )
    yield _Reading("line of items", 2, ["x"], COLUMN_ROWS, transactions(bought))
    yield _Reading("items, streamed", 0.5, ["x"], COLUMN_ROWS, streamed_items)
    yield _Reading("items with breaks", 1, ["x"], broken_items, transactions(bought, True), True)
    yield _Reading("person and item", 2, ["who", "x"], LONG_ROWS, transactions(long), people=True)
    notation = {"decimal": ",", "thousands": ".", "header_row": 1}
    declared = Schema.from_dict(PEOPLE | {"file": notation})
    noted = [["1.234,5", *ROWS[0][1:]], ["12,345", *ROWS[1][1:]], ["12.345", *ROWS[2][1:]], *ROWS]
    yield _Reading("line in another notation", 1, head, noted, memory(declared))
    yield _Reading("line in an archive", 1, head, ROWS, memory(people), zipped=True)
    for codec in ("utf-16-le", "utf-16-be", "cp1252"):
        encoded = Schema.from_dict(PEOPLE | {"file": {"encoding": codec}})
        yield _Reading(f"line in {codec}", 1, head, ROWS, memory(encoded), codec=codec)
    wide = Schema.from_dict(BOUGHT | {"file": {"encoding": "utf-16-le"}})
    items = transactions(wide)
    yield _Reading("items in utf-16-le", 1, ["x"], COLUMN_ROWS, items, codec="utf-16-le")


def _recoded(line: bytes, codec: str) -> bytes:
    return line if codec == "utf-8" else line.decode("utf-8", "replace").encode(codec, "replace")


def _text_reader(folder: Path, reading: _Reading) -> Reader:
    path = folder / f"{reading.name.replace(' ', '-')}.csv"

    def write(style: Style, lines: list[bytes], place: int, content: bytes | None) -> None:
        lines = [_recoded(line, reading.codec) for line in lines]
        lines = lines if content is None else [*lines[: place + 1], content, *lines[place + 1 :]]
        end = _recoded(style.end, reading.codec)
        data = end.join(lines) + (end if style.last_break else b"")
        if style.mark and reading.codec != "cp1252":
            data = _recoded(codecs.BOM_UTF8, reading.codec) + data
        if reading.zipped:
            with zipfile.ZipFile(path, "w") as archive:
                archive.writestr("rows.csv", data, zipfile.ZIP_DEFLATED, 1)
            return
        path.write_bytes(gzip.compress(data, 1) if style.gzipped else data)

    @cache
    def lines_of(delimiter: str) -> list[bytes]:
        return _lines([reading.header, *reading.rows], delimiter)

    def read(style: Style, place: int, content: bytes | None) -> Any:
        write(style, lines_of(style.delimiter), place, content)
        least = len(content or b"") // 16  # what is left of a block is looked at again
        csv_file._BLOCK, before = max(style.block, least), csv_file._BLOCK
        try:
            return reading.read(path, style)
        finally:
            csv_file._BLOCK = before

    @cache
    def without(style: Style) -> Any:
        return read(style, 0, None)

    def draw(random: Random) -> Inserted:
        style = _style(random)
        lines = lines_of(style.delimiter)
        content = _content(random, lines, style.delimiter.encode(), reading.breaks)
        if reading.codec != "utf-8" and random.random() < 0.7:  # or bytes that may be no text
            content = _recoded(content, reading.codec)
        return Inserted(style, random.randrange(len(lines)), content)

    def run(case: Inserted) -> None:
        # in one block, which is quick: the case itself is read in blocks of many sizes
        before = without(case.style._replace(block=_WHOLE + case.style.block % 2))
        added = 1 + (case.content.count(b"\n") + case.content.count(b"\r")) * reading.breaks
        found = read(case.style, case.place, case.content)
        differ(before, found, case.place, added, reading.people, reading.tag)

    plain = Style(",", b"\n", False, True, 1 << 16, False)
    sound = Inserted(plain, 2, _recoded(lines_of(",")[1], reading.codec))
    return Reader(reading.name, reading.share, sound, draw, run)


def _fimi_reader(folder: Path) -> Reader:
    schema = Schema.from_dict(CLICKS)
    paths = folder / "lines.dat", folder / "lines.dat.gz"

    @cache
    def without(style: Style) -> list[Row]:
        return read(style, lines_of(style))

    def lines_of(style: Style) -> list[bytes]:
        # A mark that stood before the first line stays with it when another is put before both.
        return [codecs.BOM_UTF8 * style.mark + LINES[0], *LINES[1:]]

    def read(style: Style, lines: list[bytes]) -> list[Row]:
        data = style.end.join(lines) + (style.end if style.last_break or not lines[-1] else b"")
        path = paths[style.gzipped]
        path.write_bytes(gzip.compress(data, 1) if style.gzipped else data)
        fimi._BLOCK, before = max(style.block, max(map(len, lines)) // 16), fimi._BLOCK
        try:
            found = table.read_transactions(path, schema)
            return records_of(found.start, found.codes)
        finally:
            fimi._BLOCK = before

    def draw(random: Random) -> Inserted:
        content = _content(random, LINES, b";", False)
        return Inserted(_style(random), random.randrange(len(LINES) + 1), content)

    def run(case: Inserted) -> None:
        lines = lines_of(case.style)
        before = without(case.style._replace(block=8, delimiter=","))
        after = read(case.style, [*lines[: case.place], case.content, *lines[case.place :]])
        differ(before, after, case.place, 1, False)

    plain = Style(",", b"\n", False, True, 1 << 16, False)
    return Reader("line of a text", 3, Inserted(plain, 2, b"1;2;3"), draw, run)


def line_readers(folder: Path) -> dict[str, Reader]:
    """The readers of text, each with one more line in its file.

    Args:
        folder: A folder for the files of cases.
    """
    folder.mkdir(parents=True, exist_ok=True)
    found = [*(_text_reader(folder, one) for one in _readings()), _fimi_reader(folder)]
    return {reader.name: reader for reader in found}
