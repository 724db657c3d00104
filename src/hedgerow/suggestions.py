"""Wrong names, wrong arguments and settings of the wrong type are answered by what to write.

People write what they know from frames and estimators. A class that inherits `Suggestions` answers
names that it lacks, and `@answer_mistakes` lets a function answer arguments that it lacks or
misses, both from the tables below and by what is spelt most alike. `check_fields` and
`check_arguments` have pydantic compare values with annotations, strictly: `thorough="no"` is true
where Python asks whether it is, and `depth=True` is 1 where it counts.

In the tables `{one}` and its like are filled in by the object, with names of its own schema.
"""

from __future__ import annotations

import inspect
import math
import operator
import types
import typing
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from difflib import get_close_matches
from functools import cache, wraps
from typing import TYPE_CHECKING, Any, ClassVar, Never, SupportsIndex, TypeVar, cast

from hedgerow.errors import ArgumentError, UsageError

_Thing = TypeVar("_Thing", bound=Callable[..., Any])


class Suggestions:
    """What answers names that it lacks by what to write."""

    _suggestions: ClassVar[Mapping[str, str]] = {}
    """By name: what to write instead, or where the name is there, how it is called."""

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Never:
            what = f"{type(self).__name__} has no attribute {name!r}"
            private = name.startswith("_")  # as dir() may ask for
            known = () if private else dir(self)
            answer = answer_name(name, known, self._suggestions, self._suggest)
            raise AttributeError(f"{what}{answer}", name=name)

    def _suggest(self, name: str) -> str | None:
        """What to write for a name that is not there, or was called wrongly."""
        return fill(self._suggestions, name, self._examples)

    def _examples(self) -> Mapping[str, str]:
        """What stands in the places of the suggestions, such as names of the schema at hand."""
        return {}


def answer_mistakes(thing: _Thing) -> _Thing:
    """Lets a function, or the making of a class, answer arguments that it does not have, or lacks.

    Args:
        thing: The function, method or class.

    Example:
        >>> @answer_mistakes
        ... def bake(epsilon: int = 1) -> None: ...
        >>> bake(eps=3)
        Traceback (most recent call last):
        hedgerow.errors.ArgumentError: bake has no argument 'eps'.
          Write epsilon=3.
    """
    if inspect.isclass(thing):
        thing.__init__ = answer_mistakes(thing.__init__)  # type: ignore[method-assign]
        return thing

    names = inspect.signature(thing).parameters
    # a run with a seed is not private, and nobody should say so by habit
    seeded = "seed" in names and "random_state" not in names and "epsilon" not in names
    asks = [*names][:2] == ["self", "queries"]

    @wraps(thing)
    def call(*args: Any, **given: Any) -> Any:
        if "random_state" in given and seeded:  # what scikit-learn calls it
            state = given.pop("random_state")
            draw = getattr(state, "randint", getattr(state, "integers", None))
            given["seed"] = state if draw is None else int(draw(1 << 31))
        if asks and len(args) == 1 and "queries" not in given:  # count(age=50), or all: count()
            met = {name: given.pop(name) for name in given.keys() - names if name in args[0].schema}
            if not given.keys() - names:
                return thing(*args, met, **given) if met else args[0].count_all(**given)
            given |= met
        try:
            return thing(*args, **given)
        except TypeError:  # only now, so that calls that are right cost nothing
            wrong = _wrong_call(thing, args, given)
            if wrong is None:
                raise
        raise wrong

    return cast(_Thing, call)


def nearest(wrong: str, known: Iterable[str]) -> str | None:
    """The public name that is spelt most like a wrong one, if any is; case does not matter.

    Example:
        >>> nearest("diffmult", ["DiffGen", "DiffMulti"])
        'DiffMulti'
    """
    folded = {name.casefold(): name for name in known if not name.startswith("_")}
    close = get_close_matches(wrong.casefold(), folded, 1, cutoff=0.75)  # depth is not delta
    return folded[close[0]] if close else None


def as_text(name: str) -> str:
    """A text as it is written in Python, in double quotes if it has none.

    Example:
        >>> print(as_text("age"), as_text('"age"'))
        "age" '"age"'
    """
    return f'"{repr(name)[1:-1]}"' if not {'"', "'"} & set(name) else repr(name)


def fill(
    table: Mapping[str, str], name: str, examples: Callable[[], Mapping[str, str]] = dict
) -> str | None:
    """What a table has for a name, with examples in its places."""
    if name not in table:
        return None
    return table[name].format_map(defaultdict(lambda: "...", examples(), name=name))


