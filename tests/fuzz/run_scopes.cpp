#include "tests/fuzz/run_scopes.h"

#include <algorithm>
#include <limits>
#include <map>
#include <stdexcept>

namespace kiln::test {
namespace {

using record::atomic_kind;
using record::index_mode;
using record::op;

using Int = std::int32_t;
Int wrapped(std::int64_t v) { return static_cast<Int>(static_cast<std::uint64_t>(v)); }

Int arithmetic(op o, Int x, Int y) {
  const std::int64_t a = x, b = y;
  const auto count = static_cast<unsigned>(y) & 31;
  switch (o) {
    case op::add: return wrapped(a + b);
    case op::sub: return wrapped(a - b);
    case op::mul: return wrapped(a * b);
    case op::min: return std::min(x, y);
    case op::max: return std::max(x, y);
    case op::and_: return x & y;
    case op::or_: return x | y;
    case op::xor_: return x ^ y;
    case op::cdiv: return b == 0 ? 0 : wrapped(a / b);
    case op::cmod: return b == 0 ? 0 : wrapped(a % b);
    case op::shl: return static_cast<Int>(static_cast<std::uint32_t>(x) << count);
    case op::shr: return x >> count;
    case op::lt: return x < y;
    case op::le: return x <= y;
    case op::eq: return x == y;
    case op::ne: return x != y;
    default: throw std::logic_error("an operation without a rule");
  }
}

class Machine {
 public:
  Machine(const record::program& p, std::vector<Cells> params, std::int64_t n)
      : p_(p), params_(std::move(params)), n_(n), values_(static_cast<std::size_t>(p.n_nodes)), end_of_(values_.size()) {
    std::vector<int> open;
    for (int i = 0; i < p.n_nodes; ++i) {
      const op o = p.nodes[i].o;
      if (o == op::kernel || o == op::loop || o == op::when || o == op::otherwise) open.push_back(i);
      if (o != op::kernel_end && o != op::loop_end && o != op::when_end) continue;
      end_of_[static_cast<std::size_t>(open.back())] = i;
      open.pop_back();
    }
  }

  std::vector<Cells> run() {
    block(0, p_.n_nodes);
    return std::move(params_);
  }

 private:
  enum class Left { no, by_break, by_continue };

  const record::node& node(int i) const { return p_.nodes[i]; }
  Int source(int i, int k) const { return values_[static_cast<std::size_t>(p_.sources[node(i).source_begin + k])]; }
  std::int64_t extent(const record::extent& e) const { return e.text == nullptr ? e.value : n_; }
  std::int64_t bound(int i, int which, int& used) const {
    const record::extent& e = p_.attrs[node(i).attr_begin + which];
    return e.text == nullptr && e.value == -1 ? source(i, used++) : extent(e);
  }

  // Nodes begin .. end - 1, in order; nested scopes recurse as deeply as the program nests.
  Left block(int begin, int end) {
    for (int i = begin; i < end; ++i) {
      const op o = node(i).o;
      const int last = end_of_[static_cast<std::size_t>(i)];
      Left left = Left::no;
      if (o == op::kernel) {
        kernel(i, last);
        i = last;
      } else if (o == op::loop) {
        loop(i, last);
        i = last;
      } else if (o == op::when || o == op::otherwise) {
        const bool here = (o == op::when || !taken_) && (node(i).n_sources == 0 || source(i, 0) != 0);
        taken_ = here || (o == op::otherwise && taken_);
        const bool taken = taken_;
        if (here) left = block(i + 1, last);
        taken_ = taken;
        i = last;
      } else if (o == op::break_ || o == op::continue_) {
        if (node(i).n_sources == 0 || source(i, 0) != 0) left = o == op::break_ ? Left::by_break : Left::by_continue;
      } else if (node(i).s->rank > 0 && o != op::local) {
        whole(i);
      } else {
        values_[static_cast<std::size_t>(i)] = step(i);
      }
      if (left != Left::no) return left;
    }
    return Left::no;
  }

  void kernel(int i, int last) {
    int used = 0;
    const int rank = node(i).n_attrs;
    const std::int64_t rows = rank == 2 ? bound(i, 0, used) : 1, columns = bound(i, rank - 1, used);
    for (std::int64_t row = 0; row < rows; ++row)
      for (std::int64_t column = 0; column < columns; ++column) {
        position_[0] = wrapped(rank == 2 ? row : column);
        position_[1] = wrapped(column);
        block(i + 1, last);
      }
  }
  void loop(int i, int last) {
    int used = 0;
    const std::int64_t begin = bound(i, 0, used), end = bound(i, 1, used), step = bound(i, 2, used);
    const bool endless = node(i).imm == 1;
    for (std::int64_t at = begin; endless || (step > 0 ? at < end : step < 0 && at > end); at += step) {
      values_[static_cast<std::size_t>(i)] = wrapped(at);
      if (block(i + 1, last) == Left::by_break) return;
    }
  }

