#!/usr/bin/env python3
"""Checks the compilers' messages for mistakes in kernel sources.

    mistakes.py --gcc G++ --gcc-flags "..." --clang CLANG++ --clang-flags "..." [--page docs/reference/mistakes.md] SOURCE...

A source holds cases `#if BAD == n` .. `#elif BAD == m` .. `#endif`. A case has one line that ends in `//! regex`: the line that the
message must name, and the remedy that it must name. `//? regex`: the message is the compiler's own, which Kiln cannot change. Its
place is checked, but lines and remedy are only counted. A regex that begins with `program: ` or `exported: ` also accepts the line
where the program is declared or exported. Without any case (BAD undefined) a source compiles without messages.

Every message, as a user of kiln_add_kernels sees it, must have the file and line of the mistake and the remedy in its first three
lines, and at most ten lines. Cases that the compiler finds while it parses are compiled together, the others one by one. With
--alternate each of the others is compiled by one of the compilers only: case 1 by the first, case 2 by the second, and so on.
"""
import argparse
import concurrent.futures
import os
import re
import shlex
import subprocess
import sys
import tempfile

CASE = re.compile(r"#(?:if|elif) BAD == (\d+)$")
MARK = re.compile(r"//([!?]) ?(.*)$")
ERROR = re.compile(r"([^ :]+):(\d+):\d+: (?:fatal )?error: ")
STOPS = re.compile(r"compilation terminated due to -fmax-errors|fatal error: too many errors emitted")
MAX_LINES = 10
FIRST = 3


class Case:
    def __init__(self, number, line, text, kind, remedy):
        self.number, self.lines, self.text, self.kind, self.remedy = number, line, text, kind, remedy


def read_cases(path):
    cases, number = [], None
    lines = open(path, encoding="utf-8").read().split("\n")
    for at, text in enumerate(lines, 1):
        if found := CASE.match(text):
            number = int(found[1])
        elif text.startswith("#e"):
            number = None
        elif number is not None and (mark := MARK.search(text)):
            remedy = mark[2].strip()
            line = [at]
            if remedy.startswith("program: "):
                line.append(max(i for i, l in enumerate(lines[:at], 1) if re.match(r"(struct|class) ", l)))
            elif remedy.startswith("exported: "):
                line.append(max(i for i, l in enumerate(lines, 1) if l.startswith("static const programs<")))
            cases.append(Case(number, line, text[: mark.start()].strip(), mark[1], re.sub(r"^(program|exported): ", "", remedy)))
    numbers = sorted(c.number for c in cases)
    if not cases or numbers != list(range(1, len(numbers) + 1)):
        sys.exit(f"{path}: the cases are not 1, 2, 3 .. with one marked line each: {numbers}")
    return cases


def sentence(lines):
    """The text of the first lines: Kiln's words or, if there are none, the compiler's words."""
    head = " ".join(lines[:FIRST])
    found = re.findall(r"\bkiln: ([^\n]*?)(?= \[-W|$)|\b(?:why|argument)::(?!ok\b)([a-z0-9_]+)", "\n".join(lines[:FIRST]), re.M)
    words = [(text or name.replace("__", " ").replace("_", " ")) for text, name in found]
    if not words:  # the compiler's own message: names of types contain the text
        words = [n.replace("__", " ").replace("_", " ") for n in re.findall(r"\b[a-z0-9]+(?:_+[a-zA-Z0-9]+){4,}\b", head)]
    if not found:
        error = next((l for l in lines if "error: " in l), lines[0] if lines else "").split("error: ", 1)[-1]
        words.append(re.sub(r"[‘'][^’']*(?:<|::|\()[^’']*[’']", "..", error))  # without the quoted code
    words += re.findall(r'\{"[^"]*:\d+:\d+: (\w+)"\}', head)  # the parameter
    return " | ".join(dict.fromkeys(words))


