// docs/reference/rules.md lists every rule as it is, and tests/conformance/rules.md names each rule with what it implements.
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <string>

#include "compiler/symbolic/rules.h"

namespace kiln::test {
namespace {

using namespace compiler;

std::vector<std::string> lines_of(const std::string& path) {
  std::ifstream in(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// As a table's cell.
std::string cell(std::string_view text) {
  std::string out;
  for (char c : text) out += c == '|' ? "\\|" : std::string(1, c);
  return text.empty() ? "" : "`" + out + "`";
}
std::string row(const Rule& r) {
  return "| `" + std::string(r.name) + "` | " + cell(r.lhs) + " | " + cell(r.guard) + " | " + cell(r.rhs) + " |";
}

// The last column's names.
std::vector<std::string> implementers(const std::string& line) {
  const std::size_t begin = line.rfind('|', line.size() - 2);
  std::vector<std::string> names;
  for (std::size_t at = begin; (at = line.find('`', at)) != std::string::npos;) {
    const std::size_t end = line.find('`', at + 1);
    names.push_back(line.substr(at + 1, end - at - 1));
    at = end + 1;
  }
  return names;
}

bool is_row(const std::string& line) {
  return line.starts_with("| ") && !line.starts_with("| ---") && !line.ends_with(" ours |") && !line.ends_with(" rhs |");
}

TEST(RulesPage, ListsEveryRuleAndNoOther) {
  std::set<std::string> listed, rules;
  for (const Rule& r : symbolic::all_rules()) rules.insert(row(r));
  bool in_list = false;
  for (const std::string& line : lines_of(KILN_RULES_PAGE)) {
    in_list = in_list || line == "## All rules";
    if (in_list && is_row(line)) listed.insert(line);
  }
  for (const std::string& r : rules) EXPECT_TRUE(listed.contains(r)) << "the list lacks: " << r;
  for (const std::string& r : listed) EXPECT_TRUE(rules.contains(r)) << "no such rule: " << r;
}

TEST(RulesConformance, NamesEveryRuleAndNoOther) {
  std::set<std::string> named, known;
  for (const Rule& r : symbolic::all_rules()) known.insert(std::string(r.name));
  for (const Chain& c : symbolic::simplify_chains()) known.insert(std::string(c.rule.name));
  for (const std::string& line : lines_of(KILN_RULES_CONFORMANCE)) {
    if (!is_row(line)) continue;
    for (const std::string& name : implementers(line)) {
      named.insert(name);
      EXPECT_TRUE(known.contains(name)) << name << " is no rule: " << line;
    }
  }
  for (const Rule& r : symbolic::all_rules()) EXPECT_TRUE(named.contains(std::string(r.name))) << r.name << " is in no row";
}

}  // namespace
}  // namespace kiln::test
