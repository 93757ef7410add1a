#include "compiler/symbolic/template.h"

#include <algorithm>

#include "compiler/ir/diagnostic.h"
#include "compiler/ir/nth.h"
#include "compiler/symbolic/infix.h"

namespace kiln::compiler::symbolic {
namespace {

bool is_swappable(const TemplateNode& n) { return n.count == 2 && is_commutative(n.op); }
bool in_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

// Parses a rule's texts twice: the first pass finds out which names are conditions.
class Compiler {
 public:
  explicit Compiler(const Rule& rule) : rule_(rule) {
    for (std::string_view text : {rule.lhs, rule.guard, rule.rhs}) list_names(text);
    for (std::string_view text : {rule.lhs, rule.guard, rule.rhs})
      if (!text.empty()) parse(text);
    settled_ = true;
  }

  CompiledRule run() {
    CompiledRule c{&rule_, variables_, program(parse(rule_.lhs)), program(parse(rule_.rhs)), {}, 1, {Op::SYM, Op::SYM}, false};
    if (rule_.find == nullptr)
      for (const TemplateNode& n : c.lhs)
        if (is_swappable(n)) c.orders *= 2;
    if (const TemplateNode& root = c.lhs.back(); rule_.find == nullptr && root.count == 2) {
      for (std::size_t i = 0; i < 2; ++i) c.operands[i] = c.lhs[root.src[i]].op;
      c.filtered = c.operands != std::array{Op::SYM, Op::SYM};
    }
    std::vector<Id> open;
    if (!rule_.guard.empty()) open.push_back(parse(rule_.guard));
    while (!open.empty()) {
      const Id id = open.back();
      open.pop_back();
      if (g_.op(id) == Op::AND && g_.dtype(id) == DType::boolean) {
        const auto [first, second] = g_.operands<2>(id);
        open.push_back(second);
        open.push_back(first);
      } else {
        c.guard.push_back(program(id));
      }
    }
    return c;
  }

  std::vector<RuleVariable> variables() const { return variables_; }

 private:
  // Lists the names in the order of the text. The parser cannot: it asks for a name only when an operator shows its type.
  void list_names(std::string_view text) {
    for (std::size_t i = 0; i < text.size();) {
      std::size_t end = i;
      while (end < text.size() && (in_name(text[end]) || (end > i && text[end] >= '0' && text[end] <= '9'))) ++end;
      const std::string_view name = text.substr(i, end - i);
      const bool word = name == "and" || name == "or" || name == "not" || name == "True" || name == "False";
      if (!name.empty() && !word && (end == text.size() || text[end] != '(') &&
          std::ranges::find(variables_, name, &RuleVariable::name) == variables_.end())
        variables_.push_back({std::string(name), false});
      i = std::max(end, i + 1);
    }
  }

  Id parse(std::string_view text) {
    return parse_infix(g_, text, [&](std::string_view name, bool condition) { return variable(name, condition); }, rule_.name);
  }

  Id variable(std::string_view name, bool condition) {
    const auto it = std::ranges::find(variables_, name, &RuleVariable::name);
    if (!settled_) it->condition = it->condition || condition;
    return g_.make(Op::SYM, it->condition || condition ? DType::boolean : DType::index, {}, {}, name);
  }

  Template program(Id root) const {
    const std::vector<Id> order = g_.reachable(root);
    Template t;
    for (Id id : order) {
      TemplateNode n{g_.op(id), g_.dtype(id) == DType::boolean, static_cast<std::uint8_t>(g_.src(id).size()), {}, 0};
      for (std::size_t i = 0; i < n.count; ++i)
        n.src[i] = static_cast<std::uint8_t>(std::ranges::lower_bound(order, g_.src(id, i)) - order.begin());
      if (n.op == Op::SYM) n.value = std::ranges::find(variables_, g_.name(id), &RuleVariable::name) - variables_.begin();
      if (n.op == Op::CONST) n.value = g_.value(id);
      t.push_back(n);
    }
    return t;
  }

  const Rule& rule_;
  Graph g_;
  std::vector<RuleVariable> variables_;
  bool settled_ = false;
};

bool has_type(const Graph& g, Id id, bool condition) {
  return g.dtype(id) == (condition ? DType::boolean : DType::index) && g.lanes(id) == 1;
}

// Matches a template. Bit i of `order`: the i-th commutative operation is matched with swapped operands. The recursion is as
// deep as the rule's text. The branches of a WHERE may have any type, so variables are bound to them without a check.
class Matcher {
 public:
  Matcher(const Graph& g, const Template& t, unsigned order, Match& m) : g_(g), t_(t), order_(order), m_(m) {
    m_.ids.fill(no_id);
  }