class Compiler:
    def __init__(self, name, program, flags, folder):
        self.name, self.program, self.flags, self.folder = name, program, flags + ["-std=c++20"], folder

    def prepare(self, path):
        """A precompiled header of the source's includes."""
        includes = re.findall(r"^#include <.*>$", open(path, encoding="utf-8").read(), re.M)
        stem = os.path.join(self.folder, self.name + "_" + os.path.basename(path))
        header = stem + ".h"
        with open(header, "w", encoding="utf-8") as f:
            f.write("\n".join(includes) + "\n")
        suffix = ".gch" if self.name == "g++" else ".pch"
        subprocess.run([self.program, *self.flags, "-x", "c++-header", header, "-o", header + suffix], check=True)
        self.header = ["-include", header] if self.name == "g++" else ["-include-pch", header + suffix]

    def compile(self, path, *more):
        run = subprocess.run([self.program, *self.flags, *self.header, *more, "-fsyntax-only", path], capture_output=True, text=True,
                             env={**os.environ, "LC_ALL": "C.UTF-8"}, timeout=900)
        return run.returncode, [l for l in run.stderr.split("\n") if l]

    def together(self, path, cases):
        """The messages of the cases that the compiler finds while it parses the body."""
        text = open(path, encoding="utf-8").read().split("\n")
        body = next((i for i, l in enumerate(text) if l == "  constexpr void body() {"), None)
        if body is None:
            return {}
        begin = next(i for i in range(body, len(text)) if CASE.match(text[i]))
        end = next(i for i in range(begin, len(text)) if text[i] == "#endif")
        for i in range(begin, end + 1):
            if text[i].startswith("#"):
                text[i] = "{" if i == begin else "}" if i == end else "} {"
        joined = os.path.join(self.folder, self.name, os.path.basename(path))
        os.makedirs(os.path.dirname(joined), exist_ok=True)
        with open(joined, "w", encoding="utf-8") as f:
            f.write("\n".join(text))
        _, lines = self.compile(joined, "-fmax-errors=0" if self.name == "g++" else "-ferror-limit=0")
        at = {line: c for c in cases for line in c.lines}
        messages, now, pending = {}, None, []
        for line in lines:
            if found := ERROR.match(line):
                case = at.get(int(found[2])) if found[1] == joined and not pending else None
                now = None
                if case is not None and case.number not in messages:
                    now = messages[case.number] = ["In member function"] if self.name == "g++" else []
                    now.append(line)
            elif line.startswith(("In file included from", "    ")) or ": In " in line or "required from" in line:
                pending.append(line)  # part of the next note or error
                continue
            elif now is not None:
                now += pending + [line]
            pending = []
        return {n: m + ["too many errors"] for n, m in messages.items()}

    def message(self, path, case):
        code, lines = self.compile(path, f"-DBAD={case.number}")
        return None if code == 0 else lines


def judge(path, case, lines):
    """The problem of a message; '': none."""
    if lines is None:
        return "compiles"
    if not placed(path, case, lines):
        return "place"
    if case.kind == "!" and len(lines) > MAX_LINES:
        return f"{len(lines)} lines"
    return "remedy" if case.kind == "!" and not named(case, lines) else ""


def placed(path, case, lines):
    first = "\n".join(lines[:FIRST])
    return any(f"{os.path.basename(path)}:{line}:" in first for line in case.lines)


def named(case, lines):
    return re.search(case.remedy, sentence(lines).replace("_", " ")) is not None


def write_page(page, compilers, results):
    """The table of messages: clang's sentence, and for each compiler whether place, length and remedy are right."""
    rows, total, good = [], 0, {(c, what): 0 for c in compilers for what in ("place", "lines", "remedy")}
    wanted = {c: 0 for c in compilers}
    for path, cases, known in results:
        rows.append(f"\n## {os.path.basename(path)[:-4].capitalize()}\n\n| # | mistake | message | {' | '.join(compilers)} |")
        rows.append("| ---: | --- | --- |" + " --- |" * len(compilers))
        for case in cases:
            total += 1
            cells = []
            for c, k in zip(compilers, known):
                lines = k[case.number] or []
                place = placed(path, case, lines)
                says = bool(case.remedy) and named(case, lines)
                good[c, "place"] += place
                good[c, "lines"] += len(lines) <= MAX_LINES
                good[c, "remedy"] += says
                wanted[c] += bool(case.remedy)
                cells.append(f"{len(lines)}{'' if place else ' no line'}{'' if says or not case.remedy else ' no remedy'}")
            said = sentence(known[-1][case.number] or []).split(" | ")[0].replace("|", "\\|")
            code = case.text.replace("|", "\\|")
            rows.append(f"| {case.number} | `{code}` | {said[:200]} | {' | '.join(cells)} |")
    with open(page, "w", encoding="utf-8") as f:
        f.write(PAGE)
        f.write("| compiler | mistakes | line named | at most 10 lines | remedy named |\n| --- | ---: | ---: | ---: | ---: |\n")
        for c in compilers:
            shares = [100 * good[c, "place"] / total, 100 * good[c, "lines"] / total, 100 * good[c, "remedy"] / max(wanted[c], 1)]
            f.write(f"| {c} | {total} | " + " | ".join(f"{s:.1f} %" for s in shares) + " |\n")
        f.write("\n".join(rows) + "\n")


