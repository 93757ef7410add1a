// Output files, all or none. They are collected first, and written when everything has succeeded. Each file is written under
// a temporary name and renamed. A file that already has these bytes is not touched, so a build tool rebuilds nothing.
#pragma once

#include <map>
#include <string>

#include "compiler/ir/diagnostic.h"

namespace kiln::generator {

// E-file. exit_status 73: a file or folder cannot be made. 74: writing failed midway.
class OutputError : public compiler::Diagnostic {
 public:
  OutputError(int exit_status, const std::string& path, const std::string& text)
      : Diagnostic("E-file", path, text), exit_status_(exit_status) {}
  int exit_status() const { return exit_status_; }

 private:
  int exit_status_;
};

// Reads a whole file. Diagnostic E-file says which file, and why it cannot be read.
std::string read_file(const std::string& file);

class Outputs {
 public:
  void add(const std::string& path, std::string bytes) { files_[path] = std::move(bytes); }
  const std::map<std::string, std::string>& files() const { return files_; }
  void write() const;

 private:
  std::map<std::string, std::string> files_;  // by path, so that the order of writing is fixed
};

}  // namespace kiln::generator
