#include "compiler/ir/builder.h"

#include <algorithm>

#include "compiler/ir/diagnostic.h"

namespace kiln::compiler {

void Builder::fail(std::string id, const std::string& text) const {
  throw Diagnostic(std::move(id), where(graph_, graph_.loc()), text);
}

std::string Builder::shape_text(std::span<const Id> extents) const {
  std::string out = "[";
  for (std::size_t i = 0; i < extents.size(); ++i) out += (i > 0 ? ", " : "") + index_text_or_id(graph_, extents[i]);
  return out + "]";
}

void Builder::declare(const Symbol& s) {
  facts_.push_back({graph_.string(graph_.intern(s.name)), s.min, s.max});
  if (s.kind == Symbol::Kind::extent) graph_.set_multiple(s.name, s.multiple_of);
}

void Builder::check_rank(std::size_t rank) const {
  if (rank > max_rank) fail("E-rank", "expected rank <= " + std::to_string(max_rank) + ", got " + std::to_string(rank));
}

void Builder::check_extents(std::span<const Id> extents) {
  check_rank(extents.size());
  for (Id e : extents) {
    if (graph_.dtype(e) != DType::index) fail("E-dtype", "expected index extents, got " + std::string(name(graph_.dtype(e))));
    if (!symbolic(e))
      fail("E-shape", "expected extents of symbols and constants, got " + shape_text(extents) + ", which depends on data");
    if (!nonnegative(e))
      fail("E-shape", "expected extents >= 0, got " + shape_text(extents) + " (a symbolic extent may need a declared minimum)");
  }
}

void Builder::check_axes(std::span<const std::int64_t> axes, std::ptrdiff_t rank, std::string_view what) const {
  for (std::int64_t a : axes)
    if (a < 0 || a >= rank)
      fail("E-axis",
           "`" + std::string(what) + "` expected axes below the rank " + std::to_string(rank) + ", got " + std::to_string(a));
}

bool Builder::symbolic(Id v) {
  std::vector<Id> stack{v};
  while (!stack.empty()) {
    const Id id = stack.back();
    stack.pop_back();
    if (symbolic_.contains(id)) continue;
    const Op op = graph_.op(id);
    if (op != Op::CONST && op != Op::SYM && (!is_elementwise(op) || op == Op::CAST)) return false;
    for (Id s : graph_.src(id)) stack.push_back(s);
    symbolic_.insert(id);  // if a source is not symbolic, the caller throws, so a wrong entry does no harm
  }
  return true;
}

bool Builder::nonnegative(Id v) {
  if (trust_bounds_ || nonnegative_.contains(v)) return true;
  if (!proves_nonnegative(graph_, v, facts_)) {
    if (!infer_) return false;
    const auto raised = minimums_for_nonnegative(graph_, v, facts_);
    if (!raised) return false;
    for (SymbolFacts r : *raised) {
      r.needed_at = graph_.loc();
      const auto f = std::ranges::find(facts_, r.name, &SymbolFacts::name);
      if (f == facts_.end())
        facts_.push_back(r);
      else if (f->min < r.min)
        *f = r;
    }
  }
  nonnegative_.insert(v);
  return true;
}

void Builder::apply_minimums(Program& p) const {
  for (const SymbolFacts& f : facts_)
    for (Symbol& s : p.symbols) {
      if (s.name != f.name || s.min >= f.min) continue;
      if (const std::int64_t most = s.max / s.multiple_of * s.multiple_of; f.min > most)
        throw Diagnostic("E-slice", where(graph_, f.needed_at),
                         "symbol `" + s.name + "` expected a maximum of at least " + std::to_string(f.min) +
                             ", which this operation needs, got " + std::to_string(most));
      s.min = f.min;
      s.min_needed_at = file_and_line(graph_, f.needed_at);
    }
}

Id Builder::constant(DType d, std::uint64_t bits) { return graph_.constant(d, bits); }

Id Builder::param(Arg slot, const Parameter& p) {
  check_extents(p.extents);
  return graph_.make(Op::PARAM, p.dtype, p.extents, {slot}, p.name);
}

Id Builder::iota(DType d, Id extent) {
  check_extents(std::span(&extent, 1));
  if (!in_classes("IF", d)) fail("E-dtype", "`iota` expected an integer or float type, got " + std::string(name(d)));
  return graph_.make(Op::IOTA, d, {extent});
}

Id Builder::extent_value(DType d, Id extent) { return cast(extent, d); }

std::vector<Id> Builder::broadcast_shape(Op op, std::span<const Id> sources) {
  std::vector<Id> shape;
  for (Id s : sources) {
    const auto other = shapes_(s);
    if (std::ranges::equal(shape, other)) continue;
    std::vector<Id> merged(std::max(shape.size(), other.size()));
    for (std::size_t i = 0; i < merged.size(); ++i) {  // i counts from the last axis
      const Id a = i < shape.size() ? shape[shape.size() - 1 - i] : no_id;
      const Id b = i < other.size() ? other[other.size() - 1 - i] : no_id;
      Id& m = merged[merged.size() - 1 - i];
      if (a == no_id || b == no_id)
        m = a == no_id ? b : a;
      else if (a == b || graph_.is_index_const(b, 1))
        m = a;
      else if (graph_.is_index_const(a, 1))
        m = b;
      else
        fail("E-shape", "`" + std::string(name(op)) + "` expected shapes that broadcast, got " + shape_text(shape) + " and " +
                            shape_text(other) + ": " + index_text_or_id(graph_, a) + " against " + index_text_or_id(graph_, b));
    }
    shape = std::move(merged);
  }
  return shape;
}

Id Builder::broadcast_to(Id x, std::span<const Id> extents) {
  const auto in = shape_of(x);
  if (std::ranges::equal(in, extents)) return x;
  if (in.size() > extents.size())
    fail("E-shape", "expected a shape that broadcasts to " + shape_text(extents) + ", got " + shape_text(in));
  std::vector<Id> padded(extents.size() - in.size(), graph_.index(1));
  padded.insert(padded.end(), in.begin(), in.end());
  if (padded.size() != in.size()) x = reshape(x, padded);
  return std::ranges::equal(padded, extents) ? x : expand(x, extents);
}

Id Builder::elementwise(Op op, std::span<const Id> sources, DType target) {
  if (!is_elementwise(op) || std::ssize(sources) != arity(op))
    fail("E-shape", "`" + std::string(name(op)) + "` expected " + std::to_string(arity(op)) + " operands, got " +
                        std::to_string(sources.size()));
  DType types[3];
  for (std::size_t i = 0; i < sources.size(); ++i) types[i] = graph_.dtype(sources[i]);
  std::string problem;
  const DType d = elementwise_dtype(op, std::span(types, sources.size()), target, problem);
  if (!problem.empty()) fail("E-dtype", problem);
  if (op == Op::CAST && d == DType::index) return index_of(sources[0]);
  const auto shape = broadcast_shape(op, sources);
  Id operands[3];
  for (std::size_t i = 0; i < sources.size(); ++i)  // rank 0 stays: it broadcasts implicitly
    operands[i] = shapes_.rank(sources[i]) == 0 ? sources[i] : broadcast_to(sources[i], shape);
  return graph_.make(op, d, std::span<const Id>(operands, sources.size()));
}

Id Builder::movement(Op op, std::span<const Id> data, std::initializer_list<std::span<const Id>> operands,
                     std::span<const std::int64_t> args) {
  std::vector<Id> src(data.begin(), data.end());
  for (auto o : operands) src.insert(src.end(), o.begin(), o.end());
  return graph_.make(op, graph_.dtype(data[0]), src, args);
}

Id Builder::reshape(Id x, std::span<const Id> extents) {
  check_extents(extents);
  const auto in = shape_of(x);
  const Id have = index_product(graph_, in), want = index_product(graph_, extents);
  if (have != want)
    fail("E-reshape", "expected as many elements as " + shape_text(in) + " has (" + index_text_or_id(graph_, have) + "), got " +
                          shape_text(extents) + " (" + index_text_or_id(graph_, want) + ")");
  return movement(Op::RESHAPE, std::span(&x, 1), {extents});
}

Id Builder::expand(Id x, std::span<const Id> extents) {
  check_extents(extents);
  const auto in = shape_of(x);
  bool ok = in.size() == extents.size();
  for (std::size_t i = 0; ok && i < in.size(); ++i) ok = in[i] == extents[i] || graph_.is_index_const(in[i], 1);
  if (!ok)
    fail("E-shape",
         "`expand` expected the same rank with axes of extent 1 growing, got " + shape_text(in) + " to " + shape_text(extents));
  return movement(Op::EXPAND, std::span(&x, 1), {extents});
}

Id Builder::permute(Id x, std::span<const std::int64_t> axes) {
  const int rank = shapes_.rank(x);
  check_axes(axes, rank, "permute");
  std::vector<std::int64_t> sorted(axes.begin(), axes.end());
  std::ranges::sort(sorted);
  if (std::ssize(axes) != rank || std::ranges::adjacent_find(sorted) != sorted.end())
    fail("E-axis",
         "`permute` expected each of " + std::to_string(rank) + " axes once, got " + std::to_string(axes.size()) + " axes");
  return movement(Op::PERMUTE, std::span(&x, 1), {}, axes);
}

void Builder::check_slice_axis(std::size_t axis, Id n, Id begin, std::int64_t step, Id extent) {
  if (step == 0) fail("E-slice", "expected a step other than 0, got 0 for axis " + std::to_string(axis));
  if (index_value(graph_, extent) == 0) return;
  const Id stride = graph_.index(step);
  const Id last = index_add(graph_, begin, index_mul(graph_, index_sub(graph_, extent, graph_.index(1)), stride));
  const Id low = step > 0 ? begin : last, high = step > 0 ? last : begin;
  if (nonnegative(low) && nonnegative(index_sub(graph_, index_sub(graph_, n, graph_.index(1)), high))) return;
  fail("E-slice", "axis " + std::to_string(axis) + " expected indices in 0 .. " + index_text_or_id(graph_, n) + " - 1, got " +
                      index_text_or_id(graph_, begin) + " .. " + index_text_or_id(graph_, last) +
                      " (a symbolic extent may need a declared minimum)");
}

Id Builder::slice(Id x, std::span<const Id> begin, std::span<const std::int64_t> step, std::span<const Id> extents) {
  check_extents(extents);
  const auto in = shape_of(x);
  if (begin.size() != in.size() || step.size() != in.size() || extents.size() != in.size())
    fail("E-slice", "expected begin, step and extent for each of " + std::to_string(in.size()) + " axes, got " +
                        std::to_string(begin.size()) + ", " + std::to_string(step.size()) + " and " +
                        std::to_string(extents.size()));
  for (std::size_t i = 0; i < in.size(); ++i) check_slice_axis(i, in[i], begin[i], step[i], extents[i]);
  return movement(Op::SLICE, std::span(&x, 1), {begin, extents}, step);
}

void Builder::check_pad_axis(std::size_t axis, PadMode mode, Id n, Id before, Id extent) {
  const Id after = index_sub(graph_, index_sub(graph_, extent, before), n);
  const std::string at = "axis " + std::to_string(axis);
  if (!nonnegative(before) || !nonnegative(after))
    fail("E-pad", at + " expected widths >= 0, got " + index_text_or_id(graph_, before) + " before and " +
                      index_text_or_id(graph_, after) + " after");
  const bool none = graph_.is_index_const(before, 0) && graph_.is_index_const(after, 0);
  if (mode == PadMode::constant || none) return;
  // The greatest width of a side: reflect repeats all elements except the edge, wrap all elements. Edge needs one element.
  const Id most = mode == PadMode::reflect ? index_sub(graph_, n, graph_.index(1)) : n;
  const bool fits = mode == PadMode::edge
                        ? nonnegative(index_sub(graph_, n, graph_.index(1)))
                        : nonnegative(index_sub(graph_, most, before)) && nonnegative(index_sub(graph_, most, after));
  if (!fits)
    fail("E-pad",
         at + " with mode " + std::string(name(mode)) + " expected " +
             (mode == PadMode::edge ? "an extent of at least 1" : "widths of at most " + index_text_or_id(graph_, most)) +
             ", got extent " + index_text_or_id(graph_, n) + ", " + index_text_or_id(graph_, before) + " before and " +
             index_text_or_id(graph_, after) + " after (a symbolic extent may need a declared minimum)");
}

Id Builder::pad(Id x, Id value, PadMode mode, std::span<const Id> before, std::span<const Id> extents) {
  check_extents(extents);
  const auto in = shape_of(x);
  if (before.size() != in.size() || extents.size() != in.size())
    fail("E-pad", "expected widths and extents for each of " + std::to_string(in.size()) + " axes, got " +
                      std::to_string(before.size()) + " and " + std::to_string(extents.size()));
  if (shapes_.rank(value) != 0 || graph_.dtype(value) != graph_.dtype(x))
    fail("E-pad", "expected a rank-0 value of type " + std::string(name(graph_.dtype(x))) + ", got " +
                      std::string(name(graph_.dtype(value))) + " " + shape_text(shapes_(value)));
  for (std::size_t i = 0; i < in.size(); ++i) check_pad_axis(i, mode, in[i], before[i], extents[i]);
  const Id data[] = {x, value};
  const std::int64_t args[] = {Arg(mode).value};
  return movement(Op::PAD, data, {before, extents}, args);
}

Id Builder::concat(std::span<const Id> parts, std::int64_t axis) {
  if (parts.empty()) fail("E-shape", "`concat` expected at least one operand, got none");
  const auto first = shape_of(parts[0]);
  const std::int64_t args[] = {axis};
  check_axes(args, std::ssize(first), "concat");
  for (Id p : parts) {
    auto s = shape_of(p);
    bool same = s.size() == first.size();
    for (std::size_t i = 0; same && i < s.size(); ++i) same = std::cmp_equal(i, axis) || s[i] == first[i];
    if (!same)
      fail("E-shape", "`concat` expected shapes that differ on axis " + std::to_string(axis) + " only, got " +
                          shape_text(first) + " and " + shape_text(s));
    if (graph_.dtype(p) != graph_.dtype(parts[0]))
      fail("E-dtype", "`concat` expected operands of one type, got " + std::string(name(graph_.dtype(parts[0]))) + " and " +
                          std::string(name(graph_.dtype(p))));
  }
  return movement(Op::CONCAT, parts, {}, args);
}

Id Builder::gather(Id x, std::span<const Id> index) {
  if (const auto in = shape_of(x); index.empty() || index.size() > in.size())
    fail("E-shape", "`gather` expected 1 to " + std::to_string(in.size()) + " index tensors for " + shape_text(in) + ", got " +
                        std::to_string(index.size()));
  for (const Id i : index)
    if (!is_int(graph_.dtype(i)))
      fail("E-dtype", "`gather` expected index tensors of an integer type, got " + std::string(name(graph_.dtype(i))));
  const auto shape = broadcast_shape(Op::GATHER, index);
  check_rank(shape.size() + shape_of(x).size() - index.size());
  std::vector<Id> src{x};
  for (const Id i : index) src.push_back(shapes_.rank(i) == 0 ? i : broadcast_to(i, shape));
  return graph_.make(Op::GATHER, graph_.dtype(x), src);
}

Id Builder::stage(Id x) {
  if (graph_.dtype(x) >= DType::index) fail("E-dtype", "`stage` expected a tensor, got " + std::string(name(graph_.dtype(x))));
  return graph_.make(Op::STAGE, graph_.dtype(x), {x});
}

Id Builder::reduce(ReduceKind k, Id x, std::span<const std::int64_t> axes) {
  if (operands_of(k) == 2) fail("E-shape", "`reduce " + std::string(name(k)) + "` expected 2 operands, got 1");
  check_axes(axes, shapes_.rank(x), "reduce");
  std::string problem;
  const DType d = reduce_dtype(k, graph_.dtype(x), problem);
  if (!problem.empty()) fail("E-dtype", problem);
  if (std::ranges::adjacent_find(axes, std::greater_equal<>()) != axes.end())
    fail("E-axis", "`reduce` expected axes in ascending order, each once");
  if ((k == ReduceKind::argmax || k == ReduceKind::argmin) && axes.size() != 1)
    fail("E-axis", "`reduce " + std::string(name(k)) + "` expected one axis, got " + std::to_string(axes.size()));
  return reduction(k, d, std::span(&x, 1), axes);
}

Id Builder::reduce(ReduceKind k, Id a, Id b, std::span<const std::int64_t> axes) {
  const std::string what = "`reduce " + std::string(name(k)) + "`";
  if (graph_.dtype(a) != graph_.dtype(b))
    fail("E-dtype", what + " expected operands of one type, got " + std::string(name(graph_.dtype(a))) + " and " +
                        std::string(name(graph_.dtype(b))));
  std::string problem;
  const DType d = reduce_dtype(k, graph_.dtype(a), problem);
  if (!problem.empty()) fail("E-dtype", problem);
  const Id both[] = {a, b};
  const auto shape = broadcast_shape(Op::REDUCE, both);
  const Id src[] = {broadcast_to(a, shape), broadcast_to(b, shape)};
  check_axes(axes, std::ssize(shape), "reduce");
  if (std::ranges::adjacent_find(axes, std::greater_equal<>()) != axes.end())
    fail("E-axis", "`reduce` expected axes in ascending order, each once");
  if (const auto rank = std::ssize(shape); k == ReduceKind::dot && (axes.size() != 1 || axes[0] != rank - 1))
    fail("E-axis", what + " expected one axis, the last of its operands, got " +
                       (axes.size() == 1 ? "axis " + std::to_string(axes[0]) : std::to_string(axes.size()) + " axes") +
                       " of rank " + std::to_string(rank));
  return reduction(k, d, src, axes);
}

Id Builder::scan(ReduceKind k, Id x, std::int64_t axis, bool exclusive, bool reversed) {
  if (!is_scan_kind(k)) fail("E-dtype", "`scan` expected sum, prod, max or min, got " + std::string(name(k)));
  check_axes(std::span(&axis, 1), shapes_.rank(x), "scan");
  std::string problem;
  const DType d = scan_dtype(k, graph_.dtype(x), problem);
  if (!problem.empty()) fail("E-dtype", problem);
  return graph_.make(Op::SCAN, d, {x}, {k, axis, exclusive, reversed});
}

Id Builder::reduction(ReduceKind k, DType d, std::span<const Id> operands, std::span<const std::int64_t> axes) {
  std::vector<std::int64_t> args{Arg(k).value};
  args.insert(args.end(), axes.begin(), axes.end());
  return graph_.make(Op::REDUCE, d, operands, args);
}

Id Builder::store(Id param, const Parameter& p, Id value) {
  if (p.direction == Direction::in) fail("E-store", "expected an out or inout parameter, got the input `" + p.name + "`");
  if (graph_.dtype(value) != p.dtype)
    fail("E-dtype",
         "`" + p.name + "` expected " + std::string(name(p.dtype)) + ", got " + std::string(name(graph_.dtype(value))));
  const auto s = shape_of(value);
  if (s.empty())
    value = broadcast_to(value, p.extents);
  else if (!std::ranges::equal(s, p.extents))
    fail("E-shape", "`" + p.name + "` expected shape " + shape_text(p.extents) + ", got " + shape_text(s));
  return graph_.make(Op::STORE, DType::none, {param, value});
}

Id Builder::sink(std::span<const Parameter> params, std::span<const Id> stores) {
  for (const Parameter& p : params) {
    const auto stores_it = [&](Id s) { return graph_.name(graph_.state(s)) == p.name; };
    if (p.direction != Direction::out || std::ranges::any_of(stores, stores_it)) continue;
    const LocScope here(graph_, p.loc);
    fail("E-store", "expected the output `" + p.name + "` to be assigned, got no store");
  }
  return graph_.make(Op::SINK, DType::none, stores);
}

}  // namespace kiln::compiler