  // A tensor of one axis: a parameter's contents now, arithmetic of tensors and numbers, an assignment.
  void whole(int i) {
    const record::node& n = node(i);
    const auto operand = [&](int k, std::size_t at) {
      const auto x = tensors_.find(p_.sources[n.source_begin + k]);
      return x == tensors_.end() ? source(i, k) : x->second[at];
    };
    auto& out = n.o == op::store ? params_[n.imm].v : tensors_[i];
    if (n.o == op::param) {
      out = params_[n.imm].v;
      return;
    }
    out.resize(static_cast<std::size_t>(n_));
    for (std::size_t at = 0; at < out.size(); ++at)
      out[at] = n.o == op::store ? operand(0, at) : arithmetic(n.o, operand(0, at), operand(1, at));
  }
  Int sum(int i) const {
    Int total = 0;
    for (const Int v : tensors_.at(p_.sources[node(i).source_begin])) total = arithmetic(op::add, total, v);
    return total;
  }

  Int step(int i) {
    const record::node& n = node(i);
    switch (n.o) {
      case op::reduce: return sum(i);
      case op::param: return params_[n.imm].v[0];
      case op::constant: return wrapped(static_cast<std::int64_t>(n.imm));
      case op::index: return position_[n.imm];
      case op::counter: return source(i, 0);
      case op::where: return source(i, 0) != 0 ? source(i, 1) : source(i, 2);
      case op::not_: return source(i, 0) == 0;
      case op::var:
      case op::set: return variable(n.imm) = source(i, 0);
      case op::get: return variable(n.imm);
      case op::local: return local(n);
      case op::element:
      case op::put:
      case op::atomic: return access(i);
      default: return arithmetic(n.o, source(i, 0), source(i, 1));
    }
  }
  Int& variable(std::uint64_t k) {
    if (variables_.size() <= k) variables_.resize(k + 1);
    return variables_[k];
  }
  Int local(const record::node& n) {
    if (locals_.size() <= n.imm) locals_.resize(n.imm + 1);
    Cells& a = locals_[n.imm];
    a.extents = {n.s->extents[0].value};
    a.v.assign(static_cast<std::size_t>(a.extents[0]), 0);
    return 0;
  }

  // The cell, or null where the mode names none.
  static Int* cell(Cells& t, index_mode m, const std::vector<Int>& index) {
    std::int64_t at = 0;
    for (std::size_t k = 0; k < index.size(); ++k) {
      const std::int64_t n = t.extents[k];
      if (n == 0) return nullptr;
      const auto mod = [](std::int64_t a, std::int64_t b) { return ((a % b) + b) % b; };
      std::int64_t i = index[k];
      if (m == index_mode::clamp) i = std::clamp<std::int64_t>(i, 0, n - 1);
      if (m == index_mode::wrap) i = mod(i, n);
      if (m == index_mode::mirror) i = mod(i, 2 * n) < n ? mod(i, 2 * n) : 2 * n - 1 - mod(i, 2 * n);
      if (i < 0 || i >= n) return nullptr;
      at = at * n + i;
    }
    return &t.v[static_cast<std::size_t>(at)];
  }
  Int access(int i) {
    const record::node& n = node(i);
    const std::uint64_t number = n.imm & 0xffffffffu;
    const auto m = static_cast<index_mode>(n.imm >> 32 & 0xff);
    Cells& t = number < record::local_tensors ? params_[number] : locals_[number - record::local_tensors];
    const int first = n.o == op::element ? 0 : 1, rank = static_cast<int>(t.extents.size());
    std::vector<Int> index;
    for (int k = 0; k < rank; ++k) index.push_back(source(i, first + k));
    Int* at = cell(t, m, index);
    if (n.o == op::element) return at != nullptr ? *at : m == index_mode::constant ? source(i, rank) : 0;
    if (at == nullptr) return 0;
    const Int old = *at, v = source(i, 0);
    *at = n.o == op::put ? v : updated(static_cast<atomic_kind>(n.imm >> 40), old, v);
    return old;
  }
  static Int updated(atomic_kind k, Int old, Int v) {
    constexpr op operations[] = {op::add, op::min, op::max, op::and_, op::or_, op::xor_};
    return arithmetic(operations[static_cast<int>(k)], old, v);
  }

  const record::program& p_;
  std::vector<Cells> params_, locals_;
  std::map<int, std::vector<Int>> tensors_;  // by node
  std::int64_t n_;
  std::vector<Int> values_, variables_;
  std::vector<int> end_of_;
  Int position_[2] = {};
  bool taken_ = false;  // a when or otherwise of the chain was
};

}  // namespace

std::vector<Cells> run_scopes(const record::program& p, std::vector<Cells> params, std::int64_t n) {
  return Machine(p, std::move(params), n).run();
}

}  // namespace kiln::test
