// An object file in memory, linked into this process without a linker or files: tests of many small programs need that.
#pragma once

#include <memory>
#include <string>

namespace kiln::compiler::testing {

class LoadedObject {
 public:
  explicit LoadedObject(const std::string& object);  // throws std::runtime_error
  ~LoadedObject();
  LoadedObject(const LoadedObject&) = delete;
  LoadedObject& operator=(const LoadedObject&) = delete;

  void* symbol(const std::string& name) const;  // null when it has none

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace kiln::compiler::testing
