// docs/reference/rules.md lists every rule with its present texts and the rules that it implements, and no other rules.
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

// The text as a table's cell.
std::string cell(std::string_view text) {
  std::string out;
  for (char c : text) out += c == '|' ? "\\|" : std::string(1, c);
  return text.empty() ? "" : "`" + out + "`";
}
std::string row(const Rule& r) {
  return "| `" + std::string(r.name) + "` | " + cell(r.lhs) + " | " + cell(r.guard) + " | " + cell(r.rhs) + " |";
}

// The names in the last column.
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

TEST(RulesPage, ListsEveryRuleAndNoOther) {
  std::set<std::string> rules, mentioned, rows;
  for (const Rule& r : symbolic::all_rules()) rules.insert(std::string(r.name));
  std::set<std::string> known = rules;
  for (const Chain& c : symbolic::simplify_chains()) known.insert(std::string(c.rule.name));
  bool in_list = false;
  for (const std::string& line : lines_of(KILN_RULES_PAGE)) {
    in_list = in_list || line == "## All rules";
    if (!line.starts_with("| ") || line.ends_with(" ours |") || line.starts_with("| ---")) continue;
    if (in_list) {
      rows.insert(line);
      continue;
    }
    for (const std::string& name : implementers(line)) {
      mentioned.insert(name);
      EXPECT_TRUE(known.contains(name)) << name << " is no rule: " << line;
    }
  }
  for (const Rule& r : symbolic::all_rules()) {
    EXPECT_TRUE(rows.contains(row(r))) << "the list lacks: " << row(r);
    EXPECT_TRUE(mentioned.contains(std::string(r.name))) << r.name << " stands beside nothing that it implements";
  }
  EXPECT_EQ(rows.size(), rules.size() + 1) << "the list has rows that are no rules";  // and the table's head
}

}  // namespace
}  // namespace kiln::test
