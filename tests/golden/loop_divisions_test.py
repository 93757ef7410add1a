#!/usr/bin/env python3
"""No integer division or remainder in a loop: loop_divisions_test.py GENERATOR.

Runs the generator for the LLVM IR of its programs, and checks every block of every kernel that is part of a cycle.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

DIVISION = re.compile(r"= (?:exact )?(?:[su]div|[su]rem)\b")

CONTROL = """
define void @control(i64 %n, i64 %d) {
entry:
  %outside = udiv i64 %n, %d
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %latch ]
  %inside = srem i64 %i, %d
  br label %latch
latch:
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %outside
  br i1 %more, label %loop, label %exit
exit:
  %after = sdiv i64 %n, %d
  ret void
}
"""


def functions(text):
    for match in re.finditer(r"^define [^@]*@(\S+?)\(.*?\{\n(.*?)^\}", text, re.M | re.S):
        yield match.group(1), match.group(2)


def blocks(body):
    """Label -> its instructions; the first block may have no label."""
    found, label = {}, ""
    for line in body.splitlines():
        start = re.match(r"([\w.$-]+):", line)
        if start:
            label = start.group(1)
        elif line.strip():
            found.setdefault(label, []).append(line)
    return found


def reachable(edges, start):
    seen, todo = set(), list(edges[start])
    while todo:
        at = todo.pop()
        if at not in seen:
            seen.add(at)
            todo += edges[at]
    return seen


def divisions_in_loops(text):
    out, loops = [], 0
    for name, body in functions(text):
        code = blocks(body)
        edges = {b: [t for t in re.findall(r"label %([\w.$-]+)", lines[-1]) if t in code] for b, lines in code.items()}
        for b, lines in code.items():
            if b in reachable(edges, b):
                loops += 1
                out += [f"{name}: {line.strip()}" for line in lines if DIVISION.search(line)]
    return out, loops


def main():
    found, _ = divisions_in_loops(CONTROL)
    if [f.split(": ")[1] for f in found] != ["%inside = srem i64 %i, %d"]:
        sys.exit(f"the check itself is wrong: {found}")
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.argv[1], "-o", folder, "--emit", "llvm-ir"], check=True)
        files = sorted(pathlib.Path(folder).glob("*.ll"))
        if not files:
            sys.exit("no LLVM IR was written")
        bad = []
        for file in files:
            found, loops = divisions_in_loops(file.read_text())
            print(f"{file.stem}: {loops} blocks in loops, {len(found)} divisions")
            if loops == 0:
                bad.append(f"{file.stem}: no loop found")
            bad += found
        if bad:
            sys.exit("\n".join(bad))


main()
