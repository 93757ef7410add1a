// The parts that the readers of programs, nodes and schedules share. Internal to the text form.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "compiler/ir/builder.h"
#include "compiler/ir/text_index.h"
#include "compiler/ir/text_scan.h"

namespace kiln::compiler {

inline constexpr std::size_t max_text_nodes = 16'000'000;

class TextReader {
 public:
  TextReader(Graph& g, std::string_view text, std::string_view file);

  Scanner scan;
  Graph& graph;
  Builder build;
  Program program;

  // First line: `program NAME`, `schedule NAME [after PASS]`, `nodes`.
  std::string_view header(std::string_view keyword, bool named, std::string* after = nullptr);
  bool symbol_or_param(std::string_view keyword);  // reads a line of a symbol, parameter or check; false: another line
  std::uint64_t definition();                      // reads `%n =` of a new node; returns n
  void define(std::uint64_t number, Id id);
  Id node();  // `%n`
  Op operation();
  DType type(int& lanes);
  bool at_type();
  Id index();                    // infix expression
  std::vector<Id> index_list();  // [ ... ]
  std::vector<std::int64_t> number_list();
  std::vector<int> small_list();
  void location();  // optional `@ "file":line:col`; sets the graph's location
  const Parameter* find_param(std::string_view name, int& slot) const;

 private:
  Id known(std::uint64_t n);
  Id symbol(std::string_view name);
  void read_check();
  void read_symbol();
  void read_param(Direction d);
  std::string_view layout(Parameter& p);
  SourceLoc here();  // of the next word

  std::uint32_t file_;
  bool in_params_ = false;
  std::unordered_map<std::uint64_t, Id> nodes_;
  std::unordered_map<std::string, int> params_;
  std::unordered_map<std::string, bool> symbols_;
};

}  // namespace kiln::compiler
