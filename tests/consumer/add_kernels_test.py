"""Mistakes in calls of kiln_add_kernels: each is an error at the call's line when the project is configured, in words of the call.
add_kernels_test.py ROOT CMAKE FOLDER"""
import pathlib, re, shutil, subprocess, sys

root, cmake, folder = pathlib.Path(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3])
cases = {  # arguments: text of the error
    "k": "SOURCES is missing: write kiln_add_kernels(k SOURCES kernels.cpp)",
    "k kernels.cpp": "kernels.cpp belongs to no keyword: write kiln_add_kernels(k SOURCES kernels.cpp)",
    "k SOURCE kernels.cpp": "unknown keyword SOURCE: write SOURCES",
    "k SOURCES": "no value for SOURCES",
    "k SOURCES other.cpp": "there is no source other.cpp",
    "k SOURCES kernels.cpp NAMESAPCE my": "unknown keyword NAMESAPCE: write NAMESPACE",
    "k NAMESAPCE my SOURCES kernels.cpp": "unknown keyword NAMESAPCE: write NAMESPACE",
    "k SOURCES kernels.cpp VARIANT x86-64-v4": "unknown keyword VARIANT: write VARIANTS",
    "k SOURCES kernels.cpp LIBRARY m": "unknown keyword LIBRARY: write LIBRARIES",
    "k SOURCES kernels.cpp LIBRARIES m NAMESPCE my": "unknown keyword NAMESPCE: write NAMESPACE",
    "k STATIC SOURCES kernels.cpp": "unknown keyword STATIC: the keywords are SOURCES, NAMESPACE, VARIANTS, LIBRARIES, TUNING",
    "k SOURCES kernels.cpp TUNINGS my.tune": "unknown keyword TUNINGS: write TUNING",
    "k SOURCES kernels.cpp TUNING": "no value for TUNING",
    "k SOURCES kernels.cpp VARIANTS avx2": "VARIANTS avx2 is no CPU level and no CPU that Kiln knows: write some of x86-64-v2, "
                                           "x86-64-v3, x86-64-v4, haswell, skylake-server, znver4, sapphirerapids",
    "k SOURCES kernels.cpp VARIANTS x86-64-v3 znver": "VARIANTS znver is no CPU level and no CPU that Kiln knows",
    "k SOURCES kernels.cpp VARIANTS": "no value for VARIANTS",
    "my-kernels SOURCES kernels.cpp": "the target's name is no C++ namespace (identifiers joined by ::): write NAMESPACE, for example "
                                      "NAMESPACE my_my_kernels",
    "default SOURCES kernels.cpp": "the target's name is no C++ namespace: `default` is a word of C++: write NAMESPACE, for example "
                                   "NAMESPACE my_default",
    "3d SOURCES kernels.cpp": "the target's name is no C++ namespace (identifiers joined by ::): write NAMESPACE",
    "k SOURCES kernels.cpp NAMESPACE my-kernels": "NAMESPACE my-kernels is no C++ namespace (identifiers joined by ::)",
    "k SOURCES kernels.cpp NAMESPACE a:b": "NAMESPACE a:b is no C++ namespace (identifiers joined by ::)",
    "k SOURCES kernels.cpp NAMESPACE a::": "NAMESPACE a:: is no C++ namespace (identifiers joined by ::)",
    "k SOURCES kernels.cpp NAMESPACE my::new": "NAMESPACE my::new is no C++ namespace: `new` is a word of C++",
    # Correct calls fail only because this project has no generator.
    "k SOURCES kernels.cpp NAMESPACE a::b VARIANTS x86-64-v4": "the component `generator` of Kiln was not found",
    "k SOURCES kernels.cpp VARIANTS x86-64-v4 znver4 x86-64-v2 x86-64-v4": "the component `generator` of Kiln was not found",
    "my-kernels SOURCES kernels.cpp NAMESPACE my": "the component `generator` of Kiln was not found",
    "random SOURCES kernels.cpp": "the component `generator` of Kiln was not found",
}
problems = []


def configure(text):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "kernels.cpp").write_text("")
    (folder / "CMakeLists.txt").write_text(f"cmake_minimum_required(VERSION 3.25)\nproject(p LANGUAGES NONE)\n"
                                           f"include({root}/generator/cmake/kiln_add_kernels.cmake)\n{text}\n")
    run = subprocess.run([cmake, "-S", folder, "-B", folder / "build"], capture_output=True, text=True)
    return run.returncode, re.sub(r"\s+", " ", run.stderr)


for arguments, said in cases.items():
    code, text = configure(f"kiln_add_kernels({arguments})")
    name = arguments.split()[0]
    if code == 0 or f"kiln_add_kernels({name}): {said}" not in text or "CMakeLists.txt:4 (kiln_add_kernels)" not in text:
        problems.append(f"kiln_add_kernels({arguments}): expected `{said}`, got\n{text}")

# A kernel source that also belongs to a target of the user.
code, text = configure("add_library(kiln::generator_main INTERFACE IMPORTED)\nadd_library(kiln::runtime INTERFACE IMPORTED)\n"
                       "add_library(app OBJECT main.c kernels.cpp)\n"
                       "kiln_add_kernels(k SOURCES kernels.cpp)")
said = "kernels.cpp is also a source of app: take it out there, and write target_link_libraries(app PRIVATE k)"
if code == 0 or said not in text:
    problems.append(f"a kernel source in another target: expected `{said}`, got\n{text}")
print("\n".join(problems) or f"{len(cases) + 1} calls")
sys.exit(bool(problems))
