// An operator-precedence parser (Dijkstra's shunting yard) with two explicit stacks, so that deep expressions do not overflow
// the call stack.
#include <charconv>
#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/diagnostic.h"
#include "compiler/symbolic/infix.h"

namespace kiln::compiler {
namespace {

// Binding strength, weakest first. `open` marks a parenthesis or a call on the operator stack.
enum Precedence { open, disjunction, conjunction, negation, comparison, bit_or, bit_xor, bit_and, shift, sum, product, minus };

struct Operator {
  std::string_view text;
  Precedence precedence;
  std::size_t column;
  std::size_t arguments = 0;  // arguments of a call so far
  Id chained = no_id;         // in a < b < c: the comparison a < b
};

// An operand. A name is resolved when an operator shows whether it is a condition.
struct Operand {
  Id id = no_id;
  std::string_view name;
  std::size_t column = 0;
};

std::optional<Precedence> binary(std::string_view t) {
  if (t == "or") return disjunction;
  if (t == "and") return conjunction;
  if (t == "<" || t == "<=" || t == ">" || t == ">=" || t == "==" || t == "!=") return comparison;
  if (t == "|") return bit_or;
  if (t == "^") return bit_xor;
  if (t == "&") return bit_and;
  if (t == "<<" || t == ">>") return shift;
  if (t == "+" || t == "-") return sum;
  if (t == "*" || t == "//" || t == "%") return product;
  return std::nullopt;
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

class Parser {
 public:
  Parser(Graph& g, std::string_view text, const Resolve& resolve, std::string_view where)
      : g_(g), text_(text), resolve_(resolve), where_(where) {}

  Id run() {
    bool operand_next = true;
    for (std::string_view t = token(); !t.empty(); t = token()) operand_next = operand_next ? operand(t) : after_operand(t);
    if (operand_next) fail(text_.size(), "expected an operand, got the end");
    reduce_above(open);
    if (!operators_.empty()) fail(operators_.back().column, "expected a ')' for this '(', got the end");
    return value(operands_.back());
  }

 private:
  [[noreturn]] void fail(std::size_t column, const std::string& what) const {
    throw Diagnostic("E-infix", std::string(where_) + ":" + std::to_string(column + 1), what);
  }

  std::string_view token() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
    start_ = at_;
    if (at_ == text_.size()) return {};
    const char c = text_[at_++];
    if (is_letter(c) || is_digit(c)) {
      while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]))) ++at_;
    } else if (at_ < text_.size()) {
      const char next = text_[at_];
      const bool doubled = next == c && (c == '/' || c == '<' || c == '>' || c == '=');
      if (doubled || (next == '=' && (c == '<' || c == '>' || c == '!'))) ++at_;
    }
    return text_.substr(start_, at_ - start_);
  }

  // Reads a token where an operand is expected. True: an operand must still follow.
  bool operand(std::string_view t) {
    if (t == "(" || t == "-" || t == "+" || t == "not") {
      if (t == "not" && !operators_.empty() && operators_.back().precedence > negation)
        fail(start_, "expected an operand, got 'not'");
      if (t == "(") operators_.push_back({t, open, start_});
      if (t == "-") operators_.push_back({"minus", minus, start_});
      if (t == "not") operators_.push_back({t, negation, start_});
      return true;
    }
    if (is_digit(t[0])) {
      std::int64_t v = 0;
      const auto [end, error] = std::from_chars(t.data(), t.data() + t.size(), v);
      if (t == "9223372036854775808" && !operators_.empty() && operators_.back().precedence == minus) {
        operands_.push_back({g_.index(INT64_MIN), {}, operators_.back().column});
        operators_.pop_back();
        return false;
      }
      if (error == std::errc::result_out_of_range) fail(start_, "expected an integer below 2^63, got " + std::string(t));
      const bool leading_zero = t[0] == '0' && v != 0;  // an error in Python
      if (end != t.data() + t.size() || leading_zero) fail(start_, "expected an integer, got '" + std::string(t) + "'");
      operands_.push_back({g_.index(v), {}, start_});
      return false;
    }
    if (t == "True" || t == "False") {
      operands_.push_back({g_.constant(DType::boolean, t == "True" ? 1 : 0), {}, start_});
      return false;
    }
    if (!is_letter(t[0]) || binary(t)) fail(start_, "expected an operand, got '" + std::string(t) + "'");
    const std::size_t column = start_, after = at_;
    if (token() == "(") {
      if (t != "min" && t != "max" && t != "where" && t != "cdiv" && t != "cmod" && t != "abs")
        fail(column, "expected one of the functions min, max, where, cdiv, cmod, abs, got '" + std::string(t) + "'");
      operators_.push_back({t, open, column, 1});
      return true;
    }
    at_ = after;
    operands_.push_back({no_id, t, column});
    return false;
  }

  bool after_operand(std::string_view t) {
    const std::size_t column = start_;
    if (t == ")") {
      close(column);
      return false;
    }
    if (t == ",") {
      reduce_above(open);
      if (operators_.empty() || operators_.back().arguments == 0)
        fail(column, "expected a ',' only between the arguments of a function");
      ++operators_.back().arguments;
      return true;
    }
    const auto p = binary(t);
    if (!p) fail(column, "expected an operator, got '" + std::string(t) + "'");
    reduce_above(*p);
    Operator op{t, *p, column};
    if (!operators_.empty() && operators_.back().precedence == *p) {
      if (*p == comparison)
        op.chained = chain();
      else
        reduce();
    }
    operators_.push_back(op);
    return true;
  }

  void reduce_above(Precedence p) {
    while (!operators_.empty() && operators_.back().precedence > p) reduce();
  }

  Operand pop() {
    const Operand o = operands_.back();
    operands_.pop_back();
    return o;
  }

  // Closes the comparison a < b before another comparison, and keeps b as the left operand of that one.
  Id chain() {
    const Operand b = {value(operands_.back()), {}, operands_.back().column};
    reduce();
    const Id conjunction_so_far = operands_.back().id;
    operands_.back() = b;
    return conjunction_so_far;
  }

  void close(std::size_t column) {
    reduce_above(open);
    if (operators_.empty()) fail(column, "expected a '(' before this ')'");
    const Operator o = operators_.back();
    operators_.pop_back();
    if (o.arguments > 0)
      call(o);
    else
      operands_.back() = {value(operands_.back()), {}, operands_.back().column};
  }

  void call(const Operator& o) {
    const bool extremum = o.text == "min" || o.text == "max";
    const std::size_t wanted = o.text == "where" ? 3 : o.text == "abs" ? 1 : 2;
    if (extremum ? o.arguments < wanted : o.arguments != wanted)
      fail(o.column, "expected " + std::to_string(wanted) + (extremum ? " or more" : "") + " arguments of " +
                         std::string(o.text) + ", got " + std::to_string(o.arguments));
    const std::vector<Operand> a(operands_.end() - static_cast<std::ptrdiff_t>(o.arguments), operands_.end());
    operands_.resize(operands_.size() - o.arguments);
    operands_.push_back({called(o, a), {}, o.column});
  }

  Id called(const Operator& o, const std::vector<Operand>& a) {
    if (o.text == "where") {
      const Id c = condition(a[0]);
      const Id yes = value(a[1]), no = value(a[2]);
      const bool both = g_.dtype(yes) == DType::boolean && g_.dtype(no) == DType::boolean;
      return g_.make(Op::WHERE, both ? DType::boolean : DType::index, {c, both ? yes : integer(yes), both ? no : integer(no)});
    }
    if (o.text == "abs") return g_.make(Op::ABS, DType::index, {integer(a[0])});
    const Op op = o.text == "min" ? Op::MIN : o.text == "max" ? Op::MAX : o.text == "cdiv" ? Op::CDIV : Op::CMOD;
    Id r = integer(a[0]);
    for (std::size_t i = 1; i < a.size(); ++i) r = g_.make(op, DType::index, {r, integer(a[i])});
    return r;
  }

  void reduce() {
    const Operator o = operators_.back();
    operators_.pop_back();
    const Operand b = pop();
    if (o.text == "minus") {
      const Id x = integer(b);
      const bool folds = g_.is_const(x) && g_.value(x) > 0;  // a literal
      operands_.push_back({folds ? g_.index(-g_.value(x)) : g_.make(Op::NEG, DType::index, {x}), {}, o.column});
    } else if (o.text == "not") {
      operands_.push_back({g_.make(Op::NOT, DType::boolean, {condition(b)}), {}, o.column});
    } else {
      const Operand a = pop();
      operands_.push_back({applied(o, a, b), {}, a.column});
    }
  }

  Id applied(const Operator& o, const Operand& a, const Operand& b) {
    if (o.precedence == comparison) {
      const Id x = value(a), y = value(b);
      const Id c = compared(o.text, x, y);
      return o.chained == no_id ? c : g_.make(Op::AND, DType::boolean, {o.chained, c});
    }
    if (o.precedence <= conjunction) {
      const Id x = condition(a);
      return g_.make(o.precedence == conjunction ? Op::AND : Op::OR, DType::boolean, {x, condition(b)});
    }
    const Op op = o.text == "+"    ? Op::ADD
                  : o.text == "-"  ? Op::SUB
                  : o.text == "*"  ? Op::MUL
                  : o.text == "//" ? Op::FLOORDIV
                  : o.text == "%"  ? Op::FLOORMOD
                  : o.text == "<<" ? Op::SHL
                  : o.text == ">>" ? Op::SHR
                  : o.text == "&"  ? Op::AND
                  : o.text == "|"  ? Op::OR
                                   : Op::XOR;
    const Id x = value(a), y = value(b);
    const bool bits = o.precedence == bit_or || o.precedence == bit_xor || o.precedence == bit_and;
    if (bits && g_.dtype(x) == DType::boolean && g_.dtype(y) == DType::boolean) return g_.make(op, DType::boolean, {x, y});
    return g_.make(op, DType::index, {integer(x), integer(y)});
  }

  Id compared(std::string_view t, Id a, Id b) {
    const bool conditions = g_.dtype(a) == DType::boolean && g_.dtype(b) == DType::boolean;
    if (conditions && (t == "==" || t == "!=")) {
      const Id differ = g_.make(Op::XOR, DType::boolean, {a, b});
      return t == "!=" ? differ : g_.make(Op::NOT, DType::boolean, {differ});
    }
    a = integer(a);
    b = integer(b);
    if (t == ">" || t == ">=") std::swap(a, b);
    const Op op = t == "==" ? Op::EQ : t == "!=" ? Op::NE : t == "<" || t == ">" ? Op::LT : Op::LE;
    return g_.make(op, DType::boolean, {a, b});
  }

  Id resolved(const Operand& o, bool as_condition) {
    const Id id = resolve_(o.name, as_condition);
    if (id == no_id) fail(o.column, "expected a declared name, got '" + std::string(o.name) + "'");
    return id;
  }
  Id value(const Operand& o) { return o.id == no_id ? resolved(o, false) : o.id; }
  Id integer(Id id) {
    if (g_.dtype(id) != DType::boolean) return id;
    return g_.make(Op::WHERE, DType::index, {id, g_.index(1), g_.index(0)});
  }
  Id integer(const Operand& o) { return integer(value(o)); }
  Id condition(const Operand& o) {
    const Id id = o.id == no_id ? resolved(o, true) : o.id;
    if (g_.dtype(id) != DType::boolean) fail(o.column, "expected a condition here, got an integer");
    return id;
  }

  Graph& g_;
  std::string_view text_;
  const Resolve& resolve_;
  std::string_view where_;
  std::size_t at_ = 0, start_ = 0;
  std::vector<Operand> operands_;
  std::vector<Operator> operators_;
};

}  // namespace

Id parse_infix(Graph& g, std::string_view text, const Resolve& resolve, std::string_view where) {
  return Parser(g, text, resolve, where).run();
}

}  // namespace kiln::compiler