def answer_name(
    name: str,
    known: Iterable[str],
    table: Mapping[str, str],
    suggest: Callable[[str], str | None],
) -> str:
    """The end of an error about a name that is not there, or nothing.

    Args:
        name: The name.
        known: The names that are there.
        table: Names that are answered by what to write; one that is spelt alike will do.
        suggest: What to write for a name.
    """
    if name.startswith("_"):
        return ""
    there = [*known]
    meant, close = suggest(name), nearest(name, [*there, *table])
    if meant is None and close is not None and close not in there:
        meant = suggest(close)
    return f"; write {meant}" if meant else f"; did you mean {close}?" if close else ""


def _wrong_call(
    function: Any, args: tuple[Any, ...], given: Mapping[str, Any]
) -> ArgumentError | None:
    """What a call that Python refuses should have been; None if its arguments are not the cause."""
    signature = inspect.signature(function)
    try:
        signature.bind(*args, **given)
        return None
    except TypeError:
        called = function.__name__ if function.__name__ != "__init__" else type(args[0]).__name__
    known = list(signature.parameters.values())
    own = bool(known) and known[0].name in ("self", "cls")
    names = [one.name for one in known[own:]]
    wrong = next((name for name in given if name not in names), None)
    if wrong is not None:
        return _wrong_argument(called, wrong, given[wrong], names)
    by_place = [one.name for one in known if one.kind is one.POSITIONAL_OR_KEYWORD]
    if len(args) > len(by_place):
        number = len(by_place) - own
        others = ", ".join(f"{name}=..." for name in names[number:] or names)
        hint = f"Name the others: {others}." if names else "Write it with empty brackets."
        if names[:1] == ["queries"] and all(isinstance(one, str) for one in args[own:]):
            hint = f"Write release.{called}([{', '.join(map(as_text, args[own:]))}])."
        how_many = f"at most {number} of its arguments" if number else "no argument"
        message = f"{called} takes {how_many}{' without a name' if names else ''}."
        return ArgumentError(message, hint=hint)
    done = {*given, *by_place[: len(args)]}
    missing = [one.name for one in known if one.default is one.empty and one.name not in done]
    if not missing:  # one was given by place and by name
        return None
    message = f"{called} needs {' and '.join(missing)}."
    hint = f"Write {', '.join(f'{name}=...' for name in missing)}."
    owner = args[0] if own and args else None
    if isinstance(owner, Suggestions):
        meant = owner._suggest(called)
    else:  # a class method, or a function
        meant = fill(getattr(owner, "_suggestions", {}), called)
    return ArgumentError(message, hint=f"Write {meant}." if meant else hint)


def _wrong_argument(called: str, name: str, value: object, known: list[str]) -> ArgumentError:
    other = _ARGUMENTS.get(name)
    meant = other if other in known else nearest(name, known)
    text = repr(value) if isinstance(value, bool | int | float | str) else "..."
    if name == "random_state" and meant == "seed":
        hint = "Noise has no seed: leave it out. For tests, seed=0 makes a release that protects "
        hint += "nobody."
    elif meant is not None:
        hint = f"Write {meant}={text}."
    elif name == "frac" and "n" in known:
        hint = "Write n=1000, or leave it out for as many as the release counts."
    elif known[:1] == ["queries"]:  # conditions on attributes, as Django and SQLAlchemy take them
        hint = f'Write release.count({{"{name}": {text}}}).'
    elif name in ("epsilon", "delta"):
        hint = f"Give it to hedgerow.publish(data, schema, method, {name}={text})."
    elif name in ("label", "target", "y") and "schema" in known:
        hint = "The class stands in the schema: as an attribute with role: class."
    elif "method" in known:
        hint = f"A method has its own settings: method=hedgerow.DiffMulti({name}={text})."
        hint += f" Arguments are {', '.join(known)}."
    else:
        hint = f"Its arguments are {', '.join(known)}." if known else "It takes none."
    return ArgumentError(f"{called} has no argument {name!r}.", hint=hint)


# Values of the wrong type. True and false are not numbers, a whole number will do where a number is
# asked for, infinities and "not a number" are no numbers.


