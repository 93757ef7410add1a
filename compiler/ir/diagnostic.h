// The exception for errors that a user can cause. It has a stable id and the text `file:line:col: error: E-xxx: text`.
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