  bool at(std::size_t i, Id id) {
    const TemplateNode& n = t_[i];
    if (n.op == Op::SYM) {
      Id& bound = nth(m_.ids, n.value);
      if (bound == no_id && n.condition && !has_type(g_, id, true)) return false;
      if (bound == no_id) bound = id;
      return bound == id;
    }
    if (g_.op(id) != n.op) return false;
    if (n.op == Op::CONST) return has_type(g_, id, n.condition) && g_.value(id) == n.value;
    if (n.op != Op::WHERE && !has_type(g_, id, n.condition)) return false;
    if (is_comparison(n.op) && !has_type(g_, g_.src(id, 0), t_[n.src[0]].condition)) return false;
    bool swapped = false;
    if (is_swappable(n)) {
      swapped = (order_ & 1) != 0;
      order_ >>= 1;
    }
    for (std::size_t s = 0; s < n.count; ++s)
      if (!at(n.src[s], g_.src(id, swapped ? 1 - s : s))) return false;
    return true;
  }

 private:
  const Graph& g_;
  const Template& t_;
  unsigned order_;
  Match& m_;
};

}  // namespace

std::vector<RuleVariable> variables_of(const Rule& rule) { return Compiler(rule).variables(); }

CompiledRule compile(const Rule& rule) {
  CompiledRule c = Compiler(rule).run();
  if (c.variables.size() > Match::max_variables)
    throw Diagnostic("E-rule", {}, std::string(rule.name) + ": too many variables");
  return c;
}

RuleSet::RuleSet(std::span<const std::span<const Rule>> families) {
  for (const auto& family : families)
    for (const Rule& r : family) {
      const auto at = static_cast<std::uint16_t>(rules.size());
      const TemplateNode root = rules.emplace_back(compile(r)).lhs.back();
      const auto list = [&](std::size_t op) {
        for (DType d : {DType::index, DType::boolean, DType::f32})  // the branches of a choice may have any type
          if (root.op == Op::WHERE || (d != DType::f32 && (d == DType::boolean) == root.condition))
            by_root_[op][kind(d)].push_back(at);
      };
      const auto matches = [&](Op op) { return root.op == Op::SYM ? is_elementwise(op) : op == root.op; };
      for (std::size_t op = 0; op < op_count; ++op)
        if (matches(static_cast<Op>(op))) list(op);
    }
}

bool match(const Graph& g, const Template& lhs, unsigned order, Id node, Match& m) {
  return g.lanes(node) == 1 && Matcher(g, lhs, order, m).at(lhs.size() - 1, node);
}

Id instantiate(Graph& g, const Template& t, const Match& m) {
  std::array<Id, 64> made;
  for (std::size_t i = 0; i < t.size(); ++i) {
    const TemplateNode& n = t[i];
    if (n.op == Op::SYM) {
      made[i] = nth(m.ids, n.value);
    } else if (n.op == Op::CONST) {
      made[i] = n.condition ? g.constant(DType::boolean, static_cast<std::uint64_t>(n.value)) : g.index(n.value);
    } else {
      std::array<Id, 3> src;
      for (std::size_t s = 0; s < n.count; ++s) src[s] = made[n.src[s]];
      made[i] = make_folded(g, n.op, n.condition, std::span(src.data(), n.count));
    }
  }
  return made[t.size() - 1];
}

Id make_folded(Graph& g, Op op, bool condition, std::span<const Id> src) {
  if (op == Op::WHERE) return g.make(op, g.dtype(src[1]), src);
  const DType d = condition ? DType::boolean : DType::index;
  if (std::ranges::all_of(src, [&](Id s) { return g.op(s) == Op::CONST; })) {
    std::array<Known, 3> known;
    for (std::size_t i = 0; i < src.size(); ++i) {
      const std::int64_t v = g.value(src[i]);
      known[i] = g.dtype(src[i]) == DType::index ? known_constant(v) : known_condition({v, v});
    }
    const Known k = known_result(op, condition, std::span(known.data(), src.size()));
    const bool exact = k.interval.single();  // saturated beyond 2^62
    if (exact) return condition ? g.constant(d, static_cast<std::uint64_t>(k.interval.min)) : g.index(k.interval.min);
  }
  return g.make(op, d, src);
}

}  // namespace kiln::compiler::symbolic
