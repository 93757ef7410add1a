#include "compiler/ir/verify_schedule.h"

#include <algorithm>
#include <ranges>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/ir/diagnostic.h"
#include "compiler/ir/kernel_body.h"
#include "compiler/ir/nth.h"
#include "compiler/ir/run_expression.h"
#include "compiler/ir/scopes.h"
#include "compiler/ir/symbols.h"
#include "compiler/ir/typing.h"
#include "compiler/ir/verify_nodes.h"

namespace kiln::compiler {
namespace {

constexpr std::int64_t longest_expression = std::int64_t{1} << 16;  // most terms, written out as a tree

constexpr VerifyRule schedule_table[] = {
    {"TKP", "form", "the statements are those that the pass leaves"},
    {"TKP", "declared", "each symbol is declared once; one that the run sets has an i64 buffer of one element, or a loop"},
    {"TKP", "run-expression", "what the run evaluates is arithmetic on symbols and constants, of at most 65536 terms"},
    {"TKP", "parameters", "at most 16 extents; states only in segments"},
    {"TKP", "schedule-buffers",
     "the parameters come first; rotating buffers and views name buffers of their type; a plan gives every temporary a place"},
    {"TKP", "loops", "a loop's counter and count are symbols of their kind, its condition is a buffer of one bool"},
    {"T", "whole-tensors", "after host_loops: no FOR, and no element of a tensor, outside of KERNELs"},
    {"T", "gradient-left", "after differentiate: no GRADIENT, TANGENT, LAPLACIAN, MARK, STRAIGHT, CUSTOM and COTANGENT"},
    {"TKP", "segments", "each segment has a SINK and is in a loop of the schedule"},
    {"TKP", "schedule-kernels", "a kernel has a SINK and names buffers of the schedule; the kernels of a loop stand together"},
};

class StatementVerifier {
 public:
  StatementVerifier(const Graph& g, const Schedule& s, Form form) : g_(g), s_(s), form_(form), symbols_(s.program.symbols) {}

  void check() {
    parts();
    declarations();
    for (const Parameter& p : s_.program.params) parameter(p);
    for (std::size_t i = 0; i < s_.buffers.size(); ++i) buffer(i);
    for (std::size_t i = 0; i < s_.loops.size(); ++i) loop(i);
    for (std::size_t i = 0; i < s_.segments.size(); ++i) segment(i);
    for (std::size_t i = 0; i < s_.kernels.size(); ++i) kernel(i);
    if (form_ >= Form::ordered) order_of_loops();
    for (std::size_t i = 0; i < s_.lowered.size(); ++i) {
      expression(s_.lowered[i].trip_count, kernel_name(i));
      expression(s_.lowered[i].work, kernel_name(i));
    }
    if (s_.workspace_bytes != no_id) expression(s_.workspace_bytes, "workspace");
  }

 private:
  [[noreturn]] void fail(const std::string& what, std::string_view rule, const std::string& expected) const {
    throw Diagnostic("E-verify", "", what + " breaks the rule " + std::string(rule) + ": expected " + expected);
  }
  void require(bool holds, const std::string& what, std::string_view rule, const std::string& expected) const {
    if (!holds) fail(what, rule, expected);
  }
  std::string kernel_name(std::size_t i) const { return "kernel " + std::to_string(i) + " " + s_.kernels[i].name; }
  static std::string number(const char* what, std::size_t i) { return what + (" " + std::to_string(i)); }

  // Checks which statements the schedule has.
  void parts() const {
    const bool in_tensors = form_ <= Form::ranges, in_segments = form_ == Form::kernels;
    const bool is_whole = s_.segments.empty() && (in_tensors || in_segments);
    require(!in_tensors || (s_.kernels.empty() && s_.buffers.empty()), "the schedule", "form", "no kernels and no buffers yet");
    require(!in_tensors || (s_.program.sink != no_id) == is_whole, "the schedule", "form", "a sink, or one for each segment");
    require(in_tensors || s_.buffers.size() >= s_.program.params.size(), "the schedule", "form", "a buffer for each parameter");
    require(form_ < Form::ordered || s_.segments.empty(), "the schedule", "form", "no segments, but kernels in order");
    require(s_.segments.empty() ? form_ >= Form::ordered || s_.loops.empty() : true, "the schedule", "form",
            "segments in its loops");
    require((form_ == Form::lowered) == (!s_.lowered.empty() || (form_ == Form::lowered && s_.kernels.empty())), "the schedule",
            "form", "lowered kernels after lowering, and none before");
    if (form_ >= Form::planned) return;
    require(s_.workspace_bytes == no_id, "the schedule", "form", "no workspace before there is a plan");
  }

  bool is_set_by_run(Id sym, Symbol::Kind kind) const {
    const auto i = g_.op(sym) == Op::SYM ? symbols_.find(g_.name(sym)) : std::nullopt;
    return i && s_.program.symbols[*i].kind == kind;
  }

