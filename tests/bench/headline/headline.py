#!/usr/bin/env python3
"""Runs the headline benchmark: Kiln and its peers in shuffled rounds, each measurement a process of its own.

Before each measurement a peer's result is compared with a reference; a wrong result makes the exit status 1. The CPU time of
all other processes is measured during each run; a run beside more than --foreign cores of it is repeated, and marked if it
stays so. The ceilings are measured in each round.
"""
import argparse
import fnmatch
import json
import os
import pathlib
import random
import resource
import subprocess
import sys
import tempfile
import time

import report

HERE = pathlib.Path(__file__).resolve().parent


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("names", nargs="*", help="workloads, as names or patterns (gemm_*); default: all")
    p.add_argument("--bin", type=pathlib.Path, required=True, help="folder of the peers' programs")
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--threads", type=int, default=1, help="threads that a peer may use; plain C++ uses one")
    p.add_argument("--seconds", type=float, default=0.3, help="time of one measurement")
    p.add_argument("--quick", action="store_true", help="one round of short measurements, no repeats")
    p.add_argument("--foreign", type=float, default=0.3, help="cores of other processes that a clean run may have beside it")
    p.add_argument("--repeats", type=int, default=2, help="how often a run that is not clean is repeated")
    p.add_argument("--peers", default="*", help="patterns of peers, by commas")
    p.add_argument("--seed", type=int, default=1, help="of the order")
    p.add_argument("--json", type=pathlib.Path, help="file for all measurements")
    p.add_argument("--write", type=pathlib.Path, help="folder for performance.md and performance.svg, which only a run of everything writes")
    p.add_argument("--from-json", type=pathlib.Path, help="write the page from a file of measurements, without measuring")
    a = p.parse_args()
    if a.quick:
        a.rounds, a.seconds, a.repeats = 1, min(a.seconds, 0.05), 0
    return a


# oneDNN's name of the instruction sets that a variant of Kiln has.
ONEDNN_SETS = {"x86-64-v2": "SSE41", "x86-64-v3": "AVX2", "haswell": "AVX2", "x86-64-v4": "AVX512_CORE", "skylake-server": "AVX512_CORE",
               "znver4": "AVX512_CORE_VNNI", "sapphirerapids": "AVX512_CORE_VNNI"}


def environment(threads, variant):
    """OpenBLAS and BLIS choose old kernels on CPUs that they do not know, so their AVX-512 kernels are chosen for them.

    oneDNN gets the instruction sets of Kiln's variant, as it would else compute products of bytes and of bf16 by instructions
    that Kiln was not told to use."""
    e = dict(os.environ)
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "BLIS_NUM_THREADS"):
        e[name] = str(threads)
    if "avx512f" in pathlib.Path("/proc/cpuinfo").read_text():
        e.setdefault("OPENBLAS_CORETYPE", "SKYLAKEX")
        e.setdefault("BLIS_ARCH_TYPE", "0")
    e.setdefault("ONEDNN_MAX_CPU_ISA", ONEDNN_SETS[variant])
    return e


def variant_of(a):
    """The variant of Kiln's programs, which the build chose."""
    return (a.bin.parent / "variant").read_text()


def busy_seconds():
    """CPU time of all processes since the machine started, with what its host took."""
    user, nice, system, _, _, irq, softirq, steal = map(int, open("/proc/stat").readline().split()[1:9])
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


def own_seconds():
    return sum(u.ru_utime + u.ru_stime for u in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))


class Runner:
    def __init__(self, a):
        self.a = a
        self.environment = environment(a.threads, variant_of(a))
        cpus = sorted(os.sched_getaffinity(0))
        self.cpus = cpus[-a.threads:]

    def process(self, command, cpus):
        return subprocess.Popen([str(c) for c in command], stdout=subprocess.PIPE, text=True, env=self.environment,
                                preexec_fn=lambda: os.sched_setaffinity(0, cpus))

    def output(self, *command):
        return subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, text=True, env=self.environment, check=True).stdout

    def once(self, peer, workload, variant):
        begin, busy, own = time.monotonic(), busy_seconds(), own_seconds()
        p = self.process([self.a.bin / peer, "run", workload, variant, self.a.seconds, self.a.threads], self.cpus)
        try:
            text, _ = p.communicate(timeout=600)
            result = json.loads(text)
        except subprocess.TimeoutExpired:
            p.kill()
            p.communicate()
            result = {"refused": "no result in ten minutes"}
        except json.JSONDecodeError:
            result = {"wrong": f"ended with status {p.returncode}"}
        wall = time.monotonic() - begin
        result["foreign"] = round(max(0.0, busy_seconds() - busy - (own_seconds() - own)) / wall, 2)
        result["clean"] = result["foreign"] <= self.a.foreign
        return result

    def measure(self, peer, workload, variant):
        """The first clean run; if there is none, all of them count, as runs that are not clean."""
        runs = []
        for _ in range(self.a.repeats + 1):
            runs.append(self.once(peer, workload, variant))
            if runs[-1]["clean"] or "min" not in runs[-1]:
                break
        best = min(runs, key=lambda r: r.get("min", 0))
        return runs[-1] if runs[-1]["clean"] else best

    def rate(self, kind):
        """With several threads: the sum over processes that run at once."""
        ps = [self.process([self.a.bin / "probe", kind, self.a.seconds / 2], [c]) for c in self.cpus]
        return sum(json.loads(p.communicate()[0])["rate"] for p in ps)


