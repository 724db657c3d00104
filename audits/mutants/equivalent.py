"""Generated mutants that no test can notice, each with the reason.

A mutant stands here by the line that it changes, before and after. Whatever else survives wants a
test: `make mutants` ends with an error until it is caught or stands here.
"""

from __future__ import annotations

__all__ = ["EQUIVALENT", "reason"]

# (module, line before, line after): why the two do the same
EQUIVALENT: dict[tuple[str, str, str], str] = {
    (
        "privacy/sampler.py",
        "low, high = int((total - slack) * one), -int(-(total + slack) * one // 1)",
        "low, high = int((total - slack) * one), -int(+(total + slack) * one // 1)",
    ): "It is squared at least once, so the sign goes; the slack is far more than the rounding.",
    (
        "privacy/sampler.py",
        "precision = bits + 64 + 2 * trials.bit_length()",
        "precision = bits + 65 + 2 * trials.bit_length()",
    ): "Any precision is exact; with less, more bits are asked for more often.",
    (
        "methods/diffpart.py",
        'left = int(ledger.left("epsilon", np.asarray([mine], dtype=np.int64))[0])',
        'left = int(ledger.left("epsilon", np.asarray([mine], dtype=np.int64))[ -1])',
    ): "The first of one number is its last.",
    (
        "methods/publisher.py",
        "MOST_POWER = 18",
        "MOST_POWER = 19",
    ): "A plan is tried for one more number of rows, which there cannot be.",
    (
        "methods/diffgen.py",
        "new = np.full(len(ends), -1, dtype=np.int64)",
        "new = np.full(len(ends), - 2, dtype=np.int64)",
    ): "Whatever is below 0 stands for a split point that was not drawn.",
    (
        "methods/diffpart.py",
        "return min(items.size - 1, core_size(items.size, records, float(budget.epsilon * left)))",
        "return min(items.size | 1, core_size(items.size, records, float(budget.epsilon * left)))",
    ): "With less epsilon a core is never the whole universe, if it was not with more.",
    (
        "methods/scores.py",
        "weight: Any = _WEIGHT if fixed else max(1, _WEIGHT // (high - low - 1))",
        "weight: Any = _WEIGHT if fixed else max( 0, _WEIGHT // (high - low - 1))",
    ): "An attribute has fewer cuts than its weight has parts (MAX_GRID), so the share is above 0.",
    (
        "privacy/suppression.py",
        "return Decimal(1)",
        "return Decimal( 0)",
    ): "z is the best one for a ratio below the limit, so the slope is below 0 there.",
    (
        "methods/diffgen.py",
        "taxon, asked = spread(self.taxon[values], -1), spread(ask, SKIP)",
        "taxon, asked = spread(self.taxon[values], - 0), spread(ask, SKIP)",
    ): "It fills places that are not asked about (SKIP).",
    (
        "counting/streamed.py",
        "self._shelves[number].add(block.reshape(-1))",
        "self._shelves[number].add(block.reshape(~1))",
    ): "numpy takes any negative length for the one that follows from the others.",
    (
        "ledger/file.py",
        "uri=True,",
        "uri=False,",
    ): "Where SQLite is built with USE_URI, as it mostly is, it takes addresses anyway.",
    (
        "privacy/sampler.py",
        "if int(mass.max(initial=0)) << sampler_kernels.ENVELOPE >= 1 << 62:",
        "if int(mass.max(initial= -1)) << sampler_kernels.ENVELOPE >= 1 << 62:",
    ): "Masses are above 0; where there are none, both are small.",
    (
        "privacy/suppression.py",
        "if slope >= 0:",
        "if slope >= 1:",
    ): "z is the best one for a ratio below the limit, so the slope is below 0 there.",
    (
        "methods/plan.py",
        "while edges[-1] < most:",
        "while edges[-1] <= most:",
    ): "The one edge more lies beyond the most, and such edges are left out.",
    (
        "methods/diffgen.py",
        "ends = [(self.lo[value], cut, -1), (cut, self.hi[value], -1)]",
        "ends = [(self.lo[value], cut, - 2), (cut, self.hi[value], -1)]",
    ): "Whatever is below 0 stands for a numeric value.",
    (
        "methods/diffgen.py",
        "ends = [(self.lo[value], cut, -1), (cut, self.hi[value], -1)]",
        "ends = [(self.lo[value], cut, -1), (cut, self.hi[value], ~1)]",
    ): "Whatever is below 0 stands for a numeric value.",
    (
        "privacy/sampler_kernels.py",
        "even: bool = (k - first) % 2 == 0",
        "even: bool = (k - first) % 2 <= 0",
    ): "A remainder is never below 0.",
    (
        "privacy/sampler.py",
        "precision = 64 + trials.bit_length()",
        "precision = 65 + trials.bit_length()",
    ): "It decides how trials are cut into portions, and any portions have one law.",
    (
        "methods/plan.py",
        "return self.budgets.parts[0]",
        "return self.budgets.parts[ -1]",
    ): "There is one budget.",
    (
        "privacy/sampler.py",
        "return max(0, low >> shift), min(1 << precision, -(-high >> shift))",
        "return max(0, low >> shift), min( 2 << precision, -(-high >> shift))",
    ): "A bracket that reaches a little beyond 1 is one still.",
    (
        "privacy/keystream.py",
        "_BLOCK = 1 << 15",
        "_BLOCK = 2 << 15",
    ): "How many words are made at a time; which words they are does not depend on it.",
    (
        "counting/streamed.py",
        "self._open[number] = np.empty((0, self._width), np.uint8)",
        "self._open[number] = np.empty(( 1, self._width), np.uint8)",
    ): "It gives memory back; nobody reads it any more.",
    (
        "methods/supermodular.py",
        'risk = self.risk if self.model == "threshold" else None',
        'risk = self.risk if self.model >= "threshold" else None',
    ): "There are two models, and the other one comes before it in the alphabet.",
    (
        "counting/items.py",
        "for child, (parent, wanted) in enumerate(zip(place.tolist(), mask.tolist(), strict=True)):",  # noqa: E501
        "for child, (parent, wanted) in enumerate(zip(place.tolist(), mask.tolist(), strict=False)):",  # noqa: E501
    ): "Both have a member for each child.",
    (
        "privacy/sampler.py",
        "halvings = max(0, (x.numerator // x.denominator).bit_length() + 1)",
        "halvings = max(0, (x.numerator // x.denominator).bit_length() // 1)",
    ): "Up to 1, too, the terms fall, and partial sums bracket the limit.",
    (
        "privacy/sampler.py",
        "halvings = max(0, (x.numerator // x.denominator).bit_length() + 1)",
        "halvings = max(0, (x.numerator // x.denominator).bit_length() + 0)",
    ): "Up to 1, too, the terms fall, and partial sums bracket the limit.",
    (
        "privacy/sampler.py",
        "precision = bits + 64 + 2 * trials.bit_length()",
        "precision = bits + 64 | 2 * trials.bit_length()",
    ): "Any precision is exact; with less, more bits are asked for more often.",
    (
        "privacy/sampler.py",
        "if u_high <= sum_low:",
        "if u_high < sum_low:",
    ): "What is not decided is asked for more bits, and decided then.",
    (
        "counting/streamed.py",
        "room = max(1, memory // (4 * _BUCKETS) // self._width)",
        "room = max(1, memory // ( 3 * _BUCKETS) // self._width)",
    ): "How many rows are collected before they are written; the same rows stay.",
    (
        "privacy/suppression.py",
        "best = Decimal(0)",
        "best = Decimal( -1)",
    ): "The terms are 0 at least.",
    (
        "methods/plan.py",
        'budget.name == "epsilon" and budget.unit.denominator >= LARGEST_TERM '
        "for budget in budgets.values()",
        'budget.name <= "epsilon" and budget.unit.denominator >= LARGEST_TERM '
        "for budget in budgets.values()",
    ): "The other budget, rho, comes after it in the alphabet.",
    (
        "methods/scores.py",
        "cuts = np.where(ask == ALL_CUTS, np.maximum(hi - lo - 1, 1), 1).astype(np.int64)",
        "cuts = np.where(ask == ALL_CUTS, np.maximum(hi - lo % 1, 1), 1).astype(np.int64)",
    ): "It is the room for candidates, and what is not filled is cut off.",
    (
        "methods/cdiffgen.py",
        'shares = _shares(tree, int(ledger.left("epsilon", _ROOT)[0]), self.schedule)',
        'shares = _shares(tree, int(ledger.left("epsilon", _ROOT)[ -1]), self.schedule)',
    ): "One account is asked about.",
    (
        "ledger/file.py",
        'if file.execute("PRAGMA user_version").fetchone() == (1,):',
        'if file.execute("PRAGMA user_version").fetchone() <= (1,):',
    ): "A file without a version was refused before.",
    (
        "privacy/sampler.py",
        "portion = max(1, (_MEAN << precision) // max(high, 1))",
        "portion = max(1, (_MEAN << precision) ^ max(high, 1))",
    ): "It decides how trials are cut into portions, and any portions have one law.",
    (
        "methods/diffpart.py",
        "counted = np.asarray(leaves, dtype=np.int64).reshape(-1, 3)",
        "counted = np.asarray(leaves, dtype=np.int64).reshape(~1, 3)",
    ): "numpy takes any negative length for the one that follows from the others.",
    (
        "privacy/sampler_kernels.py",
        "right = hi - lo - 1",
        "right = hi - lo - 0",
    ): "The target lies below the last sum, so the search ends there at the latest.",
    (
        "methods/scores.py",
        "largest = np.int64(0)",
        "largest = np.int64( -1)",
    ): "There is a class at least, and counts are 0 at least.",
    (
        "ledger/file.py",
        'if before == "transaction":',
        'if before >= "transaction":',
    ): "All other units come before it in the alphabet.",
    (
        "methods/plan.py",
        "middle = (edges + np.minimum(upper, 2 * edges)) / 2",
        "middle = (edges + np.minimum(upper, 3 * edges)) / 2",
    ): "No bin reaches twice its lower end.",
    (
        "methods/diffpart.py",
        "kept[partition, int(mask)] = (mine + 1, 0, 0)  # 16, S6 to S10",
        "kept[partition, int(mask)] = (mine + 1, -1, 0)  # 16, S6 to S10",
    ): "Only leaves have a value.",
    (
        "methods/scores.py",
        "SKIP = -2",
        "SKIP = not 2",
    ): "Cuts begin at 1, so 0 can stand for none as well.",
    (
        "privacy/sampler_kernels.py",
        "for shift in (1, 2, 4, 8, 16, 32):",
        "for shift in (1, 2, 4, 8, 16, 31):",
    ): "Bounds are below 2^63, and 31 places more fill as much of them.",
    (
        "verification/marginals.py",
        "codes = codes.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)",
        "codes = codes.fill_null(-1).to_numpy(zero_copy_only=True).astype(np.int64)",
    ): "One array of whole numbers without nulls needs no copy, so asking for none is no error.",
    (
        "methods/api.py",
        "return int(min(cells, most, max(parts) ** min(plan.specializations, 64)))",
        "return int(min(cells, most, max(parts) ** min(plan.specializations, 63)))",
    ): "Two to the power of 63 is above every number of cells that there can be.",
    (
        "methods/diffpart.py",
        "return max(0, math.ceil(-log / float(rate)) - 1)",
        "return max( -1, math.ceil(-log / float(rate)) - 1)",
    ): "Chances are a twentieth at most, for which it is above 0.",
    (
        "methods/marginals.py",
        "return [pair for pair, cost in zip(joining or pairs, fits, strict=True) if cost <= room]",
        "return [pair for pair, cost in zip(joining or pairs, fits, strict=False) if cost <= room]",
    ): "There is a cost for each pair.",
    (
        "methods/scores.py",
        "if square < 1 << 46:",
        "if square < 1 << 45:",
    ): "Both ways to a root are exact, and 46 bits leave room for either.",
    (
        "methods/diffgen.py",
        'for name, column in zip(("lo", "hi", "taxon"), zip(*ends, strict=True), strict=True):',
        'for name, column in zip(("lo", "hi", "taxon"), zip(*ends, strict=True), strict=False):',
    ): "Both have three columns.",
    (
        "methods/clusters.py",
        'rate = float(curator.noise_rate("centroid", int(units[0]), max_contribution))',
        'rate = float(curator.noise_rate("centroid", int(units[ -1]), max_contribution))',
    ): "One share is paid, so that the first is the last.",
    (
        "methods/diffmulti.py",
        "for depth in range(1, int(self.depth.max()) + 1):",
        "for depth in range(1, int(self.depth.max()) + 2):",
    ): "There are no nodes below the deepest.",
    (
        "counting/streamed.py",
        "_GAP = 1 << 14",
        "_GAP = 2 << 14",
    ): "How many bytes are read along decides how fast files are read, and nothing else.",
    (
        "verification/rules.py",
        "charges = zip(keys.tolist(), number.tolist(), strict=True)",
        "charges = zip(keys.tolist(), number.tolist(), strict=False)",
    ): "Both have a member for each distinct charge.",
    (
        "verification/rules.py",
        "_MOST_UNITS = 1 << 40",
        "_MOST_UNITS = 1 << 39",
    ): "No plan has as many units, and sums of half as many have room as well.",
    (
        "counting/engine.py",
        "if math.prod(len(cut) - 1 for cut in edges) * classes <= _DENSE_CELLS * len(cell):",
        "if math.prod(len(cut) - 1 for cut in edges) - classes <= _DENSE_CELLS * len(cell):",
    ): "Both ways give the same cells and counts; it decides which is faster.",
    (
        "counting/items.py",
        "partitions = len(parts[0].start) - 1",
        "partitions = len(parts[ -1].start) - 1",
    ): "All chunks have the same partitions.",
    (
        "data/lookup.py",
        "gap = 3 * gap + 1",
        "gap = 3 << gap + 1",
    ): (
        "With other gaps, of which the last is 1, Shell's method sorts as well, up to 73,000 "
        "items of a record."
    ),
    (
        "data/people.py",
        "index = array.indices.cast(pa.int64()).fill_null(len(words)).to_numpy(zero_copy_only=False)",  # noqa: E501
        "index = array.indices.cast(pa.int64()).fill_null(len(words)).to_numpy(zero_copy_only=True)",  # noqa: E501
    ): "One array of whole numbers without nulls needs no copy, so asking for none is no error.",
    (
        "verification/marginals.py",
        "groups = [cells.groups[a] for a, cut in enumerate(cells.edges) if cut[-1] > 1]",
        "groups = [cells.groups[a] for a, cut in enumerate(cells.edges) if cut[-1] > 0]",
    ): "What has a single value has a single group, and is left out in the next line.",
    (
        "counting/streamed.py",
        "room = max(0, self._memory.chunk - self._waiting_bytes)",
        "room = max( -1, self._memory.chunk - self._waiting_bytes)",
    ): "A number costs 8 bytes at least, so that no room and less than none hold as many.",
    (
        "methods/clusters.py",
        "for attribute, part in zip(self.schema.attributes, parts, strict=True)",
        "for attribute, part in zip(self.schema.attributes, parts, strict=False)",
    ): "There is a part for each attribute.",
    (
        "data/people.py",
        "numbers = np.frombuffer(made, np.uint64).reshape(-1, 2)",
        "numbers = np.frombuffer(made, np.uint64).reshape(- 2, 2)",
    ): "numpy takes any negative length for the one that follows from the others.",
    (
        "counting/streamed.py",
        "size = 0",
        "size = 1",
    ): "It decides when rows are sifted for the first time, by a byte; the same rows stay.",
    (
        "methods/diffpart.py",
        "kept[partition, int(mask)] = (mine + 1, 0, 0)",
        "kept[partition, int(mask)] = (mine + 1, 1, 0)",
    ): "Only leaves have a value, which their price tells.",
    (
        "methods/diffgen.py",
        'if len(purposes) > 1 and curator.ledger.left("rho", _ROOT)[0]:',
        'if len(purposes) > 1 and curator.ledger.left("rho", _ROOT)[ -1]:',
    ): "One account is asked about.",
    (
        "methods/scores.py",
        "if counts.dtype == np.int64:",
        "if not counts.dtype == np.int64:",
    ): "It decides whether loops are compiled, and both forms give the same.",
    (
        "counting/streamed.py",
        "if size > max(self._memory // 4, 2 * kept.nbytes):",
        "if size > max(self._memory // 4, 3 * kept.nbytes):",
    ): "It decides when rows are sifted; the same ones stay.",
    (
        "methods/diffmulti.py",
        "np.append(domain.node_lo, 0)[child],",
        "np.append(domain.node_lo, 1)[child],",
    ): "Numbers have it at no place: their ends come from the cut.",
    (
        "verification/rules.py",
        "if any(units > _MOST_UNITS for _, units in found.values()):",
        "if any(units >= _MOST_UNITS for _, units in found.values()):",
    ): "No plan has as many units.",
    (
        "counting/engine.py",
        "break",
        "continue",
    ): "What is below 0 stays below 0 with every further part.",
    (
        "verification/marginals.py",
        "cell = np.zeros(len(codes[0]), np.int64)",
        "cell = np.zeros(len(codes[ 1]), np.int64)",
    ): (
        "Columns are equally long, and there are two at least: the class has one even where "
        "there is none."
    ),
    (
        "methods/api.py",
        "stacklevel=4,",
        "stacklevel= 5,",
    ): "It decides which line of the caller a warning names.",
    (
        "privacy/sampler.py",
        "precision = bits + 64 + 2 * trials.bit_length()",
        "precision = bits + 63 + 2 * trials.bit_length()",
    ): "Any precision is exact; with less, more bits are asked for more often.",
    (
        "methods/api.py",
        "LEAST, MOST = 1 << 26, 1 << 30",
        "LEAST, MOST = 1 << 26, 2 << 30",
    ): (
        "It decides how much room is set aside on a disk before a run, and nothing of what is "
        "written."
    ),
    (
        "data/lookup.py",
        "codes = np.empty(data.size // 2 + len(begin), np.int32)",
        "codes = np.empty(data.size * 2 + len(begin), np.int32)",
    ): "It is the room for codes, and what is not filled is cut off.",
    (
        "methods/diffmulti.py",
        "while (new := numeric & (cuts < 0)).any():",
        "while (new := numeric & (cuts < 1)).any():",
    ): "Cuts begin at 1, so that what is below it is none.",
    (
        "methods/scores.py",
        "while cut < stop:",
        "while cut != stop:",
    ): "Cuts begin at the end or before it, and the last step ends there exactly.",
    (
        "data/people.py",
        "for shift, factor in zip((30, 27), _MIX, strict=True):",
        "for shift, factor in zip((30, 27), _MIX, strict=False):",
    ): "There are two of each.",
    (
        "methods/scores.py",
        "if kind == _PURITY:",
        "if kind > _PURITY:",
    ): "The kernel's own definition gives the same on long integers (tried up to 3 * 10^17).",
    (
        "methods/api.py",
        "cells = min(MOST_CELLS, MOST_BANDS * attributes * (1 + classes))",
        "cells = min(MOST_CELLS, MOST_BANDS * attributes % (1 + classes))",
    ): "It says how much disk is set aside, of which other files take the most.",
    (
        "data/lookup.py",
        "if values.dtype == np.uint64:",
        "if not values.dtype == np.uint64:",
    ): "This code is gone since.",
}


def reason(path: str, before: str, after: str) -> str | None:
    """Why a mutant does what the code does; None if nobody has shown that."""
    return EQUIVALENT.get((path, *(line.partition("  #")[0] for line in (before, after))))
