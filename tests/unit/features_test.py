"""tests/conformance/features.md: every row of the survey that it must have is there once and names tests, all of which exist, or says
`later: ` and why. docs/reference/features.md has the features that have tests, and no others. docs/reference/examples.md: every example of
the gallery has rows, and their tests exist. features_test.py ROOT"""
import pathlib, re, sys

root = pathlib.Path(sys.argv[1])
wanted = {
    "Program model": [*range(1, 19)],
    "Shapes, indices": [*range(19, 30), 31, 32, 33, *range(35, 47)],
    "Scatter and atomics": [77, 78, 79, 80],
    "Derivatives": [*range(101, 115)],
    "Defects of others": [*range(1, 26)],
    "Mistakes of structure": [*range(1, 7)],
}
source = "".join(f.read_text() for f in (root / "tests").rglob("*_test.cpp"))
cases = (root / "tests/compile_fail/scopes.cpp").read_text()
known = {f"scopes {n}" for n in re.findall(r"BAD == (\d+)", cases)}
known |= {f"{s}.{n}" for s, n in re.findall(r"^TEST(?:_[FP])?\((\w+), (\w+)\)", source, flags=re.M)}
problems, tests, waiting = [], 0, 0

on_page = re.findall(r"^\| (.*?) \|", (root / "docs/reference/features.md").read_text(), flags=re.M)
on_page = [f for f in on_page if f not in ("feature", "---")]
with_tests = []
sections = re.split(r"^## ", (root / "tests/conformance/features.md").read_text(), flags=re.M)[1:]
for section in sections:
    title = section.partition("\n")[0]
    rows = [[c.strip() for c in line.split("|")[1:-1]] for line in section.splitlines() if re.match(r"\| \d", line)]
    if [int(r[0]) for r in rows] != wanted.pop(title, None):
        problems.append(f"{title}: rows {[r[0] for r in rows]}")
    for number, feature, *here, named in rows:
        names = re.findall(r"`([^`]+)`", named)
        if not names:
            waiting += 1
            if not re.match(r"later: \w", here[0] if here else named):
                problems.append(f"{title} | {number}: no test")
        elif not here:
            with_tests.append(feature)
        tests += len(names)
        problems += [f"{title} | {number}: no {n}" for n in names if n not in known and not (root / n).is_file()]
problems += [f"no section {title}" for title in wanted]
if on_page != with_tests:
    problems.append(f"docs/reference/features.md and the features with tests differ: {sorted(set(on_page) ^ set(with_tests))}")

gallery = re.search(r"set\(gallery (.*?)\)", (root / "examples/CMakeLists.txt").read_text()).group(1).split()
rows = re.findall(r"^\| (\w*) ?\|.*\| (.*) \|$", (root / "docs/reference/examples.md").read_text(), flags=re.M)
rows = [r for r in rows if r[0] != "example"]
if sorted(filter(None, (r[0] for r in rows))) != sorted(gallery):
    problems.append("examples: not those of the gallery")
for example, named in rows:
    names = re.findall(r"`([^`]+)`", named)
    tests += len(names)
    problems += [f"examples | {example}: no {n}" for n in names or ["test"] if n not in known]

print(f"{tests} tests named, {waiting} rows wait, {len(problems)} problems")
print("\n".join(problems), file=sys.stderr)
sys.exit(1 if problems else 0)
