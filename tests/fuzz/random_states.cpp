#include "tests/fuzz/random_states.h"

#include <algorithm>
#include <array>
#include <vector>

#include "tests/fuzz/random.h"

namespace kiln::test {
namespace {

using dsl::record::index_mode;
using dsl::record::op;
using tables::Tables;

// Vectors of N: a is read; x, y, z are changed; o, p are written. Matrices of N rows of 9: m, n are changed; r is written.
// Numbers: count is changed, bound is read.
enum Slot : std::uint64_t { slot_a, slot_bound, slot_count, slot_x, slot_y, slot_z, slot_o, slot_p, slot_m, slot_n, slot_r };
constexpr std::array<std::uint64_t, 5> written_vectors = {slot_x, slot_y, slot_z, slot_o, slot_p};
constexpr std::array<std::uint64_t, 3> written_matrices = {slot_m, slot_n, slot_r};
constexpr std::int64_t row = 9;

class Maker {
 public:
  explicit Maker(std::uint64_t seed) : random_(seed), t_("states") {
    scalar_ = t_.shape({});
    vector_ = t_.shape({Tables::text("N")});
    longer_ = t_.shape({Tables::text("N+2")});
    matrix_ = t_.shape({Tables::text("N"), Tables::fixed(row)});
    column_ = t_.shape({Tables::text("N"), Tables::fixed(1)});
    t_.symbol("N", 1);
    t_.param("a", 0, KILN_I32, vector_);
    t_.param("bound", 0, KILN_I32, scalar_);
    t_.param("count", 2, KILN_I32, scalar_);
    for (const char* name : {"x", "y", "z"}) t_.param(name, 2, KILN_I32, vector_);
    for (const char* name : {"o", "p"}) t_.param(name, 1, KILN_I32, vector_);
    for (const char* name : {"m", "n"}) t_.param(name, 2, KILN_I32, matrix_);
    t_.param("r", 1, KILN_I32, matrix_);
  }

  Tables make() {
    for (const std::uint64_t slot : {slot_o, slot_p}) store(slot, tensor(slot_a));
    store(slot_r, tensor(slot_m));
    numbers_.push_back(node(op::param, {}, {}, slot_bound));
    budget_ = random_.pick(3, 14);
    statements(3);
    return std::move(t_);
  }

 private:
  bool is_matrix(std::uint64_t slot) const { return slot >= slot_m; }
  template <class List>
  auto one_of(const List& list) {
    return list[static_cast<std::size_t>(random_.pick(0, static_cast<std::int64_t>(list.size()) - 1))];
  }
  const dsl::record::shape* shape_of(std::uint64_t slot) const { return is_matrix(slot) ? matrix_ : vector_; }

  int node(op o, std::vector<int> sources = {}, std::vector<dsl::record::extent> attrs = {}, std::uint64_t imm = 0) {
    return t_.node(o, KILN_I32, scalar_, std::move(sources), std::move(attrs), imm);
  }
  int flag(op o, std::vector<int> sources) { return t_.node(o, KILN_BOOL, scalar_, std::move(sources)); }
  int literal(std::int64_t v) { return node(op::constant, {}, {}, static_cast<std::uint64_t>(v)); }
  int number() { return random_.one_in(2) ? literal(random_.pick(-5, 9)) : one_of(numbers_); }
  op arithmetic() {
    constexpr std::array ops = {op::add, op::sub, op::mul, op::min, op::max, op::xor_};
    return one_of(ops);
  }
  int condition() {
    constexpr std::array ops = {op::lt, op::le, op::ne};
    const op o = one_of(ops);
    return flag(o, {number(), number()});
  }

  // The tensor's present value.
  int tensor(std::uint64_t slot) { return t_.node(op::param, KILN_I32, shape_of(slot), {}, {}, slot); }
  void store(std::uint64_t slot, int value) { t_.node(op::store, KILN_I32, shape_of(slot), {value}, {}, slot); }
  std::uint64_t any_vector() { return random_.one_in(4) ? std::uint64_t{slot_a} : one_of(written_vectors); }

