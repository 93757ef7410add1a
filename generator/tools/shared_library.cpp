#include "generator/tools/shared_library.h"

#include <elf.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>

#include "compiler/ir/diagnostic.h"

namespace kiln::generator {
namespace {

namespace fs = std::filesystem;
using compiler::Diagnostic;

// A T at this offset; nullopt: the file is too short. Copies the bytes, because the offset may not be aligned.
template <class T>
std::optional<T> read_at(std::string_view bytes, std::uint64_t offset) {
  T value;
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return std::nullopt;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

std::string_view text_at(std::string_view bytes, const Elf64_Shdr& strings, std::uint64_t index) {
  if (strings.sh_offset > bytes.size() || bytes.size() - strings.sh_offset < strings.sh_size || index >= strings.sh_size)
    return {};
  const std::string_view table = bytes.substr(strings.sh_offset, strings.sh_size);
  const std::size_t end = table.find('\0', index);
  return end == std::string_view::npos ? std::string_view() : table.substr(index, end - index);
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> out;
  for (std::string& w : words) out.push_back(w.data());
  out.push_back(nullptr);
  return out;
}

bool is_defined_function(const Elf64_Sym& s) {
  return s.st_shndx != SHN_UNDEF && ELF64_ST_BIND(s.st_info) != STB_LOCAL && ELF64_ST_TYPE(s.st_info) == STT_FUNC;
}

}  // namespace

std::vector<std::string> description_symbols(std::string_view elf, const std::string& file) {
  const auto head = read_at<Elf64_Ehdr>(elf, 0);
  if (!head || std::memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 || head->e_ident[EI_CLASS] != ELFCLASS64 ||
      head->e_shentsize != sizeof(Elf64_Shdr))
    throw Diagnostic("E-library", file, "expected a 64-bit ELF object or shared library");
  constexpr std::string_view ending = "_desc";
  std::vector<std::string> out;
  for (std::uint64_t i = 0; i < head->e_shnum; ++i) {
    const auto section = read_at<Elf64_Shdr>(elf, head->e_shoff + i * sizeof(Elf64_Shdr));
    if (!section || (section->sh_type != SHT_SYMTAB && section->sh_type != SHT_DYNSYM)) continue;
    const auto strings = read_at<Elf64_Shdr>(elf, head->e_shoff + section->sh_link * sizeof(Elf64_Shdr));
    if (!strings || section->sh_offset > elf.size()) continue;
    const std::uint64_t count = std::min<std::uint64_t>(section->sh_size, elf.size() - section->sh_offset) / sizeof(Elf64_Sym);
    for (std::uint64_t k = 0; k < count; ++k) {
      const auto symbol = read_at<Elf64_Sym>(elf, section->sh_offset + k * sizeof(Elf64_Sym));
      if (!symbol || !is_defined_function(*symbol)) continue;
      const std::string_view name = text_at(elf, *strings, symbol->st_name);
      if (name.size() > ending.size() && name.ends_with(ending)) out.emplace_back(name);
    }
  }
  std::ranges::sort(out);
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

void link_shared(const std::vector<std::string>& objects, const std::string& runtime, const std::string& library) {
  const char* chosen = std::getenv("CC");
  std::vector<std::string> words = {chosen != nullptr && *chosen != 0 ? chosen : "cc", "-shared", "-o", library,
                                    "-Wl,-soname," + fs::path(library).filename().string()};
  words.insert(words.end(), objects.begin(), objects.end());
  words.insert(words.end(), {"-Wl,--whole-archive", runtime, "-Wl,--no-whole-archive"});
  const std::string where = fs::path(library).filename().string();  // without the folder, which may be a temporary one
  // The C compiler makes its own temporary files in the folder of the library.
  std::vector<std::string> variables = {"TMPDIR=" + fs::path(library).parent_path().string()};
  for (char** v = environ; *v != nullptr; ++v)
    if (!std::string_view(*v).starts_with("TMPDIR=")) variables.emplace_back(*v);
  std::vector<char*> argv = pointers(words), envp = pointers(variables);
  pid_t child = 0;
  if (const int error = posix_spawnp(&child, argv[0], nullptr, nullptr, argv.data(), envp.data()); error != 0)
    throw Diagnostic("E-link", where,
                     "cannot start the C compiler '" + words[0] + "': " + std::generic_category().message(error));
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) throw Diagnostic("E-link", where, "lost the C compiler: " + std::generic_category().message(errno));
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    throw Diagnostic("E-link", where, "the C compiler '" + words[0] + "' could not link it; its messages are above");
}

std::string find_runtime() {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  if (!error) {
    const fs::path installed = self.parent_path().parent_path() / "lib" / "libkiln_runtime.a";
    if (fs::exists(installed, error)) return installed.string();
  }
  if (fs::exists(KILN_BUILT_RUNTIME, error)) return KILN_BUILT_RUNTIME;
  throw Diagnostic("E-link", "libkiln_runtime.a", "not found next to this tool; say where it is with --runtime");
}

TemporaryFolder::TemporaryFolder() {
  path_ = (fs::temp_directory_path() / "kiln-XXXXXX").string();
  if (mkdtemp(path_.data()) == nullptr)
    throw Diagnostic("E-file", path_, "cannot be made: " + std::generic_category().message(errno));
  start_watcher();
}

// Starts a shell that removes the folder when this process ends, also by a signal. The shell notices the end because its
// standard input closes. It is in a session of its own, so that a signal to this session does not end it too. If the shell
// cannot be started, a signal leaves the folder behind.
void TemporaryFolder::start_watcher() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return;
  alive_ = ends[1];
  std::vector<std::string> words = {"sh", "-c", "read -r word || rm -rf -- \"$0\" || { sleep 1; rm -rf -- \"$0\"; }", path_};
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, ends[0], 0);
  for (const int fd : {1, 2}) posix_spawn_file_actions_addopen(&files, fd, "/dev/null", O_WRONLY, 0);
  posix_spawnattr_t session;
  posix_spawnattr_init(&session);
  posix_spawnattr_setflags(&session, POSIX_SPAWN_SETSID);
  if (posix_spawn(&watcher_, "/bin/sh", &files, &session, pointers(words).data(), environ) != 0) watcher_ = 0;
  posix_spawnattr_destroy(&session);
  posix_spawn_file_actions_destroy(&files);
  close(ends[0]);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code error;
  fs::remove_all(path_, error);
  if (watcher_ != 0) {
    [[maybe_unused]] const auto written = write(alive_, "\n", 1);
    while (waitpid(watcher_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  if (alive_ >= 0) close(alive_);
}

}  // namespace kiln::generator
