#include "tests/fuzz/c_library.h"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace kiln::test {

CLibrary::CLibrary(const std::string& source) {
  std::string folder = (std::filesystem::temp_directory_path() / "kiln_c_XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) throw std::runtime_error("no temporary folder");
  const std::string c = folder + "/source.c", so = folder + "/source.so";
  std::ofstream(c) << source;
  const int failed = std::system(("cc -O0 -fwrapv -ffp-contract=off -w -shared -fPIC -o " + so + ' ' + c).c_str());
  if (failed == 0) handle_ = dlopen(so.c_str(), RTLD_NOW | RTLD_LOCAL);
  const std::string why = failed == 0 && handle_ == nullptr ? dlerror() : "cc failed";
  std::filesystem::remove_all(folder);
  if (handle_ == nullptr) throw std::runtime_error(why);
}

CLibrary::~CLibrary() { dlclose(handle_); }

void* CLibrary::symbol(const std::string& name) const { return dlsym(handle_, name.c_str()); }

}  // namespace kiln::test
