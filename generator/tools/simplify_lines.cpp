#include "generator/tools/simplify_lines.h"

#include <nlohmann/json.hpp>

#include "compiler/ir/diagnostic.h"
#include "compiler/symbolic/infix.h"
#include "compiler/symbolic/simplify.h"

namespace kiln::generator {
namespace {

using namespace compiler;
using Json = nlohmann::ordered_json;

constexpr std::uint64_t max_operations = 1'000'000;  // in an answer; a shared part is written out at each use

[[noreturn]] void fail(const std::string& where, const std::string& what) { throw Diagnostic("E-simplify", where, what); }

std::int64_t integer(const Json& j, const std::string& where) {
  const bool fits = j.is_number_integer() && (!j.is_number_unsigned() || j.get<std::uint64_t>() <= std::uint64_t{unbounded});
  if (!fits || j.get<std::int64_t>() > unbounded || j.get<std::int64_t>() < -unbounded)
    fail(where, "expected an integer of at most 2^62, got " + j.dump());
  return j.get<std::int64_t>();
}

bool is_name(const std::string& s) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const auto rest = [&](char c) { return letter(c) || (c >= '0' && c <= '9'); };
  for (const char* word : {"and", "or", "not", "True", "False"})
    if (s == word) return false;
  return !s.empty() && letter(s[0]) && std::ranges::all_of(s, rest);
}

const Json& field(const Json& line, const char* name, Json::value_t type, const Json& otherwise) {
  const auto it = line.find(name);
  if (it == line.end()) return otherwise;
  if (it->type() != type)
    fail(name, std::string("expected ") + (type == Json::value_t::object ? "an object" : "an array") + ", got " + it->dump());
  return *it;
}

Facts declared(const Json& line) {
  Facts facts;
  const Json none = Json::object();
  for (const auto& [name, ends] : field(line, "vars", Json::value_t::object, none).items()) {
    const std::string where = "vars." + name;
    if (!is_name(name)) fail(where, "expected an identifier as name");
    if (!ends.is_array() || ends.size() != 2) fail(where, "expected [least, greatest], got " + ends.dump());
    facts.syms[name] = {integer(ends[0], where), integer(ends[1], where), 1};
  }
  for (const auto& [name, step] : field(line, "multiple_of", Json::value_t::object, none).items()) {
    const std::string where = "multiple_of." + name;
    const auto it = facts.syms.find(name);
    if (it == facts.syms.end()) fail(where, "expected a declared name");
    it->second.multiple_of = integer(step, where);
    if (it->second.multiple_of < 1) fail(where, "expected a positive integer, got " + step.dump());
  }
  return facts;
}

// Counts the operators and functions of the text, as a reader would.
struct Counts {
  std::uint64_t all = 0, divisions = 0;
};
Counts counts(const Graph& g, Id root) {
  std::vector<Counts> below(root + 1);
  for (Id id : g.reachable(root)) {
    if (g.src(id).empty()) continue;
    const Op op = g.op(id);
    const bool divides = op == Op::FLOORDIV || op == Op::FLOORMOD || op == Op::CDIV || op == Op::CMOD;
    Counts c{1, divides ? 1u : 0u};
    for (Id s : g.src(id)) {
      c.all = std::min(c.all + below[s].all, max_operations + 1);
      c.divisions += below[s].divisions;
    }
    below[id] = c;
  }
  return below[root];
}

Json bound(std::int64_t v) {
  if (v <= -unbounded || v >= unbounded) return nullptr;
  return v;
}

Json answer(const Json& line, const SimplifyOptions& options) {
  if (!line.is_object()) fail("line", "expected a JSON object, got " + line.dump().substr(0, 40));
  for (const auto& [name, unused] : line.items())
    if (name != "vars" && name != "expr" && name != "assume" && name != "multiple_of")
      fail(name, "expected one of the fields vars, expr, assume, multiple_of");
  if (!line.contains("expr") || !line["expr"].is_string()) fail("expr", "expected an expression as a string");
  Facts facts = declared(line);
  Graph g;
  const Resolve resolve = [&](std::string_view name, bool) { return facts.syms.contains(name) ? g.sym(name) : no_id; };
  const Json none = Json::array();
  for (const Json& a : field(line, "assume", Json::value_t::array, none)) {
    if (!a.is_string()) fail("assume", "expected conditions as strings, got " + a.dump());
    const Id condition = parse_infix(g, a.get<std::string>(), resolve, "assume");
    if (g.dtype(condition) != DType::boolean) fail("assume", "expected a condition, got '" + a.get<std::string>() + "'");
    assume(g, facts, condition);
  }
  const Id root = parse_infix(g, line["expr"].get<std::string>(), resolve, "expr");
  Simplifier simplifier(g, facts);
  for (const std::string& rule : options.disabled) simplifier.disable(rule);
  Json trace = Json::array();
  if (options.trace)
    simplifier.observe([&](std::string_view rule, Id before, Id after) {
      trace.push_back({{"rule", rule}, {"before", write_infix(g, before)}, {"after", write_infix(g, after)}});
    });
  const Id result = simplifier(root);
  const Counts n = counts(g, result);
  if (n.all > max_operations) fail("expr", "the simplified expression has more than 1000000 operations as text");
  const Interval i = simplifier.bounds()(result);
  Json out = {{"expr", write_infix(g, result)},
              {"vmin", bound(i.min)},
              {"vmax", bound(i.max)},
              {"ops", n.all},
              {"divmods", n.divisions}};
  if (options.trace) out["trace"] = std::move(trace);
  return out;
}

}  // namespace

std::string simplify_line(std::string_view line, const SimplifyOptions& options) {
  Json out;
  try {
    out = answer(Json::parse(line), options);
  } catch (const Diagnostic& e) {
    if (e.id() == "E-rule") throw;  // a mistake in the command line, not in this line
    out = {{"error", e.what()}};
  } catch (const Json::exception& e) {
    out = {{"error", std::string("E-simplify: not JSON: ") + e.what()}};
  }
  return out.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace kiln::generator
