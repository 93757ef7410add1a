// Errors that a user can cause, thrown as values with a stable id: `file:line:col: error: E-xxx: text`.
#pragma once

#include <stdexcept>
#include <string>

namespace kiln::compiler {

class Diagnostic : public std::runtime_error {
 public:
  // id: "E-shape", "E-dtype", ... (docs/diagnostics/<id>.md). where: "file:line:col" or empty.
  Diagnostic(std::string id, std::string where, std::string text)
      : std::runtime_error((where.empty() ? "" : where + ": ") + "error: " + id + ": " + text), id_(std::move(id)) {}
  const std::string& id() const { return id_; }

 private:
  std::string id_;
};

}  // namespace kiln::compiler
