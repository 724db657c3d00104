"""The methods and scores by name: import paths only, so that a name costs no import.

One entry of `METHODS` is all that the rest of the package knows of a method. The options of
`publish` and `plan`, the tables of settings in the documentation, the rules of `verify`, the audit,
the contract tests and the hints of messages all follow from it.

An installed package adds methods through the entry point group `hedgerow.methods`, whose objects
have the attributes of `Method`, and scores through `hedgerow.scores`, whose objects are a
`hedgerow.methods.scores.Score`. Ours cannot be replaced.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, fields
from functools import cached_property
from importlib import import_module
from typing import Any, Literal

from hedgerow.errors import UsageError


@dataclass(frozen=True, kw_only=True)
class Method:
    """One method, as strings.

    Args:
        settings: "module:name" of the class of its settings, which plans and runs.
        rules: "module:name" of its rules for `verify`, by schedule. They share no code with it.
        audited: "module:name" of what is audited.
        data: What it publishes: "table" or "transactions".
        words: What it does, as the end of the sentence "Published with it, which ...".

    Example:
        >>> METHODS["diffgen"].settings, METHODS["diffgen"].data
        ('hedgerow.methods.diffgen:DiffGen', 'table')
    """

    settings: str
    rules: str
    audited: str
    data: Literal["table", "transactions"]
    words: str


def load(path: str) -> Any:
    """What an import path names.

    Example:
        >>> load("fractions:Fraction")(1, 2)
        Fraction(1, 2)
    """
    module, _, name = path.partition(":")
    return getattr(import_module(module), name)


def for_data(data: str) -> list[str]:
    """The methods that publish some kind of data, the usual one first.

    Example:
        >>> for_data("transactions")[0]
        'diffpart'
    """
    names = [name for name, method in OURS.items() if method.data == data]
    for name in METHODS:
        with suppress(UsageError):  # a package that is broken is refused when it is named
            if name not in OURS and METHODS[name].data == data:
                names.append(name)
    return names


class Registry(Mapping[str, Any]):
    """Things by name: ours, then those of installed packages, which are loaded when asked for.

    Args:
        word: What one of them is called in messages.
        group: The entry point group through which packages add some.
        own: Ours: an object, or the import path of one.

    Example:
        >>> colors = Registry("color", "no.such.group", {"red": "fractions:Fraction"})
        >>> list(colors), "blue" in colors
        (['red'], False)
        >>> colors["blue"]
        Traceback (most recent call last):
        hedgerow.errors.UsageError: There is no color 'blue'.
          There are: red.
    """

    def __init__(self, word: str, group: str, own: dict[str, Any]) -> None:
        self._word, self._group, self._own = word, group, own
        self._session: set[str] = set()

    def add(self, name: str, thing: Any) -> None:
        """Adds something for this session, as in a notebook; adding it anew replaces it.

        Raises:
            UsageError: If something that is installed has the name.
        """
        if name in self and name not in self._session:
            raise UsageError(
                f"There is a {self._word} {name!r} already.", hint="Give yours another name."
            )
        self._session.add(name)
        self._own[name] = thing

    @cached_property
    def _added(self) -> dict[str, list[Any]]:
        from importlib.metadata import entry_points  # which reads a folder for each package

        added: dict[str, list[Any]] = {}
        for point in sorted(entry_points(group=self._group), key=lambda point: point.name):
            if point.name not in self._own and point not in added.get(point.name, []):
                added.setdefault(point.name, []).append(point)
        return added

    def __iter__(self) -> Iterator[str]:
        """Ours first."""
        return iter([*self._own, *self._added])

    def __len__(self) -> int:
        return len(self._own) + len(self._added)

    def __contains__(self, name: object) -> bool:
        return name in self._own or name in self._added

    def __getitem__(self, name: str) -> Any:
        """What a name stands for.

        Raises:
            UsageError: If nothing has that name, or what has it cannot be loaded.
        """
        if name in self._own:
            own = self._own[name]
            return load(own) if isinstance(own, str) else own
        points = self._added.get(name, [])
        if not points:
            raise UsageError(
                f"There is no {self._word} {name!r}.", hint=f"There are: {', '.join(self)}."
            )
        if len(points) > 1:
            raise UsageError(
                f"Several installed packages add a {self._word} {name!r}.",
                hint="Uninstall all of them but one.",
            )
        try:
            return self._read(points[0].load())
        except Exception as error:  # it is somebody else's code, which may fail in any way
            raise UsageError(
                f"The {self._word} {name!r} of an installed package cannot be loaded: {error}",
                hint=f"Mend or uninstall what provides {points[0].value}.",
            ) from error

    def _read(self, thing: Any) -> Any:
        return thing


class _Methods(Registry):
    """Whose entries may be modules, too."""

    def _read(self, thing: Any) -> Method:
        if isinstance(thing, Method):
            return thing
        return Method(**{field.name: getattr(thing, field.name) for field in fields(Method)})


OURS: dict[str, Method] = {
    name: Method(
        settings=f"hedgerow.methods.{name}:{settings}",
        rules=f"hedgerow.verification.{rules}",
        audited=f"hedgerow.audit.methods:{name.upper()}",
        data="transactions" if name == "diffpart" else "table",
        words=words,
    )
    for name, settings, rules, words in (
        ("marginals", "Marginals", "marginals:RULES",
         "counts attributes by the class and by each other, and fits one model to all of it"),
        ("diffmulti", "DiffMulti", "regions:DIFFMULTI",
         "divides people like a decision tree: each group in its own way"),
        ("diffgen", "DiffGen", "regions:DIFFGEN",
         "divides everybody in the same way, attribute by attribute"),
        ("cdiffgen", "CDiffGen", "regions:CDIFFGEN",
         "divides everybody in the same way and counts the groups on every level"),
        ("diffpart", "DiffPart", "diffpart:RULES",
         "divides transactions by the items that they hold"),
        ("supermodular", "Supermodular", "supermodular:RULES",
         "generalizes every record by itself and lists what enough people share"),
    )
}  # fmt: skip
"""The methods of this package; the first for some kind of data is the usual one for it."""

METHODS: Mapping[str, Method] = _Methods("method", "hedgerow.methods", OURS)
"""Every method that is installed."""

SCORES: Registry = Registry(
    "score",
    "hedgerow.scores",
    {
        name: f"hedgerow.methods.scores:{name.upper()}"
        for name in ("max", "ncp", "discernibility", "gini", "infogain", "purity")
    },
)
"""Every score by which values are chosen for specialization."""
