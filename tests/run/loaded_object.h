// Links an object file in memory into this process, without a linker or files, since tests of many small programs need speed.
// Its kiln_call and kiln_selected_variant are the test program's: the runtime's, or functions of the test.
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace kiln::compiler::testing {

class LoadedObject {
 public:
  explicit LoadedObject(std::string object);  // throws std::runtime_error
  ~LoadedObject();
  LoadedObject(const LoadedObject&) = delete;
  LoadedObject& operator=(const LoadedObject&) = delete;

  void* symbol(const std::string& name) const;                  // null: the object does not have it
  std::vector<std::string> defined() const, undefined() const;  // names of its global symbols

 private:
  std::vector<std::string> globals(bool undefined) const;
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace kiln::compiler::testing
