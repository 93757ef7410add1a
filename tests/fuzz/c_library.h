// C code, compiled by the system's C compiler without optimisation (cc -O0 -fwrapv) and loaded into this process.
#pragma once

#include <string>

namespace kiln::test {

class CLibrary {
 public:
  explicit CLibrary(const std::string& source);  // throws std::runtime_error
  ~CLibrary();
  CLibrary(const CLibrary&) = delete;
  CLibrary& operator=(const CLibrary&) = delete;

  void* symbol(const std::string& name) const;  // null: the library does not have it

 private:
  void* handle_ = nullptr;
};

}  // namespace kiln::test
