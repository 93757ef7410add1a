#include "tests/fuzz/random_races.h"

#include <array>
#include <vector>

#include "tests/fuzz/random.h"

namespace kiln::test {
namespace {

using dsl::record::index_mode;
using dsl::record::op;
using tables::Tables;

// c, d and a are read, y and z are changed, out gets the result of a workgroup.
enum Slot : std::uint64_t { slot_c, slot_d, slot_a = race_data, slot_y, slot_z, slot_out };

std::uint64_t place(index_mode m, std::uint64_t tensor) { return static_cast<std::uint64_t>(m) << 32 | tensor; }

// A kernel over N; over 5 and N; or over N in workgroups, whose work items share an array between barriers.
class Maker {
 public:
  explicit Maker(std::uint64_t seed) : random_(seed), t_("races") {}

  Tables make() {
    scalar_ = t_.shape({});
    const auto* n = t_.shape({Tables::text("N")});
    t_.symbol("N", 0);
    t_.param("c", 0, KILN_I32, scalar_);
    t_.param("d", 0, KILN_I32, scalar_);
    t_.param("a", 0, KILN_I32, n);
    for (const char* name : {"y", "z", "out"}) t_.param(name, 2, KILN_I32, n);
    values_ = {node(op::param, {}, slot_c), node(op::param, {}, slot_d), number(), number()};
    is_workgroup_ = random_.one_in(3);
    const bool is_2d = !is_workgroup_ && random_.one_in(3);
    std::vector<dsl::record::extent> extents{random_.one_in(4) ? Tables::fixed(random_.pick(1, 24)) : Tables::text("N")};
    if (is_2d) extents.insert(extents.begin(), Tables::fixed(random_.pick(2, 5)));
    constexpr std::int64_t sizes[] = {4, 7, 8, 16};
    const std::uint64_t size = is_workgroup_ ? static_cast<std::uint64_t>(sizes[random_.pick(0, 3)]) << 8 : 0;
    const int k = t_.node(op::kernel, KILN_I32, scalar_, {}, extents, (is_2d ? 2 : 1) | size);
    values_.push_back(node(op::index, {k}, 0));
    if (is_2d) values_.push_back(node(op::index, {k}, 1));
    if (is_workgroup_) {
      values_.push_back(node(op::index, {k}, dsl::record::within_workgroup));
      values_.push_back(node(op::index, {k}, dsl::record::of_workgroup));
      t_.node(op::local, KILN_I32, t_.shape({Tables::fixed(shared_array_size)}), {}, {}, dsl::record::shared_array);
    }
    own_ = values_.size() - (is_workgroup_ ? 2 : 1);
    for (std::int64_t i = random_.pick(1, 2); i > 0; --i) {
      statements(2);
      if (is_workgroup_) t_.node(op::barrier, KILN_BOOL, scalar_);
    }
    if (is_workgroup_) {  // results that nothing reads would not be computed
      const int number = node(op::element, {node(op::index, {k}, 0)}, place(index_mode::clamp, slot_a));
      node(op::put, {node(op::element, {number}, place(index_mode::wrap, dsl::record::local_tensors)), node(op::index, {k}, 0)},
           place(index_mode::skip, slot_out));
    }
    t_.node(op::kernel_end, KILN_BOOL, scalar_);
    return std::move(t_);
  }

