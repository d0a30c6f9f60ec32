#!/usr/bin/env python3
"""Compares our mining with the PyPI package `prefixspan` on the file that `--example procedures -- --patterns FILE` writes.

    pip install prefixspan && memory-core/examples/prefixspan_reference.py FILE

Fails unless every frequent pattern and its support are the package's, and ours called closed are exactly those of them that
no longer one of the same support contains. What the package's own `closed=True` (0.5.2) calls closed beside them is counted.
Its time is that of `closed=True`, the least of three rounds, on this machine, now; ours is the least of five.
"""
import json
import sys
import time

from prefixspan import PrefixSpan


def lies_in(inner, outer):
    rest = iter(outer)
    return all(item in rest for item in inner)


tasks = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
miners = [(PrefixSpan(task["sequences"]), task["support"]) for task in tasks]
took = float("inf")
for _ in range(3):
    begin = time.perf_counter()
    # A miner gives out its one list of results, which the next call empties.
    closed_by_package = [list(miner.frequent(support, closed=True)) for miner, support in miners]
    took = min(took, time.perf_counter() - begin)
wrong, not_closed, missed, found = 0, 0, 0, [0, 0]
for task, (miner, support), theirs in zip(tasks, miners, closed_by_package):
    every = {(support, tuple(items)) for support, items in miner.frequent(support)}
    closed = {
        (support, items)
        for support, items in every
        if not any(s == support and len(outer) > len(items) and lies_in(items, outer) for s, outer in every)
    }
    ours = [{(support, tuple(items)) for support, items in task[kind]} for kind in ("all", "closed")]
    wrong += ours != [every, closed]
    theirs = {(support, tuple(items)) for support, items in theirs}
    not_closed += len(theirs - closed)
    missed += len(closed - theirs)
    found = [found[0] + len(every), found[1] + len(closed)]
ours = tasks[0]["ms"]
print(f"{len(tasks)} tasks, {found[0]} patterns, {found[1]} closed, {wrong} tasks differ")
print(f"closed=True of the package: {not_closed} more, {missed} fewer")
print(f"package {took * 1e3:.0f} ms, ours {ours:.1f} ms: {took * 1e3 / ours:.0f} times")
sys.exit(wrong > 0)
