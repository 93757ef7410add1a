"""No call has two arguments that both make nodes, instructions or random numbers: their order would depend on the C++ compiler.
evaluation_order.query says what counts. A site is mended by a name for the argument that comes first.
evaluation_order_test.py ROOT CLANG_QUERY LLVM_INCLUDE PATH...; a folder stands for its sources, `self` for a text with known sites."""
import concurrent.futures, os, pathlib, re, subprocess, sys, tempfile

root, query = pathlib.Path(sys.argv[1]), sys.argv[2]
flags = ["-std=gnu++20", f"-I{root}", f"-I{root}/abi/include", f"-I{root}/runtime/include", f"-I{root}/dsl/include", "-isystem", sys.argv[3],
         '-DKILN_VERSION=""', '-DKILN_BUILT_RUNTIME=""']
rules = root / "tests/unit/evaluation_order.query"
known = """
#include <functional>
#include <string>
namespace kiln::compiler {
struct Graph { int make(int a, int b); int size() const; };
struct Maker { Graph& g; int one() const { return g.make(1, 1); } std::string text() const { return "x"; } };
int add(Graph& g, int a, int b);
struct Pair { Pair(int, int); };
struct Plain { int a, b; };
int far(int, int, int, int, int, int);
int all(Graph& g, Maker m, const std::function<int()>& f) {
  const auto makes = [&] { return g.make(2, 2); };
  const auto reads = [&] { return g.size(); };
  const auto both = [](int a, int b) { return a - b; };
  int count = 0;
  const auto counts = [&] { return ++count; };
  int n = add(g, g.make(1, 2), add(g, 3, 4));  // site
  n += g.make(m.one(), f());                   // site
  n += makes() + g.make(1, 1);                 // site
  n += counts() - counts();                    // site
  n += both(makes(), m.one());                 // site
  n += far(1, 2, 3, makes(), 5, m.one());      // site
  const Pair pair(makes(), m.one());           // site
  const Plain plain{makes(), m.one()};
  n += g.make(reads(), g.size()) + reads();
  n = makes() > 0 && makes() < 3 ? makes() : n;
  return n + static_cast<int>((m.text() + m.text()).size()) + add(g, g.make(1, 2), n) + plain.a;
}
}
"""


# A declaration at namespace scope: its name.
DECLARED = re.compile(r"^(?![}#/ ]|namespace\b|using\b|template\b|static_assert\b)[^(={;\n]*?\b([A-Za-z_]\w*) *(?:[\[(={;]|:(?!:)|$)", re.M)


def ran(source, more=()):
    r = subprocess.run([query, "-f", rules, source, "--", *flags, *more], capture_output=True, text=True)
    said = r.stdout + r.stderr
    good = r.returncode == 0 and len(re.findall(r"^\d+ match(?:es)?\.$", said, flags=re.M)) == 4 and " error: " not in said
    return good, said


def sites(source, more=()):
    good, said = ran(source, more)
    if not good:
        sys.exit(f"{source}: {query} says\n{said}")
    return found_in(said)


def found_in(said):
    return re.findall(r'^(/\S+:\d+):\d+: note: "site" binds here\n *\d+ \| +(.*)', said, flags=re.M)


def groups(sources):
    """Sources that declare no name twice: one translation unit can include them all, so that their headers are parsed once."""
    made = []
    for source in sources:
        names = set(DECLARED.findall(source.read_text()))
        group = next((g for g in made if len(g[0]) < 12 and not names & g[1]), None)
        if group is None:
            made.append(([source], names))
        else:
            group[0].append(source)
            group[1].update(names)
    return [g for g, _ in made]


def check_group(group, folder, name):
    """The sites of the group, and the number of sources that needed a translation unit of their own. A group that does not compile
    is halved: a name that one source declares may hide what another one means."""
    if len(group) == 1:
        return sites(group[0]), 1
    together = pathlib.Path(folder) / f"{name}.cpp"
    together.write_text("".join(f'#include "{s}"\n' for s in group))
    good, said = ran(together)
    if good:
        return found_in(said), 0
    half = len(group) // 2
    first, second = check_group(group[:half], folder, name + "a"), check_group(group[half:], folder, name + "b")
    return first[0] + second[0], first[1] + second[1]


def check_self():
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "known.cpp"
        source.write_text(known)
        found = {place for place, _ in sites(source)}
    lines = {i + 1 for i, line in enumerate(known.splitlines()) if "// site" in line}
    expected = {f"{source}:{i}" for i in lines}
    if found != expected:
        sys.exit(f"of the known sites: missed {sorted(expected - found)}, found besides {sorted(found - expected)}")
    print(f"{len(found)} known sites found")


def check_folders(folders):
    sources = sorted(s for f in folders for s in (root / f).rglob("*.cpp"))
    if not sources:
        sys.exit(f"no sources in {folders}")
    found, alone = set(), 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(min(2, os.cpu_count() or 1)) as pool:
        parts = groups(sources)
        for some, single in pool.map(check_group, parts, [folder] * len(parts), map("group{}".format, range(len(parts)))):
            found.update(some)
            alone += single
    for place, text in sorted(found):
        print(f"{pathlib.Path(place).relative_to(root)}: two arguments change what they share: {text}")
    print(f"{len(sources)} sources, {alone} of them compiled alone, {len(found)} sites")
    sys.exit(1 if found else 0)


if sys.argv[4:] == ["self"]:
    check_self()
else:
    check_folders(sys.argv[4:])