 private:
  int node(op o, std::vector<int> sources = {}, std::uint64_t imm = 0) {
    return t_.node(o, KILN_I32, scalar_, std::move(sources), {}, imm);
  }
  int flag(op o, std::vector<int> sources) { return t_.node(o, KILN_BOOL, scalar_, std::move(sources)); }
  int literal(std::int64_t v) { return node(op::constant, {}, static_cast<std::uint64_t>(v)); }
  int number() {
    constexpr std::int64_t some[] = {-1, 0, 1, 2, 3, 4, 5, 7, 8, 15, 16, 31, 64, 1 << 30, -8};
    return literal(random_.one_in(8) ? some[random_.pick(0, 14)] : some[random_.pick(0, 9)]);
  }
  // Mostly the work item's own index.
  int any() {
    if (random_.one_in(2)) return values_[own_];
    return values_[static_cast<std::size_t>(random_.pick(0, static_cast<std::int64_t>(values_.size()) - 1))];
  }
  int value() {
    constexpr std::array ops = {op::add,  op::sub, op::mul, op::add, op::xor_, op::and_,     op::or_,      op::cdiv,
                                op::cmod, op::shl, op::shr, op::min, op::max,  op::floordiv, op::floormod, op::mul};
    const auto what = random_.pick(0, 19);
    const op o = ops[static_cast<std::size_t>(random_.pick(0, 15))];
    int v = 0;
    if (what == 0)
      v = node(op::element, {any()}, place(index_mode::clamp, slot_a));
    else if (what == 1)
      v = node(op::where, {condition(), any(), any()});
    else
      v = node(o, {any(), random_.one_in(3) ? any() : number()});
    values_.push_back(v);
    return v;
  }
  int condition() {
    constexpr std::array ops = {op::lt, op::le, op::eq, op::ne, op::eq};
    const auto one = [&] {
      if (compared_.empty() || !random_.one_in(3))
        compared_.push_back({random_.one_in(4) ? remainder() : any(), random_.one_in(2) ? any() : number()});
      const auto [x, y] = compared_[static_cast<std::size_t>(random_.pick(0, std::ssize(compared_) - 1))];
      return random_.one_in(4) ? flag(op::le, {y, x}) : flag(ops[static_cast<std::size_t>(random_.pick(0, 4))], {x, y});
    };
    const int c = one();
    switch (random_.pick(0, 7)) {
      case 0: return flag(op::and_, {c, one()});
      case 1: return flag(op::or_, {c, one()});
      case 2: return flag(op::not_, {c});
      default: return c;
    }
  }
  int remainder() {
    const std::int64_t m = std::int64_t{1} << random_.pick(1, 3);
    return random_.one_in(3) ? node(op::and_, {any(), literal(m - 1)}) : node(op::cmod, {any(), literal(m)});
  }
  // Often an index that was used before.
  int index() {
    if (indices_.empty() || !random_.one_in(3))
      indices_.push_back(random_.one_in(2) ? values_[own_] : random_.one_in(2) ? any() : value());
    return indices_[static_cast<std::size_t>(random_.pick(0, std::ssize(indices_) - 1))];
  }
  std::uint64_t memory() {
    if (is_workgroup_ && !random_.one_in(3)) return dsl::record::local_tensors;
    return random_.one_in(2) ? slot_y : slot_z;
  }
  index_mode mode() {
    constexpr std::array modes = {index_mode::clamp, index_mode::wrap, index_mode::skip, index_mode::skip};
    return modes[static_cast<std::size_t>(random_.pick(0, 3))];
  }
  void access() {
    const std::uint64_t to = memory();
    const index_mode m = mode();
    if (random_.one_in(6)) {
      node(op::atomic, {any(), index()}, std::uint64_t{0} << 40 | place(m, to));
      return;
    }
    int v = any();
    if (random_.one_in(3)) {
      const bool constant = random_.one_in(2);
      std::vector<int> sources{index()};
      if (constant) sources.push_back(v);
      v = node(op::element, sources,
               place(constant ? index_mode::constant : index_mode::clamp, random_.one_in(3) ? memory() : to));
    }
    node(op::put, {v, index()}, place(m, to));
  }
  // Accesses of the same places, under conditions on the same values.
  void alike() {
    const int at = random_.one_in(2) ? number() : any(), x = random_.one_in(4) ? remainder() : any(),
              y = random_.one_in(2) ? any() : number();
    const std::uint64_t to = memory();
    const index_mode m = mode();
    for (std::int64_t i = random_.pick(1, 2); i >= 0; --i) {
      const int c = random_.one_in(3)   ? flag(op::le, {y, x})
                    : random_.one_in(3) ? flag(op::eq, {node(op::cmod, {x, literal(std::int64_t{1} << random_.pick(1, 3))}), y})
                                        : flag(op::eq, {x, y});
      flag(op::when, {c});
      const int v =
          random_.one_in(2) ? any() : node(op::element, {random_.one_in(2) ? at : values_[own_]}, place(index_mode::clamp, to));
      node(op::put, {v, at}, place(m, to));
      flag(op::when_end, {});
    }
  }
  template <class F>
  void scope(F body) {
    const auto values = values_.size(), indices = indices_.size(), compared = compared_.size();
    body();
    values_.resize(values), indices_.resize(indices), compared_.resize(compared);
  }
  void statements(int depth) {
    for (std::int64_t i = random_.pick(1, 2); i > 0; --i) {
      if (random_.one_in(2)) value();
      switch (depth > 0 ? random_.pick(0, 5) : 0) {
        case 1:
        case 2:
          flag(op::when, {condition()});
          scope([&] { statements(depth - 1); });
          flag(op::when_end, {});
          if (!random_.one_in(4)) break;
          flag(op::otherwise, {});
          scope([&] { statements(depth - 1); });
          flag(op::when_end, {});
          break;
        case 3: {
          const bool counted = random_.one_in(3);
          const std::int64_t end = counted ? -1 : random_.pick(1, 4);
          const int l = t_.node(op::loop, KILN_I32, scalar_,
                                counted ? std::vector{node(op::min, {any(), literal(9)})} : std::vector<int>{},
                                {Tables::fixed(0), Tables::fixed(end), Tables::fixed(1)});
          scope([&] {
            values_.push_back(node(op::counter, {l}));
            statements(depth - 1);
          });
          flag(op::loop_end, {});
          break;
        }
        case 4: alike(); break;
        default: access();
      }
    }
  }

  Random random_;
  Tables t_;
  const dsl::record::shape* scalar_ = nullptr;
  std::vector<int> values_, indices_;
  std::vector<std::pair<int, int>> compared_;
  std::size_t own_ = 0;  // number in values_ of the work item's index
  bool is_workgroup_ = false;
};

}  // namespace

Tables random_races(std::uint64_t seed) { return Maker(seed).make(); }

}  // namespace kiln::test
