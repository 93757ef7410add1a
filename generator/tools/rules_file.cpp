#include "generator/tools/rules_file.h"

#include <nlohmann/json.hpp>
#include <set>

#include "compiler/ir/diagnostic.h"

namespace kiln::generator {
namespace {

using compiler::RuleText;
using Json = nlohmann::json;

[[noreturn]] void fail(const std::string& where, const std::string& what) {
  throw compiler::Diagnostic("E-rulesfile", where, what);
}

std::vector<std::string> steps_of(const Json& j, const std::string& where) {
  std::vector<std::string> out;
  if (!j.is_array()) fail(where, "expected an array of conditions, got " + j.dump());
  for (const Json& s : j) {
    if (!s.is_string()) fail(where, "expected conditions as strings, got " + s.dump());
    out.push_back(s.get<std::string>());
  }
  return out;
}

std::int64_t integer(const Json& j, const std::string& where) {
  if (!j.is_number_integer() || (j.is_number_unsigned() && j.get<std::uint64_t>() > INT64_MAX))
    fail(where, "expected an integer below 2^63, got " + j.dump());
  return j.get<std::int64_t>();
}

// The type of a variable: "int", "bool", or [least, greatest], which becomes part of the guard.
void add_variables(RuleText& r, const Json& j, const std::string& where) {
  if (!j.is_object()) fail(where, "expected an object, got " + j.dump());
  for (const auto& [name, kind] : j.items()) {
    const std::string at = where + "." + name;
    if (kind == "int") continue;
    if (kind == "bool") {
      r.conditions.push_back(name);
      continue;
    }
    if (!kind.is_array() || kind.size() != 2) fail(at, "expected \"int\", \"bool\" or [least, greatest], got " + kind.dump());
    const std::string range =
        std::to_string(integer(kind[0], at)) + " <= " + name + " and " + name + " <= " + std::to_string(integer(kind[1], at));
    r.guard = r.guard.empty() ? range : "(" + r.guard + ") and " + range;
  }
}

RuleText rule_of(const Json& j, const std::string& where) {
  if (!j.is_object()) fail(where, "expected an object with name, lhs, guard, rhs");
  RuleText r;
  for (const auto& [key, value] : j.items()) {
    if (key == "steps") {
      r.steps = steps_of(value, where + ".steps");
      continue;
    }
    if (key == "vars") continue;
    std::string* field = key == "name"    ? &r.name
                         : key == "lhs"   ? &r.lhs
                         : key == "guard" ? &r.guard
                         : key == "rhs"   ? &r.rhs
                                          : nullptr;
    if (field == nullptr) fail(where, "expected the fields name, lhs, guard, rhs, vars, steps, got '" + key + "'");
    if (!value.is_string()) fail(where + "." + key, "expected a string, got " + value.dump());
    *field = value.get<std::string>();
  }
  for (const auto& [key, value] : {std::pair("name", &r.name), {"lhs", &r.lhs}, {"rhs", &r.rhs}})
    if (value->empty()) fail(where, std::string("expected a field ") + key);
  if (j.contains("vars")) add_variables(r, j["vars"], where + ".vars");
  return r;
}

}  // namespace

std::vector<RuleText> read_rules(std::string_view text, const std::string& file) {
  Json whole;
  try {
    whole = Json::parse(text);
  } catch (const Json::exception& e) {
    fail(file, std::string("not JSON: ") + e.what());
  }
  if (!whole.is_object() || whole.size() != 1 || !whole.contains("rules") || !whole["rules"].is_array())
    fail(file, "expected {\"rules\": [...]}");
  std::vector<RuleText> out;
  std::set<std::string> names;
  for (const Json& j : whole["rules"]) {
    out.push_back(rule_of(j, file + ":rules[" + std::to_string(out.size()) + "]"));
    if (!names.insert(out.back().name).second) fail(file, "expected every name once, got '" + out.back().name + "' twice");
  }
  return out;
}

}  // namespace kiln::generator