  int vector_value() {
    switch (random_.pick(0, 6)) {
      case 0:
        if (!vectors_.empty()) return one_of(vectors_);
        break;
      case 1:
        if (!vector_variables_.empty()) return t_.node(op::get, KILN_I32, vector_, {}, {}, one_of(vector_variables_));
        break;
      case 2: return sum_over(1, vector_, tensor(one_of(written_matrices)));
      default: break;
    }
    return tensor(any_vector());
  }
  int sum_over(std::int64_t axis, const dsl::record::shape* shape, int v) {
    return t_.node(op::reduce, KILN_I32, shape, {v}, {Tables::fixed(random_.one_in(2) ? 0 : 2), Tables::fixed(axis)});
  }
  // Shifted in a circle.
  int rolled(int v) {
    const int wide = t_.node(op::pad, KILN_I32, longer_, {v, literal(0)}, {Tables::fixed(1), Tables::fixed(3)});
    return t_.node(op::slice, KILN_I32, vector_, {wide}, {Tables::fixed(random_.one_in(2) ? 0 : 2), Tables::fixed(1)});
  }
  int new_vector() {
    int v = vector_value();
    if (random_.one_in(3)) v = rolled(v);
    if (random_.one_in(4)) return v;
    const op o = arithmetic();
    v = t_.node(o, KILN_I32, vector_, {v, random_.one_in(3) ? number() : vector_value()});
    vectors_.push_back(v);
    return v;
  }
  int as_column(int v) { return t_.node(op::reshape, KILN_I32, column_, {v}); }
  int new_matrix() {
    const int v = tensor(one_of(written_matrices));
    if (random_.one_in(4)) return v;
    const int other = random_.one_in(2) ? as_column(vector_value()) : tensor(one_of(written_matrices));
    return t_.node(arithmetic(), KILN_I32, matrix_, {v, other});
  }

  // Each tensor takes the next one's value; the last one takes the first one's value, or a new one.
  void rotate() {
    struct Place {
      bool is_variable;
      std::uint64_t number;
    };
    std::vector<Place> places;
    std::vector<int> before;
    for (std::int64_t i = random_.pick(2, 4); i > 0; --i) {
      const bool is_variable = !vector_variables_.empty() && random_.one_in(2);
      const Place p{is_variable, is_variable ? one_of(vector_variables_) : one_of(written_vectors)};
      if (std::ranges::any_of(places, [&](const Place& q) { return q.is_variable == p.is_variable && q.number == p.number; }))
        continue;
      places.push_back(p);
      before.push_back(p.is_variable ? t_.node(op::get, KILN_I32, vector_, {}, {}, p.number) : tensor(p.number));
    }
    before.push_back(random_.one_in(2) ? before[0] : new_vector());
    for (std::size_t i = 0; i < places.size(); ++i) {
      if (places[i].is_variable)
        t_.node(op::set, KILN_I32, vector_, {before[i + 1]}, {}, places[i].number);
      else
        store(places[i].number, before[i + 1]);
      if (loops_ > 0 && random_.one_in(12)) leave();
    }
  }
  void leave() {
    const op o = random_.one_in(3) ? op::continue_ : op::break_;
    flag(o, {condition()});
  }

  void whole() {
    switch (random_.pick(0, 7)) {
      case 0: numbers_.push_back(sum_over(0, scalar_, tensor(any_vector()))); break;
      case 1:
      case 2: {
        const int v = new_matrix();
        store(one_of(written_matrices), v);
        break;
      }
      case 3:
      case 4: rotate(); break;
      default: {
        const int v = new_vector();
        store(one_of(written_vectors), v);
      }
    }
  }

