#!/usr/bin/env python3
"""Compares our mining with the PyPI package `prefixspan` on the file that `--example procedures -- --patterns FILE` writes.

    pip install prefixspan && memory-core/examples/prefixspan_reference.py FILE

Fails unless every frequent pattern and its support are the package's, and ours called closed are exactly those of them that
no longer one of the same support contains. The package's own `closed=True` (0.5.2) also gives some that one does contain:
its backward scan begins at the last occurrence of the item before, where BIDE's maximum period begins at the first
instance. They are counted. Its time is nevertheless that of `closed=True`, on this machine, now.
"""
import json
import sys
import time

from prefixspan import PrefixSpan


def lies_in(inner, outer):
    rest = iter(outer)
    return all(item in rest for item in inner)


tasks = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
took, wrong, not_closed, found = 0.0, 0, 0, [0, 0]
for task in tasks:
    miner = PrefixSpan(task["sequences"])
    begin = time.perf_counter()
    theirs = miner.frequent(task["support"], closed=True)
    took += time.perf_counter() - begin
    every = {(support, tuple(items)) for support, items in miner.frequent(task["support"])}
    closed = {
        (support, items)
        for support, items in every
        if not any(s == support and len(outer) > len(items) and lies_in(items, outer) for s, outer in every)
    }
    ours = [{(support, tuple(items)) for support, items in task[kind]} for kind in ("all", "closed")]
    wrong += ours != [every, closed]
    not_closed += len({(support, tuple(items)) for support, items in theirs} - closed)
    found = [found[0] + len(every), found[1] + len(closed)]
ours = tasks[0]["ms"]
print(f"{len(tasks)} tasks, {found[0]} patterns, {found[1]} closed, {wrong} tasks differ; package calls {not_closed} more closed")
print(f"package {took * 1e3:.0f} ms, ours {ours:.1f} ms: {took * 1e3 / ours:.0f} times")
sys.exit(wrong > 0)