def check_fields(settings: Any) -> None:
    """Compares every field of a dataclass with its annotation; call it in `__post_init__`.

    Numbers and truth values of NumPy become Python's, since a release states its settings in JSON.

    Args:
        settings: An instance.

    Raises:
        UsageError: Names the field, the type of what it was given and what it takes.

    Example:
        >>> from dataclasses import dataclass
        >>> @dataclass(frozen=True)
        ... class Oven:
        ...     degrees: int = 180
        ...     fan: bool = False
        ...     def __post_init__(self):
        ...         check_fields(self)
        >>> Oven(fan="no")
        Traceback (most recent call last):
        hedgerow.errors.UsageError: fan cannot be of type str.
          It takes True or False.
    """
    kind: Any = type(settings)
    hints = _hints(kind)
    for field in fields(settings):
        value = getattr(settings, field.name)
        if value is field.default:
            continue  # without loading pydantic
        if type(value).__module__ == "numpy" and getattr(value, "ndim", None) == 0:
            value = value.item()
            object.__setattr__(settings, field.name, value)
        _check(field.name, value, hints[field.name])


class Checked:
    """A dataclass whose fields are compared with their annotations when it is made."""

    __post_init__ = check_fields


def check_arguments(function: Callable[..., Any], given: Mapping[str, Any]) -> None:
    """Compares the arguments of a call with the function's annotations.

    Args:
        function: The function.
        given: Arguments by name, such as `locals()` in its first line; others are passed over.

    Raises:
        UsageError: Names the argument, the type of what it was given and what it takes.

    Example:
        >>> def bake(minutes: int, gently: bool = False) -> None:
        ...     check_arguments(bake, locals())
        >>> bake(True)
        Traceback (most recent call last):
        hedgerow.errors.UsageError: minutes cannot be of type bool.
          It takes a whole number.
    """
    for name, hint in _hints(function).items():
        if name != "return" and name in given:
            _check(name, given[name], hint)


def whole(name: str, value: object) -> int:
    """A whole number of Python or NumPy as Python's.

    Args:
        name: The argument.
        value: What it was given.

    Raises:
        UsageError: Names the argument, and what to write.

    Example:
        >>> whole("seed", 3.0)
        Traceback (most recent call last):
        hedgerow.errors.UsageError: seed must be a whole number.
          Write seed=3.
    """
    if isinstance(value, SupportsIndex) and not isinstance(value, bool):
        return operator.index(value)
    given = isinstance(value, float) and math.isfinite(value)
    given = given or (isinstance(value, str) and value.isdecimal() and len(value) < 20)
    meant = int(typing.cast(float, value)) if given else 1
    raise UsageError(f"{name} must be a whole number.", hint=f"Write {name}={meant}.")


def members(hint: Any) -> tuple[Any, ...]:
    """The members of a union, or the one type."""
    union = typing.get_origin(hint) in (typing.Union, types.UnionType)
    return typing.get_args(hint) if union else (hint,)


@cache
def _hints(of: Any) -> dict[str, Any]:
    return typing.get_type_hints(of)


@cache
def _adapter(hint: Any) -> Any:
    from pydantic import ConfigDict, TypeAdapter  # which takes a moment to load

    config = ConfigDict(strict=True, arbitrary_types_allowed=True, allow_inf_nan=False)
    return TypeAdapter(_by_instance(hint), config=config)


def _by_instance(hint: Any) -> Any:
    """The annotation, where records of ours are right if they could be made."""
    from pydantic import GetPydanticSchema
    from pydantic_core.core_schema import is_instance_schema

    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if is_dataclass(hint):  # whose own fields pydantic needs not look at
        return typing.Annotated[Any, GetPydanticSchema(lambda *_: is_instance_schema(hint))]
    if origin in (typing.Union, types.UnionType):
        return typing.Union[tuple(map(_by_instance, inner))]  # noqa: UP007
    if origin in (tuple, dict, Mapping):
        return origin[tuple(map(_by_instance, inner))]
    return hint


_WORDS = {
    "bool_type": "True or False",
    "callable_type": "a function",
    "finite_number": "a number",
    "float_type": "a number",
    "int_type": "a whole number",
    "string_type": "text",
}


