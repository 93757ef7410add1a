#include "generator/revision.h"

#include <cstdint>

namespace kiln::generator {
namespace {

// FNV-1a, 64 bits.
std::uint64_t digest(const std::string& bytes, std::uint64_t h) {
  for (const char c : bytes) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return h;
}

std::string hexadecimal(std::uint64_t v) {
  std::string s;
  for (int shift = 60; shift >= 0; shift -= 4) s += "0123456789abcdef"[(v >> shift) & 15];
  return s;
}

std::string file_name(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

// Inserts the include after the include guard's #define.
void include_in(std::string& header, const std::string& name) {
  const std::size_t define = header.find("#define "), line_end = header.find('\n', define);
  header.insert(line_end + 1, "\n#include \"" + name + "\"");
}

}  // namespace

void add_revision_header(Outputs& out, const std::string& path) {
  std::uint64_t h = 0xcbf29ce484222325u;
  Outputs changed = out;
  for (const auto& [file, bytes] : out.files()) {
    if (!file.ends_with(".h")) continue;
    h = digest(bytes, digest(file_name(file), h));
    std::string text = bytes;
    include_in(text, file_name(path));
    changed.add(file, std::move(text));
  }
  changed.add(path, "/* Changes whenever a header beside it does. */\n/* " + hexadecimal(h) + " */\n");
  out = std::move(changed);
}

}  // namespace kiln::generator
