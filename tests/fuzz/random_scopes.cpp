#include "tests/fuzz/random_scopes.h"

#include <vector>

#include "tests/fuzz/group_arrays.h"
#include "tests/fuzz/random.h"
#include "tests/fuzz/typed_memory.h"

namespace kiln::test {
namespace {

using dsl::record::atomic_kind;
using dsl::record::index_mode;
using dsl::record::op;
using tables::Tables;

// Parameters. Read: a[N], b[4, 5], bound. Changed, each work item its own elements: c[N], d[3, N], bytes[N]. Changed by
// atomics: total, counts[N], wide[N]. Output: e[N]. A permutation from the first kernel on: p[N].
enum Slot : std::uint64_t {
  slot_a,
  slot_b,
  slot_bound,
  slot_c,
  slot_d,
  slot_total,
  slot_e,
  slot_counts,
  slot_wide,
  slot_bytes,
  slot_p
};

class Maker {
 public:
  explicit Maker(std::uint64_t seed) : random_(seed), t_("scopes") {
    scalar_ = t_.shape({});
    const auto* n = vector_ = t_.shape({Tables::text("N")});
    const auto* matrix = t_.shape({Tables::fixed(4), Tables::fixed(5)});
    const auto* rows = t_.shape({Tables::fixed(3), Tables::text("N")});
    t_.symbol("N", 0);
    t_.param("a", 0, KILN_I32, n);
    t_.param("b", 0, KILN_I32, matrix);
    t_.param("bound", 0, KILN_I32, scalar_);
    t_.param("c", 2, KILN_I32, n);
    t_.param("d", 2, KILN_I32, rows);
    t_.param("total", 2, KILN_I32, scalar_);
    t_.param("e", 1, KILN_I32, n);
    t_.param("counts", 2, KILN_I32, n);
    t_.param("wide", 2, KILN_I64, n);
    t_.param("bytes", 2, KILN_U8, n);
    t_.param("p", 2, KILN_I32, n);
  }

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
  int node(op o, kiln_dtype d, std::vector<int> sources = {}, std::vector<dsl::record::extent> attrs = {},
           std::uint64_t imm = 0) {
    return t_.node(o, d, scalar_, std::move(sources), std::move(attrs), imm);
  }
  int number(std::int64_t v) { return node(op::constant, KILN_I32, {}, {}, static_cast<std::uint64_t>(v)); }
  int cast(kiln_dtype d, int v) { return node(op::cast, d, {v}); }
  kiln_dtype other_type() {
    constexpr kiln_dtype types[] = {KILN_I8, KILN_I16, KILN_I64, KILN_U8, KILN_U16, KILN_U32, KILN_U64};
    return types[random_.pick(0, 6)];
  }
  op any_binary() {
    constexpr op binaries[] = {op::add, op::sub,  op::mul,  op::min,  op::max, op::and_,
                               op::or_, op::xor_, op::cdiv, op::cmod, op::shl, op::shr};
    return binaries[random_.pick(0, 11)];
  }
  // A value converted to another type, and back.
  int foreign() {
    const kiln_dtype d = other_type();
    const int a = cast(d, any()), b = cast(d, any());
    return cast(KILN_I32, node(any_binary(), d, {a, b}));
  }
  int any() { return visible_[static_cast<std::size_t>(random_.pick(0, static_cast<std::int64_t>(visible_.size()) - 1))]; }
  int small(std::int64_t mask) { return node(op::and_, KILN_I32, {any(), number(mask)}); }

