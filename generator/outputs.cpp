#include "generator/outputs.h"

#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <vector>

namespace kiln::generator {
namespace {

namespace fs = std::filesystem;

bool has_bytes(const fs::path& path, const std::string& bytes) {
  std::error_code error;
  if (fs::file_size(path, error) != bytes.size() || error) return false;
  std::ifstream in(path, std::ios::binary);
  return in && std::string(std::istreambuf_iterator<char>(in), {}) == bytes;
}

// Writes the bytes to a temporary file in the same folder, which the caller renames. Returns its path.
fs::path write_beside(const fs::path& path, const std::string& bytes) {
  std::error_code error;
  if (path.has_parent_path()) fs::create_directories(path.parent_path(), error);
  if (error) throw OutputError(73, path.parent_path().string(), "cannot be made: " + error.message());
  fs::path temporary = path;
  temporary += ".tmp" + std::to_string(getpid());
  const auto reason = [] { return ": " + std::generic_category().message(errno); };
  std::ofstream out(temporary, std::ios::binary | std::ios::trunc);
  if (!out) throw OutputError(73, path.string(), "cannot be written" + reason());
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.close();
  if (!out) {
    const std::string text = "cannot be written whole" + reason();
    fs::remove(temporary, error);
    throw OutputError(74, path.string(), text);
  }
  return temporary;
}

}  // namespace

std::string read_file(const std::string& file) {
  std::ifstream in(file, std::ios::binary | std::ios::ate);
  const std::streamoff size = in ? static_cast<std::streamoff>(in.tellg()) : -1;
  if (size < 0) throw compiler::Diagnostic("E-file", file, "cannot be read: " + std::generic_category().message(errno));
  std::string out(static_cast<std::size_t>(size), '\0');
  in.seekg(0);
  if (!in.read(out.data(), size)) throw compiler::Diagnostic("E-file", file, "cannot be read whole");
  return out;
}

void Outputs::write() const {
  std::vector<std::pair<fs::path, fs::path>> renames;
  std::error_code error;
  const auto drop = [&] {
    for (const auto& [from, to] : renames) fs::remove(from, error);
  };
  try {
    for (const auto& [path, bytes] : files_)
      if (!has_bytes(path, bytes)) renames.emplace_back(write_beside(path, bytes), path);
  } catch (...) {
    drop();
    throw;
  }
  for (const auto& [from, to] : renames) {
    fs::rename(from, to, error);
    if (error) {
      const std::string reason = error.message();
      drop();
      throw OutputError(73, to.string(), "cannot be written: " + reason);
    }
  }
}

}  // namespace kiln::generator
