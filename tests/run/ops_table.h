// Collects operation x dtype x verdict. With KILN_OPERATIONS_TABLE=FILE the table is written there when the program ends.
#pragma once

#include <cstdlib>
#include <fstream>
#include <map>
#include <string>

#include "compiler/ir/dtype.h"

namespace kiln::compiler::testing {

class OperationsTable {
 public:
  ~OperationsTable() {
    const char* file = std::getenv("KILN_OPERATIONS_TABLE");
    if (file == nullptr) return;
    std::ofstream out(file);
    out << "| operation |";
    for (int d = 0; d <= static_cast<int>(DType::f64); ++d) out << ' ' << name(static_cast<DType>(d)) << " |";
    out << "\n|---|";
    for (int d = 0; d <= static_cast<int>(DType::f64); ++d) out << "---|";
    for (const auto& [op, row] : rows_) {
      out << "\n| " << op << " |";
      for (int d = 0; d <= static_cast<int>(DType::f64); ++d) {
        const auto it = row.find(d);
        out << (it == row.end() ? " - |" : it->second ? " ok |" : " FAIL |");
      }
    }
    out << "\n";
  }
  void record(const std::string& op, DType d, bool ok) {
    auto& cell = rows_[op].try_emplace(static_cast<int>(d), true).first->second;
    cell = cell && ok;
  }

 private:
  std::map<std::string, std::map<int, bool>> rows_;
};

inline void record_verdict(const std::string& op, DType d, bool ok) {
  static OperationsTable table;
  table.record(op, d, ok);
}

}  // namespace kiln::compiler::testing
