#include "generator/header_writer.h"

#include "compiler/ir/index_poly.h"
#include "compiler/ir/layout.h"
#include "generator/generated_names.h"

namespace kiln::generator {
namespace {

using namespace compiler;

std::string shape_text(Graph& g, const Parameter& p) {
  std::string s = "[";
  for (std::size_t i = 0; i < p.extents.size(); ++i) s += (i > 0 ? ", " : "") + expression(g, p.extents[i]);
  return s + "]";
}

// "kiln::view<const float, kiln::dynamic_extent, 768> x", "float dx", "float& sum"
std::string declaration(const Graph& g, const Parameter& p) {
  const std::string type(cpp_type(p.dtype));
  if (p.extents.empty()) return type + (p.direction == Direction::in ? " " : "& ") + p.name;
  std::string s = "kiln::view<" + std::string(p.direction == Direction::in ? "const " : "") + type;
  for (Id e : p.extents) {
    const auto v = index_value(g, e);
    s += v ? ", " + std::to_string(*v) : ", kiln::dynamic_extent";
  }
  return s + "> " + p.name;
}

std::string comment(Graph& g, const Program& p) {
  std::string s = "/* Program " + p.name + ", written by the Kiln generator.\n";
  for (const Parameter& q : p.params)
    s += "     " + std::string(direction_name(q.direction)) + " " + std::string(name(q.dtype)) + " " + shape_text(g, q) +
         layout_text(q) + " " + q.name + "\n";
  for (const Symbol& y : p.symbols)
    if (y.kind == Symbol::Kind::extent)
      s += "   " + y.name + ": " + std::to_string(y.min) + " .. " + std::to_string(y.max) +
           (y.multiple_of > 1 ? ", a multiple of " + std::to_string(y.multiple_of) : "") +
           (y.min_needed_at.empty() ? "" : " (" + y.min_needed_at + " needs the minimum)") + "\n";
  return s + "   Extents of one name are equal; every call checks that. */\n";
}

std::string c_part(const std::string& entry) {
  return "#ifdef __cplusplus\n#include \"kiln/view.h\"\nextern \"C\" {\n#else\n#include \"kiln/kiln.h\"\n#endif\n\n"
         "kiln_status " +
         entry +
         "(const kiln_tensor* args, int32_t n_args, const kiln_context* context);\n"
         "const kiln_program_desc* " +
         entry + "_desc(void);\nconst kiln_variants* " + entry + "_variants(void);\n\n";
}

std::string cpp_part(const Graph& g, const Program& p, std::string_view ns, const std::string& entry) {
  std::string s = "#ifdef __cplusplus\n}\n\n";
  // C++ allows no namespace `time` next to the function ::time. It allows one inside of another namespace, where
  // time::now(x) finds it.
  const bool hidden = is_c_function(ns.substr(0, ns.find(':')));
  if (hidden) s += "namespace kiln_programs {\n";
  if (!ns.empty()) s += "namespace " + std::string(ns) + " {\n\n";
  s += "inline kiln::status " + p.name + "(";
  for (const Parameter& q : p.params) s += declaration(g, q) + ",\n    ";
  s += "const kiln::context& kiln_with = {}) {\n";
  if (p.params.empty()) {
    s += "  return {" + std::string("::") + entry + "(nullptr, 0, kiln_with.get()), ::" + entry + "_desc()};\n}\n";
  } else {
    s += "  const kiln_tensor kiln_args[] = {\n";
    for (const Parameter& q : p.params)
      s += (q.free_strides > 0 ? "      kiln::strided_tensor_of(" : "      kiln::tensor_of(") + q.name + "),\n";
    s += "  };\n  return {::" + entry + "(kiln_args, " + std::to_string(p.params.size()) + ", kiln_with.get()), ::" + entry +
         "_desc()};\n}\n";
  }
  if (!ns.empty()) s += "\n}  // namespace " + std::string(ns) + "\n";
  if (hidden) s += "}  // namespace kiln_programs\nusing namespace kiln_programs;\n";
  return s + "#endif\n";
}

}  // namespace

std::string write_header(Graph& g, const Program& whole, std::string_view ns) {
  Program p = whole;  // arguments only: the application does not see the runtime's parameter
  std::erase_if(p.params, [&](const Parameter& q) { return !whole.is_argument(q); });
  const std::string entry = symbol_prefix(ns) + p.name;
  const std::string guard = "KILN_GENERATED_" + entry + "_H";
  return comment(g, p) + "#ifndef " + guard + "\n#define " + guard + "\n\n" + c_part(entry) + cpp_part(g, p, ns, entry) +
         "\n#endif\n";
}

}  // namespace kiln::generator
