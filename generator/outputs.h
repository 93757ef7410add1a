// Files to write, all or none: they are collected first and written once everything has succeeded. Each is written to a
// temporary name and renamed; a file that already has these bytes is left alone, so that nothing is rebuilt for it.
#pragma once

#include <map>
#include <stdexcept>
#include <string>

namespace kiln::generator {

// 73: a file or folder cannot be made; 74: writing failed midway.
class OutputError : public std::runtime_error {
 public:
  OutputError(int exit_status, const std::string& text) : std::runtime_error(text), exit_status_(exit_status) {}
  int exit_status() const { return exit_status_; }

 private:
  int exit_status_;
};

class Outputs {
 public:
  void add(const std::string& path, std::string bytes) { files_[path] = std::move(bytes); }
  const std::map<std::string, std::string>& files() const { return files_; }
  void write() const;

 private:
  std::map<std::string, std::string> files_;  // by path: the order of writing is fixed
};

}  // namespace kiln::generator