PAGE = """# Mistakes and what the compilers say

`cmake --build --preset dev --target mistakes_page` makes this page from `tests/compile_fail/newcomers.cpp` and the sources in
`tests/compile_fail/mistakes/`. Each case is a test. Every message must name the user's file and line within its first three lines. A
message that Kiln chooses must also have at most ten lines and say what to write instead. In a few cases C++ gives Kiln no way to choose the
message. Then the compiler prints its own message, whose length and remedy are only counted.

The column "message" has the text of the last compiler. g++ prints a message of Kiln as a name, such as
`kiln::dsl::why::value_is_rebound_inside_a_scope__write_var`. The column of a compiler has the number of lines of its message. `no remedy`
marks a message that does not say what to write instead.

"""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--gcc")
    parser.add_argument("--gcc-flags", default="")
    parser.add_argument("--clang")
    parser.add_argument("--clang-flags", default="")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--only", default="", help="numbers of cases, with commas")
    parser.add_argument("--alternate", action="store_true", help="compile each case alone by one compiler only")
    parser.add_argument("--page", help="write this page of what the sources gave")
    parser.add_argument("source", nargs="+")
    args = parser.parse_args()
    failures, results = 0, []
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        compilers = []
        if args.gcc:
            compilers.append(Compiler("g++", args.gcc, shlex.split(args.gcc_flags), folder))
        if args.clang:
            compilers.append(Compiler("clang", args.clang, shlex.split(args.clang_flags), folder))
        for path in args.source:
            cases = read_cases(path)
            if args.only:
                cases = [c for c in cases if str(c.number) in args.only.split(",")]
            list(pool.map(lambda c: c.prepare(path), compilers))
            known = list(pool.map(lambda c: c.together(path, cases), compilers))
            work = [(c, case) for i, (c, k) in enumerate(zip(compilers, known)) for case in cases
                    if case.number not in k and (not args.alternate or (case.number - 1) % len(compilers) == i)]
            found = pool.map(lambda w: w[0].message(path, w[1]), work)
            for (c, case), lines in zip(work, found):
                known[compilers.index(c)][case.number] = lines
            for c in compilers:
                code, lines = c.compile(path)
                if code != 0 or lines:
                    failures += 1
                    print(f"{path} by {c.name}: without a mistake it must compile in silence\n" + "\n".join(lines))
            results.append((path, cases, known))
            for case in cases:
                for c, k in zip(compilers, known):
                    if case.number not in k:
                        continue
                    lines = k[case.number]
                    wrong = judge(path, case, lines)
                    failures += bool(wrong)
                    if wrong or args.verbose:
                        print(f"{os.path.basename(path)} {case.number} {c.name}: {wrong or 'ok'}: {case.text}\n    wanted {case.remedy!r}"
                              f" in {sentence(lines or [])[:300]!r}")
                        if wrong and args.verbose:
                            print("\n".join("    > " + l[:300] for l in lines or []))
            print(f"{os.path.basename(path)}: {len(cases)} cases, alone: {len(work)} compiles")
    if args.page:
        write_page(args.page, [c.name for c in compilers], results)
    print(f"{failures} failures")
    return failures != 0


if __name__ == "__main__":
    sys.exit(main())