  // Whether b is the number of a buffer (before there are buffers: of a parameter) with this dtype.
  bool names_scalar(int b, DType dtype) const {
    if (b < 0) return false;
    if (s_.buffers.empty()) return b < std::ssize(s_.program.params) && nth(s_.program.params, b).dtype == dtype;
    return b < std::ssize(s_.buffers) && nth(s_.buffers, b).dtype == dtype;
  }

  // Whether a SYM is one of a lowered kernel. misalignments() checks the slots.
  bool is_of_kernel(Id sym) const {
    return g_.name(sym) == "$begin" || g_.name(sym) == "$end" || g_.name(sym).starts_with(misaligned_prefix);
  }

  void declarations() const {
    std::vector<Id> roots;
    for_each_node(s_, [&](Id id) {
      if (id != no_id) roots.push_back(id);
    });
    for (const Id id : g_.reachable(roots)) {
      if (g_.op(id) != Op::SYM || symbols_.find(g_.name(id))) continue;
      if (form_ == Form::lowered && is_of_kernel(id)) continue;
      violated(g_, id, "declared", "symbol `" + std::string(g_.name(id)) + "` declared");
    }
    for (const Symbol& y : s_.program.symbols)
      if (y.kind == Symbol::Kind::element)
        require(names_scalar(y.buffer, DType::i64), "symbol " + y.name, "declared", "the number of a buffer of type i64");
  }

  void expression(Id root, const std::string& what) const {
    const auto bad = [&](Id id) {
      const bool is_leaf = g_.op(id) == Op::CONST || g_.op(id) == Op::SYM;
      if (g_.dtype(id) != DType::index || g_.lanes(id) != 1) return true;
      if (g_.op(id) == Op::SYM && !symbols_.find(g_.name(id))) return true;
      return !is_leaf && !expr_code(g_.op(id));
    };
    std::unordered_map<Id, std::int64_t> terms;
    for (const Id id : g_.reachable(std::span(&root, 1))) {
      if (bad(id)) violated(g_, id, "run-expression", "arithmetic on symbols and constants of type index in " + what);
      std::int64_t n = 1;
      for (const Id s : g_.src(id)) n += terms.at(s);
      if (n > longest_expression)
        violated(g_, id, "run-expression", "at most " + std::to_string(longest_expression) + " terms, written out, in " + what);
      terms[id] = n;
    }
  }

  void parameter(const Parameter& p) const {
    const std::string what = "parameter " + p.name;
    require(p.extents.size() <= max_rank, what, "parameters", "at most 16 extents");
    require(p.direction != Direction::state || form_ <= Form::kernels, what, "parameters",
            "no states once kernels are in order");
    for (const Id e : p.extents) expression(e, what);
  }

  void buffer(std::size_t i) const {
    const Buffer& b = s_.buffers[i];
    const std::string what = number("buffer", i), rule = "schedule-buffers";
    const std::size_t params = s_.program.params.size();
    for (const Id e : {b.size, b.offset, b.tile, b.tile_storage})
      if (e != no_id) expression(e, what);
    const bool is_param = i < params, is_view = !is_param && b.param >= 0;
    require(b.dtype < DType::index, what, rule, "an element type");
    require(!is_param || (std::cmp_equal(b.param, i) && b.dtype == s_.program.params[i].dtype && b.offset == no_id), what, rule,
            "parameter " + std::to_string(i) + ", of its type");
    require(!is_view || (form_ >= Form::planned && b.offset != no_id && b.among.empty() && std::cmp_less(b.param, params) &&
                         nth(s_.program.params, b.param).direction == Direction::in &&
                         nth(s_.program.params, b.param).dtype == b.dtype),
            what, rule, "a view of an input of its type, at an offset");
    require(b.param < 0 || b.tile == no_id, what, rule, "a temporary as tile buffer");
    require(b.after < 0 || (form_ == Form::kernels && nth(s_.buffers, b.after).dtype == b.dtype), what, rule,
            "`after` a buffer of its type, before kernels are in order");
    require(form_ >= Form::planned || b.offset == no_id, what, rule, "no offset before there is a plan");
    require(form_ < Form::planned || !b.is_temporary() || (b.offset != no_id && s_.workspace_bytes != no_id), what, rule,
            "a temporary at an offset in the workspace");
    if (!b.among.empty()) check_rotating(b, what);
  }

  void check_rotating(const Buffer& b, const std::string& what) const {
    const std::string rule = "schedule-buffers";
    require(form_ >= Form::ordered && b.param < 0 && b.offset == no_id && b.tile == no_id, what, rule,
            "a rotating buffer, which has no memory of its own, once kernels are in order");
    require(is_set_by_run(b.count, Symbol::Kind::count), what, rule, "the count of a loop's iterations");
    for (const int one : b.among) {
      const Buffer& other = nth(s_.buffers, one);
      require(other.among.empty() && other.dtype == b.dtype && other.tile == no_id, what, rule,
              "a rotating buffer of buffers of its type");
    }
  }