def selected(a, runner):
    """workload -> [(peer, variant)], in the order of the table."""
    patterns = a.peers.split(",")
    jobs = {}
    for path in sorted(a.bin.iterdir()):
        if path.name == "probe" or not any(fnmatch.fnmatch(path.name, p) for p in patterns):
            continue
        for line in runner.output(path, "list").splitlines():
            workload, variant = line.split()
            if not a.names or any(fnmatch.fnmatch(workload, n) for n in a.names):
                jobs.setdefault(workload, []).append((path.name, variant))
    for name in a.names:
        if not any(fnmatch.fnmatch(w, name) for w in jobs):
            sys.exit(f"no workload {name}")
    return jobs


def described(a, runner):
    fields = ("family", "type", "work", "bytes", "written", "tolerance", "extents")
    lines = [line.split() for line in runner.output(a.bin / "kiln", "describe").splitlines()]
    return {w: {f: float(v) if f in fields[2:6] else v for f, v in zip(fields, rest)} for w, *rest in lines}


def remarks_of(a):
    """The compiler's remarks about each program with constant extents."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for generator in sorted(a.bin.parent.glob("headline_*_generator")):
            printed = subprocess.run([generator.resolve(), "-o", folder, "--variants", variant_of(a), "--emit", "manifest", "--remarks", "--json"],
                                     stderr=subprocess.PIPE, text=True, check=True).stderr
            for remark in map(json.loads, printed.splitlines()):
                found.setdefault(remark["program"], []).append([remark["id"], remark["text"]])
    return found


def probe(a, runner, data, number):
    """The ceilings of a round are the highest rates of several probes in it, since other processes disturb single ones."""
    if (a.bin / "probe").exists():
        rates = data["ceilings"][number]
        for kind in report.probes(data["workloads"].values()):
            rates[kind] = max(rates.get(kind, 0), runner.rate(kind))


def run_round(a, runner, number, jobs, data, order):
    data["ceilings"].append({})
    workloads = list(jobs)
    order.shuffle(workloads)
    for done, workload in enumerate(workloads):
        if done % 15 == 0:
            probe(a, runner, data, number)
        peers = list(jobs[workload])
        order.shuffle(peers)
        for peer, variant in peers:
            result = runner.measure(peer, workload, variant)
            data["runs"].append({"round": number, "workload": workload, "peer": peer, "variant": variant, **result})
            if "min" not in result:
                print(f"{workload}: {peer} {variant}: {result}", flush=True)
        print(f"round {number + 1} of {a.rounds}, {done + 1} of {len(workloads)}: {report.line(data, workload)}", flush=True)


def measured(a):
    runner = Runner(a)
    jobs = selected(a, runner)
    all_workloads = described(a, runner)
    data = {"machine": report.machine(), "threads": a.threads, "rounds": a.rounds, "seconds": a.seconds, "foreign": a.foreign,
            "revision": report.revision(HERE), "workloads": {w: d for w, d in all_workloads.items() if w in jobs},
            "ceilings": [], "runs": []}
    remarks = remarks_of(a)
    for w in data["workloads"].values():
        w["remarks"] = remarks.get("_".join((w["family"], w["type"], w["extents"])), [])
    order = random.Random(a.seed)
    for number in range(a.rounds):
        run_round(a, runner, number, jobs, data, order)
    return data


def main():
    a = arguments()
    data = json.loads(a.from_json.read_text()) if a.from_json else measured(a)
    if a.json:
        a.json.write_text(json.dumps(data, indent=1) + "\n")
    if a.write and (a.from_json or not (a.names or a.quick or a.peers != "*")):
        report.write(data, a.write)
    wrong = [r for r in data["runs"] if "wrong" in r or (r["peer"] == "kiln" and "min" not in r)]
    for r in wrong:
        print(f"WRONG {r['workload']}: {r['peer']} {r['variant']}: {r.get('wrong', r.get('refused'))}")
    return 1 if wrong or not data["runs"] else 0


if __name__ == "__main__":
    sys.exit(main())