  int value() {
    int v = 0;
    switch (random_.pick(0, 8)) {
      case 0: v = number(random_.pick(-20, 20)); break;
      case 1: v = node(op::where, KILN_I32, {condition(), any(), any()}); break;
      case 2:
      case 3: v = read(); break;
      case 4: v = memory_.read_variable().value_or(visible_.back()); break;
      case 5: v = foreign(); break;
      default: {
        const op o = any_binary();
        v = node(o, KILN_I32, {any(), any()});
      }
    }
    visible_.push_back(v);
    return v;
  }
  // In a kernel: a condition that does not depend on the work item.
  int common_condition() {
    const auto outside = [&] {
      return visible_[static_cast<std::size_t>(random_.pick(0, std::ssize(visible_) - 1)) % outside_];
    };
    return node(op::le, KILN_BOOL, {outside(), random_.one_in(2) ? outside() : number(random_.pick(-5, 12))});
  }
  int condition() {
    constexpr op compares[] = {op::lt, op::le, op::eq, op::ne};
    int x = any(), y = random_.one_in(2) ? any() : number(random_.pick(-5, 12));
    if (random_.one_in(6)) {
      const kiln_dtype d = other_type();
      x = cast(d, x), y = cast(d, y);
    }
    const int c = node(compares[random_.pick(0, 3)], KILN_BOOL, {x, y});
    return random_.one_in(4) ? node(op::not_, KILN_BOOL, {c}) : c;
  }
  int index() { return random_.one_in(3) ? small(7) : any(); }

  static std::uint64_t place(index_mode m, std::uint64_t tensor) { return static_cast<std::uint64_t>(m) << 32 | tensor; }
  int element(std::uint64_t tensor, std::vector<int> indices, bool may_be_constant = true) {
    auto m = static_cast<index_mode>(random_.pick(0, may_be_constant ? 3 : 2));
    if (m == index_mode::constant) indices.push_back(any());
    return node(op::element, KILN_I32, indices, {}, place(m, tensor));
  }
  // A readable value: inputs, local arrays and, of tensors that the kernel around changes, the work item's own elements.
  // Outside of kernels every tensor is readable.
  int read() {
    switch (random_.pick(0, 5)) {
      case 0: return element(slot_b, {index(), index()});
      case 1: {
        const int i = index(), j = index(), otherwise = any();
        if (const auto shared = arrays_.read(i, otherwise)) return *shared;
        if (const auto own = memory_.read_array(i, j, otherwise)) return *own;
        break;
      }
      case 2:
        if (on_host_) return element(slot_d, {index(), index()});
        if (own_.column >= 0)
          return own_.row >= 0 ? element(slot_d, {own_.row, own_.column}, false)
                               : element(slot_d, {index(), own_.column}, false);
        break;
      case 3:
        if (on_host_) return element(slot_c, {index()});
        if (own_.column >= 0 && own_.row < 0)
          return random_.one_in(3)
                     ? cast(KILN_I32, node(op::element, KILN_U8, {own_.column}, {}, place(index_mode::clamp, slot_bytes)))
                     : node(op::element, KILN_I32, {own_.column}, {}, place(index_mode::clamp, slot_c));
        break;
      default: break;
    }
    return element(slot_a, {index()});
  }
  void put() {
    const auto m = static_cast<index_mode>(random_.one_in(4) ? 5 : random_.pick(0, 2));
    if (random_.one_in(2) && put_typed()) return;
    if (on_host_) return lone_put(m);
    if (random_.one_in(2) && put_shared()) return;
    if (!own_.inside) return;
    if (own_.column < 0 || random_.one_in(3))
      add(m);
    else if (random_.one_in(4) && !own_.promised)
      exchange();
    else
      put_own(m);
  }
  bool put_typed() {
    const int v = any(), i = index(), j = index();
    return memory_.put(v, i, j);
  }
  bool put_shared() {
    std::optional<int> old;
    const int i = index(), v = any();
    const bool written = arrays_.write(i, v, old);
    if (old) visible_.push_back(*old);
    return written;
  }
  void put_own(index_mode m) {
    const std::uint64_t promise = own_.promised ? dsl::record::unique_write : 0;
    const Slot vector = random_.one_in(3) ? slot_e : slot_c;
    if (own_.row >= 0)
      node(op::put, KILN_I32, {any(), own_.row, own_.column}, {}, promise | place(m, slot_d));
    else if (random_.one_in(2))
      node(op::put, KILN_I32, {any(), index(), own_.column}, {}, promise | place(m, slot_d));
    else if (random_.one_in(4))
      node(op::put, KILN_U8, {cast(KILN_U8, any()), own_.column}, {}, promise | place(m, slot_bytes));
    else
      node(op::put, KILN_I32, {any(), own_.column}, {}, promise | place(m, vector));
  }
  static std::uint64_t atomically(atomic_kind k, std::uint64_t place) { return static_cast<std::uint64_t>(k) << 40 | place; }
  // An atomic operation on an element that other work items also change.
  void add(index_mode m) {
    switch (random_.pick(0, 2)) {
      case 0: node(op::atomic, KILN_I32, {any()}, {}, atomically(own_.kind, slot_total)); break;
      case 1: node(op::atomic, KILN_I32, {any(), index()}, {}, atomically(own_.kind, place(m, slot_counts))); break;
      default: node(op::atomic, KILN_I64, {cast(KILN_I64, any()), index()}, {}, atomically(own_.kind, place(m, slot_wide)));
    }
  }
  // An atomic operation on the work item's own element, so that its old value is known.
  void exchange() {
    const auto kind = static_cast<atomic_kind>(random_.pick(0, 7));
    std::vector<int> sources{any()};
    if (kind == atomic_kind::compare_exchange) sources.push_back(any());
    if (own_.row >= 0) sources.push_back(own_.row);
    sources.push_back(own_.column);
    visible_.push_back(node(op::atomic, KILN_I32, sources, {}, atomically(kind, own_.row >= 0 ? slot_d : slot_c)));
  }

