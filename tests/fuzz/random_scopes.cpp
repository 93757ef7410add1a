#include "tests/fuzz/random_scopes.h"

#include <vector>

#include "tests/fuzz/scope_values.h"

namespace kiln::test {
namespace {

class Maker : ScopeValues {
 public:
  explicit Maker(std::uint64_t seed) : ScopeValues(seed) {}

  Tables make() {
    visible_.push_back(node(op::param, KILN_I32, {}, {}, slot_bound));
    visible_.push_back(number(random_.pick(-9, 9)));
    own_ = {};
    permutation();
    host_statements(2);
    kernel();
    host_statements(2);
    put_all_of_e();
    return std::move(t_);
  }

 private:
  // Makes statements between two nodes. Values that they declare end with them.
  template <class F>
  void scope(F body) {
    const auto values = visible_.size(), shared = arrays_.count();
    const auto declared = memory_.count();
    body();
    visible_.resize(values);
    memory_.resize(declared);
    arrays_.resize(shared);
  }

  void statements(int depth) {
    const auto count = random_.pick(1, 5);
    for (int i = 0; i < count && budget_ > 0; ++i, --budget_) statement(depth);
  }
  void statement(int depth) {
    switch (random_.pick(0, depth > 0 ? 9 : 5)) {
      case 0: memory_.declare(any()); break;
      case 1:
      case 2: value(); break;
      case 3: memory_.set(any()); break;
      case 4: put(); break;
      case 5: leave(); break;
      case 6:
      case 7: branches(depth - 1, [&](int d) { statements(d); }); break;
      case 8: loop(depth - 1, [&](int d) { statements(d); }); break;
      default: endless(depth - 1, [&](int d) { statements(d); }); break;
    }
  }
  void leave() {
    if (loops_ == 0) return;
    const op o = random_.one_in(2) ? op::break_ : op::continue_;
    node(o, KILN_BOOL, random_.one_in(5) ? std::vector<int>{} : std::vector{condition()});
  }
  template <class F>
  void branches(int depth, F body) {
    const auto branch = [&](op o, std::vector<int> sources, auto inside) {
      node(o, KILN_BOOL, std::move(sources));
      scope([&] { inside(depth); });
      node(op::when_end, KILN_BOOL);
    };
    const bool is_common = !on_host_ && random_.one_in(4);  // so much work that it becomes a branch
    const auto choose = [&] { return is_common ? common_condition() : condition(); };
    const auto long_body = [&](int d) {
      for (int i = is_common ? 4 : 0; i > 0; --i) visible_.push_back(foreign());
      body(d);
    };
    branch(op::when, {choose()}, long_body);
    for (int i = 0; i < 2 && random_.one_in(2); ++i) branch(op::otherwise, {choose()}, long_body);
    if (!random_.one_in(2)) branch(op::otherwise, {}, body);
  }
  // A bound: a literal or a small value.
  void bound(std::vector<dsl::record::extent>& attrs, std::vector<int>& sources, std::int64_t low, std::int64_t high) {
    const std::int64_t v = random_.pick(low, high);
    if (v != -1 && random_.one_in(2)) {
      attrs.push_back(Tables::fixed(v));
      return;
    }
    attrs.push_back(Tables::fixed(-1));
    sources.push_back(v == -1 ? number(-1) : node(op::add, KILN_I32, {small(3), number(low)}));
  }
  template <class F>
  void loop(int depth, F body) {
    std::vector<dsl::record::extent> attrs;
    std::vector<int> sources;
    bound(attrs, sources, -3, 3);
    bound(attrs, sources, -2, 5);
    bound(attrs, sources, -2, 3);
    const bool is_wide = random_.one_in(5);
    if (is_wide)
      for (int& s : sources) s = cast(KILN_I64, s);
    const int l = node(op::loop, is_wide ? KILN_I64 : KILN_I32, sources, attrs);
    ++loops_;
    scope([&] {
      const int counter = node(op::counter, is_wide ? KILN_I64 : KILN_I32, {l});
      visible_.push_back(is_wide ? cast(KILN_I32, counter) : counter);
      body(depth);
    });
    --loops_;
    node(op::loop_end, KILN_BOOL);
  }
  // A loop without an end, which first counts its iterations.
  template <class F>
  void endless(int depth, F body) {
    const std::uint64_t iterations = memory_.new_variable();
    node(op::var, KILN_I32, {number(0)}, {}, iterations);
    const int l = node(op::loop, KILN_I32, {}, {Tables::fixed(0), Tables::fixed(0), Tables::fixed(1)}, 1);
    ++loops_;
    scope([&] {
      const int now = node(op::get, KILN_I32, {}, {}, iterations);
      node(op::set, KILN_I32, {node(op::add, KILN_I32, {now, number(1)})}, {}, iterations);
      node(op::break_, KILN_BOOL, {node(op::le, KILN_BOOL, {number(random_.pick(0, 6)), now})});
      visible_.push_back(node(op::counter, KILN_I32, {l}));
      body(depth);
    });
    --loops_;
    node(op::loop_end, KILN_BOOL);
  }

