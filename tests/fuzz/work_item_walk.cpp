#include "tests/fuzz/work_item_walk.h"

#include <algorithm>
#include <array>
#include <map>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/fuzz/random_races.h"

namespace kiln::test {
namespace {

using dsl::record::index_mode;
using dsl::record::op;

struct Access {
  std::int64_t item, workgroup, interval;
  char kind;  // r: read, w: write, a: atomic
};

// Runs a program's kernel, one work item after the other, and again for each iteration of a loop around it.
class WorkItemWalk {
 public:
  WorkItemWalk(const dsl::record::program& p, std::int64_t n, Random& random)
      : p_(p), n_(n), numbers_{random.pick(-3, 12), random.pick(-3, 12)} {
    for (std::int64_t i = 0; i < n; ++i) a_.push_back(random.one_in(2) ? i : random.pick(-2, n + 2));
    std::int64_t iterations = 1;
    int loop = -1;
    for (kernel_ = 0; node(kernel_).o != op::kernel; ++kernel_) {
      if (node(kernel_).o != op::loop) {
        evaluate(kernel_, 0);
      } else {
        loop = kernel_, iterations = extent(p.attrs[node(kernel_).attr_begin + 1]);
        value_[loop] = 0;
      }
    }
    const dsl::record::node& k = node(kernel_);
    size_ = static_cast<std::int64_t>(k.imm >> 8 & 0xffff);
    std::int64_t work_items = 1;
    for (int axis = 0; axis < k.n_attrs; ++axis) {
      extents_.push_back(extent(p.attrs[k.attr_begin + axis]));
      work_items *= extents_.back();
    }
    for (std::int64_t iteration = 0; iteration < iterations && racing_.empty(); ++iteration) {
      if (loop >= 0) value_[loop] = iteration;
      for (int i = loop + 1; loop >= 0 && i < kernel_; ++i) evaluate(i, 0);
      accesses_.clear();
      for (item_ = 0; item_ < work_items; ++item_) item();
      racing_ = race();
    }
  }

  const std::string& found() const { return racing_; }

 private:
  // A race of two work items on one element, in words; empty: none.
  std::string race() const {
    for (const auto& [element, list] : accesses_) {
      const auto some = [&](auto f) { return std::ranges::any_of(list, f); };
      if (!some([&](const Access& x) { return x.item != list[0].item; })) continue;
      for (const Access& x : list)
        for (const Access& y : list) {
          const bool together =
              size_ == 0 || x.workgroup != y.workgroup ? element.first < dsl::record::local_tensors : x.interval == y.interval;
          if (x.item < y.item && together && (x.kind == 'w' || y.kind == 'w' || x.kind != y.kind))
            return std::string("N = ") + std::to_string(n_) + ", c = " + std::to_string(numbers_[0]) +
                   ", d = " + std::to_string(numbers_[1]) + ": work items " + std::to_string(x.item) + " and " +
                   std::to_string(y.item) + " at element " + std::to_string(element.second) + " of " +
                   std::to_string(element.first) + ": " + x.kind + ' ' + y.kind;
        }
    }
    return "";
  }

  // "N" and "N*N" are the only texts.
  std::int64_t extent(const dsl::record::extent& e) const {
    if (e.text == nullptr) return e.value;
    return std::string_view(e.text) == "N" ? n_ : n_ * n_;
  }
  const dsl::record::node& node(int i) const { return p_.nodes[i]; }
  std::int64_t source(int i, int k) const { return value_.at(p_.sources[node(i).source_begin + k]); }

  // Enters and leaves scopes by jumps to a node's number.
  void item() {
    std::int64_t interval = 0;
    bool taken = false;
    struct Open {
      int node;
      std::int64_t iteration, end;
      bool taken;
    };
    std::vector<Open> open;
    for (int i = kernel_ + 1; node(i).o != op::kernel_end; ++i) {
      const dsl::record::node& n = node(i);
      if (n.o == op::barrier) {
        ++interval;
      } else if (n.o == op::when || n.o == op::otherwise || n.o == op::loop) {
        Open o{i, 0, 1, false};
        if (n.o == op::loop) {
          const std::int64_t end = p_.attrs[n.attr_begin + 1].value;
          o.end = end == -1 ? source(i, 0) : end;
        } else {
          const bool now = n.o == op::when ? source(i, 0) != 0 : !taken;
          o.taken = now || (n.o == op::otherwise && taken);
          o.end = now ? 1 : 0;
        }
        if (o.end > 0) {
          value_[i] = 0;
          open.push_back(o);
        } else {
          i = end_of(i);
          taken = o.taken;
        }
      } else if (n.o == op::loop_end || n.o == op::when_end) {
        Open& o = open.back();
        if (++o.iteration < o.end) {
          value_[i = o.node] = o.iteration;
        } else {
          taken = o.taken;
          open.pop_back();
        }
      } else {
        evaluate(i, interval);
      }
    }
  }
  int end_of(int i) const {
    for (int depth = 0;; ++i) {
      const op o = node(i).o;
      depth += o == op::when || o == op::otherwise || o == op::loop ? 1 : o == op::when_end || o == op::loop_end ? -1 : 0;
      if (depth == 0) return i;
    }
  }

