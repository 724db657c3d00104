"""Mutants written by hand: one small edit each, of the kind that slips through a review.

Each of them breaks the guarantee of some method, or the accounting that holds it. The tests must
notice every one; `make mutants` puts them into copies of the source tree, one at a time, beside
the mutants that are generated. The verdicts stand in docs/privacy/audit.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

__all__ = ["BY_HAND", "ByHand", "apply", "by_name"]


@dataclass(frozen=True, kw_only=True)
class ByHand:
    """One edit, and why it is unsound.

    Args:
        name: What the mutant is called.
        path: The edited file, below `src/hedgerow`.
        old: Text that occurs in it exactly once.
        new: What stands there instead.
        flaw: Why that is unsound, in one sentence.
        notice: What kind of test should notice.
        method: The methods whose releases it spoils; empty if it spoils the books alone.
        hangs: Whether tests do not end with it, so that they are soon given up.
    """

    name: str
    path: str
    old: str
    new: str
    flaw: str
    notice: str
    method: tuple[str, ...] = ()
    hangs: bool = False

    def applied(self, text: str) -> str:
        """The text of the file with the edit; refuses a text in which `old` is not just once."""
        if text.count(self.old) != 1:
            raise ValueError(f"{self.name}: the old text is {text.count(self.old)} times in it")
        return text.replace(self.old, self.new)


def apply(mutant: ByHand, tree: Path) -> None:
    """Puts a mutant into a copy of the source tree: a folder that holds `src/hedgerow`."""
    path = tree / "src" / "hedgerow" / mutant.path
    path.write_text(mutant.applied(path.read_text(encoding="utf-8")), encoding="utf-8")


def by_name(name: str) -> ByHand:
    """The mutant of that name."""
    return next(mutant for mutant in BY_HAND if mutant.name == name)


TABLES = ("diffmulti", "diffgen", "cdiffgen")
LISTED = ("supermodular",)
ITEMS = ("diffpart",)
MARGINALS = ("marginals",)
EVERY = (*MARGINALS, *TABLES, *LISTED, *ITEMS)

BY_HAND = (
    # what is drawn -------------------------------------------------------------------------------
    ByHand(
        name="nonempty-twice-the-rate",
        path="privacy/sampler.py",
        old="Rates.alike(rule.rate, len(counts))",
        new="Rates.alike((1 + (rule.law == 'nonempty')) * rule.rate, len(counts))",
        flaw="Counts of listed rows get half of the noise that was paid for.",
        notice="the law of the draw",
        method=LISTED,
    ),
    ByHand(
        name="keep-one-less",
        path="privacy/sampler.py",
        old="listed = drawn >= rule.threshold",
        new="listed = drawn >= rule.threshold - (rule.law == 'keep')",
        flaw="Rows are listed one kept record below the size that delta was computed for.",
        notice="the law of the draw",
        method=LISTED,
    ),
    ByHand(
        name="counts-half-the-noise",
        path="privacy/sampler.py",
        old="self._pump(kernel, 0, noise.size, a, b, noise)",
        new="self._pump(kernel, 0, noise.size, 2 * a, b, noise)",
        flaw="All noisy counts get half of the noise that was paid for.",
        notice="the law of the draw",
        method=EVERY,
    ),
    ByHand(
        name="zero-comes-twice",
        path="privacy/sampler_kernels.py",
        old="if at[1] or not (negative and size == 0):",
        new="if at[1] or size >= 0:",
        flaw="Noise of 0 is twice as likely as it should be, so one more record loses ln 2 more.",
        notice="the law of the sampler",
        method=EVERY,
    ),
    ByHand(
        name="noise-shared-by-siblings",
        path="privacy/sampler.py",
        old="return exact + noise.reshape(exact.shape)",
        new="return exact + noise.reshape(exact.shape)[..., :1]",
        flaw="All counts of one region share one noise, so their differences are exact.",
        notice="independence of the draws",
        method=EVERY,
    ),
    ByHand(
        name="empty-cells-listed-later",
        path="privacy/sampler.py",
        old="empty, rule.rate, rule.threshold)",
        new="empty, rule.rate, rule.threshold + 1)",
        flaw="Empty cells need more noise than others to be listed, so a listed cell tells.",
        notice="sparse and dense release have one law",
        method=("diffgen", "diffpart"),
    ),
    ByHand(
        name="every-cell-tried-as-empty",
        path="privacy/sampler.py",
        old="empty = rule.number - len(taken)",
        new="empty = rule.number",
        flaw="More empty cells are tried than there are, by the number of those in use.",
        notice="sparse and dense release have one law",
        method=("diffgen", "diffpart"),
        hangs=True,
    ),
    ByHand(
        name="cells-in-order-of-use",
        path="privacy/sampler.py",
        old="order = np.argsort(cell_all)",
        new="order = np.arange(len(cell_all))",
        flaw="Listed cells that hold records stand before those that noise alone filled.",
        notice="canonical order",
        method=("diffgen", "diffpart"),
    ),
    ByHand(
        name="large-cells-always-listed",
        path="privacy/sampler.py",
        old="listed = drawn >= rule.threshold",
        new="listed = (drawn >= rule.threshold) | (counts >= rule.threshold)",
        flaw="A cell whose exact count reaches the threshold is listed whatever its noise is.",
        notice="sparse and dense release have one law",
        method=("diffgen", "diffpart"),
    ),
    ByHand(
        name="words-read-again",
        path="privacy/sampler.py",
        old="        stream.at[0] += number\n",
        new="",
        flaw="Words that chose generalizations are read again as noise: a stream is reused.",
        notice="no word is used twice",
        method=LISTED,
    ),
    ByHand(
        name="stream-begins-again",
        path="privacy/keystream.py",
        old="rest = self.words[self.at[0] :]",
        new="rest = self.words",
        flaw="A refill hands out all earlier words again, so noise repeats.",
        notice="no word is used twice",
        method=EVERY,
    ),
    ByHand(
        name="constant-key",
        path="privacy/keystream.py",
        old="key = os.urandom(32) if seed is None else hashlib",
        new='key = hashlib.sha256(b"secure").digest() if seed is None else hashlib',
        flaw="The secure stream has a key that everybody can look up.",
        notice="two secure streams differ",
        method=EVERY,
    ),
    ByHand(
        name="seeded-taken-for-secure",
        path="privacy/keystream.py",
        old="self.secure = seed is None",
        new="self.secure = True",
        flaw="A repeatable run is published as a private one.",
        notice="the release says that it is not private",
        method=EVERY,
    ),
    # what a curator pays for ---------------------------------------------------------------------
    ByHand(
        name="gate-one-level-less",
        path="privacy/curator.py",
        old="counts - depth * gate.step",
        new="counts - max(0, depth - 1) * gate.step",
        flaw="The first two levels subtract the same, so one decision more is not paid for.",
        notice="replay of deep trees",
        method=ITEMS,
    ),
    ByHand(
        name="gate-without-floor",
        path="privacy/curator.py",
        old="over = np.maximum(counts - depth * gate.step, 0)",
        new="over = counts - depth * gate.step",
        flaw="Small partitions deep down are told apart too, and every level costs once more.",
        notice="replay of deep trees",
        method=ITEMS,
    ),
    ByHand(
        name="gate-pays-for-one-decision",
        path="privacy/curator.py",
        old="epsilon * (beta - 1) / (2 * beta - 1)",
        new="epsilon * (beta - 1) / beta",
        flaw="The price of a path is that of its deepest decision, without its parent's.",
        notice="replay of deep trees, and the price of a gate",
        method=ITEMS,
    ),
    ByHand(
        name="gate-of-short-steps",
        path="privacy/curator.py",
        old="-int(-(_LN2 * bits / rate) // 1)",
        new="-int(-(_LN2 * bits / rate) // 1) // 2",
        flaw="Ancestors pass the mark by half a step, so their costs do not add up to a constant.",
        notice="the price of a gate",
        method=ITEMS,
    ),
    ByHand(
        name="flips-in-zcdp",
        path="privacy/curator.py",
        old="rates, flip and pure)",
        new="rates, flip)",
        flaw="Permute-and-flip has no bounded range: in zCDP it costs four times what is paid.",
        notice="replay with a delta",
        method=TABLES,
    ),
    ByHand(
        name="twice-the-bounded-range",
        path="privacy/budget.py",
        old="root_below(8 * amount)",
        new="root_below(16 * amount)",
        flaw="A selection in zCDP costs twice the rho that is charged.",
        notice="replay with a delta",
        method=TABLES,
    ),
    ByHand(
        name="counts-in-rho-too-exact",
        path="privacy/budget.py",
        old="precision_below(2 * amount / max_contribution)",
        new="precision_below(4 * amount / max_contribution)",
        flaw="Gaussian noise at half the variance: a count costs twice the rho that is charged.",
        notice="replay with a delta",
        method=TABLES,
    ),
    ByHand(
        name="gaussian-sigma-for-its-square",
        path="privacy/budget.py",
        old="precision_below(2 * amount / max_contribution)",
        new="precision_below(root_below(2 * amount / max_contribution))",
        flaw="The standard deviation is taken for the variance of Gaussian noise.",
        notice="replay with a delta",
        method=TABLES,
    ),
    ByHand(
        name="gaussian-one-table-for-many",
        path="privacy/budget.py",
        old="precision_below(2 * amount / max_contribution)",
        new="precision_below(2 * amount)",
        flaw="A record that is counted in several tables pays the rho of one.",
        notice="the price of a draw",
    ),
    ByHand(
        name="laplace-by-the-root-of-the-tables",
        path="privacy/budget.py",
        old="return rate_below(amount / max_contribution)",
        new="return rate_below(root_below(amount**2 / max_contribution))",
        flaw="Laplace noise is scaled by the L2 sensitivity of several tables, in place of L1.",
        notice="replay",
        method=("diffmulti",),
    ),
    ByHand(
        name="gaussian-for-epsilon",
        path="privacy/curator.py",
        old='return "laplace" if self.ledger.budget_of(purpose) == "epsilon" else "gaussian"',
        new='return "laplace" if self.ledger.budget_of(purpose) == "rho" else "gaussian"',
        flaw="Counts that are paid in epsilon get Gaussian noise, which no epsilon covers.",
        notice="the price of a draw",
        method=TABLES,
    ),
    ByHand(
        name="precision-rounded-up",
        path="privacy/budget.py",
        old="Fraction((precision.numerator << bits) // precision.denominator, 1 << bits)",
        new="Fraction(-(-(precision.numerator << bits) // precision.denominator), 1 << bits)",
        flaw="The variance of Gaussian noise is rounded down, below what was paid for.",
        notice="the price of a draw",
        method=TABLES,
    ),
    ByHand(
        name="gaussian-zero-comes-twice",
        path="privacy/sampler_kernels.py",
        old="            if not (negative and size == 0):",
        new="            if size >= 0:",
        flaw="Gaussian noise of 0 is twice as likely as it should be.",
        notice="the law of the sampler",
        method=TABLES,
    ),
    ByHand(
        name="gaussian-envelope-too-low",
        path="privacy/sampler_kernels.py",
        old="(2 * b + a - 1) // a:",
        new="(b + a - 1) // a:",
        flaw="Strides of Gaussian noise are too short for the proposal to bound the law.",
        notice="the law of the sampler",
        method=TABLES,
    ),
    ByHand(
        name="bernoulli-exp-biased",
        path="privacy/sampler_kernels.py",
        old="if below(words, at, k) != 0 or at[1]:",
        new="if below(words, at, k + 1) != 0 or at[1]:",
        flaw="Trials of exp(-a/b) succeed too often: the series has factorials one too large.",
        notice="the law of the sampler",
        method=EVERY,
    ),
    ByHand(
        name="charged-after-the-draw",
        path="privacy/curator.py",
        old="        self._charge_one(purpose, 0, 0, None)\n"
        '        rule = Listing(law="keep", rate=share, threshold=least, purpose=purpose)\n'
        "        return self._sampler.listed(*records.map(gather).open(_KEY), rule)",
        new='        rule = Listing(law="keep", rate=share, threshold=least, purpose=purpose)\n'
        "        drawn = self._sampler.listed(*records.map(gather).open(_KEY), rule)\n"
        "        self._charge_one(purpose, 0, 0, None)\n"
        "        return drawn",
        flaw="Rows are drawn before they are paid for: a refused charge comes too late.",
        notice="nothing is drawn where the ledger refuses",
        method=LISTED,
    ),
    ByHand(
        name="anybody-opens-the-seal",
        path="counting/sealed.py",
        old="if key is not _KEY:",
        new="if not isinstance(key, Key):",
        flaw="Whoever makes a key of his own can look at exact counts.",
        notice="the seal",
    ),
    # the books of a release ----------------------------------------------------------------------
    ByHand(
        name="children-forget-spending",
        path="privacy/ledger.py",
        old="np.concatenate([book[purpose], book[purpose][parents]])",
        new="np.concatenate([book[purpose], np.zeros_like(parents)])",
        flaw="A child's account begins empty, so leaves spend the whole budget once more.",
        notice="the ledger's paths, and replay",
        method=("diffmulti", "cdiffgen", "diffpart"),
    ),
    ByHand(
        name="leftovers-spent-twice",
        path="privacy/ledger.py",
        old="            if line.budget == budget:\n",
        new="            if line.budget == budget and line.units is not None:\n",
        flaw="What was taken at no fixed price is not counted as spent, and taken again.",
        notice="the ledger's paths, and replay",
        method=("cdiffgen", "diffpart"),
    ),
    ByHand(
        name="one-use-too-many",
        path="privacy/ledger.py",
        old="(self._uses[purpose][accounts] >= line.uses).any()",
        new="(self._uses[purpose][accounts] > line.uses).any()",
        flaw="A purpose may be used once more on a path than the plan granted.",
        notice="the ledger refuses",
    ),
    ByHand(
        name="gate-without-payment",
        path="privacy/ledger.py",
        old="if purpose not in self._lines or self._uses[purpose][0] != 1:",
        new="if purpose not in self._lines:",
        flaw="A gate that was granted but never charged decides.",
        notice="the ledger refuses",
        method=ITEMS,
    ),
    # budgets and conversions ---------------------------------------------------------------------
    ByHand(
        name="whole-epsilon-for-each-row",
        path="privacy/budget.py",
        old="return self.epsilon / self.rows",
        new="return self.epsilon",
        flaw="Each row of a person may cost the whole epsilon.",
        notice="neighbors that differ by a person of several rows",
        method=EVERY,
    ),
    ByHand(
        name="epsilon-rounded-up",
        path="privacy/budget.py",
        old="Fraction(int(exact_epsilon * scale), scale)",
        new="Fraction(int(exact_epsilon * scale) + 1, scale)",
        flaw="An epsilon with many decimals becomes larger than what was asked for.",
        notice="never rounded up",
        method=EVERY,
    ),
    ByHand(
        name="delta-grows-with-rows",
        path="privacy/budget.py",
        old="return self.delta / (self.rows * bound)",
        new="return self.delta / self.rows",
        flaw="The delta of a group grows by exp(epsilon) a row, which is forgotten.",
        notice="the delta of a row",
        method=EVERY,
    ),
    ByHand(
        name="roots-rounded-up",
        path="privacy/budget.py",
        old="math.isqrt((square.numerator << 2 * bits) // square.denominator)",
        new="math.isqrt((square.numerator << 2 * bits) // square.denominator) + 1",
        flaw="Rates in zCDP are a little larger than what was paid for.",
        notice="the square is not above",
        method=TABLES,
    ),
    ByHand(
        name="rates-rounded-up",
        path="privacy/budget.py",
        old="return Fraction(int(rate * scale), scale)",
        new="return Fraction(int(rate * scale) + 1, scale)",
        flaw="Rates that do not fit the samplers become larger than what was paid for.",
        notice="the rate is not above",
        method=EVERY,
    ),
    ByHand(
        name="rho-rounded-up",
        path="privacy/budget.py",
        old="return Fraction(low // digits * digits, scale)",
        new="return Fraction(-(-low // digits) * digits, scale)",
        flaw="More rho is granted than the epsilon and delta are worth.",
        notice="converting back gives no more than epsilon",
        method=TABLES,
    ),
    ByHand(
        name="conversion-rounded-down",
        path="privacy/budget.py",
        old="* (1 + Fraction(1, 10**9)) + Fraction(1, 10**12)",
        new="* (1 - Fraction(1, 10**9))",
        flaw="The epsilon that rho amounts to is stated below the truth.",
        notice="the conversion against more digits",
        method=TABLES,
    ),
    # suppression ---------------------------------------------------------------------------------
    ByHand(
        name="threshold-one-lower",
        path="privacy/suppression.py",
        old="bound_tail(rate, threshold - 1, _PRECISION)",
        new="bound_tail(rate, threshold, _PRECISION)",
        flaw="The chance that somebody who is alone is listed is computed as if nobody were there.",
        notice="delta by enumeration",
        method=LISTED,
    ),
    ByHand(
        name="group-one-smaller",
        path="privacy/suppression.py",
        old="group = place + 2  #",
        new="group = place + 1  #",
        flaw="Rows are listed from a size on whose delta is too large.",
        notice="delta by enumeration",
        method=LISTED,
    ),
    ByHand(
        name="sampling-at-any-epsilon",
        path="privacy/suppression.py",
        old="return 1 / least - 1 <= 1 - share",
        new="return 1 / least - 1 <= 1",
        flaw="Removing a record may cost -ln(1 - share), which is not held against epsilon.",
        notice="the refusal",
        method=LISTED,
    ),
    ByHand(
        name="threshold-for-another-rate",
        path="methods/supermodular.py",
        old="least = least_threshold(rate, budget.row_delta)",
        new="least = least_threshold(budget.row_epsilon, budget.row_delta)",
        flaw="The threshold belongs to less noise than is drawn once the side table is paid.",
        notice="delta of the plan",
        method=LISTED,
    ),
    ByHand(
        name="delta-spent-twice",
        path="methods/plan.py",
        old="_UNITS, Fraction(0), self.budget.rows)",
        new="_UNITS, self.budget.delta, self.budget.rows)",
        flaw="The side table spends the delta that listing rows spends again.",
        notice="the side table's budget is pure",
        method=LISTED,
    ),
    ByHand(
        name="side-table-for-nothing",
        path="methods/supermodular.py",
        old='            ledger.charge("side", 0, _ROOT)\n',
        new="",
        flaw="The side table is made from private records and never charged.",
        notice="the ledger's paths",
        method=LISTED,
    ),
    # scores --------------------------------------------------------------------------------------
    ByHand(
        name="discernibility-of-span-one",
        path="methods/scores.py",
        old="score_range=2 << RATIO_BITS, score_range_apart=2 <<",
        new="score_range=1 << RATIO_BITS, score_range_apart=1 <<",
        flaw="A record adds up to 2 to one gain and nothing to another, and 1 is paid for.",
        notice="score ranges, and replay",
        method=("diffmulti", "diffgen"),
    ),
    ByHand(
        name="ncp-gains-by-records",
        path="methods/scores.py",
        old="return parent - children if gain else -children",
        new="return 2 * parent - children if gain else -children",
        flaw="A record adds up to two penalties to a gain, and one is paid for.",
        notice="score ranges, and replay",
        method=TABLES,
    ),
    ByHand(
        name="infogain-of-half-a-bit",
        path="methods/scores.py",
        old="score_range=ONE_BIT + 1",
        new="score_range=ONE_BIT // 2",
        flaw="Inside a region two gains part by one bit, and half of one is paid for.",
        notice="score ranges, and replay",
        method=("diffmulti",),
    ),
    ByHand(
        name="purity-of-range-two",
        path="methods/scores.py",
        old="score_range=3 << RATIO_BITS",
        new="score_range=2 << RATIO_BITS",
        flaw="One record moves the score by up to 3, and 2 is paid for.",
        notice="score ranges, and replay",
        method=("diffmulti",),
    ),
    ByHand(
        name="gini-of-one-region",
        path="methods/diffgen.py",
        old="range_of(score, engine.domain, apart=True)",
        new="range_of(score, engine.domain, apart=False)",
        flaw="Candidates of different regions are compared at the range of one region.",
        notice="replay with the score gini",
        method=("diffgen", "cdiffgen"),
    ),
    ByHand(
        name="max-weighed-apart-at-one",
        path="methods/scores.py",
        old="return 2 if score.kernel == _MAX else score.score_range_apart",
        new="return score.score_range_apart",
        flaw="Weighed gains of `max` in two regions part by 2, and 1 is paid for.",
        notice="score ranges with weights",
        method=("diffgen", "cdiffgen"),
    ),
    ByHand(
        name="weighed-cuts-at-the-plain-range",
        path="methods/diffgen.py",
        old="price = range_of(score, engine.domain, apart=True)",
        new="price = score.score_range_apart",
        flaw="Weighed gains of `max` in two regions part by 2, and choices by them pay for 1.",
        notice="prices of choices with weights",
        method=("diffgen", "cdiffgen"),
    ),
    ByHand(
        name="weights-above-one",
        path="methods/scores.py",
        old="    return gain // largest * weight + gain % largest * weight // largest\n",
        new="    least = weight.min(initial=largest)\n"
        "    return gain // least * weight + gain % least * weight // least\n",
        flaw="Gains are multiplied by weights above 1, and so is what one record moves them by.",
        notice="score ranges with weights",
        method=TABLES,
    ),
    # methods -------------------------------------------------------------------------------------
    ByHand(
        name="exact-rows-in-a-rule",
        path="methods/publisher.py",
        old="plan = self.plan_for(schema, plan.budget, noisy_rows)",
        new="seen: list[Any] = []\n"
        "            engine.class_counts(np.zeros(1, dtype=np.int64)).map(seen.append)\n"
        "            plan = self.plan_for(schema, plan.budget, int(seen[0].sum()))",
        flaw="The size of the tree follows from the exact number of rows.",
        notice="replay, and rules read noisy numbers alone",
        method=TABLES,
    ),
    ByHand(
        name="exact-records-in-a-rule",
        path="methods/diffpart.py",
        old="rows = max(0, int(sizes.values.sum()))",
        new="seen: list[Any] = []\n"
        "        engine.sizes(edges).map(seen.append)\n"
        "        rows = int(seen[0].sum())",
        flaw="The size of the core follows from the exact number of records.",
        notice="replay, and rules read noisy numbers alone",
        method=ITEMS,
    ),
    ByHand(
        name="core-by-exact-supports",
        path="methods/diffpart.py",
        old="core = _most_frequent(supports, size)",
        new="seen: list[Any] = []\n"
        "            engine.supports(items.size, core, items.size).map(seen.append)\n"
        "            core = _most_frequent(seen[0], size)",
        flaw="Which items are counted set by set follows from their exact supports.",
        notice="replay, and rules read noisy numbers alone",
        method=ITEMS,
    ),
    ByHand(
        name="growth-by-exact-sizes",
        path="methods/diffmulti.py",
        old="sizes[asked] = noisy[:, 0]",
        new="seen: list[Ints] = []\n"
        "                    exact.map(seen.append)\n"
        "                    sizes[asked] = seen[0][:, 0]",
        flaw="The right to grow is shared out by exact sizes, though noisy ones were paid for.",
        notice="replay",
        method=("diffmulti",),
    ),
    ByHand(
        name="empty-leaves-skipped",
        path="methods/publisher.py",
        old="        drawn = []\n",
        new="        drawn = []\n"
        "        held: list[Ints] = []\n"
        "        engine.class_counts(leaves).map(held.append)\n"
        "        left = left & (held[0].sum(axis=1) > 0)\n",
        flaw="Leaves that nobody is in get no noisy counts, so a count tells that somebody is.",
        notice="replay from an empty region",
        method=("diffmulti",),
    ),
    ByHand(
        name="cuts-of-all-attributes-at-once",
        path="methods/diffgen.py",
        old="        for a in np.unique(self.attribute[lacking]):\n"
        "            yield np.flatnonzero(lacking & (self.attribute == a))",
        new="        if lacking.any():\n            yield np.flatnonzero(lacking)",
        flaw="Values of different attributes hold the same records, and pay as if they did not.",
        notice="replay of the published schedule",
        method=("diffgen", "cdiffgen"),
    ),
    ByHand(
        name="supports-pay-once",
        path="methods/diffpart.py",
        old="most = WEIGHT * cap if",
        new="most = WEIGHT if",
        flaw="A record counts for several items and pays for one.",
        notice="replay",
        method=ITEMS,
    ),
    ByHand(
        name="gaussian-supports-pay-once",
        path="methods/diffpart.py",
        old='== "epsilon" else WEIGHT * WEIGHT * cap',
        new='== "epsilon" else WEIGHT * WEIGHT',
        flaw="A record counts for several items and pays for one, in rho.",
        notice="replay",
        method=ITEMS,
    ),
    ByHand(
        name="supports-without-cap",
        path="counting/items.py",
        old="        if size > cap:\n",
        new="        if size > 2 * cap:\n",
        flaw="A record counts for more items than it pays for.",
        notice="replay, and supports against a slow count",
        method=ITEMS,
    ),
    ByHand(
        name="weights-rounded-up",
        path="counting/items.py",
        old="weight = WEIGHT * cap // size",
        new="weight = -(-WEIGHT * cap // size)",
        flaw="The weights of a long record add up to a little more than it pays for.",
        notice="supports against a slow count",
        method=ITEMS,
    ),
    ByHand(
        name="cap-by-exact-sizes",
        path="methods/diffpart.py",
        old="        curve = _curve(sizes, items.most)\n",
        new="        seen: list[Any] = []\n"
        "        engine.sizes(sizes.where).map(seen.append)\n"
        "        curve = _curve(replace(sizes, values=seen[0][:, None]), items.most)\n",
        flaw="How much a record counts follows from the exact sizes of all records.",
        notice="replay, and rules read noisy numbers alone",
        method=ITEMS,
    ),
    ByHand(
        name="levels-share-leftovers",
        path="methods/cdiffgen.py",
        old="left[nodes] = (left - share)[tree.parent[nodes]]",
        new="left[nodes] = left[tree.parent[nodes]]",
        flaw="A leaf takes what its ancestors have spent already.",
        notice="the ledger refuses",
        method=("cdiffgen",),
    ),
    ByHand(
        name="one-level-too-deep",
        path="methods/diffmulti.py",
        old="& (depth + 1 < job.depth)",
        new="& (depth + 1 <= job.depth)",
        flaw="A path buys sizes on one level more than the plan has.",
        notice="the ledger refuses",
        method=("diffmulti",),
    ),
    # people --------------------------------------------------------------------------------------
    ByHand(
        name="centroids-ignore-the-cap",
        path="methods/clusters.py",
        old="budget = Budget.of(epsilon, 0, cap)",
        new="budget = Budget.of(epsilon, 0)",
        flaw="A person of several rows loses the epsilon of the centroids once for each.",
        notice="neighbors that differ by a person of several rows",
    ),
    ByHand(
        name="centroids-forget-a-column",
        path="methods/clusters.py",
        old="reach=(len(schema.attributes) + 1) * SCALE",
        new="reach=len(schema.attributes) * SCALE",
        flaw="The number of records is summed beside the features, and not paid for.",
        notice="replay of clustering",
    ),
    ByHand(
        name="cap-one-row-more",
        path="data/people.py",
        old="return np.sort(order[place < max_rows])",
        new="return np.sort(order[place <= max_rows])",
        flaw="A person keeps one row more than is paid for.",
        notice="the cap, by count",
        method=(*TABLES, *LISTED),
    ),
    ByHand(
        name="streamed-rows-without-cap",
        path="counting/streamed.py",
        old="return records[first_rows((head[:, 0], head[:, 1]), head[:, 2], self._max_rows)]",
        new="return records[first_rows((head[:, 0], head[:, 1]), head[:, 2], len(head))]",
        flaw="Rows that are streamed are not capped at all.",
        notice="the cap, by count; engines agree",
        method=TABLES,
    ),
    ByHand(
        name="items-read-twice",
        path="data/lookup.py",
        old="keys = keys[np.diff(keys, prepend=-1) > 0]",
        new="keys = keys[np.diff(keys, prepend=-1) >= 0]",
        flaw="An item that stands twice in a record counts twice, and its square four times.",
        notice="records of distinct items; replay from files with a delta",
        method=ITEMS,
    ),
    # marginals ------------------------------------------------------------------------------------
    ByHand(
        name="tables-pay-once",
        path="methods/marginals.py",
        old="return _buy(curator, purpose, [(exact, None)], tables, len(tables))",
        new="return _buy(curator, purpose, [(exact, None)], tables, 1)",
        flaw="A record is counted in a table of every attribute and pays for one of them.",
        notice="replay",
        method=MARGINALS,
    ),
    ByHand(
        name="fine-tables-pay-once",
        path="methods/marginals.py",
        old='return _buy(curator, "fine", [(exact, None)], (), len(parts))',
        new='return _buy(curator, "fine", [(exact, None)], (), 1)',
        flaw="A record is counted again in every number and pays for one of them.",
        notice="replay of late steps",
        method=MARGINALS,
    ),
    ByHand(
        name="pairs-pay-once",
        path="methods/marginals.py",
        old="bought.append(_buy(curator, purpose, exact, chosen, len(chosen)))",
        new="bought.append(_buy(curator, purpose, exact, chosen, 1))",
        flaw="A record is counted in all pairs of a round and pays for one of them.",
        notice="replay of late steps",
        method=MARGINALS,
    ),
    ByHand(
        name="scores-move-by-less",
        path="methods/marginals.py",
        old="SCORE_RANGE = 2",
        new="SCORE_RANGE = 1",
        flaw="One record moves the scores of two pairs apart by twice what is paid for.",
        notice="replay of late steps",
        method=MARGINALS,
    ),
    ByHand(
        name="scores-of-squares",
        path="methods/marginals.py",
        old="np.abs(exact - expected)",
        new="(exact - expected) ** 2",
        flaw="A record moves the score of a pair by as much as it is off already.",
        notice="replay of late steps",
        method=MARGINALS,
    ),
    ByHand(
        name="pairs-below-nothing-left-out",
        path="methods/marginals.py",
        old="        count=np.ones(number, dtype=np.int64),",
        new="        count=(scores >= 0).astype(np.int64),",
        flaw="A pair whose exact score is below 0 is never chosen, so that a choice tells.",
        notice="replay of late steps",
        method=MARGINALS,
    ),
    ByHand(
        name="shares-by-exact-rows",
        path="methods/marginals.py",
        old="plan = self.plan_for(schema, plan.budget, noisy_rows)",
        new="seen: list[Any] = []\n"
        "        engine.class_counts(_ROOT).map(seen.append)\n"
        "        plan = self.plan_for(schema, plan.budget, int(seen[0].sum()))",
        flaw="How many pairs are counted follows from the exact number of records.",
        notice="rules read noisy numbers alone",
        method=MARGINALS,
    ),
    ByHand(
        name="expected-by-exact-rows",
        path="methods/marginals.py",
        old="exact = pairs.counts(open_)\n",
        new="exact = pairs.counts(open_)\n"
        "    seen: list[Any] = []\n"
        "    exact.map(seen.append)\n"
        "    noise = noise * (1 + int(seen[0].sum()) % 2)\n",
        flaw="What is taken off a score follows from the exact number of records.",
        notice="replay of late steps",
        method=MARGINALS,
    ),
    # what others do with private data ------------------------------------------------------------
    ByHand(
        name="a-cap-with-a-known-key",
        path="data/people.py",
        old="return os.urandom(32)",
        new="return bytes(32)",
        flaw="Somebody can choose identifiers that count as those of another person.",
        notice="two runs have two keys",
    ),
    ByHand(
        name="an-estimator-keeps-the-table",
        path="sklearn.py",
        old="        self.schema_ = schema\n        advice",
        new="        self.schema_, self.rows_ = schema, table\n        advice",
        flaw="What is saved as a model holds the private table.",
        notice="nothing in an estimator is as long as the table",
    ),
    ByHand(
        name="a-reader-that-re-raises",
        path="data/text.py",
        old="raise encoding_error(path, number + breaks(content[: error.start])) from None",
        new="raise encoding_error(path, number + breaks(content[: error.start])) from error",
        flaw="A traceback shows the error behind ours, which quotes the record.",
        notice="what a reader raises holds nothing that it read",
    ),
    # verify ---------------------------------------------------------------------------------------
    ByHand(
        name="verify-pays-twice-the-rho",
        path="verification/rules.py",
        old="rate * rate <= 2 * paid",
        new="rate * rate <= 4 * paid",
        flaw="Laplace noise that rho did not buy is taken for paid.",
        notice="prices to the last digit",
    ),
    ByHand(
        name="verify-one-table-for-many",
        path="verification/rules.py",
        old="return rate * measurement.max_contribution / 2",
        new="return rate / 2",
        flaw="Gaussian noise of one table is taken for that of many.",
        notice="prices to the last digit",
    ),
    ByHand(
        name="verify-prices-that-nobody-booked",
        path="verification/rules.py",
        old="if rest or price not in booked:",
        new="if rest:",
        flaw="A count may have noise of a price that no entry shows.",
        notice="prices to the last digit",
    ),
    ByHand(
        name="verify-choices-of-nothing-for-free",
        path="verification/marginals.py",
        old="if sum(choices.values()) != _choices(release):",
        new="if sum(choices.values()) > _choices(release):",
        flaw="A choice that ended with no pair need not have been paid for.",
        notice="a release whose books leave that purpose out",
    ),
    ByHand(
        name="verify-shares-of-any-size",
        path="verification/marginals.py",
        old="or any(abs(one - other) > 1 for",
        new="or any(abs(one - other) > 99_000 for",
        flaw="Shares of the budget may follow from what a forger knows, and not from noisy rows.",
        notice="forged shares, each with the noise that it buys",
    ),
    ByHand(
        name="verify-models-of-any-size",
        path="verification/marginals.py",
        old="            if not fits([pair]):\n",
        new="            if fits([pair]) is None:\n",
        flaw="A pair may be one that no run could choose, whatever was drawn.",
        notice="a twin without a limit for its model",
    ),
    ByHand(
        name="verify-tables-for-one-price",
        path="verification/rules.py",
        old="    return rate * measurement.max_contribution\n",
        new="    return rate\n",
        flaw="Many tables with the Laplace noise of one are taken for paid.",
        notice="forged releases without a delta",
    ),
    # the budget ledger --------------------------------------------------------------------
    ByHand(
        name="overdraft",
        path="ledger/file.py",
        old="if asked > left:",
        new="if asked > total:",
        flaw="A release is held against the total and not against what is left of it.",
        notice="the budget ledger refuses",
    ),
    ByHand(
        name="crashed-runs-for-nothing",
        path="ledger/file.py",
        old='return self.state not in ("withdrawn", "returned")',
        new='return self.state == "published"',
        flaw="A run that was booked and drew noise, but never published, costs nothing.",
        notice="the budget ledger counts what is booked",
    ),
    ByHand(
        name="words-before-they-are-booked",
        path="privacy/keystream.py",
        old="            self._before_use()\n            self._before_use = None\n",
        new="            self._before_use = None\n",
        flaw="Noise is drawn and the budget ledger never told.",
        notice="the budget ledger is asked before the first word",
        hangs=True,
    ),
    ByHand(
        name="failed-runs-given-back",
        path="methods/api.py",
        old="if stream.untouched:",
        new="if stream.secure:",
        flaw="A run that failed after it had drawn noise costs nothing.",
        notice="the budget ledger after a failure",
    ),
)
