"""The tables in tests/conformance that list, row by row, what a published description says and what does it here: every cell is filled, sources exist and
have the names that the row gives, golden cases exist and run a pass that the row names (or whose source it names), other tests exist, errata are explained, and
each section has as many rows as it says. correspondence_test.py ROOT"""
import pathlib, re, sys

root = pathlib.Path(sys.argv[1])
pages = ["rangeify.md", "kernel-optimisation.md", "index-types.md"]
golden = {f.stem: f for f in (root / "tests/golden/passes").rglob("*.kiln")}
problems, counts = [], {"rows": 0, "cases": set(), "errata": 0}


def table(text):
    """The cells of each row below the two lines of a table's head."""
    lines = [l for l in text.splitlines() if l.startswith("| ")]
    return [[c.strip() for c in re.split(r"(?<!\\)\|", l)[1:-1]] for l in lines[2:]]


def quoted(cell):
    return re.findall(r"`([^`]+)`", cell)


def test_names():
    text = "".join(f.read_text() for f in (root / "tests").rglob("*_test.cpp"))
    return set(re.findall(r"^TEST(?:_[FP])?\((\w+), (\w+)\)", text, flags=re.M))


def check_case(where, name, passes):
    counts["cases"].add(name)
    program = golden.get(name)
    if not program or not program.with_suffix(".txt").exists():
        problems.append(f"{where}: no case {name} in tests/golden/passes with its .txt")
        return
    ran = re.match(r"# pass (\w+)\n", program.read_text())
    if not ran or ran[1] not in passes:
        problems.append(f"{where}: {name} runs the pass {ran and ran[1]}, the row has {sorted(passes)}")
        return
    text = program.with_suffix(".txt").read_text()
    if f"== before {ran[1]}\n" not in text or f"== after {ran[1]}\n" not in text:
        problems.append(f"{where}: {program.stem}.txt lacks the program before or after the pass")


def check_row(where, cells, errata):
    if len(cells) != 5 or not all(cells):
        problems.append(f"{where}: expected five filled cells, got {cells}")
        return
    row, here, source, tests, erratum = cells
    where = f"{where} | {row}"
    names, files = quoted(here), [root / s for s in quoted(source)]
    missing = [str(f.relative_to(root)) for f in files if not f.is_file()]
    if missing or not files or not names or not quoted(tests):
        problems.append(f"{where}: no source, name or test; not there: {missing}")
        return
    text = "".join(f.read_text() for f in files)
    problems.extend(f"{where}: no {n} in {source}" for n in names if not re.search(rf"\b{re.escape(n)}\b", text))
    for t in quoted(tests):
        if "/" not in t:
            check_case(where, t, set(names) | {f.stem for f in files})
        elif not (root / t).is_file():
            problems.append(f"{where}: no {t}")
    if erratum != "none":
        counts["errata"] += len(erratum.split())
        problems.extend(f"{where}: erratum {e} is not explained" for e in erratum.split() if e not in errata)


def check_page(name):
    text = (root / "tests/conformance" / name).read_text()
    sections = re.split(r"^## ", text, flags=re.M)[1:]
    explained = {}
    for s in sections:
        if s.startswith("Errata"):
            explained = {e: cells for cells in table(s) for e in cells[0].split()}
    used = set()
    for s in sections:
        title = s.splitlines()[0]
        if title.startswith("Errata"):
            continue
        rows, said = table(s), re.search(r"\((\d+)\)$", title)
        if not said or int(said[1]) != len(rows):
            problems.append(f"{name}: section '{title}' has {len(rows)} rows")
        for cells in rows:
            counts["rows"] += 1
            check_row(f"{name}: {title}", cells, explained)
            used |= set(cells[-1].split()) if cells else set()
    problems.extend(f"{name}: no row has the erratum {e}" for e in sorted(set(explained) - used))
    known = {n for pair in test_names() for n in pair} | set(golden)
    for e, cells in explained.items():
        for n in re.findall(r"(?:[Cc]ases?|[Tt]ests?) ((?:`\w+`(?:, )?)+)", cells[1]):
            problems.extend(f"{name}: erratum {e} names {t}, which is no test" for t in quoted(n) if t not in known)


for page in pages:
    check_page(page)
if counts["rows"] < 150:
    problems.append(f"only {counts['rows']} rows")
print(f"{counts['rows']} rows, {len(counts['cases'])} golden cases, {counts['errata']} errata")
print("\n".join(problems))
sys.exit(1 if problems else 0)
