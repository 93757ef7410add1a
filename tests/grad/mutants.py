"""Wrong rules of compiler/autodiff, each of which the tests of derivatives must find.

mutants.py ROOT --check            every mutant changes one place of today's sources
mutants.py ROOT BUILD [NUMBER...]  compiles each mutant, links the programs of TESTS with it, and runs them; one of them must fail
"""
import pathlib, shlex, shutil, subprocess, sys, tempfile

P, R, T, O, F, E, C, S, W, K, V, A, B, U = (f"compiler/autodiff/{n}.cpp" for n in
                                   ("partials", "reverse", "transpose", "product", "forward", "emit", "custom", "scans", "twins",
                                    "scatter", "written_values", "kernel_writes", "kernel_values", "unrolled_loops"))
TESTS = {
    "grad_test": ["--gtest_filter=-*PageOfTheTable"],
    "random_grads": ["--count", "400"],
    "grad_dsl_test": ["--gtest_filter=Grad.*:GradKernels.*"],
}
MUTANTS = [
    # partial derivatives: signs, operands, factors
    (P, "case Op::NEG: return e.neg(t);", "case Op::NEG: return t;"),
    (P, "r.times(f(Op::SIGN))", "r.times(f(Op::ABS))"),
    (P, "r.times(e.div(r.number(0.5), y));\n    case Op::RSQRT", "r.times(e.div(r.number(1), y));\n    case Op::RSQRT"),
    (P, "e.mul(r.number(-0.5), y)", "e.mul(r.number(0.5), y)"),
    (P, "case Op::EXP: return r.times(y);", "case Op::EXP: return r.times(a);"),
    (P, "r.times(e.mul(y, r.number(std::numbers::ln2)))", "r.times(y)"),
    (P, "r.times(e.add(y, r.number(1)))", "r.times(y)"),
    (P, "case Op::LOG: return e.div(t, a);", "case Op::LOG: return e.div(t, y);"),
    (P, "e.div(t, e.add(a, r.number(1)))", "e.div(t, a)"),
    (P, "r.times(e.neg(f(Op::SIN)))", "r.times(f(Op::SIN))"),
    (P, "r.times(e.fma(y, y, r.number(1)))", "r.times(e.fma(y, y, r.number(0)))"),
    (P, "const Id minus = e.neg(y);", "const Id minus = y;"),
    (P, "2 * std::numbers::inv_sqrtpi", "std::numbers::inv_sqrtpi"),
    (P, "return r.i == 0 ? r.t : e.neg(r.t);", "return r.t;"),
    (P, "case Op::MUL: return r.times(r.operand(1 - r.i));", "case Op::MUL: return r.times(r.operand(r.i));"),
    (P, "return r.i == 0 ? part : e.mul(e.neg(part), r.y);", "return r.i == 0 ? part : e.mul(part, r.y);"),
    (P, "return r.i == 2 ? r.t : r.times(r.operand(1 - r.i));", "return r.times(r.operand(1 - r.i));"),
    (P, "const Id less = e.sub(b, r.number(1));", "const Id less = b;"),
    (P, "const Id slope = e.mul(r.y, e.b.elementwise(Op::LOG, {a}));", "const Id slope = e.mul(r.y, e.b.elementwise(Op::LOG, {b}));"),
    (P, "is_max ? e.less(other, own) : e.less(own, other)", "e.less(other, own)"),
    (P, "if (!e.constant_of(other)) {", "if (true) {"),
    (P, "r.times(r.number(0.5)), ties", "r.t, ties"),
    (P, "e.where(e.both(at_zero, positive), zero, slope)", "slope"),
    # the sweep: order, selects, sums
    (R, "if (a.branch != outer) {", "if (false) {"),
    (R, "b.operand == 1 ? c :", "b.operand == 2 ? c :"),
    (R, "if (xs_.contains(node) || !keeps_places(g_.op(node))) return {0, 0};", "if (!keeps_places(g_.op(node))) return {0, 0};"),
    (R, "return e_.sum(join_slices(e_, std::move(terms)));", "return terms.back();"),
    (R, "for (const Id x : xs) out.push_back(sweep.result(x));", "for (const Id x : xs) out.push_back(sweep.result(xs[0] + 0 * x));"),
    # transposes
    (T, "nth(out, axes[i]) = static_cast<std::int64_t>(i);", "out[i] = axes[i];"),
    (T, "for (std::size_t i = 0; i < place_; ++i) {", "for (std::size_t i = 1; i < place_; ++i) {"),
    (T, "slice_axis(y, axis, first, stride, of_part)", "slice_axis(y, axis, g_.index(0), stride, of_part)"),
    (T, "y = e_.masked(e_.b.expand(e_.less(tap, last), to), repeated);", "y = repeated;"),
    (T, "is_before ? one : index_sub(g_, rest, one)", "is_before ? zero : index_sub(g_, rest, one)"),
    (T, "is_before ? rest : zero", "is_before ? zero : rest"),
    (T, "ReduceKind::min, e.where(taken, place, behind)", "ReduceKind::max, e.where(taken, place, number(0))"),
    (T, "behind = e.b.scan(ReduceKind::prod, x, along, true, true);", "behind = e.b.scan(ReduceKind::prod, x, along, false, true);"),
    (S, "e_.where(z.here, at_zero, elsewhere)", "elsewhere"),
    (S, "const bool up = reversed_ == back_again;", "const bool up = reversed_ != back_again;"),
    (W, "next.push_back(part_or_zero(k, last));", "next.push_back(part_or_zero(k, init));"),
    (T, "e_.slice_axis(y, a, before, 1, n);", "e_.slice_axis(y, a, g_.index(0), 1, n);"),
    (E, "begin = index_add(g, begin, index_mul(g, last, g.index(step)));", ""),
    # products, forward mode, scatters, custom rules
    (O, "p.p.axis.push_back(std::ranges::find(axes, i) == axes.end() ? kept++ : -1);", "p.p.axis.push_back(std::ranges::find(axes, i) != axes.end() ? kept++ : -1);"),
    (O, "last, -1, taps);", "e.g.index(0), 1, taps);"),
    (F, "edge.place == 0 ? t : other, edge.place == 0 ? other : t,", "t, t,"),
    (F, "if (x_and_v_[i] == x) terms.push_back(x_and_v_[i + 1]);", "if (x_and_v_[i] == x && terms.empty()) terms.push_back(x_and_v_[1]);"),
    (F, "Axes axes = shifted(g_.args(node));\n        if", "Axes axes(g_.args(node).begin(), g_.args(node).end());\n        if"),
    (K, "const Id next = b.update(inner, gate, e_.add(old, value), at);", "const Id next = b.update(inner, gate, value, at);"),
    (K, "line.scale * (op == Op::SUB && right ? -c : c)", "(op == Op::SUB && right ? -c : c)"),
    # written values
    (V, "path.edges(id).empty(); });", "std::ranges::find(xs, id) != xs.end(); });"),
    (V, "out = same == no_id ? written : e_.where(same, written, out);", "out = written;"),
    (A, "return e_.where(is_at(e_, before, w.first, w.gate), value, before);", "return value;"),
    (A, "Id by_before = c,", "Id by_before = e_.number(d, 0),"),
    (A, "if (w.in_order) {", "if (false) {"),
    (A, "by_before = e_.where(is_kept, c, none);", "by_before = c;"),
    (A, "if (w.gate != no_id) at =", "if (false) at ="),
    (A, "w.adds ? e_.add(before, w.value)", "w.adds ? e_.b.broadcast_to(w.value, to)"),
    (B, "data = scope_inits(g_, kernel_)[g_.slot(data)];", "data = scope_inits(g_, kernel_)[0];"),
    (B, "next = *range + 1;", "next = *range;"),
    (U, "g.index(begin + t * step)", "g.index(begin + t)"),
    (U, "may_end ? rules.e.where(runs, next[k], now[k]) : next[k]", "next[k]"),
    (C, "rules.e.g.src(custom, place + n)", "rules.e.g.src(custom, 1 + n)"),
]