  void lone_put(index_mode m) {
    const auto kind = static_cast<atomic_kind>(random_.pick(0, 5));
    const Slot vector = random_.one_in(3) ? slot_e : slot_c;
    if (random_.one_in(3))
      visible_.push_back(node(op::atomic, KILN_I32, {any(), index()}, {}, atomically(kind, place(m, slot_c))));
    else if (random_.one_in(2))
      node(op::put, KILN_I32, {any(), index()}, {}, place(m, vector));
    else
      node(op::put, KILN_I32, {any(), index(), index()}, {}, place(m, slot_d));
  }

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
    const std::uint64_t turns = memory_.new_variable();
    node(op::var, KILN_I32, {number(0)}, {}, turns);
    const int l = node(op::loop, KILN_I32, {}, {Tables::fixed(0), Tables::fixed(0), Tables::fixed(1)}, 1);
    ++loops_;
    scope([&] {
      const int now = node(op::get, KILN_I32, {}, {}, turns);
      node(op::set, KILN_I32, {node(op::add, KILN_I32, {now, number(1)})}, {}, turns);
      node(op::break_, KILN_BOOL, {node(op::le, KILN_BOOL, {number(random_.pick(0, 6)), now})});
      visible_.push_back(node(op::counter, KILN_I32, {l}));
      body(depth);
    });
    --loops_;
    node(op::loop_end, KILN_BOOL);
  }

