#include "compiler/schedule/segment_writer.h"

#include <algorithm>

#include "compiler/ir/nth.h"
#include "compiler/ir/scopes.h"
#include "compiler/ir/shapes.h"

namespace kiln::compiler {
namespace {

bool is_root_or_math(Op op) { return op == Op::SQRT || is_math(op); }

}  // namespace

bool SegmentContext::uses_data(Id index) const {
  if (g.dtype(index) != DType::index) return false;
  for (const Id id : g.reachable(index))
    if (g.op(id) == Op::CAST || g.dtype(id) == DType::boolean) return true;
  return false;
}

void SegmentContext::find_light() {
  Shapes shapes(g);
  light_.assign(g.size(), false);
  lone_.assign(g.size(), false);
  const std::size_t size = g.size();
  for (const Id n : times.nodes()) {
    if (g.op(n) == Op::RANGE) next_range = std::max(next_range, g.range_number(n) + 1);
    if (!times.is_host(n) || g.dtype(n) == DType::none) continue;
    const Op op = g.op(n);
    const auto all = [&](auto&& f) { return std::ranges::all_of(g.src(n), f); };
    const bool is_scalar = is_elementwise(op) && shapes.rank(n) == 0;
    if (g.dtype(n) == DType::index) {
      light_[n] = op == Op::CONST || op == Op::SYM || op == Op::INVALID || times.is_host_range(n) ||
                  (is_elementwise(op) && all([&](Id s) { return light_[s]; }));
      continue;
    }
    lone_[n] =
        op == Op::INDEX || (is_scalar && !all([&](Id s) { return g.dtype(s) == DType::index ? !uses_data(s) : !lone_[s]; }));
    const bool is_input = op == Op::PARAM && nth(program.params, g.slot(n)).direction == Direction::in;
    const bool moves = is_movement(op) || op == Op::IOTA || (is_scalar && !is_root_or_math(op));
    light_[n] = op == Op::CONST || is_input || (moves && !lone_[n] && all([&](Id s) { return light_[s]; }));
  }
  light_.resize(std::max(size, g.size()), false);
  lone_.resize(std::max(size, g.size()), false);
}

Id SegmentWriter::number(Id index) {
  const Id value = build(index, true);
  const Id as_i64 = g_.make(Op::CAST, DType::i64, {value});
  return alone(as_i64);
}

// The SYM or PARAM that provides a value; no_id: the value is built here.
Id SegmentWriter::leaf(Id n) {
  if (c_.symbols.contains(n) && c_.times.is_host_range(n)) return c_.symbols.at(n);
  if (in_kernel(n) || g_.dtype(n) == DType::index) return no_id;
  if (const Id p = c_.stored(n); p != no_id) return p;
  const bool here = c_.times.region(n) == region_ && c_.times.time(n) == time_;
  return here || c_.is_light(n) || is_scope(g_.op(n)) ? no_id : c_.from_before(n);
}

SegmentWriter::Key SegmentWriter::source(Id user, Id s) const {
  const bool at_entry = g_.op(user) == Op::CARRY && g_.op(c_.times.regions().list[c_.times.region(user)].owner) == Op::KERNEL;
  const bool raw = !at_entry && (in_kernel(user) || g_.dtype(user) == DType::index || c_.is_lone(user));
  return key(s, raw && !in_kernel(s) && c_.is_lone(s));
}

std::vector<SegmentWriter::Key> SegmentWriter::needs(Id n, bool raw) const {
  if (!in_kernel(n) && c_.is_lone(n) && !raw) return {key(n, true)};
  std::vector<Key> out;
  if (g_.op(n) == Op::RANGE) return out;
  for (const Id s : g_.src(n)) out.push_back(source(n, s));
  return out;
}

Id SegmentWriter::build(Id root, bool raw) {
  std::vector<Key> open{key(root, raw)};
  while (!open.empty()) {
    const Key k = open.back();
    const Id n = static_cast<Id>(k >> 1);
    const bool is_raw = (k & 1) != 0;
    if (done_.contains(k)) {
      open.pop_back();
      continue;
    }
    if (const Id l = leaf(n); l != no_id) {
      done_[k] = l;
      continue;
    }
    const std::size_t before = open.size();
    for (const Key s : needs(n, is_raw))
      if (!done_.contains(s)) open.push_back(s);
    if (open.size() != before) continue;
    g_.set_loc(g_.loc(n));
    done_[k] = make(n, is_raw);
  }
  return done_.at(key(root, raw));
}

Id SegmentWriter::make(Id n, bool raw) {
  if (g_.op(n) == Op::RANGE) {
    const Id end = c_.symbolic(g_.end(n));
    return g_.range(end, g_.range_number(n), g_.range_kind(n));
  }
  if (!in_kernel(n) && c_.is_lone(n) && !raw) return alone(done_.at(key(n, true)));
  std::vector<Id> src;
  for (const Id s : g_.sources(n)) src.push_back(done_.at(source(n, s)));
  return g_.with_src(n, src);
}

// Makes a scalar the result of a kernel with one work item, which stores it in a tensor with one element.
Id SegmentWriter::alone(Id scalar) {
  const DType d = g_.dtype(scalar);
  const Id one = g_.index(1), zero = g_.make(Op::RESHAPE, d, {g_.constant(d, 0), one});
  const Id r = g_.range(one, c_.next_range++, RangeKind::loop);
  const Id carry = g_.make(Op::CARRY, d, {r, zero}, {0});
  const Id update = g_.make(Op::UPDATE, d, {carry, g_.constant(DType::boolean, 1), scalar, r});
  const Id kernel = g_.make(Op::KERNEL, DType::none, {r, zero, update}, {1, 1});
  return g_.make(Op::RESHAPE, d, {g_.make(Op::GET, d, {kernel}, {0})});
}

}  // namespace kiln::compiler
