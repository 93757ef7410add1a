"""No call has two arguments that both make nodes, instructions or random numbers: their order would depend on the C++ compiler.
evaluation_order.query says what counts. A site is mended by a name for the argument that comes first.
evaluation_order_test.py ROOT CLANG_QUERY CLANG LLVM_INCLUDE PATH...; a folder stands for its sources, `self` for a text with known sites."""
import concurrent.futures, os, pathlib, re, subprocess, sys, tempfile

root, query, clang = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
flags = ["-std=gnu++20", f"-I{root}", f"-I{root}/abi/include", f"-I{root}/runtime/include", f"-I{root}/dsl/include", "-isystem", sys.argv[4],
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


# What nearly every source includes, parsed once.
common = """
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>
#include "compiler/ir/graph.h"
"""


def sites(source, more=()):
    ran = subprocess.run([query, "-f", rules, source, "--", *flags, *more], capture_output=True, text=True)
    said = ran.stdout + ran.stderr
    if ran.returncode != 0 or len(re.findall(r"^\d+ match(?:es)?\.$", said, flags=re.M)) != 4 or " error: " in said:
        sys.exit(f"{source}: {query} says\n{said}")
    return re.findall(r'^(/\S+:\d+):\d+: note: "site" binds here\n *\d+ \| +(.*)', said, flags=re.M)


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
    found = set()
    with tempfile.TemporaryDirectory() as folder:
        header, parsed = pathlib.Path(folder) / "common.h", pathlib.Path(folder) / "common.pch"
        header.write_text(common)
        subprocess.run([clang, "-x", "c++-header", *flags, header, "-o", parsed], check=True)
        with concurrent.futures.ThreadPoolExecutor(min(2, os.cpu_count() or 1)) as pool:
            for one in pool.map(lambda s: sites(s, ["-include-pch", parsed]), sources):
                found.update(one)
    for place, text in sorted(found):
        print(f"{pathlib.Path(place).relative_to(root)}: two arguments change what they share: {text}")
    print(f"{len(sources)} sources, {len(found)} sites")
    sys.exit(1 if found else 0)


if sys.argv[5:] == ["self"]:
    check_self()
else:
    check_folders(sys.argv[5:])