  // Statements of a workgroup between barriers, and loops and conditions around barriers, which are equal for all work items.
  void phases(int depth) {
    begin_phase();
    for (std::int64_t i = random_.pick(0, 3); i >= 0 && budget_ > 0; --i) {
      if (random_.one_in(2)) arrays_.declare(memory_.new_array(), shared_);
      const auto what = depth > 0 ? random_.pick(0, 3) : 0;
      if (what == 2) shared_loop(depth);
      if (what == 3) shared_branch(depth);
      if (what < 2) node(op::barrier, KILN_BOOL);
      begin_phase();
    }
  }
  void begin_phase() {
    arrays_.begin_phase(shared_);
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
      phases(depth - 1);
      node(op::barrier, KILN_BOOL);
      if (random_.one_in(3)) node(op::continue_, KILN_BOOL, {shared_condition()});
      begin_phase();
    });
    shared_.resize(count);
    node(op::loop_end, KILN_BOOL);
  }
  void shared_branch(int depth) {
    node(op::when, KILN_BOOL, {shared_condition()});
    const auto count = shared_.size();
    scope([&] {
      phases(depth - 1);
      node(op::barrier, KILN_BOOL);
    });
    shared_.resize(count);
    node(op::when_end, KILN_BOOL);
  }
  // Sizes of workgroups, one for each axis, in the form of the kernel's imm.
  std::uint64_t group_sizes(int rank) {
    constexpr std::int64_t sizes[] = {1, 3, 4, 8, 11, 16};
    std::uint64_t imm = 0;
    for (int axis = 0; axis < rank; ++axis) imm |= static_cast<std::uint64_t>(sizes[random_.pick(0, 5)]) << (8 + 16 * axis);
    return imm;
  }
  void group_body(int k, int rank, std::uint64_t sizes) {
    int own = number(0);
    std::int64_t count = 1;
    shared_ = {visible_[0], number(random_.pick(-2, 4)),
               node(op::index, KILN_I32, {k}, {}, dsl::record::of_group | static_cast<std::uint64_t>(rank - 1))};
    for (int axis = 0; axis < rank; ++axis) {
      visible_.push_back(node(op::index, KILN_I32, {k}, {}, dsl::record::within_group | static_cast<std::uint64_t>(axis)));
      const auto size = static_cast<std::int64_t>(sizes >> (8 + 16 * axis) & 0xffff);
      own = node(op::mul, KILN_I32, {own, number(size)});
      own = node(op::add, KILN_I32, {own, visible_.back()});
      count *= size;
    }
    visible_.push_back(shared_[2]);
    arrays_.open_group(own, count);
    phases(2);
    shared_.clear();
  }

  void kernel() {
    const bool is_2d = random_.one_in(3), is_counted = !is_2d && random_.one_in(5);
    const bool in_groups = !is_counted && random_.one_in(3);
    std::vector<dsl::record::extent> attrs = {is_counted ? Tables::fixed(-1) : Tables::text("N")};
    if (is_2d) attrs.insert(attrs.begin(), Tables::fixed(random_.pick(1, 3)));
    const std::uint64_t sizes = in_groups ? group_sizes(is_2d ? 2 : 1) : 0;
    const int k =
        node(op::kernel, KILN_I32, is_counted ? std::vector{small(15)} : std::vector<int>{}, attrs, (is_2d ? 2 : 1) | sizes);
    const int outside = loops_;
    memory_.enter_kernel();
    loops_ = 0, budget_ = 40, on_host_ = false, outside_ = visible_.size();
    scope([&] {
      constexpr atomic_kind kinds[] = {atomic_kind::add,  atomic_kind::min, atomic_kind::max,
                                       atomic_kind::and_, atomic_kind::or_, atomic_kind::xor_};
      const int row = is_2d ? node(op::index, KILN_I32, {k}, {}, 0) : -1;
      const bool promised = !is_counted && random_.one_in(4);
      int column = node(op::index, KILN_I32, {k}, {}, is_2d ? 1 : 0);
      if (promised) column = node(op::element, KILN_I32, {column}, {}, place(index_mode::clamp, slot_p));
      own_ = {true, row, is_counted ? -1 : column, kinds[random_.pick(0, 5)], promised};
      if (is_2d) visible_.push_back(row);
      visible_.push_back(column);
      if (in_groups) {
        group_body(k, is_2d ? 2 : 1, sizes);
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

  // The elements that the kernel's work items write. The work items of a counted kernel have no elements of their own.
  struct Own {
    bool inside = false;
    int row = -1, column = -1;
    atomic_kind kind = atomic_kind::add;
    bool promised = false;  // whether the program promises that each work item has another column
  };

  Random random_;
  Tables t_;
  const dsl::record::shape *scalar_ = nullptr, *vector_ = nullptr;
  std::vector<int> visible_;  // integers of the open scopes
  std::vector<int> shared_;   // values that are equal for all work items of a workgroup
  GroupArrays arrays_{random_, t_};
  TypedMemory memory_{random_, t_};
  Own own_;
  int loops_ = 0, budget_ = 0, host_budget_ = 14;
  bool on_host_ = true;
  std::size_t outside_ = 0;  // number of visible_ from before the kernel
};

}  // namespace

Tables random_scopes(std::uint64_t seed) { return Maker(seed).make(); }

}  // namespace kiln::test
