"""Every diagnostic id in the sources has a page and every page an id; the map of the pages has a line for each; links resolve; files that
pages name exist; the page of the pipeline lists the passes; kernel sources in the pages compile."""
import pathlib, re, subprocess, sys, tempfile

root, compiler = pathlib.Path(sys.argv[1]), sys.argv[2]
problems = []

sources = [f for d in ("compiler", "generator", "runtime") for f in (root / d).rglob("*") if f.suffix in (".cpp", ".h", ".c")]
ids = set()
for f in sources:
    ids |= set(re.findall(r'"([ER]-[a-z]+)"', f.read_text()))
ids -= {"E-xxx", "R-unknown"}
pages = {f.stem for f in (root / "docs/diagnostics").glob("[ER]-*.md")}
problems += [f"{i} has no page in docs/diagnostics" for i in sorted(ids - pages)]
problems += [f"docs/diagnostics/{i}.md names an id that no source has" for i in sorted(pages - ids)]

# docs/explanation/pipeline.md lists the passes and describes each.
pipeline = (root / "docs/explanation/pipeline.md").read_text()
listed = re.search(r"\$ kiln-opt passes\n(.*?)```", pipeline, flags=re.S)[1].split()
passes = re.findall(r'^    \{"(\w+)", ', (root / "compiler/pipeline/passes.cpp").read_text(), flags=re.M)
rows = re.findall(r"^\| `(\w+)` \|", pipeline, flags=re.M)
if listed != passes or rows != passes:
    problems.append(f"docs/explanation/pipeline.md lists {listed} and has rows for {rows}, the passes are {passes}")

# docs/reference/remarks.md has a row for each kind of remark, with its passes.
kinds = re.findall(r'RemarkKind \w+\{"([\w-]+)", \{"(\w+)"(?:, "(\w+)")?(?:, "(\w+)")?\}, (true|false)\}', (root / "compiler/ir/remark.h").read_text())
rows = re.findall(r"^\| `([\w-]+)` \| `(\w+)`(?:, `(\w+)`)?(?:, `(\w+)`)? \| (yes|no) \|", (root / "docs/reference/remarks.md").read_text(), flags=re.M)
if rows != [(kind, *passes, "yes" if missed == "true" else "no") for kind, *passes, missed in kinds]:
    problems.append(f"docs/reference/remarks.md has rows for {rows}, the remarks are {kinds}")

# docs/README.md is the map: one line for each page, which begins with its link.
lines = re.findall(r"^- \[[^]]+\]\(([^)]+)\)", (root / "docs/README.md").read_text(), flags=re.M)
on_map = {str(p.relative_to(root / "docs")) for d in ("guide", "how-to", "reference", "explanation") for p in (root / "docs" / d).glob("*.md")}
on_map |= {"diagnostics/README.md", "performance.md"}
if sorted(lines) != sorted(on_map):
    problems.append(f"docs/README.md has no line, or several, for {sorted(set(lines) ^ on_map) or lines}")

compiled = named = 0
for page in [*root.glob("*.md"), *(root / "docs").rglob("*.md"), *(root / "tests/conformance").glob("*.md")]:
    text = page.read_text()
    prose = re.sub(r"```.*?```|`[^`\n]*`", "", text, flags=re.S)
    for link in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", prose):
        if not link.startswith("http") and not (page.parent / link).exists():
            problems.append(f"{page.relative_to(root)}: broken link {link}")
    outside_blocks = re.sub(r"```.*?```", "", text, flags=re.S)
    for name in re.findall(r"(?:^|[ `(])((?:abi|compiler|dsl|docs|examples|generator|runtime|tests)/[\w./-]*\w)", outside_blocks, flags=re.M):
        named += 1
        if "NAME" not in name and not (root / name).exists():
            problems.append(f"{page.relative_to(root)}: there is no {name}")
    for block in re.findall(r"```cpp[^\n]*\n(.*?)```", text, flags=re.S):
        if "#include <kiln/dsl.h>" not in block:
            continue
        with tempfile.NamedTemporaryFile("w", suffix=".cpp") as source:
            source.write(block)
            source.flush()
            run = subprocess.run([compiler, "-std=c++20", "-fsyntax-only", f"-I{root}/dsl/include", f"-I{root}/abi/include", source.name],
                                 capture_output=True, text=True)
        compiled += 1
        if run.returncode:
            problems.append(f"{page.relative_to(root)}: a kernel source does not compile:\n{run.stderr}")

if compiled < 4:
    problems.append(f"only {compiled} kernel sources found in the pages")
print(f"{len(ids)} ids, {len(pages)} pages, {compiled} kernel sources compiled, {named} files named")
print("\n".join(problems))
sys.exit(1 if problems else 0)
