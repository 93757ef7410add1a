// Makes shared libraries of compiled programs with the system's C compiler, and reads their symbols.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kiln::generator {

// Links objects and the static runtime into a library that needs only libc and exports kiln_call and the other functions of the
// runtime. `runtime` is the runtime's archive. Diagnostic E-link if the C compiler fails; its own messages go to stderr.
void link_shared(const std::vector<std::string>& objects, const std::string& runtime, const std::string& library);

// The runtime's archive: next to this executable if it is installed (../lib), else in the build folder.
std::string find_runtime();

// Names of the programs' description functions (`*_desc`) that an ELF object or shared library defines, sorted. Diagnostic
// E-library if the bytes are not an ELF object or shared library.
std::vector<std::string> description_symbols(std::string_view elf, const std::string& file);

// A new empty folder for temporary files. The folder and its contents are removed by the destructor, or when the process
// ends, even by a signal.
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
  int alive_ = -1;  // write end of a pipe; if it closes without data, the watcher knows that this process has ended
  int watcher_ = 0;
};

}  // namespace kiln::generator
