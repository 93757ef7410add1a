"""Runs the code of README.md and docs/, as a reader would. docs_pages.py ROOT WORK PREFIX [--update]

A page's named blocks (```cpp main.cpp) are files of one folder. When one is CMakeLists.txt, it is configured and built in build/ against
the installation at PREFIX. Then its ```console blocks run there: each `$ command` must print exactly the lines that follow it, up to the
next command (--update writes what it prints into the page). ```sh blocks may only call ./dev, with a verb that it has. ```kiln blocks
without a name belong to ir_docs_test; ```text and ```json blocks show a form. Any other block is an error, so that no block is left unrun.
"""
import os, pathlib, re, shutil, subprocess, sys

root, work, prefix = (pathlib.Path(a).resolve() for a in sys.argv[1:4])
update = "--update" in sys.argv
problems, counts = [], {"files": 0, "projects": 0, "commands": 0}
fence = re.compile(r"^```(\w*)[ ]?(\S*)\n(.*?)^```$", re.S | re.M)
# `c++` on a page is the compiler of this build, with its flags (a sanitizer's runtime library goes with the installed archives).
programs = work / "bin"
programs.mkdir(parents=True, exist_ok=True)
(programs / "c++").write_text(f'#!/bin/sh\nexec {os.environ.get("CXX", "g++")} {os.environ.get("CXXFLAGS", "")} "$@"\n')
(programs / "c++").chmod(0o755)
environment = {**os.environ, "PATH": f"{programs}:{prefix}/bin:{os.environ['PATH']}", "PKG_CONFIG_PATH": f"{prefix}/lib/pkgconfig", "LC_ALL": "C"}


def run(command, folder):
    done = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.stdout, done.returncode


def build_project(page, folder):
    counts["projects"] += 1
    options = [f"-DCMAKE_PREFIX_PATH={prefix}", "-DCMAKE_BUILD_TYPE=Release"]
    for command in (["cmake", "-S", ".", "-B", "build", *options], ["cmake", "--build", "build"]):
        out, status = run(" ".join(f"'{c}'" for c in command), folder)
        if status:
            problems.append(f"{page}: {command[1]} fails:\n{out}")
            return


def transcript(page, text, folder):
    """The block with each command's output as it is now."""
    out = ""
    for command, expected in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", text, flags=re.M):
        counts["commands"] += 1
        printed, _ = run(command, folder)
        printed = re.sub(r"^$", "", printed)
        if printed and not printed.endswith("\n"):
            printed += "\n"
        if printed != expected and not update:
            problems.append(f"{page}: $ {command}\nexpected:\n{expected}got:\n{printed}")
        out += f"$ {command}\n{printed}"
    return out


def check(path):
    page = path.relative_to(root)
    text = path.read_text()
    folder = work / str(page).replace("/", "_").removesuffix(".md")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    blocks = [m.groups() for m in fence.finditer(text)]
    for language, name, body in blocks:
        if name:
            counts["files"] += 1
            (folder / name).write_text(body)
        elif language == "sh":
            for line in body.splitlines():
                verb = re.match(r"\./dev (\w+)", line)
                if not verb or not re.search(rf"^  {verb[1]}\)", (root / "dev").read_text(), flags=re.M):
                    problems.append(f"{page}: `{line}` is not a command of ./dev")
        elif language not in ("console", "text", "json", "kiln"):
            problems.append(f"{page}: a {language or 'plain'} block without a file name is never run")
    if any(name == "CMakeLists.txt" for _, name, _ in blocks):
        build_project(page, folder)
    renewed = fence.sub(lambda m: f"```console\n{transcript(page, m[3], folder)}```" if m[1] == "console" else m[0], text)
    if path.parent.name == "diagnostics" and "```console" in renewed and f"{path.stem}: " not in renewed:
        problems.append(f"{page}: no command of the page prints {path.stem}")
    if update and renewed != text:
        path.write_text(renewed)


pages = [root / "README.md", *sorted((root / "docs").rglob("*.md"))]
only = os.environ.get("KILN_DOCS_ONLY", "")
for path in pages:
    if only in str(path):
        check(path)
print(", ".join(f"{n} {what}" for what, n in counts.items()))
print("\n".join(problems))
sys.exit(1 if problems else 0)
