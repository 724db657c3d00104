"""Drawing generalizations: both ways follow the law they say, and a twin without it is caught.

Error rates are computed. With n draws from a law on m outcomes the total variation distance of
the frequencies from the law exceeds sqrt(m / n) / 2 + t with probability at most exp(-2 n t^2)
(the mean is at most sqrt(m / n) / 2; one draw moves the distance by at most 1 / n).
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from hedgerow.methods import supermodular as sampling
from hedgerow.optimize.exact import lattice
from hedgerow.optimize.model import (
    Aim,
    Forest,
    Problem,
    Record,
    Side,
    Worth,
)
from hedgerow.privacy.keystream import Keystream
from hedgerow.privacy.sampler import SecureSampler
from hedgerow.schema import Schema

pytestmark = pytest.mark.slow

ATTRIBUTES = Schema.from_dict(
    {
        "name": "simulated",
        "unit": "row",
        "attributes": {
            "age": {"type": "numeric", "low": 0, "high": 3},
            "job": {"type": "categorical", "taxonomy": {"L": ["a", "b"], "R": ["c", "d"]}},
            "ill": {"type": "boolean"},
        },
    }
).columns
FOREST = Forest.of(ATTRIBUTES)
CODES = np.random.default_rng(4).integers(0, (4, 4, 2), (40, 3))
SIDE = Side.of(FOREST, CODES)
WORTH = Worth.of(FOREST, ATTRIBUTES, "log", "fixed", None, 1.0)
PROBLEM = Problem(FOREST, SIDE, WORTH)
LEAVES = FOREST.leaves(CODES[:1])
FACTOR = np.ones((1, 3))
CASES = [
    (Aim(trade=0.05), 1.0),
    (Aim(trade=0.05, kappa=2), 0.5),
    (Aim(risk=0.3), 1.0),
    (Aim(trade=1.0), 0.0),
]
DRAWS, FAILURE = 20_000, 1e-9
MOVES, WALKS = 2, 2000  # short walks: the law after any number of moves is known exactly


def target(aim, sharpness):
    _, utility, sensitivity, counts = lattice(PROBLEM, LEAVES[0], FACTOR[0])
    law = sampling._law(aim, sharpness, utility, sensitivity, counts)
    return law / law.sum()


def distance(draws, law):
    """Total variation between frequencies and a law, and what it may be."""
    share = np.bincount(draws, minlength=len(law)) / len(draws)
    slack = math.sqrt(math.log(1 / FAILURE) / (2 * len(draws)))
    return abs(share - law).sum() / 2, math.sqrt(len(law) / len(draws)) / 2 + slack


def numbered(nodes, numbers=None):
    """Places in the lattice, the last attribute fastest."""
    chains = [FOREST.chain(i, int(c)) for i, c in enumerate(CODES[0])]
    steps = [[chains[i].index(int(n)) for i, n in enumerate(row)] for row in nodes]
    place = np.ravel_multi_index(np.array(steps).T, [len(chain) for chain in chains])
    return place if numbers is None else np.repeat(place, numbers)


@pytest.mark.parametrize("aim, sharpness", CASES)
def test_listed_lattices_follow_the_law(aim, sharpness):
    where = (PROBLEM._replace(aim=aim), sharpness, LEAVES, FACTOR, np.array([DRAWS]))
    nodes, numbers = sampling.draw_nodes(*where, SecureSampler(Keystream(seed=1)).words)
    assert numbers.sum() == DRAWS
    found, most = distance(numbered(nodes, numbers), target(aim, sharpness))
    assert found <= most


def moves(record, aim, sharpness, weighted=True):
    """The law of one move from every point, by listing all maximal chains."""
    heights = record.heights
    points = list(itertools.product(*(range(h + 1) for h in heights)))
    place = {point: i for i, point in enumerate(points)}
    steps = [i for i, h in enumerate(heights) for _ in range(h)]
    found = np.zeros((len(points), len(points)))
    through = np.zeros(len(points))
    for order in set(itertools.permutations(steps)):
        chain = np.zeros((len(steps) + 1, len(heights)), np.int64)
        for at, attribute in enumerate(order):
            chain[at + 1] = chain[at]
            chain[at + 1, attribute] += 1
        counts = np.array([record.count(point) for point in chain])
        law = sampling._log_law(
            aim, sharpness, record.utilities(chain), record.sensitivities(chain), counts
        )
        if weighted:
            law = law - sampling._log_chains(heights, chain)
        law = np.exp(law - law.max())
        members = [place[tuple(point)] for point in chain.tolist()]
        for member in members:
            found[member, members] += law / law.sum()
            through[member] += 1
    return (found / through[:, None]) @ axis_moves(record, aim, sharpness, points)


def axis_moves(record, aim, sharpness, points):
    """The law of drawing one attribute anew."""
    grid = np.array(points)
    counts = np.array([record.count(point) for point in grid])
    law = np.exp(
        sampling._log_law(
            aim, sharpness, record.utilities(grid), record.sensitivities(grid), counts
        )
    )
    found = np.zeros((len(grid), len(grid)))
    for place in range(grid.shape[1]):
        others = np.delete(grid, place, axis=1)
        same = (others[:, None] == others[None]).all(axis=2)
        total = np.maximum((same * law).sum(axis=1), 1e-300)
        found += same * law / total[:, None] / grid.shape[1]
    return found


@pytest.mark.parametrize("aim, sharpness", CASES)
def test_moves_keep_the_law(aim, sharpness):
    record = Record.of(PROBLEM, LEAVES[0], FACTOR[0])
    law, one = target(aim, sharpness), moves(record, aim, sharpness)
    assert np.allclose(law @ one, law, atol=1e-12)
    # from the top, after all moves, hardly anything is left of where they began
    after = np.linalg.matrix_power(one, sampling.STEPS)[-1]
    assert abs(after - law).sum() / 2 < 1e-4


def drawn(aim, sharpness, number):
    record = Record.of(PROBLEM, LEAVES[0], FACTOR[0])
    words = SecureSampler(Keystream(seed=2)).words
    ends = [sampling.sample_point(record, aim, sharpness, words, MOVES) for _ in range(number)]
    return np.ravel_multi_index(np.array(ends).T, record.heights + 1)


def law_of_walks(aim, sharpness, weighted=True):
    """Where walks from the top are after some moves."""
    record = Record.of(PROBLEM, LEAVES[0], FACTOR[0])
    return np.linalg.matrix_power(moves(record, aim, sharpness, weighted), MOVES)[-1]


@pytest.mark.kernels
@pytest.mark.parametrize(
    "aim, sharpness", [pytest.param(*CASES[0], marks=pytest.mark.long), *CASES[1:3]]
)
def test_both_ways_agree(aim, sharpness):
    """Walks have the law of the moves, which keep and reach that of the listed lattice."""
    found, most = distance(drawn(aim, sharpness, WALKS), law_of_walks(aim, sharpness))
    assert found <= most


def test_a_sampler_that_weighs_chains_wrongly_is_caught(monkeypatch):
    """The broken twin: it keeps another law, and the test of agreement sees it."""
    record = Record.of(PROBLEM, LEAVES[0], FACTOR[0])
    aim, sharpness = Aim(trade=1.0), 0.0
    law, walks = target(aim, sharpness), law_of_walks(aim, sharpness)
    other = moves(record, aim, sharpness, weighted=False)
    assert not np.allclose(law @ other, law, atol=1e-3)
    right = sampling._log_chains
    monkeypatch.setattr(sampling, "_log_chains", lambda *where: -right(*where))
    found, most = distance(drawn(aim, sharpness, WALKS), walks)
    assert found > most
    # the mean of `found` is no smaller than the distance of the two laws
    apart = abs(law_of_walks(aim, sharpness) - walks).sum() / 2
    assert apart > most and math.exp(-2 * WALKS * (apart - most) ** 2) < 1e-11  # it is missed


def test_large_lattices_are_walked():
    where = (PROBLEM._replace(aim=Aim(risk=0.3)), 2.0, LEAVES, FACTOR, np.array([5]))
    nodes, numbers = sampling.draw_nodes(*where, SecureSampler(Keystream(seed=3)).words, largest=1)
    assert numbers.sum() == 5
    law = target(Aim(risk=0.3), 2.0)
    assert (law[numbered(nodes)] > 0).all()


def test_the_law_is_what_the_settings_say():
    """By hand: what a risk forbids is never drawn, and the rest by utility or by value."""
    utility, sensitivity = np.array([3.0, 2.0, 1.0, 0.0]), np.array([1.0, 1.0, 2.0, 1.0])
    counts = np.array([0, 2, 3, 40])
    log_law = sampling._log_law(Aim(risk=0.5), 1.5, utility, sensitivity, counts)
    assert log_law.tolist() == [-np.inf, 3.0, -np.inf, 0.0]
    nothing = sampling._log_law(Aim(risk=0.001), 1.5, utility, sensitivity, counts)
    assert nothing.tolist() == [-np.inf, -np.inf, -np.inf, 0.0]
    log_law = sampling._log_law(Aim(trade=0.1, kappa=2), 2.0, utility, sensitivity, counts)
    assert log_law == pytest.approx([2 * 9.0, 2 * (0.2 + 4), 2 * (0.15 + 1), 2 * 4.0])
    law = sampling._law(Aim(trade=0.1, kappa=2), 2.0, utility, sensitivity, counts)
    assert law == pytest.approx(np.exp(log_law - 18))
    with_zero = sampling._log_law(Aim(risk=0.5), 1.0, utility, np.zeros(4), counts)
    assert with_zero.tolist() == [-np.inf, 2.0, 1.0, 0.0]  # nobody is no group to hide in


def test_the_law_of_the_least_risk():
    """What has less utility than is asked for is never drawn, unless nothing has as much."""
    utility, sensitivity = np.array([3.0, 2.0, 1.0, 0.0]), np.array([1.0, 1.0, 2.0, 1.0])
    counts = np.array([0, 2, 3, 40])
    log_law = sampling._log_law(Aim(utility=1), 1.5, utility, sensitivity, counts)
    assert log_law.tolist() == pytest.approx([-np.inf, -1.5 / 2, -1.5 * 2 / 3, -np.inf])
    for least in (2.5, 9):
        nothing = sampling._log_law(Aim(utility=least), 1.5, utility, sensitivity, counts)
        assert nothing.tolist() == pytest.approx([-np.inf] * 3 + [-1.5 / 40])


@pytest.mark.parametrize(
    "aim, width", [(Aim(risk=0.3), 10**4), (Aim(utility=4.0), 10), (Aim(trade=0.1), 10**4)]
)
def test_the_frontier_holds_stricter_and_laxer_settings(aim, width):
    """A utility has a largest value, so that its settings lie closer to each other."""
    found = sampling.frontier(PROBLEM._replace(aim=aim))
    setting = next(key for key in found["points"][0] if key not in ("risk", "utility"))
    settings = [point[setting] for point in found["points"]]
    assert settings == sorted(set(settings)) and len(settings) == 9
    assert settings[-1] / settings[0] == pytest.approx(width)
    assert found["chosen"][setting] == aim.setting and found["chosen"] in found["points"]


def test_nobody_is_drawn_for():
    nobody = (np.zeros((0, 3), np.int32), np.zeros((0, 3)), np.zeros(0, np.int64))
    where = (PROBLEM._replace(aim=Aim(risk=0.3)), 1.0)
    nodes, numbers = sampling.draw_nodes(*where, *nobody, SecureSampler(Keystream(seed=1)).words)
    assert nodes.shape == (0, 3) and numbers.shape == (0,)


def test_every_random_number_decides_one_thing(monkeypatch):
    """A number that decided two would tie them together, and the walk would keep another law."""
    record, given, used = Record.of(PROBLEM, LEAVES[0], FACTOR[0]), [], []
    words = SecureSampler(Keystream(seed=4)).words
    pick, chain = sampling._pick, sampling._chain_through

    def drawn(number):
        given.append(words(number))
        return given[-1]

    def picked(log_weight, one):
        used.append(float(one))
        return pick(log_weight, one)

    def through(record, point, several):
        used.extend(several.tolist())
        return chain(record, point, several)

    monkeypatch.setattr(sampling, "_pick", picked)
    monkeypatch.setattr(sampling, "_chain_through", through)
    sampling.sample_point(record, Aim(trade=0.05), 1.0, drawn, steps=9)
    numbers = [sampling.uniforms(lambda _, one=one: one, len(one)).tolist() for one in given]
    # the second one of each move says which attribute is drawn anew
    expected = [number for one in numbers for place, number in enumerate(one) if place != 1]
    assert sorted(used) == sorted(expected)
