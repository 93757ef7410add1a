#include <string>
#include <vector>

#include "compiler/symbolic/infix.h"

namespace kiln::compiler {
namespace {

enum Precedence {
  any,
  disjunction,
  conjunction,
  negation,
  comparison,
  bit_or,
  bit_xor,
  bit_and,
  shift,
  sum,
  product,
  minus,
  atom
};

struct Binary {
  const char* text;
  Precedence precedence;
};

Binary binary(const Graph& g, Id id) {
  const bool condition = g.dtype(id) == DType::boolean;
  switch (g.op(id)) {
    case Op::ADD: return {" + ", sum};
    case Op::SUB: return {" - ", sum};
    case Op::MUL: return {" * ", product};
    case Op::FLOORDIV: return {" // ", product};
    case Op::FLOORMOD: return {" % ", product};
    case Op::SHL: return {" << ", shift};
    case Op::SHR: return {" >> ", shift};
    case Op::AND: return condition ? Binary{" and ", conjunction} : Binary{" & ", bit_and};
    case Op::OR: return condition ? Binary{" or ", disjunction} : Binary{" | ", bit_or};
    case Op::XOR: return {" ^ ", bit_xor};
    case Op::LT: return {" < ", comparison};
    case Op::LE: return {" <= ", comparison};
    case Op::EQ: return {" == ", comparison};
    case Op::NE: return {" != ", comparison};
    default: return {"", atom};
  }
}

const char* function(Op op) {
  switch (op) {
    case Op::MIN: return "min(";
    case Op::MAX: return "max(";
    case Op::WHERE: return "where(";
    case Op::CDIV: return "cdiv(";
    case Op::CMOD: return "cmod(";
    case Op::ABS: return "abs(";
    default: return "";
  }
}

// A part that is not written yet: text, or a node that must bind at least as strongly as `least`. negated: write -node.
struct Piece {
  std::string text;
  Id id = no_id;
  Precedence least = any;
  bool negated = false;
};

class Writer {
 public:
  explicit Writer(const Graph& g) : g_(g) {}

  std::string run(Id root) {
    todo_.push_back({{}, root});
    while (!todo_.empty()) {
      const Piece p = std::move(todo_.back());
      todo_.pop_back();
      if (p.id == no_id)
        out_ += p.text;
      else if (p.negated)
        negated(p.id, p.least);
      else
        node(p.id, p.least);
    }
    return std::move(out_);
  }

 private:
  void enclosed(Precedence own, Precedence least, std::vector<Piece> pieces) {
    if (own < least) {
      out_ += "(";
      todo_.push_back({")"});
    }
    todo_.insert(todo_.end(), std::rbegin(pieces), std::rend(pieces));  // reversed: the last one on the stack is written first
  }

  // Whether the node is a negative constant, a product with one, or a negation. As an operand of a sum it is written as a
  // difference.
  bool is_negative(Id id) const {
    if (g_.op(id) == Op::NEG) return true;
    const Id c = g_.op(id) == Op::MUL ? g_.src(id, 1) : id;
    return g_.is_const(c) && g_.dtype(c) == DType::index && g_.value(c) < 0 && g_.value(c) != INT64_MIN;
  }

  // Writes -id. Requires is_negative(id).
  void negated(Id id, Precedence least) {
    if (g_.op(id) == Op::NEG) return node(g_.operand(id), least);
    if (g_.op(id) != Op::MUL) {
      out_ += std::to_string(-g_.value(id));
      return;
    }
    const auto [x, factor] = g_.operands<2>(id);
    const std::int64_t c = -g_.value(factor);
    if (c == 1) return node(x, least);
    enclosed(product, least, {{{}, x, product}, {" * " + std::to_string(c)}});
  }

  void node(Id id, Precedence least) {
    const Op op = g_.op(id);
    if (op == Op::CONST) return number(id, least);
    if (op == Op::SYM || op == Op::RANGE) {
      out_ += op == Op::SYM ? std::string(g_.name(id)) : "r" + std::to_string(g_.range_number(id));
      return;
    }
    if (op == Op::NOT) return enclosed(negation, least, {{"not "}, {{}, g_.operand(id), negation}});
    if (op == Op::NEG || (op == Op::MUL && g_.is_index_const(g_.src(id, 1), -1)))
      return enclosed(minus, least, {{"-"}, {{}, g_.src(id, 0), minus}});
    if (const Binary b = binary(g_, id); b.precedence != atom) return infix(id, b, least);
    if (*function(op) != 0) return call(id);
    out_ += "[" + std::string(name(op)) + "]";
  }

  void number(Id id, Precedence least) {
    if (g_.dtype(id) == DType::boolean) {
      out_ += g_.value(id) != 0 ? "True" : "False";
      return;
    }
    const std::string text = std::to_string(g_.value(id));
    out_ += text[0] == '-' && least > minus ? "(" + text + ")" : text;
  }

  void infix(Id id, Binary b, Precedence least) {
    const auto [left, right] = g_.operands<2>(id);
    const auto tighter = static_cast<Precedence>(b.precedence + 1);
    const Precedence left_least = b.precedence == comparison ? tighter : b.precedence;
    if (g_.op(id) == Op::ADD && is_negative(right))
      return enclosed(sum, least, {{{}, left, sum}, {" - "}, {{}, right, product, true}});
    enclosed(b.precedence, least, {{{}, left, left_least}, {b.text}, {{}, right, tighter}});
  }

  void call(Id id) {
    out_ += function(g_.op(id));
    todo_.push_back({")"});
    for (std::size_t i = g_.src(id).size(); i-- > 0;) {
      todo_.push_back({{}, g_.src(id, i)});
      if (i > 0) todo_.push_back({", "});
    }
  }

  const Graph& g_;
  std::string out_;
  std::vector<Piece> todo_;
};

}  // namespace

std::string write_infix(const Graph& g, Id root) { return Writer(g).run(root); }

}  // namespace kiln::compiler
