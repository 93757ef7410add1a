#include "compiler/schedule/pair_products.h"

#include <algorithm>
#include <array>
#include <optional>

#include "compiler/ir/index_poly.h"
#include "compiler/ir/range_ids.h"
#include "compiler/schedule/each_kernel.h"
#include "compiler/schedule/kernel_ranges.h"
#include "compiler/symbolic/value_bounds.h"

namespace kiln::compiler {
namespace {

constexpr std::int64_t fewest_walks = 8;          // passes over an operand that pay for its copy
constexpr std::int64_t shortest_paired_sum = 16;  // products of one element that pay for two copies

class Pairing {
 public:
  Pairing(Graph& g, Kernel& k, Simplifier& simplify)
      : g_(g), kernel_(k), simplify_(simplify), bounds_(g, simplify.bounds()), loops_(loop_ranges_of(g, k)), ids_(g, k.sink) {}

  void run() {
    std::unordered_map<Id, Id> paired;
    for (const Id id : g_.reachable(kernel_.sink))
      if (g_.op(id) == Op::REDUCE)
        if (const std::optional<Product> p = product(id)) paired[id] = sum_of_pairs(*p);
    if (!paired.empty()) kernel_.sink = substitute(g_, kernel_.sink, paired);
  }

 private:
  struct Product {
    Id reduce, a, b, r;
  };

  // nullopt: no sum of products, or not worth it.
  std::optional<Product> product(Id reduce) {
    const DType d = g_.dtype(reduce);
    if ((d != DType::i32 && d != DType::u32) || g_.op(g_.src(reduce).back()) != Op::RANGE) return std::nullopt;
    const auto src = g_.src(reduce);
    const ReduceKind kind = g_.reduce_kind(reduce);
    std::optional<Product> p;
    if (kind == ReduceKind::fma && src.size() == 3)
      p = {reduce, src[0], src[1], src[2]};
    else if (kind == ReduceKind::sum && src.size() == 2 && g_.op(src[0]) == Op::MUL)
      p = {reduce, g_.src(src[0], 0), g_.src(src[0], 1), src[1]};
    if (!p || simplify_.bounds()(g_.end(p->r)).max < shortest_paired_sum || !is_operand(p->a, p->r) || !is_operand(p->b, p->r))
      return std::nullopt;
    return p;
  }

  // Whether the value can be stored as words, and the copy pays.
  bool is_operand(Id value, Id r) {
    const std::vector<Id> nodes = g_.reachable(value);
    if (!varies_only_over(g_, nodes, loops_, r) || !std::ranges::binary_search(nodes, r)) return false;
    std::int64_t walks = 1;
    for (const Id loop : loops_)
      if (!std::ranges::binary_search(nodes, loop))
        walks *= std::clamp<std::int64_t>(simplify_.bounds()(g_.end(loop)).max, 0, fewest_walks);  // unknown: large
    return walks >= fewest_walks && fits_i16(bounds_(value));
  }

  Id sum_of_pairs(const Product& p) {
    const LocScope at(g_, g_.loc(p.reduce));
    const Id length = g_.end(p.r), two = g_.index(2);
    const Id pairs = index_floordiv(g_, index_add(g_, length, g_.index(1)), two);
    const Id q = ids_.range(g_, simplify_(pairs), RangeKind::reduce);
    const Id even = index_mul(g_, q, two), odd = index_add(g_, even, g_.index(1));
    const Congruence known = simplify_.bounds().residue(length);
    const bool is_even = known.stride % 2 == 0 && known.offset % 2 == 0;
    const Id last = is_even ? odd : index_min(g_, odd, index_add(g_, length, g_.index(-1)));
    const auto half = [&](Id value, Id place) { return cast_to_word(substitute(g_, value, {{p.r, place}})); };
    const auto word = [&](Id low, Id high) {
      const Id masked = binary(Op::AND, low, constant(0xffff));
      return simplify_(binary(Op::OR, masked, binary(Op::SHL, high, constant(16))));
    };
    const Id a_low = half(p.a, even), a_high = half(p.a, last);
    const Id b_low = half(p.b, even);
    Id b_high = half(p.b, last);
    if (!is_even) {
      const Id inside = g_.make(Op::LT, DType::boolean, {odd, length});
      b_high = g_.make(Op::WHERE, DType::i32, {inside, b_high, constant(0)});
    }
    const Id a = word(a_low, a_high), b = word(b_low, b_high);
    const Id sum = g_.make(Op::REDUCE, DType::i32, {binary(Op::DOT2, a, b), q}, {ReduceKind::sum, ReduceOrder::sequential});
    return g_.dtype(p.reduce) == DType::i32 ? sum : g_.make(Op::CAST, g_.dtype(p.reduce), {sum});
  }

  Id constant(std::int64_t v) { return g_.constant(DType::i32, static_cast<std::uint64_t>(v)); }
  Id binary(Op op, Id a, Id b) { return g_.make(op, DType::i32, {a, b}); }
  Id cast_to_word(Id v) { return g_.dtype(v) == DType::i32 ? v : g_.make(Op::CAST, DType::i32, {v}); }

  Graph& g_;
  Kernel& kernel_;
  Simplifier& simplify_;
  ValueBounds bounds_;
  std::vector<Id> loops_;
  RangeIds ids_;
};

}  // namespace

void pair_products(Graph& g, Schedule& s) {
  for_each_plain_kernel(g, s, [&](Kernel& k, Simplifier& simplify) { Pairing(g, k, simplify).run(); });
}

}  // namespace kiln::compiler
