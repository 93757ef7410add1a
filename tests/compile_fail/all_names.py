"""Under `using namespace kiln`, every identifier of the headers that a kernel source includes may be the name of a program, of a
module and of a dim. Exceptions: names of C++ itself, names that the headers declare in the global namespace, and the words of
kiln/dsl/names.h, which docs/reference/names.md must list.
all_names.py ROOT COMPILER"""
import pathlib, re, subprocess, sys

root, compiler = pathlib.Path(sys.argv[1]), sys.argv[2]
# Alternative spellings of operators are keywords too.
keywords = set("""alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t class
co_await co_return co_yield compl concept const consteval constexpr constinit const_cast continue decltype default delete do double
dynamic_cast else enum explicit export extern false float for friend goto if inline int long mutable namespace new noexcept not
not_eq nullptr operator or or_eq private protected public register reinterpret_cast requires return short signed sizeof static
static_assert static_cast struct switch template this thread_local throw true try typedef typeid typename union unsigned using
virtual void volatile wchar_t while xor xor_eq""".split())

headers = [root / "dsl/include/kiln/dsl.h", root / "dsl/include/kiln/record.h", *sorted((root / "dsl/include/kiln/dsl").glob("*.h")),
           *sorted((root / "abi/include/kiln").glob("*.h")), *sorted((root / "runtime/include/kiln").glob("*.h"))]
code = "\n".join(re.sub(r'//.*|/\*[\s\S]*?\*/|"(\\.|[^"\\\n])*"', " ", h.read_text()) for h in headers)
identifiers = set(re.findall(r"\b[A-Za-z_]\w*", code)) - keywords
macros = set(re.findall(r"^\s*#\s*define (\w+)", code, flags=re.M)) | {"NULL", "SIZE_MAX"}
identifiers -= macros
identifiers = {n for n in identifiers if "__" not in n and not re.match("_[A-Z]", n)}  # C++ reserves these

words = re.findall(r"^using dsl::(\w+);", (root / "dsl/include/kiln/dsl/names.h").read_text(), flags=re.M)
taken = {"kiln", "dsl", *words}
page = (root / "docs/reference/names.md").read_text()
table = re.findall(r"^\| (`.*?) \|", page.partition("## Taken names")[2].partition("\n## ")[0], flags=re.M)
listed = {n for row in table for n in re.findall(r"`(\w+)`", row)}
assert listed == taken, f"docs/reference/names.md and kiln/dsl/names.h differ: {sorted(listed ^ taken)}"


def errors(text, *flags):
    """The numbers of the lines that the compiler refuses."""
    run = subprocess.run([compiler, "-std=c++20", "-fsyntax-only", "-w", *flags, "-x", "c++", "-I", root / "dsl/include", "-I",
                          root / "abi/include", "-"], input=text, capture_output=True, text=True)
    lines = {int(n) for n in re.findall(r"^<stdin>:(\d+):\d+: (?:fatal )?error", run.stderr, flags=re.M)}
    assert run.returncode == 0 or lines, run.stderr
    return lines


everything = ["-ferror-limit=0" if "clang" in compiler else "-fmax-errors=0"]
names = sorted(identifiers - taken)
# Names that C++ does not allow even without `using namespace kiln`, because the headers declare them in the global namespace.
text = "#include <kiln/dsl.h>\n" + "".join(f"struct {n} {{}}; struct kiln_test_{n} {{ {n}* kiln_p; }};\n" for n in names)
of_global = {names[i - 2] for i in errors(text, *everything)}
assert all(re.match("kiln_|u?int|std$|size_t$|operator", n.lower()) for n in of_global), f"in the global namespace: {sorted(of_global)}"
names = [n for n in names if n not in of_global]
assert len(names) > 1000 and {"relu", "sum", "conv", "mode", "pool", "scope", "str", "status", "record"} <= set(names)

start = '#include <kiln/dsl.h>\nusing namespace kiln;\n'
# Only g++ instantiates the base: clang needs six times as long for it, and looks up the same names.
program = "struct {0} {{}}; extern program<{0}> kiln_a_{0}; extern programs<{0}> kiln_b_{0};" if "clang" in compiler else \
    "struct {0} : program<{0}> {{ in<f32> kiln_x; out<f32> kiln_y; constexpr void body() {{}} }}; extern programs<{0}> kiln_b_{0};"
module = "struct {0} {{ in<f32> kiln_w; }}; struct kiln_of_{0} {{ {0} kiln_m; }};"
dim = 'inline constexpr dim<"{0}"> {0}; inline constexpr auto& kiln_a_{0} = {0};'
for what, form in {"program": program, "module": module, "dim": dim}.items():
    refused = {names[i - 3] for i in errors(start + "".join(form.format(n) + "\n" for n in names), *everything)}
    refused -= {"body"} if what == "program" else set()  # a constructor would have this name
    assert not refused, f"no {what} can be called {sorted(refused)}"
# The list contains no word without need.
words = sorted(taken - {"kiln"})
refused = errors(start + "".join(f"struct {n} : kiln::program<{n}> {{}};\n" for n in words),
                 *everything)
assert len(refused) == len(words), f"taken for nothing: {[n for i, n in enumerate(words) if i + 3 not in refused]}"
print(f"{len(names)} names of programs, modules and dims; {len(taken)} taken")