  static std::uint64_t place(index_mode m, std::uint64_t tensor) { return static_cast<std::uint64_t>(m) << 32 | tensor; }
  int element(std::uint64_t slot, std::vector<int> at) {
    return node(op::element, std::move(at), {}, place(is_matrix(slot) ? index_mode::clamp : index_mode::wrap, slot));
  }
  // An element of a tensor that this kernel does not write, or the work item's own element of the written tensor.
  int operand(std::uint64_t target, const std::vector<int>& at) {
    const std::uint64_t slot = random_.one_in(3) ? one_of(written_matrices) : any_vector();
    if (slot == target) return element(slot, at);
    if (std::ranges::find(targets_, slot) != targets_.end()) return number();
    std::vector<int> where =
        is_matrix(slot) ? std::vector{at[0], random_.one_in(2) ? number() : at.back()} : std::vector{at[0]};
    if (random_.one_in(3)) where[0] = node(op::add, {where[0], number()});
    return element(slot, where);
  }
  void kernel() {
    const std::uint64_t target = random_.one_in(3) ? one_of(written_matrices) : one_of(written_vectors);
    targets_ = {target};
    if (!is_matrix(target) && random_.one_in(4)) targets_.push_back(one_of(written_vectors));
    if (targets_.back() == target) targets_.resize(1);
    const bool is_2d = is_matrix(target), counted = !is_2d && random_.one_in(5);
    std::vector<dsl::record::extent> extents{counted ? Tables::fixed(-1) : Tables::text("N")};
    if (is_2d) extents.push_back(Tables::fixed(row));
    const std::vector<int> sources = counted ? std::vector{node(op::and_, {number(), literal(15)})} : std::vector<int>{};
    const int k = node(op::kernel, sources, extents, is_2d ? 2 : 1);
    std::vector<int> at{node(op::index, {k}, {}, 0)};
    if (is_2d) at.push_back(node(op::index, {k}, {}, 1));
    for (const std::uint64_t t : targets_) put(t, at, counted);
    node(op::kernel_end);
  }
  void put(std::uint64_t target, const std::vector<int>& at, bool counted) {
    const bool guarded = random_.one_in(4);
    const op o = arithmetic();
    const int v = node(o, {operand(target, at), operand(target, at)});
    if (guarded) flag(op::when, {flag(op::lt, {number(), at.back()})});
    std::vector<int> sources{v};
    sources.insert(sources.end(), at.begin(), at.end());
    node(op::put, sources, {}, place(counted ? index_mode::skip : index_mode::clamp, target));
    if (guarded) flag(op::when_end, {});
  }
  void lone_put() {
    if (random_.one_in(4)) {
      node(op::store, {number()}, {}, slot_count);
      numbers_.push_back(node(op::param, {}, {}, slot_count));
      return;
    }
    const std::uint64_t target = one_of(written_vectors);
    int v = number();
    if (random_.one_in(2)) v = element(any_vector(), {v});
    node(op::put, {v, number()}, {}, place(index_mode::wrap, target));
  }

  void variable() {
    const int v = new_vector();
    if (!vector_variables_.empty() && random_.one_in(2)) {
      t_.node(op::set, KILN_I32, vector_, {v}, {}, one_of(vector_variables_));
    } else {
      t_.node(op::var, KILN_I32, vector_, {v}, {}, next_variable_);
      vector_variables_.push_back(next_variable_++);
    }
  }

  template <class F>
  void scope(F body) {
    const auto numbers = numbers_.size(), vectors = vectors_.size(), variables = vector_variables_.size();
    body();
    numbers_.resize(numbers), vectors_.resize(vectors), vector_variables_.resize(variables);
  }
  void loop(int depth) {
    const bool counted = random_.one_in(2);
    const int l = counted ? node(op::loop, {node(op::and_, {number(), literal(7)})},
                                 {Tables::fixed(0), Tables::fixed(-1), Tables::fixed(1)})
                          : node(op::loop, {}, {Tables::fixed(0), Tables::fixed(random_.pick(0, 5)), Tables::fixed(1)});
    ++loops_;
    scope([&] {
      numbers_.push_back(node(op::counter, {l}));
      statements(depth);
    });
    --loops_;
    flag(op::loop_end, {});
  }
  void branch(int depth) {
    flag(op::when, {condition()});
    scope([&] { statements(depth); });
    flag(op::when_end, {});
  }

  void statements(int depth) {
    const std::int64_t count = random_.pick(2, 6);
    for (std::int64_t i = 0; i < count && budget_ > 0; ++i, --budget_) statement(depth);
  }
  void statement(int depth) {
    switch (random_.pick(0, depth > 0 ? 12 : 10)) {
      case 0:
      case 1:
      case 2: kernel(); break;
      case 3: variable(); break;
      case 4: lone_put(); break;
      case 5: vectors_.push_back(tensor(any_vector())); break;
      case 6:
        if (loops_ > 0) leave();
        break;
      case 11: loop(depth - 1); break;
      case 12: random_.one_in(3) ? branch(depth - 1) : loop(depth - 1); break;
      default: whole();
    }
  }

  Random random_;
  Tables t_;
  const dsl::record::shape *scalar_ = nullptr, *vector_ = nullptr, *longer_ = nullptr, *matrix_ = nullptr, *column_ = nullptr;
  std::vector<int> numbers_, vectors_;  // values of the open scopes
  std::vector<std::uint64_t> vector_variables_, targets_;
  std::uint64_t next_variable_ = 0;
  std::int64_t budget_ = 0;
  int loops_ = 0;
};

}  // namespace

tables::Tables random_states(std::uint64_t seed) { return Maker(seed).make(); }

}  // namespace kiln::test
