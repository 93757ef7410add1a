// Shared libraries of compiled programs: made from their objects by the system's compiler driver, and looked into.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kiln::generator {

// Links objects and the static runtime into a library that needs nothing but libc and exports kiln_call and its siblings.
// `runtime` is the runtime's archive. Diagnostic E-link when the driver fails; its own messages go to stderr.
void link_shared(const std::vector<std::string>& objects, const std::string& runtime, const std::string& library);

// The runtime's archive: next to this executable as installed (../lib), or where it was built.
std::string find_runtime();

// Names of the programs' description functions (`*_desc`) that an ELF object or shared library defines, sorted.
// Diagnostic E-library when the bytes are no such file.
std::vector<std::string> description_symbols(std::string_view elf, const std::string& file);

// A new empty folder for temporary files. It is removed with what is in it when this goes out of scope or when the process
// ends, also by a signal.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  void start_watcher();

  std::string path_;
  int alive_ = -1;  // a pipe's end: that it closes without a word tells the watcher that this process has ended
  int watcher_ = 0;
};

}  // namespace kiln::generator
