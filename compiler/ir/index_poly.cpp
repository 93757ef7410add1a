#include "compiler/ir/index_poly.h"

#include <algorithm>
#include <map>

#include "compiler/index/floor_div.h"
#include "compiler/ir/diagnostic.h"
#include "compiler/ir/index_multiples.h"

namespace kiln::compiler {
namespace {

constexpr std::size_t max_terms = 4096, max_degree = 64;

[[noreturn]] void overflow(const Graph& g) {
  throw Diagnostic("E-overflow", where(g, g.loc()), "an extent does not fit 64 bits: expected |coefficient| < 2^63");
}
// The polynomial, unless a coefficient overflowed.
Poly checked(const Graph& g, std::optional<Poly> p) {
  if (!p) overflow(g);
  return *std::move(p);
}

struct AtomOrder {
  const Graph& g;
  bool operator()(Id a, Id b) const { return index_atom_less(g, a, b); }
};

}  // namespace

// The order of atoms: symbols by name, then other atoms by structural hash. It does not depend on the order of creation.
bool index_atom_less(const Graph& g, Id a, Id b) {
  if (a == b) return false;
  const bool sa = g.op(a) == Op::SYM, sb = g.op(b) == Op::SYM;
  if (sa != sb) return sa;
  if (sa) return g.name(a) < g.name(b);
  return g[a].hash != g[b].hash ? g[a].hash < g[b].hash : a < b;
}

Poly normalise_poly(const Graph& g, Poly p) {
  if (!normalise_terms(AtomOrder{g}, p)) overflow(g);
  return p;
}

namespace {

bool is_index_op(const Graph& g, Id id, Op op) { return g.op(id) == op && g.dtype(id) == DType::index; }

// Reads one left-nested product; false: it is not in canonical form.
bool read_monomial(const Graph& g, Id id, Monomial& m) {
  m = {1, {}};
  if (is_index_op(g, id, Op::CONST)) {
    m.coefficient = g.value(id);
    return true;
  }
  if (is_index_op(g, id, Op::MUL)) {
    const auto [product, factor] = g.operands<2>(id);
    if (is_index_op(g, factor, Op::CONST)) {
      m.coefficient = g.value(factor);
      if (m.coefficient == 0 || m.coefficient == 1) return false;
      id = product;
    }
  }
  while (is_index_op(g, id, Op::MUL)) {
    const auto [product, atom] = g.operands<2>(id);
    m.atoms.push_back(atom);
    id = product;
  }
  m.atoms.push_back(id);
  std::reverse(m.atoms.begin(), m.atoms.end());
  for (std::size_t i = 0; i < m.atoms.size(); ++i) {
    const Id a = m.atoms[i];
    if (is_index_op(g, a, Op::CONST) || is_index_op(g, a, Op::ADD) || is_index_op(g, a, Op::MUL)) return false;
    if (i > 0 && index_atom_less(g, a, m.atoms[i - 1])) return false;
  }
  return true;
}

std::optional<Poly> read_canonical(const Graph& g, Id id) {
  Poly p;
  if (g.is_index_const(id, 0)) return p;
  Monomial m;
  while (is_index_op(g, id, Op::ADD)) {
    const auto [rest, term] = g.operands<2>(id);
    if (!read_monomial(g, term, m) || m.coefficient == 0) return std::nullopt;
    p.push_back(m);
    id = rest;
  }
  if (!read_monomial(g, id, m) || m.coefficient == 0) return std::nullopt;
  p.push_back(std::move(m));
  std::reverse(p.begin(), p.end());
  for (std::size_t i = 1; i < p.size(); ++i)
    if (compare_atoms(AtomOrder{g}, p[i - 1].atoms, p[i].atoms) >= 0) return std::nullopt;
  return p;
}

// p = c * quotient + rest. No coefficient of the rest is a multiple of c; its constant is in [0, c).
struct Split {
  Poly quotient, rest;
};
Split split_by(const Poly& p, std::int64_t c) {
  Split s;
  for (const Monomial& m : p) {
    if (m.coefficient % c == 0) {
      s.quotient.push_back({m.coefficient / c, m.atoms});
    } else if (m.atoms.empty()) {
      const std::int64_t q = floor_div(m.coefficient, c);
      if (q != 0) s.quotient.push_back({q, {}});
      s.rest.push_back({m.coefficient - q * c, {}});
    } else {
      s.rest.push_back(m);
    }
  }
  return s;
}

}  // namespace

Poly scale_poly(const Graph& g, Poly p, std::int64_t by) { return checked(g, scale_terms(std::move(p), by)); }

namespace {

Poly units_of(const Graph& g, Id id) { return checked(g, in_units(g, poly_of(g, id))); }
Id settled_index(Graph& g, const Poly& p) { return index_from(g, settled(g, p)); }
Id index_from_units(Graph& g, const Poly& units) { return index_from(g, from_units(g, units)); }

// Whether index_floordiv or index_floormod of these operands makes a division node, without simplification.
bool is_plain_division(const Graph& g, Id a, Id b, bool modulo) {
  const auto c = index_value(g, b);
  if (!c) return !index_value(g, a);
  if (*c < 2) return false;
  if (!modulo && g.multiple_of(a) > 1 && g.multiple_of(a) % *c == 0) return true;  // the symbol in units
  const Poly p = units_of(g, a);
  const Split s = split_by(p, *c);
  if (constant_of(s.rest)) return false;
  if (!modulo) return s.quotient.empty();
  return std::ranges::all_of(p, [&](const Monomial& m) { return m.coefficient > 0 && m.coefficient < *c; });
}

constexpr int max_depth = 16;  // of nested atoms; limits the recursion

struct TextLimit {
  std::size_t length;
  int depth = 0;
};

bool append_text(const Graph& g, Id id, TextLimit limit, std::string& out);

bool append_atom(const Graph& g, Id id, TextLimit limit, std::string& out) {
  const Op op = g.op(id);
  if (op == Op::SYM) {
    out += g.name(id);
    return true;
  }
  if (g.dtype(id) != DType::index || g.src(id).size() != 2) return false;
  const auto [a, b] = g.operands<2>(id);
  const bool division = op == Op::FLOORDIV || op == Op::FLOORMOD;
  if (division ? !is_plain_division(g, a, b, op == Op::FLOORMOD) : op != Op::MIN && op != Op::MAX) return false;
  if (!division && (a == b || (index_value(g, a) && index_value(g, b)) || g[a].hash > g[b].hash)) return false;
  out += division ? "((" : op == Op::MIN ? "min(" : "max(";
  if (!append_text(g, a, {limit.length, limit.depth + 1}, out)) return false;
  out += op == Op::FLOORDIV ? ") // (" : op == Op::FLOORMOD ? ") % (" : ", ";
  if (!append_text(g, b, {limit.length, limit.depth + 1}, out)) return false;
  out += division ? "))" : ")";
  return true;
}

bool append_text(const Graph& g, Id id, TextLimit limit, std::string& out) {
  const auto p = read_canonical(g, id);
  if (!p || !is_settled(g, *p) || limit.depth > max_depth || out.size() > limit.length) return false;
  if (p->empty()) out += '0';
  bool first = true;
  for (const Monomial& m : *p) {
    const bool minus = m.coefficient < 0;
    if (m.coefficient == INT64_MIN) return false;  // the reader cannot read its magnitude
    out += first ? (minus ? "-" : "") : (minus ? " - " : " + ");
    first = false;
    const auto magnitude = minus ? 0 - static_cast<std::uint64_t>(m.coefficient) : static_cast<std::uint64_t>(m.coefficient);
    if (magnitude != 1 || m.atoms.empty()) out += std::to_string(magnitude) + (m.atoms.empty() ? "" : "*");
    for (std::size_t i = 0; i < m.atoms.size(); ++i) {
      if (i > 0) out += '*';
      if (!append_atom(g, m.atoms[i], limit, out)) return false;
    }
  }
  return true;
}

}  // namespace

std::string where(const Graph& g, SourceLoc loc) {
  if (loc.file == 0 && loc.line == 0) return {};
  return std::string(g.string(loc.file)) + ":" + std::to_string(loc.line) + ":" + std::to_string(loc.column);
}

std::string file_and_line(const Graph& g, SourceLoc loc) {
  if (loc.file == 0 && loc.line == 0) return {};
  const std::string_view path = g.string(loc.file);
  return std::string(path.substr(path.rfind('/') + 1)) + ":" + std::to_string(loc.line);
}

Poly poly_of(const Graph& g, Id id) {
  if (auto p = read_canonical(g, id)) return *std::move(p);
  return {{1, {id}}};
}

Id index_from(Graph& g, const Poly& p) {
  if (p.empty()) return g.index(0);
  Id sum = no_id;
  for (const Monomial& m : p) {
    Id product = no_id;
    for (Id a : m.atoms) product = product == no_id ? a : g.make(Op::MUL, DType::index, {product, a});
    if (product == no_id)
      product = g.index(m.coefficient);
    else if (m.coefficient != 1)
      product = g.make(Op::MUL, DType::index, {product, g.index(m.coefficient)});
    sum = sum == no_id ? product : g.make(Op::ADD, DType::index, {sum, product});
  }
  return sum;
}

Poly add_poly(const Graph& g, const Poly& a, const Poly& b) { return checked(g, add_terms(AtomOrder{g}, a, b)); }

Poly mul_poly(const Graph& g, const Poly& a, const Poly& b) {
  if (a.size() * b.size() > max_terms || (!a.empty() && !b.empty() && a[0].atoms.size() + b[0].atoms.size() > max_degree))
    throw Diagnostic("E-overflow", where(g, g.loc()),
                     "an extent expression is too large: expected at most " + std::to_string(max_terms) + " terms of degree " +
                         std::to_string(max_degree));
  return checked(g, multiply_terms(AtomOrder{g}, a, b));
}

Id index_add(Graph& g, Id a, Id b) { return settled_index(g, add_poly(g, poly_of(g, a), poly_of(g, b))); }

Id index_sub(Graph& g, Id a, Id b) { return settled_index(g, add_poly(g, poly_of(g, a), scale_poly(g, poly_of(g, b), -1))); }

Id index_mul(Graph& g, Id a, Id b) { return settled_index(g, mul_poly(g, poly_of(g, a), poly_of(g, b))); }

Id index_floordiv(Graph& g, Id a, Id b) {
  const auto c = index_value(g, b);
  if (c && *c == 0) return g.index(0);
  if (c && *c < 0) {
    if (*c == INT64_MIN) overflow(g);
    const Id positive = g.index(-*c);
    return index_floordiv(g, index_sub(g, g.index(0), a), positive);
  }
  if (c) {
    const Split s = split_by(units_of(g, a), *c);
    if (constant_of(s.rest)) return index_from_units(g, s.quotient);
    const Id q = g.make(Op::FLOORDIV, DType::index, {index_from_units(g, s.rest), b});
    return index_add(g, index_from_units(g, s.quotient), q);
  }
  if (g.is_index_const(a, 0)) return a;
  return g.make(Op::FLOORDIV, DType::index, {a, b});
}

Id index_floormod(Graph& g, Id a, Id b) {
  const auto c = index_value(g, b);
  if (!c) return g.is_index_const(a, 0) ? a : g.make(Op::FLOORMOD, DType::index, {a, b});
  if (*c < 1) {
    const Id q = index_floordiv(g, a, b);  // by 0 the result is 0, not the operand
    return *c == 0 ? g.index(0) : index_sub(g, a, index_mul(g, q, b));
  }
  Poly p = units_of(g, a);
  for (Monomial& m : p) m.coefficient -= floor_div(m.coefficient, *c) * *c;
  p = normalise_poly(g, std::move(p));
  if (auto v = constant_of(p)) return g.index(*v);
  return g.make(Op::FLOORMOD, DType::index, {index_from_units(g, p), b});
}

namespace {
Id extremum(Graph& g, Op op, Id a, Id b) {
  if (a == b) return a;
  const auto x = index_value(g, a), y = index_value(g, b);
  if (x && y) return (op == Op::MIN) == (*x < *y) ? a : b;
  if (g[a].hash > g[b].hash) std::swap(a, b);
  return g.make(op, DType::index, {a, b});
}
}  // namespace

Id index_min(Graph& g, Id a, Id b) { return extremum(g, Op::MIN, a, b); }
Id index_max(Graph& g, Id a, Id b) { return extremum(g, Op::MAX, a, b); }

Id index_product(Graph& g, std::span<const Id> factors) {
  Id p = g.index(1);
  for (Id f : factors) p = index_mul(g, p, f);
  return p;
}

Id index_canonical(Graph& g, Id root) {
  std::map<Id, Id> done;
  for (Id id : g.reachable(std::span(&root, 1))) {
    const Op op = g.op(id);
    Id& out = done[id];
    out = id;
    if (g.dtype(id) != DType::index || (g.src(id).size() != 2 && op != Op::NEG)) continue;
    const Id a = done[g.src(id).front()], b = done[g.src(id).back()];
    switch (op) {
      case Op::NEG: out = index_sub(g, g.index(0), a); break;
      case Op::ADD: out = index_add(g, a, b); break;
      case Op::SUB: out = index_sub(g, a, b); break;
      case Op::MUL: out = index_mul(g, a, b); break;
      case Op::FLOORDIV: out = index_floordiv(g, a, b); break;
      case Op::FLOORMOD: out = index_floormod(g, a, b); break;
      case Op::MIN: out = index_min(g, a, b); break;
      case Op::MAX: out = index_max(g, a, b); break;
      default: break;
    }
  }
  return done[root];
}

std::optional<std::int64_t> index_value(const Graph& g, Id id) {
  if (!is_index_op(g, id, Op::CONST)) return std::nullopt;
  return g.value(id);
}

std::optional<std::string> index_text(const Graph& g, Id id, std::size_t max_length) {
  std::string out;
  if (g.dtype(id) != DType::index || !append_text(g, id, {max_length}, out) || out.size() > max_length) return std::nullopt;
  return out;
}

std::string index_text_or_id(const Graph& g, Id id) {
  if (auto t = index_text(g, id)) return *t;
  return "%" + std::to_string(id);
}

}  // namespace kiln::compiler
