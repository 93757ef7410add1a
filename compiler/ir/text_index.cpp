#include "compiler/ir/text_index.h"

#include "compiler/ir/index_poly.h"

namespace kiln::compiler {
namespace {

constexpr int max_nesting = 64;

class Parser {
 public:
  Parser(Scanner& s, Graph& g, const IndexNames& names) : s_(s), g_(g), names_(names) {}

  Id sum(int depth) {  // recursion is bounded by max_nesting
    if (depth > max_nesting) s_.fail("parentheses at most " + std::to_string(max_nesting) + " deep");
    const bool negative = s_.accept('-');
    Id v = product(depth);
    if (negative) v = index_sub(g_, g_.index(0), v);
    while (true) {
      if (s_.accept('+'))
        v = index_add(g_, v, product(depth));
      else if (s_.accept('-'))
        v = index_sub(g_, v, product(depth));
      else
        return v;
    }
  }

 private:
  Id product(int depth) {
    Id v = part(depth);
    while (s_.accept('*')) v = index_mul(g_, v, part(depth));
    return v;
  }

  Id part(int depth) {
    Id v = atom(depth);
    while (true) {
      if (s_.accept("//"))
        v = index_floordiv(g_, v, atom(depth));
      else if (s_.accept('%'))
        v = index_floormod(g_, v, atom(depth));
      else
        return v;
    }
  }

  Id atom(int depth) {
    if (s_.accept('(')) {
      const Id v = sum(depth + 1);
      s_.expect(')');
      return v;
    }
    if (s_.accept('%')) return names_.node(s_.natural("a node number"));
    if (s_.peek() >= '0' && s_.peek() <= '9') return g_.index(s_.natural("an integer"));
    const auto w = s_.word("an extent");
    if ((w == "min" || w == "max") && s_.accept('(')) {
      const Id a = sum(depth + 1);
      s_.expect(',');
      const Id b = sum(depth + 1);
      s_.expect(')');
      return w == "min" ? index_min(g_, a, b) : index_max(g_, a, b);
    }
    return names_.symbol(w);
  }

  Scanner& s_;
  Graph& g_;
  const IndexNames& names_;
};

}  // namespace

Id scan_index(Scanner& s, Graph& g, const IndexNames& names) { return Parser(s, g, names).sum(0); }

Id read_index(Graph& g, std::string_view text, std::string_view file) {
  Scanner s(text, file);
  const IndexNames names{[&](std::uint64_t) -> Id { s.fail("a symbol"); }, [&](std::string_view n) { return g.sym(n); }};
  const Id v = scan_index(s, g, names);
  s.end_statement();
  return v;
}

}  // namespace kiln::compiler
