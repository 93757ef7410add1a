#include "generator/generated_names.h"

#include <dlfcn.h>

#include "compiler/ir/diagnostic.h"
#include "compiler/ir/index_poly.h"

namespace kiln::generator {

using namespace compiler;

std::string symbol_prefix(std::string_view ns) {
  std::string out;
  for (std::size_t i = 0; i < ns.size(); ++i) {
    if (ns.substr(i).starts_with("::")) ++i;
    out += ns[i] == ':' ? '_' : ns[i];
  }
  return out.empty() ? out : out + "_";
}

bool is_identifier(std::string_view s) {
  if (s.empty() || (s[0] >= '0' && s[0] <= '9')) return false;
  for (char c : s)
    if (!(c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))) return false;
  return true;
}

bool is_namespace(std::string_view s) {
  if (s.empty()) return true;
  while (true) {
    const auto at = s.find("::");
    if (!is_identifier(s.substr(0, at))) return false;
    if (at == std::string_view::npos) return true;
    s.remove_prefix(at + 2);
  }
}

bool is_c_function(std::string_view name) {
  for (const char* library : {"libc.so.6", "libm.so.6"})  // other libraries of this process do not count
    if (void* handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD); handle != nullptr && dlsym(handle, std::string(name).c_str()))
      return true;
  return false;
}

std::string_view cpp_type(DType d) {
  switch (d) {
    case DType::boolean: return "bool";
#define KILN_X(code, name, bits, type) \
  case DType::name: return is_int(d) ? "std::" #type : bits == 16 ? "kiln::" #type : #type;
      KILN_NUMBER_DTYPES(KILN_X)
#undef KILN_X
    case DType::index:
    case DType::none: break;
  }
  return "void";
}

std::string_view direction_name(Direction d) { return d == Direction::in ? "in" : d == Direction::out ? "out" : "inout"; }

std::string expression(Graph& g, Id id) {
  try {
    return index_text(g, index_canonical(g, id), 1 << 16).value_or("?");
  } catch (const Diagnostic&) {  // E-overflow: not a polynomial of 64 bits, for example the work of deep loops
    return "?";
  }
}

}  // namespace kiln::generator