def _check(name: str, value: Any, hint: Any) -> None:
    from pydantic import ValidationError

    try:
        _adapter(hint).validate_python(value)
    except ValidationError as error:
        wrong = error.errors(include_url=False)
    else:
        return
    literals = [one for one in members(hint) if typing.get_origin(one) is typing.Literal]
    words = [word for one in literals for word in typing.get_args(one)]
    if words and isinstance(value, str):
        choices = ", ".join(word if word.isidentifier() else repr(word) for word in words)
        raise UsageError(f"{name} cannot be {value!r}.", hint=f"Use one of: {choices}.")
    accepted = [repr(word) for word in words]
    for one in wrong:
        context = one.get("ctx", {})
        word = context.get("class") or context.get("class_name") or _WORDS.get(one["type"])
        accepted += [] if one["type"] == "literal_error" else [word or one["type"].split("_")[0]]
    accepted += ["None"] if type(None) in members(hint) else []
    accepted = list(dict.fromkeys(accepted))
    takes = accepted[0] if len(accepted) == 1 else f"{', '.join(accepted[:-1])} or {accepted[-1]}"
    what = f"cannot be of type {type(value).__name__}"
    if any(one["type"] == "finite_number" for one in wrong):
        what = "must be a finite number"
    elif any(one["input"] is not value for one in wrong):
        what = "holds something of the wrong type"
    raise UsageError(f"{name} {what}.", hint=f"It takes {takes}.")


# What people write, and what to write here.


def _table(rows: Mapping[str, str]) -> dict[str, str]:
    """One entry for each of the names that a row begins with."""
    return {name: meant for names, meant in rows.items() for name in names.split()}


_ARGUMENTS = _table(
    {
        "confidence confidence_level": "level",
        "df raw source": "data",
        "eps": "epsilon",
        "generalisations generalizations specialisations": "specializations",
        "n_samples num_rows size": "n",
        "normalize proportions": "share",
        "output path": "out",
        "random_seed random_state rng": "seed",
        "seed": "random_state",
    }
)
"""What other libraries, British English and 0.1 call an argument, and what it is called here."""

OPTIONS = {
    "--catalogue": "--catalog",
    "--specialisations": "--specializations",
}
"""The same for options of the command line."""

COMMANDS = {
    "reproduce": "The papers' figures are run from a checkout of hedgerow: python -m papers --list"
}
"""And for its commands: a sentence."""

_CHECK = "`hedgerow check schema.yaml --data people.csv` in a terminal"
_PLAN = "hedgerow.Marginals().plan(schema, epsilon=1)"
_PUBLISH = "hedgerow.publish(data, schema, epsilon=1)"

MODULE = _table(
    {
        "AccountBook Ledger": "hedgerow.BudgetLedger(path), and .open(name, epsilon=3) on it",
        "Attribute Categorical Numeric": "`from hedgerow.schema import {name}`",
        "BasketRelease": "hedgerow.TransactionsRelease",
        "HedgerowError UsageError": "hedgerow.errors.{name}",
        "RegionClassifier Synthesizer": "`from hedgerow.sklearn import {name}`",
        "anonymize fit fit_transform generate": _PUBLISH,
        "audit": "`hedgerow audit --method diffmulti` in a terminal",
        "check": _CHECK,
        "count query save synthesize table": "release.{name}(...), where release = " + _PUBLISH,
        "draft infer_schema": "hedgerow.Schema.draft(data), or `hedgerow init people.csv` in a "
        "terminal",
        "load_dataset": "hedgerow.sample.people(1000), a simulated table",
        "load_schema": 'hedgerow.Schema.load("schema.yaml")',
        "open read": "hedgerow.load(path)",
        "plan": _PLAN,
        "publish_transactions": 'hedgerow.publish(pandas.DataFrame({{"items": baskets}}), schema, '
        "epsilon=1), with the items in the schema",
        "read_csv read_excel read_parquet": "hedgerow.publish(path, schema): it reads CSV, Parquet "
        "and workbooks itself",
        "report": "`hedgerow report release/ --out report.html` in a terminal",
        "version": "hedgerow.__version__",
    }
)

SCHEMA = _table(
    {
        "check lint validate": f"{_CHECK}; publish checks the data",
        "describe info show": "print(schema.to_yaml())",
        "diff": "`hedgerow schema diff old.yaml new.yaml` in a terminal",
        "dump save to_file to_yaml write": 'schema.to_yaml("schema.yaml")',
        "keys names": "list(schema)",
        "to_json": "json.dumps(schema.to_dict())",
    }
)

METHOD = _table(
    {
        "delta epsilon fit generate publish run sample transform": "hedgerow.publish(data, schema, "
        "method=hedgerow.{method}(), epsilon=1)",
        "get_params params": "method.settings()",
        "plan": "hedgerow.{method}().plan(schema, epsilon=1)",
    }
)

PLAN = _table(
    {
        "delta epsilon": "plan.budget.{name}",
        "error": "`hedgerow plan --schema schema.yaml --rows 1000 --simulate` in a terminal",
        "publish run": "hedgerow.publish(data, schema, method, epsilon)",
        "to_pandas": "pandas.DataFrame(plan.lines())",
    }
)

