"""DiffMulti: multidimensional generalisation (Al-Hussaeni, Fung, Iqbal, Liu and Hung).

A tree of regions is grown from the top: each node is specialised on one value, chosen by a score
of its own records. Leaves publish noisy class counts.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from hedgerow.counting.engine import Engine
from hedgerow.errors import UsageError
from hedgerow.privacy.budget import Budget
from hedgerow.privacy.chance import Chance
from hedgerow.privacy.curator import Curator
from hedgerow.privacy.ledger import Ledger, Line
from hedgerow.privacy.selection import Choices
from hedgerow.publish.measure import buy_rows, measured
from hedgerow.publish.plan import Plan, open_purse
from hedgerow.publish.scores import ALL_CUTS, SCORES, SKIP, Score, candidates
from hedgerow.publish.tree import GrowingTree, share_evenly, share_fairly
from hedgerow.schema import Numeric, Schema

Ints = NDArray[np.int64]
UNITS = 100_000

@dataclass(frozen=True)
class DiffMulti:
    score: str = "max"
    schedule: Literal["tuned", "paper"] = "tuned"
    specialisations: int | None = None
    depth: int | None = None
    distribution: Literal["fair", "even"] = "fair"
    # experiment knobs
    growth: float = 0.5
    alloc: float = 0.2
    rows_share: float = 0.01
    c: float = 200.0
    dmul: float = 2.0
    power: float = 0.0

    def plan(self, schema, budget, rows=None):
        numeric = sum(isinstance(a, Numeric) for a in schema.attributes)
        if self.schedule == "paper":
            g = self.depth or sum(7 if isinstance(a, Numeric) else a.taxonomy.height for a in schema.attributes)
            h = self.specialisations or 1000
            ops = numeric + 3*g - 2
            purse = open_purse(budget, 2*ops, ops)
            grants = (Line("cut", purse.growth, (1,), numeric+g-1), Line("select", purse.growth, (1,), g),
                      Line("allocate", purse.growth, (1,), max(1, g-1)))
        else:
            ru = int(self.rows_share*UNITS)
            gu = int(self.growth*UNITS)
            purse = open_purse(budget, UNITS, gu)
            rows_line = Line("rows","epsilon",(ru,),1)
            if rows is None: return purse, rows_line
            h = self.specialisations or max(1, int(float(budget.row_epsilon)*max(rows,1)/self.c))
            g = self.depth or max(1, math.ceil(self.dmul*math.log2(h+1)))
            w = np.array([min(2.0**d, h)**self.power for d in range(g)])
            sel = np.floor(gu*(1-self.alloc)*w/w.sum()).astype(int)
            wa = np.array([1.0]*(max(1,g-1)))
            al = np.floor(gu*self.alloc*wa/wa.sum()).astype(int)
            grants = (rows_line, Line("select", purse.growth, tuple(int(x) for x in sel), g), Line("allocate", purse.growth, tuple(int(x) for x in al), g))
        grants += (Line("leaf","epsilon",None,1),)
        if purse.growth=="rho": grants += (Line("spare","rho",None,1),)
        return Plan("diffmulti", self.schedule, budget, purse, grants, h, g)

    def run(self, engine, schema, budget, chance):
        meas=[]
        paper = self.schedule=="paper"
        score = SCORES[self.score]
        if paper:
            plan = self.plan(schema, budget)
            ledger = Ledger(plan.purse.pots); ledger.grant(plan.grants)
            curator = Curator(ledger, chance)
        else:
            purse, line = self.plan(schema, budget)
            ledger = Ledger(purse.pots); ledger.grant([line])
            curator = Curator(ledger, chance)
            m = buy_rows(curator, engine); meas.append(m)
            plan = self.plan(schema, budget, int(m.values[0,0]))
            ledger.grant(plan.grants[1:])
        tree = GrowingTree(engine.domain)
        nodes = np.zeros(1, np.int64); quota = np.array([plan.specialisations])
        cuts = np.full((1, engine.domain.attributes), -1, np.int32)
        for depth in range(plan.depth):
            can = tree.splittable(nodes)
            grow = (quota>0) & can.any(axis=1)
            nodes, quota, can, cuts = nodes[grow], quota[grow], can[grow], cuts[grow]
            if not len(nodes): break
            part = np.empty(len(nodes), np.int64); cut=np.empty(len(nodes), np.int64)
            for sl, hist in engine.histograms(nodes, tree.lo[nodes], tree.hi[nodes], can):
                n = nodes[sl]
                args = (engine.domain, tree.lo[n], tree.hi[n], tree.taxon[n])
                if paper:
                    ask, c = self.draw_cuts(curator, depth, n, can[sl], cuts[sl], tree, args, score, hist)
                    cuts[sl]=c
                else:
                    ask = np.where(can[sl], ALL_CUTS, SKIP).astype(np.int32)
                ch = curator.select("select", depth, n, hist.map(candidates(*args, ask, score, apart=False)), span=2*score.sensitivity if paper else score.span, flip=not paper)
                part[sl]=ch.part; cut[sl]=ch.cut
            split, place = tree.specialise(nodes, Choices(part, cut))
            engine.split(split); ledger.open(nodes[place])
            kids = np.arange(split.first_child, split.first_child+len(place))
            # inherit
            newcuts = cuts[place].copy(); newcuts[np.arange(len(place)), part[place]] = -1
            open_ = tree.splittable(kids).any(axis=1) & (depth+1 < plan.depth)
            rest = quota-1
            if self.distribution=="even":
                quota = share_evenly(rest, place, open_)
            else:
                asked = (rest>0) & (np.bincount(place, weights=open_, minlength=len(nodes))>0)
                which = asked[place]
                quota = np.zeros(len(place), np.int64)
                if which.any():
                    noisy, units = curator.laplace("allocate", depth, kids[which], engine.class_counts(kids[which]).map(lambda c: c.sum(axis=1, keepdims=True)))
                    meas.append(measured(curator, "allocate", "node", kids[which], noisy, units, by_class=False))
                    full = np.zeros(len(place), np.int64); full[which]=noisy[:,0]
                    quota = np.where(which, share_fairly(rest, place, full, open_), 0)
            nodes, cuts = kids, newcuts
        partition = tree.partition()
        leaves = partition.leaves.astype(np.int64)
        regs = np.arange(len(leaves))
        counts = engine.class_counts(leaves)
        noisy, units = curator.laplace("leaf", 0, leaves, counts)
        meas.append(measured(curator,"leaf","region",regs,noisy,units,by_class=True))
        return partition, meas, ledger, leaves, plan

    def draw_cuts(self, curator, depth, n, can, cuts, tree, args, score, hist):
        numeric = tree.taxon[n] < 0
        cuts = cuts.copy()
        while True:
            missing = numeric & can & (cuts<0)
            need = missing.any(axis=1)
            if not need.any(): break
            first = missing.argmax(axis=1)
            ask = np.full(can.shape, SKIP, np.int32)
            idx = np.flatnonzero(need)
            ask[idx, first[idx]] = ALL_CUTS
            raise NotImplementedError
        return np.where(can, np.where(numeric, cuts, ALL_CUTS), SKIP).astype(np.int32), cuts