  // The linear index of the element. first: number of the source that is the first index. -1: none.
  std::int64_t element(int i, int first) const {
    const bool is_array = tensor(i) >= dsl::record::local_tensors;
    const dsl::record::shape* shape = is_array ? nullptr : p_.params[tensor(i)].s;
    std::int64_t place = 0;
    for (int axis = 0; axis < (is_array ? 1 : shape->rank); ++axis) {
      const std::int64_t n = is_array ? shared_array_size : extent(shape->extents[axis]), at = source(i, first + axis);
      if (n == 0) return -1;
      const auto mode = static_cast<index_mode>(node(i).imm >> 32 & 0xff);
      const bool is_total = mode == index_mode::clamp || mode == index_mode::wrap;
      if (!is_total && (at < 0 || at >= n)) return -1;
      place = place * n + (mode == index_mode::wrap ? (at % n + n) % n : std::clamp<std::int64_t>(at, 0, n - 1));
    }
    return place;
  }
  std::uint64_t tensor(int i) const { return node(i).imm & 0xffffffffu; }
  void note(int i, std::int64_t at, char kind, std::int64_t interval) {
    if (at >= 0) accesses_[{tensor(i), at}].push_back({item_, size_ > 0 ? item_ / size_ : 0, interval, kind});
  }

  void evaluate(int i, std::int64_t interval) {
    const dsl::record::node& n = node(i);
    switch (n.o) {
      case op::param: value_[i] = numbers_[n.imm]; return;
      case op::constant: value_[i] = static_cast<std::int32_t>(n.imm); return;
      case op::index:
        if ((n.imm & dsl::record::within_workgroup) != 0)
          value_[i] = item_ % size_;
        else if ((n.imm & dsl::record::of_workgroup) != 0)
          value_[i] = item_ / size_;
        else
          value_[i] = coordinate(n.imm);
        return;
      case op::dim: value_[i] = n_; return;
      case op::counter: value_[i] = source(i, 0); return;
      case op::local: return;
      case op::element: value_[i] = tensor(i) == race_data && n_ > 0 ? a_[static_cast<std::size_t>(element(i, 0))] : 0; return;
      case op::atomic: return note(i, element(i, 1), 'a', interval);
      case op::put: {
        const std::int64_t at = element(i, 1);
        if (at >= 0) note_reads(p_.sources[n.source_begin], interval);  // only reads whose value is written can matter
        return note(i, at, 'w', interval);
      }
      case op::where: value_[i] = source(i, 0) != 0 ? source(i, 1) : source(i, 2); return;
      case op::not_: value_[i] = source(i, 0) == 0; return;
      default: value_[i] = binary(n.o, static_cast<std::int32_t>(source(i, 0)), static_cast<std::int32_t>(source(i, 1)));
    }
  }
  std::int64_t coordinate(std::uint64_t axis) const {
    std::int64_t rest = item_;
    for (std::size_t k = extents_.size() - 1; k > axis; --k) rest /= extents_[k];
    return rest % extents_[axis];
  }
  void note_reads(int value, std::int64_t interval) {
    std::vector<int> open{value};
    while (!open.empty()) {
      const int i = open.back();
      open.pop_back();
      if (node(i).o == op::element) {
        if (tensor(i) != race_data) note(i, element(i, 0), 'r', interval);
      } else if (node(i).o != op::counter && node(i).o != op::index) {
        for (int k = 0; k < node(i).n_sources; ++k) open.push_back(p_.sources[node(i).source_begin + k]);
      }
    }
  }
  static std::int64_t binary(op o, std::int64_t x, std::int64_t y) {
    const auto wrapped = [](std::int64_t v) -> std::int64_t { return static_cast<std::int32_t>(v); };
    const std::int64_t count = y & 31;
    switch (o) {
      case op::add: return wrapped(x + y);
      case op::sub: return wrapped(x - y);
      case op::mul: return wrapped(x * y);
      case op::min: return std::min(x, y);
      case op::max: return std::max(x, y);
      case op::and_: return x & y;
      case op::or_: return x | y;
      case op::xor_: return x ^ y;
      case op::cdiv: return y == 0 ? 0 : wrapped(x / y);
      case op::cmod: return y == 0 ? 0 : x % y;
      case op::floordiv: return y == 0 ? 0 : wrapped(x / y - (x % y != 0 && (x % y < 0) != (y < 0) ? 1 : 0));
      case op::floormod: return y == 0 ? 0 : x % y + (x % y != 0 && (x % y < 0) != (y < 0) ? y : 0);
      case op::shl: return wrapped(x * (std::int64_t{1} << count));
      case op::shr: return x >> count;
      case op::lt: return x < y;
      case op::le: return x <= y;
      case op::eq: return x == y;
      case op::ne: return x != y;
      default: throw std::logic_error("an operation without a rule");
    }
  }

  const dsl::record::program& p_;
  std::int64_t n_, size_ = 0, item_ = 0;
  std::vector<std::int64_t> extents_;  // extents of the kernel
  std::array<std::int64_t, 2> numbers_;
  std::vector<std::int64_t> a_;
  int kernel_ = 0;
  std::string racing_;
  std::map<int, std::int64_t> value_;
  std::map<std::pair<std::uint64_t, std::int64_t>, std::vector<Access>> accesses_;
};

}  // namespace

std::string racing_work_items(const dsl::record::program& p, std::int64_t n, Random& random) {
  return WorkItemWalk(p, n, random).found();
}

}  // namespace kiln::test
