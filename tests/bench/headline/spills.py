#!/usr/bin/env python3
"""spills.py GENERATOR FOLDER: compiles the programs of rows/spills.def to assembly, for two CPU levels, and fails if an inner
loop stores a vector register or a mask to the stack.

An inner loop is the code from a label to the last jump back to it, if no other such code is inside. A register on the stack has an
address of %rsp and a number. Elements of arrays on the stack have an index too.
"""
import pathlib
import re
import subprocess
import sys

# The most stores to the stack in an inner loop of the programs that have some, by variant. Each was measured: the plans without
# them take longer.
SIDE_BY_SIDE = "four vectors of an exponential: gelu takes 50 us in place of 75 with one"
WINDOWS = "four rows under a window: depthwise takes 4% longer with three, a dilation of 5 x 5 16% longer"
KNOWN = {
    "x86-64-v3": {
        "attention_f32_1_8_512_64": (6, SIDE_BY_SIDE),
        "gelu_tanh_f32_65536": (16, SIDE_BY_SIDE),
        "softmax_rows_f32_1024_1024": (3, SIDE_BY_SIDE),
        "convolution_f32_1_128_56_56_128_3_1_1_128": (7, WINDOWS),
        "max_pool_f32_64_112_112": (1, "conditions at the border, each in a vector register"),
        "mlp_f32_128_784_256_128_10": (21, "ten columns of results with eight transposed rows: no accumulator is stored"),
    },
    "x86-64-v4": {
        "max_pool_f32_64_112_112": (2, "conditions at the border: more masks than mask registers"),
        "mlp_f32_128_784_256_128_10": (14, "ten columns of results with sixteen transposed rows: 1.8 us in place of 2.6 without tiles"),
    },
}

LABEL = re.compile(r"([\w.$]+):")
JUMP = re.compile(r"\s+j\w+\s+([\w.$]+)")
STORE = re.compile(r"\s+(v?mov\w+\s+%[xyz]mm\d+|kmov\w\s+%k\d), -?\d*\(%rsp\)")

# Twins: a loop that keeps a value on the stack, inside a loop that stores it once in each iteration; and the same without.
SPILLING = """
outer:
	vmovaps	%ymm0, 64(%rsp)
inner:
	vmovups	%ymm1, 32(%rsp)
	vaddps	32(%rsp), %ymm2, %ymm2
	jne	inner
	jne	outer
"""
CLEAN = """
outer:
	vmovaps	%ymm0, 64(%rsp)
inner:
	vmovups	%ymm1, 32(%rsp,%rcx,4)
	vmovups	%ymm1, 32(%rax)
	vaddps	32(%rsp), %ymm2, %ymm2
	jne	inner
	vmovaps	%ymm0, 64(%rsp)
	jne	outer
"""


def inner_loops(lines):
    """Pairs of the first and last line."""
    label = {m[1]: i for i, line in enumerate(lines) if (m := LABEL.match(line))}
    last = {}
    for i, line in enumerate(lines):
        m = JUMP.match(line)
        if m and label.get(m[1], i) < i:
            last[label[m[1]]] = i
    loops = sorted(last.items())
    return [(a, b) for a, b in loops if not any((c, d) != (a, b) and a <= c and d <= b for c, d in loops)]


def spills(assembly):
    """The number of stores to the stack and the lines, for each inner loop with such stores."""
    lines = assembly.split("\n")
    found = [(sum(bool(STORE.match(line)) for line in lines[a:b]), lines[a:b + 1]) for a, b in inner_loops(lines)]
    return [(n, loop) for n, loop in found if n > 0]


def check_twins():
    assert [n for n, _ in spills(SPILLING)] == [1], "the spill of the twin was not found"
    assert not spills(CLEAN), "the twin without spills has some"
    assert inner_loops(CLEAN.split("\n")), "the loop of the twin was not found"


def failures(generator, folder, variant):
    out = folder / variant
    out.mkdir(parents=True, exist_ok=True)
    for old in out.glob("*.s"):
        old.unlink()
    subprocess.run([generator, "-o", out, "--namespace", "spills", "--variants", variant, "--emit", "asm"], check=True)
    bad, loops = [], 0
    for file in sorted(out.glob("*.s")):
        assembly = file.read_text()
        loops += len(inner_loops(assembly.split("\n")))
        for n, loop in spills(assembly):
            if n > KNOWN[variant].get(file.stem, (0, ""))[0]:
                bad.append(f"{file}: an inner loop stores {n} registers to the stack\n" + "\n".join(loop))
    if loops == 0:
        bad.append(f"{out}: no inner loop was found")
    print(f"{variant}: {loops} inner loops, {len(bad)} with spills that are not known")
    return bad


def main():
    check_twins()
    generator, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    bad = [text for variant in KNOWN for text in failures(generator, folder, variant)]
    print("\n\n".join(bad))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