  // Statements of a workgroup between barriers, and loops and conditions around barriers, which are equal for all work items.
  void intervals(int depth) {
    begin_interval();
    for (std::int64_t i = random_.pick(0, 3); i >= 0 && budget_ > 0; --i) {
      if (random_.one_in(2)) arrays_.declare(memory_.new_array(), shared_);
      const auto what = depth > 0 ? random_.pick(0, 3) : 0;
      if (what == 2) shared_loop(depth);
      if (what == 3) shared_branch(depth);
      if (what < 2) node(op::barrier, KILN_BOOL);
      begin_interval();
    }
  }
  void begin_interval() {
    arrays_.begin_interval(shared_);
    if (const auto value = arrays_.read_shared()) {
      visible_.push_back(*value);
      shared_.push_back(*value);
    }
    statements(2);
  }
  int shared() { return shared_[static_cast<std::size_t>(random_.pick(0, static_cast<std::int64_t>(shared_.size()) - 1))]; }
  int shared_condition() { return node(op::le, KILN_BOOL, {shared(), number(random_.pick(-3, 3))}); }
  void shared_loop(int depth) {
    const std::int64_t first = -2 * random_.pick(0, 2);
    const int l = node(op::loop, KILN_I32, {shared()}, {Tables::fixed(first), Tables::fixed(-1), Tables::fixed(3)});
    const auto count = shared_.size();
    scope([&] {
      shared_.push_back(node(op::counter, KILN_I32, {l}));
      visible_.push_back(shared_.back());
      node(op::break_, KILN_BOOL, {node(op::le, KILN_BOOL, {number(9), shared_.back()})});
      intervals(depth - 1);
      node(op::barrier, KILN_BOOL);
      if (random_.one_in(3)) node(op::continue_, KILN_BOOL, {shared_condition()});
      begin_interval();
    });
    shared_.resize(count);
    node(op::loop_end, KILN_BOOL);
  }
  void shared_branch(int depth) {
    node(op::when, KILN_BOOL, {shared_condition()});
    const auto count = shared_.size();
    scope([&] {
      intervals(depth - 1);
      node(op::barrier, KILN_BOOL);
    });
    shared_.resize(count);
    node(op::when_end, KILN_BOOL);
  }
  // Sizes of workgroups, one for each axis, in the form of the kernel's imm.
  std::uint64_t workgroup_sizes(int rank) {
    constexpr std::int64_t sizes[] = {1, 3, 4, 8, 11, 16};
    std::uint64_t imm = 0;
    for (int axis = 0; axis < rank; ++axis) imm |= static_cast<std::uint64_t>(sizes[random_.pick(0, 5)]) << (8 + 16 * axis);
    return imm;
  }
  void workgroup_body(int k, int rank, std::uint64_t sizes) {
    int own = number(0);
    std::int64_t count = 1;
    shared_ = {visible_[0], number(random_.pick(-2, 4)),
               node(op::index, KILN_I32, {k}, {}, dsl::record::of_workgroup | static_cast<std::uint64_t>(rank - 1))};
    for (int axis = 0; axis < rank; ++axis) {
      visible_.push_back(node(op::index, KILN_I32, {k}, {}, dsl::record::within_workgroup | static_cast<std::uint64_t>(axis)));
      const auto size = static_cast<std::int64_t>(sizes >> (8 + 16 * axis) & 0xffff);
      own = node(op::mul, KILN_I32, {own, number(size)});
      own = node(op::add, KILN_I32, {own, visible_.back()});
      count *= size;
    }
    visible_.push_back(shared_[2]);
    arrays_.open_workgroup(own, count);
    intervals(2);
    shared_.clear();
  }