def mutated(root, k):
    file, old, new = MUTANTS[k]
    text = (root / file).read_text()
    if text.count(old) != 1:
        sys.exit(f"mutant {k}: {file} has this {text.count(old)} times: {old}")
    return file, text.replace(old, new)


def commands(build, target):
    out = subprocess.run(["ninja", "-C", str(build), "-t", "commands", target], capture_output=True, text=True, check=True).stdout
    return out.strip().split("\n")


def found(root, build, lines, links, k, folder):
    file, text = mutated(root, k)
    name = pathlib.Path(file).name
    source = folder / name
    source.write_text(text)
    archive = build / "compiler/autodiff/libkiln_autodiff.a"
    compile_line = next(c for c in lines if c.endswith("/" + file))
    words = shlex.split(compile_line)
    words[words.index("-o") + 1] = name + ".o"
    words[words.index("-MF") + 1] = name + ".d"
    words[-1] = str(source)
    words = [w.replace("-Werror", "-w") for w in words if w != "ccache"]
    words[words.index(name + ".o")], words[words.index(name + ".d")] = str(folder / (name + ".o")), str(folder / (name + ".d"))
    subprocess.run(words, cwd=build, check=True)
    own = folder / archive.name
    shutil.copy(archive, own)
    subprocess.run(["ar", "r", str(own), str(folder / (name + ".o"))], check=True, capture_output=True)
    for target, arguments in TESTS.items():
        line = links[target].replace("compiler/autodiff/libkiln_autodiff.a", str(own)).replace(f"-o tests/{target}", f"-o {folder / target}")
        subprocess.run(line, shell=True, cwd=build, check=True)
        if subprocess.run([str(folder / target), *arguments], capture_output=True, timeout=300).returncode != 0:
            return target
    return None


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    if sys.argv[2] == "--check":
        for k in range(len(MUTANTS)):
            mutated(root, k)
        print(f"{len(MUTANTS)} mutants")
        return 0
    build = pathlib.Path(sys.argv[2]).resolve()
    lines = commands(build, "compiler/autodiff/libkiln_autodiff.a")
    links = {t: commands(build, f"tests/{t}")[-1] for t in TESTS}
    numbers = [int(n) for n in sys.argv[3:]] or range(len(MUTANTS))
    missed = []
    for k in numbers:
        with tempfile.TemporaryDirectory() as folder:
            by = found(root, build, lines, links, k, pathlib.Path(folder))
        print(k, MUTANTS[k][1].split("\n")[0][:70], "->", by or "NOT FOUND", flush=True)
        if by is None:
            missed.append(k)
    print(f"{len(numbers)} wrong rules, {len(missed)} not found")
    return 1 if missed else 0


sys.exit(main())
