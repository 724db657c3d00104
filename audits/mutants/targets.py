"""What is mutated, and which tests should notice: the quickest first.

Mutated is what holds the guarantee: everything in `privacy/`, what prices and draws in `methods/`,
the seals of `counting/`, the cap on rows per person, and the making of records of items. A module's
own examples (doctests) are run before its tests.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["DRAWN", "TARGETS", "Target", "target_of"]

DRAWN = 500
"""How many mutants are generated, unless a number is named."""


@dataclass(frozen=True, kw_only=True)
class Target:
    """A module and its tests.

    Args:
        path: The module, below `src/hedgerow`.
        tests: Files or single tests, in the order in which they are run.
        slow: Those that are run when all of these have passed.
        plain: Whether it is compiled by numba. Then it is run as plain Python by the quick tests:
            compiling a mutant takes longer than they do.
        drawn: Whether mutants are generated, or only those tried that were written by hand.
    """

    path: str
    tests: tuple[str, ...]
    slow: tuple[str, ...] = ()
    plain: bool = False
    drawn: bool = True

    def unlike_golden(self) -> tuple[str, ...]:
        """All tests but those that notice any difference from an earlier version."""
        golden = (GOLDEN, PRICES)
        if self.path == "privacy/sampler_kernels.py":
            kernels = f"{UNIT}/privacy/test_sampler_kernels.py::test_discrete_laplace"
            return (kernels, f"{UNIT}/privacy/test_sampler_gaussian.py::test_discrete_gaussian")
        every = (test for test in (*self.tests, *self.slow) if test not in golden)
        return tuple(test for test in every if not test.startswith("src/"))


UNIT, PRIVACY, CONTRACTS = "tests/unit", "tests/privacy", "tests/contracts"
GOLDEN = f"{CONTRACTS}/test_golden_runs.py"
PRICES = f"{CONTRACTS}/test_golden_plans.py"
FORCED, FILES = f"{PRIVACY}/test_forced.py", f"{PRIVACY}/test_from_files.py"
TABLES = (
    f"{PRIVACY}/test_replay.py::test_permute_and_flip_where_weights_are_equal",
    f"{PRIVACY}/test_replay.py::test_sparse_release",
    f"{PRIVACY}/test_replay.py::test_every_published_path_spends_exactly_the_grant",
    f"{PRIVACY}/test_replay.py::test_random_schemas",
    FORCED,
    f"{CONTRACTS}/test_publishers.py",
    f"{PRIVACY}/test_replay.py",
)
TRANSACTIONS = (FORCED, FILES, f"{PRIVACY}/test_replay_transactions.py")
ROWS = (f"{PRIVACY}/test_rows.py",)
BOOKS = (f"{UNIT}/methods/test_api.py", "tests/cli/test_cli_ledger.py")
CLUSTERS = (f"{PRIVACY}/test_replay_clusters.py", FORCED, FILES)
SURVIVORS = f"{PRIVACY}/test_survivors.py"
_LATE = f"{PRIVACY}/test_marginals.py"
MARGINALS = (
    f"{_LATE}::test_draws_decide_everything",
    f"{_LATE}::test_late_steps",
    f"{_LATE}::test_what_a_pair_was_to_cost_counts_attributes_again_if_none_is_chosen",
    f"{_LATE}::test_random_schemas",
    f"{_LATE}::test_replay_finds_nothing_in_sound_code",
)


# those of its tests that plain Python is not too slow for: no large samples, no enumerations
SAMPLERS = tuple(
    f"{UNIT}/privacy/test_sampler_kernels.py::test_{name}"
    for name in (
        "the_same_words_give_the_same_draws",
        "below_is_uniform_bit_by_bit",
        "below_reaches_both_ends_of_a_huge_range",
        "below_reaches_every_bit",
        "draws_do_not_depend_on_how_the_stream_is_cut",
        "an_item_that_ran_dry_leaves_earlier_items_alone",
        "permute_and_flip_with_a_huge_gap",
    )
) + tuple(
    f"{UNIT}/privacy/test_sampler_gaussian.py::test_{name}"
    for name in (
        "the_same_words_give_the_same_draws",
        "strides_at_the_ends",
        "a_stride_is_the_least_that_bounds_the_proposal",
        "draws_do_not_depend_on_how_the_stream_is_cut",
        "an_item_does_not_depend_on_the_rates_before_it",
    )
)


SAMPLING = f"{UNIT}/methods/test_sampling.py"
SCORES = (
    f"{UNIT}/methods/test_large_scores.py",
    *(
        f"{UNIT}/methods/test_scores.py::test_{name}"
        for name in (
            "one_fixed_cut_scores_as_it_does_among_all",
            "weights_share_one_attributes_worth_among_its_cuts",
            "nodes_that_are_not_asked_have_no_candidates",
            "large_counts_do_not_overflow",
            "the_stated_bounds",
            "logarithms_of_powers_of_two_are_exact",
            "logarithms_beside_powers_of_two",
            "roots_are_exact",
            "a_grid_beyond_all_grids_has_weight_left_for_each_cut",
            "a_child_without_classes_counts_for_nothing",
            "nobody_and_one_alone_have_no_entropy",
        )
    ),
)


def _target(path: str, *tests: str, slow: tuple[str, ...] = (), plain: bool = False) -> Target:
    room, _, name = path.removesuffix(".py").rpartition("/")
    own = (f"src/hedgerow/{path}", f"{UNIT}/{room}/test_{name}.py")
    return Target(path=path, tests=(*own, *tests), slow=slow, plain=plain)


def _unit(room: str, *names: str) -> tuple[str, ...]:
    return tuple(f"{UNIT}/{room}/test_{name}.py" for name in names)


_LEDGER = _unit("ledger", "ledger", "booking", "file")
_FORGED = _unit("verification", "charges", "marginals", "verify", "entries")
_PLANS = (*_unit("methods", "settings"), *_unit("methods", "plan"), PRICES)

TARGETS: tuple[Target, ...] = (
    _target(
        "privacy/budget.py",
        *_unit("privacy", "curator"),
        *_PLANS,
        f"{PRIVACY}/test_gaussian.py",
        GOLDEN,
        slow=TABLES,
    ),
    _target("privacy/ledger.py", *_unit("privacy", "curator"), GOLDEN, slow=TABLES),
    _target(
        "privacy/curator.py",
        *_unit("privacy", "gate"),
        f"{PRIVACY}/test_gaussian.py",
        GOLDEN,
        slow=(*TRANSACTIONS, *ROWS, *TABLES),
    ),
    _target("privacy/keystream.py", GOLDEN, slow=_unit("privacy", "sampler")),
    _target(
        "privacy/sampler.py",
        *_unit("privacy", "binomial"),
        GOLDEN,
        slow=(*_unit("privacy", "suppression", "sampler_laws"), *ROWS, *TRANSACTIONS),
    ),
    Target(
        path="privacy/sampler_kernels.py",
        tests=SAMPLERS,
        slow=_unit("privacy", "sampler_kernels", "sampler_gaussian", "sampler_laws"),
        plain=True,
    ),
    _target("privacy/suppression.py", *_unit("methods", "supermodular")),
    *(_target(f"ledger/{name}.py", *_LEDGER, slow=BOOKS) for name in ("ledger", "file")),
    _target(
        "methods/plan.py",
        *_unit("methods", "rules"),
        PRICES,
        GOLDEN,
        *_unit("methods", "supermodular"),
        slow=(f"{PRIVACY}/test_plans.py", *TABLES, *ROWS, *TRANSACTIONS),
    ),
    Target(
        path="methods/scores.py",
        tests=(GOLDEN, *SCORES),
        slow=(f"{UNIT}/methods/test_weights.py", *_unit("methods", "scores", "numpy_scores")),
        plain=True,
    ),
    _target("methods/marginals.py", PRICES, GOLDEN, slow=MARGINALS),
    _target("counting/engine.py", *_unit("counting", "tables"), GOLDEN, slow=MARGINALS),
    _target("verification/rules.py", SURVIVORS, *_FORGED),
    _target("verification/marginals.py", *_FORGED),
    Target(path="sklearn.py", tests=(SURVIVORS,), drawn=False),
    Target(path="data/text.py", tests=(SURVIVORS,), drawn=False),
    _target("methods/diffmulti.py", *_PLANS, *_unit("methods", "tree"), GOLDEN, slow=TABLES),
    _target(
        "methods/diffgen.py",
        *_PLANS,
        *_unit("methods", "cuts"),
        GOLDEN,
        slow=(f"{UNIT}/methods/test_weights.py", *TABLES),
    ),
    _target("methods/cdiffgen.py", *_PLANS, GOLDEN, slow=TABLES),
    _target(
        "methods/diffpart.py",
        *_PLANS,
        *_unit("methods", "partition_tree"),
        GOLDEN,
        slow=TRANSACTIONS,
    ),
    _target("methods/clusters.py", GOLDEN, slow=CLUSTERS),
    _target(
        "methods/supermodular.py",
        *_unit("methods", "settings"),
        PRICES,
        GOLDEN,
        f"{SAMPLING}::test_every_random_number_decides_one_thing",
        f"{SAMPLING}::test_the_law_is_what_the_settings_say",
        f"{SAMPLING}::test_the_law_of_the_least_risk",
        f"{SAMPLING}::test_the_frontier_holds_stricter_and_laxer_settings",
        f"{SAMPLING}::test_nobody_is_drawn_for",
        slow=(*ROWS, SAMPLING),
    ),
    _target("methods/api.py", *_unit("methods", "payment", "room")),
    _target("methods/publisher.py", *_PLANS, GOLDEN, slow=TABLES),
    _target("counting/sealed.py"),
    _target("counting/items.py", f"{CONTRACTS}/test_item_engines.py", GOLDEN, slow=TRANSACTIONS),
    _target(
        "counting/streamed.py",
        *_unit("counting", "people"),
        f"{CONTRACTS}/test_item_engines.py",
        slow=(f"{CONTRACTS}/test_engines.py", f"{CONTRACTS}/test_same_release.py", FILES),
    ),
    _target("data/people.py", *_unit("data", "person", "weights", "locality"), SURVIVORS),
    Target(
        path="data/lookup.py",
        tests=_unit("data", "transactions", "records_locality"),
        slow=(FILES,),
    ),
)


def target_of(path: str) -> Target:
    """The target of a module; one that is not listed is tried by everything that attacks."""
    return next(
        (t for t in TARGETS if t.path == path), Target(path=path, tests=(GOLDEN, "tests/privacy"))
    )