  void kernel() {
    const bool is_2d = random_.one_in(3), is_counted = !is_2d && random_.one_in(5);
    const bool in_workgroups = !is_counted && random_.one_in(3);
    std::vector<dsl::record::extent> attrs = {is_counted ? Tables::fixed(-1) : Tables::text("N")};
    if (is_2d) attrs.insert(attrs.begin(), Tables::fixed(random_.pick(1, 3)));
    const std::uint64_t sizes = in_workgroups ? workgroup_sizes(is_2d ? 2 : 1) : 0;
    const int k =
        node(op::kernel, KILN_I32, is_counted ? std::vector{small(15)} : std::vector<int>{}, attrs, (is_2d ? 2 : 1) | sizes);
    const int outside = loops_;
    memory_.enter_kernel();
    loops_ = 0, budget_ = 40, on_host_ = false, outside_ = visible_.size();
    scope([&] {
      constexpr atomic_kind kinds[] = {atomic_kind::add,     atomic_kind::min,    atomic_kind::max,
                                       atomic_kind::bit_and, atomic_kind::bit_or, atomic_kind::bit_xor};
      const int row = is_2d ? node(op::index, KILN_I32, {k}, {}, 0) : -1;
      const bool promised = !is_counted && random_.one_in(4);
      int column = node(op::index, KILN_I32, {k}, {}, is_2d ? 1 : 0);
      if (promised) column = node(op::element, KILN_I32, {column}, {}, place(index_mode::clamp, slot_p));
      own_ = {true, row, is_counted ? -1 : column, kinds[random_.pick(0, 5)], promised};
      if (is_2d) visible_.push_back(row);
      visible_.push_back(column);
      if (in_workgroups) {
        workgroup_body(k, is_2d ? 2 : 1, sizes);
      } else {
        statements(3);
        statements(3);
      }
      if (is_counted)
        add(index_mode::wrap);
      else
        node(op::put, KILN_I32, is_2d ? std::vector{any(), row, column} : std::vector{any(), column}, {},
             (promised ? dsl::record::unique_write : 0) | (is_2d ? slot_d : slot_c));
      own_ = {};
    });
    node(op::kernel_end, KILN_BOOL);
    memory_.leave_kernel();
    loops_ = outside, on_host_ = true;
  }
  // Makes c or e a function of a, c and a number, or makes a number from the sum of c.
  void whole() {
    constexpr op binaries[] = {op::add, op::sub, op::mul, op::min, op::max, op::xor_};
    const auto tensor = [&](std::uint64_t slot) { return t_.node(op::param, KILN_I32, vector_, {}, {}, slot); };
    if (random_.one_in(3)) {
      visible_.push_back(node(op::reduce, KILN_I32, {tensor(slot_c)}, {Tables::fixed(0), Tables::fixed(0)}));
      return;
    }
    const int left = tensor(random_.one_in(2) ? slot_a : slot_c), right = random_.one_in(2) ? any() : tensor(slot_c);
    const int value = t_.node(binaries[random_.pick(0, 5)], KILN_I32, vector_, {left, right});
    t_.node(op::store, KILN_I32, vector_, {value}, {}, random_.one_in(5) ? slot_e : slot_c);
  }
  void host_statements(int depth) {
    const auto count = random_.pick(1, 4);
    for (int i = 0; i < count && host_budget_ > 0; ++i, --host_budget_) host_statement(depth);
  }
  void host_statement(int depth) {
    const auto body = [&](int d) { host_statements(d); };
    switch (random_.pick(0, depth > 0 ? 11 : 8)) {
      case 0: memory_.declare(any()); break;
      case 1: value(); break;
      case 2: memory_.set(any()); break;
      case 3: put(); break;
      case 4: leave(); break;
      case 5: whole(); break;
      case 6:
      case 7:
      case 8: kernel(); break;
      case 9: branches(depth - 1, body); break;
      case 10: loop(depth - 1, body); break;
      default: endless(depth - 1, body);
    }
  }
  int open_kernel(dsl::record::extent n) { return node(op::index, KILN_I32, {node(op::kernel, KILN_I32, {}, {n}, 1)}, {}, 0); }
  // The numbers rotated, or in reverse order.
  void permutation() {
    const int i = open_kernel(Tables::text("N"));
    const bool is_turned = random_.one_in(2);
    const int to = node(is_turned ? op::sub : op::add, KILN_I32, {number(is_turned ? -1 : random_.pick(-9, 0)), i});
    node(op::put, KILN_I32, {i, to}, {}, place(index_mode::wrap, slot_p));
    node(op::kernel_end, KILN_BOOL);
  }
  // Gives the output a value, whatever the kernels wrote to it.
  void put_all_of_e() {
    node(op::put, KILN_I32, {number(77), open_kernel(Tables::fixed(1))}, {}, place(index_mode::skip, slot_e));
    node(op::kernel_end, KILN_BOOL);
  }
};

}  // namespace

tables::Tables random_scopes(std::uint64_t seed) { return Maker(seed).make(); }

}  // namespace kiln::test
