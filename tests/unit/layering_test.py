"""A folder includes only the folders that its row of the table in docs/explanation/architecture.md names. A row names a folder (`ir` is
compiler/ir), or one file, or LLVM. Parts of compiler/ include only parts that compiler/CMakeLists.txt adds before them, and the page has
the same order. A name that nothing includes is a mistake in the table. layering_test.py ROOT"""
import collections, os, pathlib, re, sys

root = pathlib.Path(sys.argv[1])
roots = ["", "abi/include", "dsl/include", "runtime/include"]
problems = []


def rows():
    """By folder: the names in the last column of the page's table."""
    section = re.search(r"^## Folders$(.*?)^## ", (root / "docs/explanation/architecture.md").read_text(), flags=re.M | re.S)[1]
    cells = [[c.strip() for c in line.split("|")[1:-1]] for line in section.splitlines() if line.startswith("| `")]
    return {re.search(r"`([^`]+?)/?`", c[0])[1]: re.findall(r"`([^`]+?)/?`|\b(LLVM)\b", c[2]) for c in cells}


def folder_of(path):
    parts = path.split("/")
    return "/".join(parts[:2]) if parts[0] == "compiler" else parts[0]


def target_of(include, source):
    """The file of this repository that an include names, or LLVM; None: a header of the system."""
    if include.startswith("llvm"):
        return "LLVM"
    places = [os.path.dirname(source)] + roots
    found = [os.path.normpath(os.path.join(p, include)) for p in places if (root / p / include).is_file()]
    return found[0] if found else None


table = {}
for folder, names in rows().items():
    named = [a or b for a, b in names]
    table[folder] = {"compiler/" + n if (root / "compiler" / n).is_dir() else n for n in named} | {"abi"}
parts = ["compiler/" + p for p in re.search(r"foreach\(part ([\w ]+)\)", (root / "compiler/CMakeLists.txt").read_text())[1].split()]
of_page = [f for f in table if f.startswith("compiler/")]
if parts != of_page:
    problems.append(f"compiler/CMakeLists.txt adds {parts}, the page has {of_page}")

used = collections.defaultdict(set)
files = 0
for top in ["abi", "compiler", "dsl", "generator", "runtime"]:
    for source in sorted(p for p in (root / top).rglob("*") if p.suffix in {".h", ".c", ".cpp"}):
        path, files = source.relative_to(root).as_posix(), files + 1
        folder = folder_of(path)
        if folder not in table:
            problems.append(f"{path}: the page has no row for {folder}")
            continue
        for include in re.findall(r'^\s*#\s*include\s*["<]([^">]+)[">]', source.read_text(), flags=re.M):
            target = target_of(include, path)
            if target is None or folder_of(target) == folder:
                continue
            other = target if target in table[folder] else folder_of(target)
            used[folder].add(other)
            if other not in table[folder]:
                problems.append(f"{path} includes {include}: the row of {folder} does not name {other}")
            if folder in parts and other in parts and parts.index(other) > parts.index(folder):
                problems.append(f"{path} includes {include}: compiler/CMakeLists.txt adds {other} after {folder}")
for folder in ["abi", "runtime", "dsl", *parts, "generator"]:
    for name in sorted(table[folder] - used[folder] - {"abi"}):
        problems.append(f"nothing in {folder} includes {name}")

for p in problems:
    print(p)
print(f"{files} files in {len(used)} folders that include others, {sum(map(len, used.values()))} pairs of folders")
sys.exit(1 if problems or files < 400 else 0)
