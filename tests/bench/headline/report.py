"""The results of the headline benchmark as text, as a page in Markdown and as a plot in SVG."""
import fnmatch
import math
import pathlib
import statistics
import subprocess

KIB, MIB = 1 << 10, 1 << 20
# The order of columns; peers that are not named follow.
PEERS = ["gcc", "clang", "gcc-fast", "clang-fast", "openblas", "blis", "onednn", "eigen", "tbb"]
EXCLUDED = {("onednn", "winograd")}  # another algorithm with other errors: shown, but never the best peer


def cache_bytes(level):
    for index in pathlib.Path("/sys/devices/system/cpu/cpu0/cache").glob("index*"):
        if (index / "type").read_text().strip() != "Instruction" and (index / "level").read_text().strip() == str(level):
            return int((index / "size").read_text().strip().rstrip("K")) * KIB
    return {1: 32 * KIB, 2: MIB, 3: 32 * MIB}[level]


def machine():
    names = [line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")]
    return {"cpu": names[0] if names else "unknown", "cpus": len(names), "caches": [cache_bytes(i) for i in (1, 2, 3)]}


def revision(folder):
    r = subprocess.run(["git", "-C", str(folder), "rev-parse", "--short", "HEAD"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                       text=True)
    return r.stdout.strip() or "unknown"


# The ceilings.

# A level's name, the largest data that counts as its own, and the size of its probe. The machine's share of an L3 is unknown,
# so everything above 32 MiB counts as DRAM and is compared with a probe of 128 MiB.
def levels(caches):
    return [("L1", caches[0], caches[0] // 2), ("L2", caches[1], caches[1] // 2), ("L3", 32 * MIB, 16 * MIB), ("DRAM", math.inf, 128 * MIB)]


def level_of(w, caches):
    return next((name, probe) for name, most, probe in levels(caches) if w["bytes"] <= most)


def ways(w):
    """How the workload's bytes may move at best: it reads only, or it copies."""
    return ["read"] if w["written"] * 16 < w["bytes"] else ["copy", "stream"]


def units(w):
    """The instructions that may compute the workload at best."""
    if w["family"] == "product_u8_i8":
        return ["dot_i8", "fma_f32"]
    return {"f64": ["fma_f64"], "bf16": ["dot_bf16", "fma_f32"]}.get(w["type"], ["fma_f32"])


def probes(workloads):
    caches = machine()["caches"]
    kinds = {"fma_f32", "read_524288", "stream_524288"}
    for w in workloads:
        kinds.update(units(w))
        kinds.update(f"{way}_{level_of(w, caches)[1] // KIB}" for way in ways(w))
    return sorted(kinds)


def ceiling(data, workload, number):
    """The least time in ms by the ceilings of a round, and what bounds it."""
    w, rates, caches = data["workloads"][workload], data["ceilings"][number], data["machine"]["caches"]
    level, probe = level_of(w, caches)
    memory = w["bytes"] / max(rates[f"{way}_{probe // KIB}"] for way in ways(w))
    compute = w["work"] / max(rates[u] for u in units(w))
    return 1e3 * max(memory, compute), "compute" if compute > memory else level


# The measurements.

def best(data, workload, peer, variants=None, number=None):
    """(min, median, variant, clean) of a peer's fastest variant, over the clean runs if there are any."""
    runs = [r for r in data["runs"] if r["workload"] == workload and r["peer"] == peer and "min" in r and
            (variants is None or r["variant"] in variants) and (number is None or r["round"] == number)]
    found = []
    for variant in sorted({r["variant"] for r in runs}):
        if variants is None and (peer, variant) in EXCLUDED:
            continue
        of_variant = [r for r in runs if r["variant"] == variant]
        clean = [r for r in of_variant if r["clean"]] or of_variant
        found.append((min(r["min"] for r in clean), statistics.median(r["median"] for r in clean), variant, clean[0]["clean"]))
    return min(found) if found else None


def peers_of(data):
    names = {r["peer"] for r in data["runs"]} - {"kiln"}
    return [p for p in PEERS if p in names] + sorted(names - set(PEERS))


def summary(data, workload):
    """All that the page says about a workload."""
    kiln = best(data, workload, "kiln", ["-"])
    others = {p: b for p in peers_of(data) if (b := best(data, workload, p))}
    s = {"kiln": kiln, "symbolic": best(data, workload, "kiln", ["symbolic"]), "peers": others}
    if kiln and others:
        s["best"] = min(others, key=lambda p: others[p][0])
        s["ratio"] = others[s["best"]][0] / kiln[0]
        s["median_ratio"] = min(b[1] for b in others.values()) / kiln[1]
    if kiln and any(data["ceilings"]):
        by_round = [(number, best(data, workload, "kiln", ["-"], number)) for number in range(len(data["ceilings"]))]
        shares = [ceiling(data, workload, number)[0] / b[0] for number, b in by_round if b]
        s["share"], s["bound"] = statistics.median(shares), ceiling(data, workload, 0)[1]
    return s


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values)) if values else float("nan")


# Text.

def ms(b):
    """A time in ms with four digits; * marks one without a clean run."""
    if not b:
        return "–"
    digits = max(0, 3 - math.floor(math.log10(b[0]))) if b[0] > 0 else 0
    return f"{b[0]:.{min(digits, 6)}f}" + ("" if b[3] else "*")


def with_variant(b):
    return ms(b) + (f" {b[2]}" if b and b[2] != "-" else "")


def line(data, workload):
    s = summary(data, workload)
    if "ratio" not in s:
        return f"{workload}: Kiln {ms(s['kiln'])} ms"
    b = s["peers"][s["best"]]
    share = f", {100 * s['share']:.0f}% of {s['bound']}" if "share" in s else ""
    return f"{workload}: Kiln {ms(s['kiln'])} ms, {s['best']} {with_variant(b)} ms, ratio {s['ratio']:.2f}{share}"


def table(data, names):
    peers = peers_of(data)
    head = ["workload", "Kiln", "symbolic", *peers, "best peer", "ratio", "of medians", "share", "bound"]
    rows = ["| " + " | ".join(head) + " |", "| --- |" + " ---: |" * (len(peers) + 2) + " --- | ---: | ---: | ---: | --- |"]
    for name in names:
        s = summary(data, name)
        cells = [name, ms(s["kiln"]), ms(s["symbolic"]), *(with_variant(s["peers"].get(p)) for p in peers), s.get("best", "–"),
                 f"{s['ratio']:.2f}" if "ratio" in s else "–", f"{s['median_ratio']:.2f}" if "ratio" in s else "–",
                 f"{100 * s['share']:.0f}%" if "share" in s else "–", s.get("bound", "–")]
        rows.append("| " + " | ".join(cells) + " |")
    return rows


# What the compiler decided, and what is left.

def rest_of(workload, share):
    if share is not None and share >= 0.95:
        return "nothing: the ceiling"
    for line in (pathlib.Path(__file__).parent / "rest.txt").read_text().splitlines():
        pattern, _, sentence = line.partition(": ")
        if not line.startswith("#") and fnmatch.fnmatch(workload, pattern):
            return sentence
    return "–"


def counted(ids):
    return ", ".join(i if ids.count(i) == 1 else f"{ids.count(i)} {i}" for i in dict.fromkeys(ids)) or "–"


def plan_table(data, names):
    rows = ["The plan of each kernel of a workload, in the words of [remarks](reference/remarks.md#plans), and the other decisions of "
            "the compiler, which say why there are these kernels: the ids of its remarks. Last, what holds the rest of the time beside "
            "the ceiling.", "", "| workload | share | plans | decisions | what holds the rest |", "| --- | ---: | --- | --- | --- |"]
    for name in names:
        remarks, share = data["workloads"][name].get("remarks", []), summary(data, name).get("share")
        plans = "<br>".join(f"{i + 1}. {text}" for i, text in enumerate(t for id, t in remarks if id == "plan"))
        others = counted([id for id, _ in remarks if id not in ("plan", "vectorised")])
        rows.append(f"| {name} | {f'{100 * share:.0f}%' if share else '–'} | {plans or '–'} | {others} | {rest_of(name, share)} |")
    return rows


def ceiling_table(data):
    if not any(data["ceilings"]):
        return []
    rows = ["`read`, `copy` and `stream` (a copy by non-temporal stores) are followed by the size of their data. "
            "The others are operations in registers.", "", "| ceiling | least | median | most |", "| --- | ---: | ---: | ---: |"]
    for kind in sorted(data["ceilings"][0]):
        v = [c[kind] / 1e9 for c in data["ceilings"]]
        unit = "G operations/s" if kind.split("_")[0] in ("fma", "dot") else "GB/s"
        name = kind if unit[1] == " " else f"{kind.split('_')[0]}, {int(kind.split('_')[1]):,} KiB"
        rows.append(f"| {name} | {min(v):.0f} | {statistics.median(v):.0f} | {max(v):.0f} {unit} |")
    return rows


HEAD = """# Performance

The table shows the least time of each workload in milliseconds, for Kiln and for its peers: libraries and plain C++ loops. `./dev bench`
makes this page; `./dev bench NAME` measures one workload. The benchmark is `tests/bench/headline`.

- `Kiln`: Kiln with constant extents. `symbolic`: Kiln with symbolic extents. `–`: the peer does not compute the workload.
- `ratio`: the least time of the best peer / the least time of Kiln with constant extents; above 1 Kiln is faster. `of medians`: the ratio
  of the medians. A word after a time names the fastest variant of the peer (a layout, or weights packed in advance).
- `share`: the shortest time by the ceilings of the same round / the time of Kiln. A ceiling is the speed of a simple loop on the same
  machine (last table): bytes per second, or operations per second, where a multiply-add is two. `bound`: the ceiling with the longer time,
  either `compute` or the memory level that holds the data. Data above 32 MiB counts as DRAM. A share can exceed 100%, because ceilings are
  measurements too.
- `gcc`, `clang`: plain C++ loops by g++ 12 and clang 19, -O3 -march=native; `-fast`: also -ffast-math, which may reorder sums. Libraries
  reorder sums too; the order of Kiln's sums is fixed ([numbers](reference/numbers.md)).
- `onednn` may use only the instruction sets of Kiln's variant: with x86-64-v4 it has no instructions for products of bytes or of bf16
  (VNNI, AVX512_BF16).
- `*`: no run was clean. In a clean run all other processes use at most {foreign} cores.
- Each result is compared with a reference in double before the time is measured. The time does not include preparations: Kiln's workspace,
  and the plans and memory of the peers, exist before the first run.

{cpu}, {cpus} CPUs, caches of {l1:.0f} KiB, {l2:.0f} MiB, {l3:.0f} MiB; {threads} thread{s}; {rounds} round{r} of {seconds} s for each peer and workload; Kiln's commit is {revision}.
"""


def page(data):
    m, names = data["machine"], list(data["workloads"])
    text = [HEAD.format(foreign=data["foreign"], cpu=m["cpu"], cpus=m["cpus"], l1=m["caches"][0] / KIB, l2=m["caches"][1] / MIB,
                        l3=m["caches"][2] / MIB, threads=data["threads"], s="s"[:data["threads"] > 1], rounds=data["rounds"],
                        r="s"[:data["rounds"] > 1], seconds=data["seconds"], revision=data["revision"])]
    dirty = sum(not r["clean"] for r in data["runs"]) / len(data["runs"])
    if dirty > 0.1:
        text.append(f"**{100 * dirty:.0f}% of the measurements ran beside other work: the figures below are rough.**\n")
    ratios = {n: s["ratio"] for n in names if "ratio" in (s := summary(data, n))}
    worst = sorted(ratios, key=ratios.get)[:5]
    text.append(f"Geometric mean of the ratios: {geometric_mean(list(ratios.values())):.2f} over {len(ratios)} workloads; "
                f"{sum(r >= 1 for r in ratios.values())} at 1 or more, {sum(r < 0.9 for r in ratios.values())} below 0.90. Lowest: "
                + ", ".join(f"{n} {ratios[n]:.2f}" for n in worst) + ".\n")
    text += ["![Ratios of all workloads](performance.svg)\n", *table(data, names), "", "## Plans\n", *plan_table(data, names), "",
             "## Ceilings\n", *ceiling_table(data)]
    refused = sorted({f"{r['peer']} {r['variant']} {r['workload']}" for r in data["runs"] if "refused" in r})
    wrong = sorted({f"{r['peer']} {r['variant']} {r['workload']}: {r['wrong']}" for r in data["runs"] if "wrong" in r})
    for title, items in (("Not taken by a peer", refused), ("Wrong results", wrong)):
        if items:
            text += ["", f"## {title}\n", *(f"- {i}" for i in items)]
    return "\n".join(text) + "\n"


# The plot: one bar for each workload, on a logarithmic axis around 1.

def plot(data):
    ratios = [(n, s["ratio"]) for n in data["workloads"] if "ratio" in (s := summary(data, n))]
    left, width, step, top = 230, 560, 16, 34
    low, high = -5, 2  # powers of two
    x = lambda ratio: left + width * (min(max(math.log2(ratio), low), high) - low) / (high - low)
    height = top + step * len(ratios) + 10
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + width + 70}" height="{height}" font-family="sans-serif" font-size="11">',
           f'<rect width="{left + width + 70}" height="{height}" fill="white"/>',
           f'<text x="{left}" y="12">time of the best peer / time of Kiln: above 1 Kiln is faster</text>']
    for power in range(low, high + 1):
        at = x(2.0 ** power)
        label = f"{2 ** power}" if power >= 0 else f"1/{2 ** -power}"
        out.append(f'<line x1="{at:.1f}" y1="{top - 4}" x2="{at:.1f}" y2="{height - 6}" stroke="{"black" if power == 0 else "#cccccc"}"/>')
        out.append(f'<text x="{at:.1f}" y="{top - 8}" text-anchor="middle">{label}</text>')
    for i, (name, ratio) in enumerate(ratios):
        y, a, b = top + step * i, min(x(ratio), x(1)), max(x(ratio), x(1))
        colour = "#2f7d4f" if ratio >= 1 else "#d9a13b" if ratio >= 0.9 else "#b5473c"
        out.append(f'<text x="{left - 6}" y="{y + 11}" text-anchor="end">{name}</text>')
        out.append(f'<rect x="{a:.1f}" y="{y + 2}" width="{max(b - a, 1):.1f}" height="{step - 4}" fill="{colour}"/>')
        out.append(f'<text x="{left + width + 8}" y="{y + 11}">{ratio:.2f}</text>')
    return "\n".join(out) + "\n</svg>\n"


def write(data, folder):
    (folder / "performance.md").write_text(page(data))
    (folder / "performance.svg").write_text(plot(data))