LEDGER = _table(
    {
        "BudgetLedger": 'hedgerow.BudgetLedger("clinic.ledger")',
        "left remaining": "[(one.name, one.left) for one in ledger.accounts()]",
        "spend": "hedgerow.publish(data, schema, ledger=path), which books its budget",
    }
)

RELEASE = _table(
    {
        "accuracy evaluate": "hedgerow.evaluate(data, release); it is not private",
        "attributes items": "release.schema.columns",
        "audit": "`hedgerow audit --method {method}` in a terminal",
        "cells": "release.table({one})",
        "ci conf_int confidence_interval": "release.mean({number}, level=0.95), its low and high",
        "compare": "hedgerow.evaluate(data, release), or hedgerow.compare([release, other])",
        "corr cov": "release.to_pandas().{name}(numeric_only=True), an estimate, or "
        "release.table({one}, {two})",
        "correlation frequent rules table": "release.table({one}, {two})",
        "groupby pivot_table": "release.mean({number}, by={category}), or release.table({one}, "
        "{two}).pivot()",
        "count filter query where": "release.count({query}), or release.count_all()",
        "dump save to_yaml write": "release.save(folder)",
        "fit publish": _PUBLISH,
        "generate rows synthesise synthetic": "release.synthesize(1000)",
        "hist histogram": "release.plot({number}), or release.table({number}, bins={{{number}: "
        "[...]}})",
        "plot": "release.plot({one})",
        "html report": "release.to_html(path)",
        "load open read": "hedgerow.Release.load(path)",
        "max min std var": "release.to_pandas()[{number}].{name}(), an estimate",
        "mean sum": "release.{name}({number})",
        "n num_rows size total": "release.count_all()",
        "predict predict_proba": "release.{name}(rows), with a frame of the schema's attributes",
        "quantile": "release.quantile({number}, 0.5)",
        "score": "(release.predict(rows)[{target}] == truth).mean()",
        "sql": "duckdb.sql(\"SELECT sum(weight) FROM 'release/rows.parquet'\")",
        "transform": "release.assign(rows), which names the region of each",
        "nunique": "len(release.table({one}))",
        "verify": "hedgerow.verify(release)",
    }
)

ITEMS = RELEASE | _table(
    {
        "association_rules rules": "release.rules()",
        "attributes": "release.items",
        "corr cov crosstab groupby pivot_table": 'release.table("item", "item")',
        "count filter query support": "release.count({{{one}, {two}}})",
        "frequent frequent_itemsets": "release.frequent(20)",
        "max mean median min quantile std var": "release.count({one}), since items have counts "
        "alone",
        "plot": "release.plot()",
        "proportions share": 'release.table("item", share=True)',
        "table value_counts": 'release.table("item"), or release.table("item", "item") for pairs',
    }
)
"""The same for transactions."""

ROWS = _table(
    {
        "ci conf_int error interval std": '{called}["low"] and {called}["high"]',
        "count value": '{called}["estimate"]',
        "lower": '{called}["low"]',
        "mean round sum tolist": '{called}["estimate"].{name}()',
        "spread_high": '{called}["uniformity_high"]',
        "spread_low": '{called}["uniformity_low"]',
        "upper": '{called}["high"]',
    }
)
"""For answers and tables."""

JUDGMENT = _table(
    {
        "accuracy": "judgment.classification",
        "describe info report score show summary": "judgment.to_frame()",
        "get_score": "judgment.to_frame(), or judgment.k_marginal",
    }
)

ESTIMATOR = _table(
    {
        "fit": "model.fit(X, y)",
        "fit_transform": "model.fit(X).sample(1000)",
        "generate sample synthesize": "model.release_.synthesize(1000)",
        "release": "model.release_",
        "save": "model.release_.save(folder)",
        "transform": "model.release_.assign(X), which names the region of each",
    }
)

FRAME_NAMES = frozenset(_table({
    "T columns dtypes iloc index loc shape values": "",
    "agg apply astype corr describe drop dropna fillna filter groupby head info isna isnull": "",
    "iterrows itertuples melt merge nlargest pivot_table query rename reset_index": "",
    "set_index sort_values tail to_csv to_dict to_excel to_feather to_html to_json to_latex": "",
    "to_markdown to_numpy to_parquet to_records to_sql to_string unstack": "",
}))  # fmt: skip
"""What users of pandas ask of anything that has rows, and get of its rows as a frame."""