  void loop(std::size_t i) const {
    const HostLoop& l = s_.loops[i];
    const std::string what = number("loop", i);
    require(std::cmp_less(l.parent, i) && l.step > 0, what, "loops", "a loop around it that comes before, and a step above 0");
    expression(l.begin, what);
    expression(l.end, what);
    require(l.counter == no_id || is_set_by_run(l.counter, Symbol::Kind::counter), what, "loops", "a symbol that is a counter");
    require(l.count == no_id || is_set_by_run(l.count, Symbol::Kind::count), what, "loops", "a symbol that is a count");
    require(l.condition < 0 || names_scalar(l.condition, DType::boolean), what, "loops", "a condition of type bool");
  }

  void segment(std::size_t i) const {
    const Segment& p = s_.segments[i];
    const bool has_sink = p.sink != no_id && g_.op(p.sink) == Op::SINK;
    require(has_sink || (form_ == Form::kernels && p.sink == no_id), number("segment", i), "segments", "a SINK");
  }

  void kernel(std::size_t i) const {
    const Kernel& k = s_.kernels[i];
    const std::string what = kernel_name(i), rule = "schedule-kernels";
    require(g_.op(k.sink) == Op::SINK && !g_.src(k.sink).empty(), what, rule, "a SINK with effects");
    for (const int b : k.buffers) require(b >= 0 && b < std::ssize(s_.buffers), what, rule, "buffers of the schedule");
    for (const std::size_t d : k.depends_on) require(d < i, what, rule, "dependencies before it");
    if (form_ == Form::kernels) {
      require(k.loop < 0 && k.depends_on.empty() && !k.at_entry, what, rule,
              "no loop, order or `at_entry` before kernels are in order");
      require(k.segment >= 0 && k.segment < std::max<std::ptrdiff_t>(std::ssize(s_.segments), 1), what, rule,
              "a segment of the schedule");
    } else {
      require(k.segment == 0, what, rule, "no segment once kernels are in order");
      require(k.loop < std::ssize(s_.loops), what, rule, "a loop of the schedule");
    }
    if (form_ == Form::lowered) misalignments(k);
    if (k.at_entry)
      for (const int b : *k.at_entry)
        require(b >= 0 && b < std::ssize(s_.buffers), what, rule, "`at_entry` buffers of the schedule");
  }

  void misalignments(const Kernel& k) const {
    std::set<std::string> known;
    const std::vector<Id> nodes = g_.reachable(k.sink);
    for (const Id id : nodes)
      if (g_.op(id) == Op::BUFFER) known.insert(misalignment_of(g_.slot(id)));
    for (const Id id : nodes)
      if (g_.op(id) == Op::SYM && g_.name(id).starts_with(misaligned_prefix) && !known.contains(std::string(g_.name(id))))
        violated(g_, id, "declared", "the misalignment of a buffer that the kernel uses");
  }

  std::vector<int> loops_around(int loop) const {  // outermost first
    std::vector<int> out;
    for (; loop >= 0; loop = nth(s_.loops, loop).parent) out.push_back(loop);
    std::ranges::reverse(out);
    return out;
  }

  // The kernels of a loop must be adjacent, and loops must begin in the order of their numbers.
  void order_of_loops() const {
    std::vector<int> open;
    int last = -1;
    for (std::size_t i = 0; i < s_.kernels.size(); ++i) {
      const std::vector<int> around = loops_around(s_.kernels[i].loop);
      const auto [left, right] = std::ranges::mismatch(open, around);
      for (auto it = right; it != around.end(); ++it) {
        require(*it > last, kernel_name(i), "schedule-kernels", "the kernels of a loop together, and loops in their order");
        last = *it;
      }
      open = around;
    }
  }

  const Graph& g_;
  const Schedule& s_;
  const Form form_;
  const SymbolIndex symbols_;
};

}  // namespace

std::span<const VerifyRule> schedule_rules() { return schedule_table; }

void verify_statements(const Graph& g, const Schedule& s, Form form) { StatementVerifier(g, s, form).check(); }

void verify_whole_tensors(const Graph& g, Id sink) {
  const std::vector<Id> nodes = g.reachable(std::span(&sink, 1));
  for (const Id id : nodes)
    if (is_derivative(g.op(id))) violated(g, id, "gradient-left", "no derivative after `differentiate`");
  const std::vector<bool> inside = inside_regions(g, nodes);
  std::vector<bool> outside(nodes.size() == 0 ? 0 : nodes.back() + 1, false);
  outside[sink] = true;
  for (const Id id : std::views::reverse(nodes)) {
    if (!outside[id]) continue;
    const Op op = g.op(id);
    if (inside[id] || op == Op::INDEX) violated(g, id, "whole-tensors", "a whole tensor outside of KERNELs");
    if (op == Op::KERNEL) {
      for (const Id state : kernel_parts(g, id).init) outside[state] = true;
      for (const Id read : kernel_body(g, inside, id).outside) outside[read] = true;
    } else {
      for (const Id s : g.src(id)) outside[s] = true;
    }
  }
}

}  // namespace kiln::compiler
