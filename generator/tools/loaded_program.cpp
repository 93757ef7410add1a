#include "generator/tools/loaded_program.h"

#include <dlfcn.h>

#include <algorithm>
#include <filesystem>
#include <span>

#include "compiler/index/floor_div.h"
#include "compiler/ir/diagnostic.h"
#include "compiler/ir/layout.h"
#include "generator/outputs.h"

namespace kiln::generator {
namespace {

using compiler::Diagnostic;

bool is_object(std::string_view elf) { return elf.size() > 17 && elf[16] == 1 && elf[17] == 0; }  // ET_REL

// The description function of `program`. If `program` is empty, there must be only one.
std::string choose(const std::vector<std::string>& found, const std::string& program, const std::string& file) {
  std::vector<std::string> fit;
  for (const std::string& s : found)
    if (program.empty() || s == program + "_desc" || s.ends_with("_" + program + "_desc")) fit.push_back(s);
  const auto exact = std::ranges::find(fit, program + "_desc");
  if (exact != fit.end()) return *exact;
  if (fit.size() == 1) return fit[0];
  std::string names;
  for (const std::string& s : found) names += (names.empty() ? "" : ", ") + s.substr(0, s.size() - 5);
  throw Diagnostic("E-library", file,
                   program.empty() && !found.empty()
                       ? "expected one program, found " + names + "; choose with --program"
                       : "expected the program '" + program + "', found " + (names.empty() ? "none" : names));
}

std::string operation(std::int64_t code, const std::string& a, const std::string& b) {
  switch (code) {
    case KILN_ADD: return "(" + a + " + " + b + ")";
    case KILN_SUB: return "(" + a + " - " + b + ")";
    case KILN_MUL: return a + "*" + b;
    case KILN_FLOORDIV: return "(" + a + " // " + b + ")";
    case KILN_FLOORMOD: return "(" + a + " % " + b + ")";
    case KILN_MIN: return "min(" + a + ", " + b + ")";
    default: return "max(" + a + ", " + b + ")";
  }
}

bool apply(std::int64_t code, std::int64_t a, std::int64_t b, std::int64_t& r) {
  switch (code) {
    case KILN_ADD: return !__builtin_add_overflow(a, b, &r);
    case KILN_SUB: return !__builtin_sub_overflow(a, b, &r);
    case KILN_MUL: return !__builtin_mul_overflow(a, b, &r);
    case KILN_FLOORDIV: r = compiler::floor_div(a, b); return true;
    case KILN_FLOORMOD: r = compiler::floor_mod(a, b); return true;
    case KILN_MIN: r = std::min(a, b); return true;
    case KILN_MAX: r = std::max(a, b); return true;
    default: return false;
  }
}

}  // namespace

void LoadedProgram::close_library::operator()(void* handle) const { dlclose(handle); }

LoadedProgram::LoadedProgram(const std::string& file, const std::string& program, const std::string& runtime) : file_(file) {
  const std::string elf = read_file(file);
  const std::string description = choose(description_symbols(elf, file), program, file);
  std::string path = std::filesystem::absolute(file).string();
  if (is_object(elf)) {
    linked_.emplace();
    const std::string linked = linked_->path() + "/libprogram.so";
    link_shared({path}, runtime.empty() ? find_runtime() : runtime, linked);
    path = linked;
  }
  library_.reset(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL));
  if (library_ == nullptr) throw Diagnostic("E-library", file, std::string("cannot be loaded: ") + dlerror());
  workspace_ = reinterpret_cast<decltype(workspace_)>(symbol("kiln_workspace_bytes"));
  message_ = reinterpret_cast<decltype(message_)>(symbol("kiln_status_message"));
  desc_ = reinterpret_cast<const kiln_program_desc* (*)()>(symbol(description.c_str()))();
  if (desc_->abi_version != KILN_ABI_VERSION)
    throw Diagnostic(
        "E-library", file,
        "expected ABI version " + std::to_string(KILN_ABI_VERSION) + ", got " + std::to_string(desc_->abi_version));
  force_ = reinterpret_cast<decltype(force_)>(symbol("kiln_force_variant"));
  cpu_sets_ = reinterpret_cast<decltype(cpu_sets_)>(symbol("kiln_cpu_sets"));
  const std::string entry = description.substr(0, description.size() - std::string_view("_desc").size());
  variants_ = reinterpret_cast<const kiln_variants* (*)()>(symbol((entry + "_variants").c_str()))();
}

void LoadedProgram::force(const std::string& variant) {
  const std::span<const kiln_program_desc* const> list(variants_->list, static_cast<std::size_t>(variants_->n));
  const auto at = std::ranges::find_if(list, [&](const kiln_program_desc* p) { return variant == p->variant; });
  if (at == list.end()) {
    std::string names;
    for (const kiln_program_desc* p : list) names += (names.empty() ? "" : " or ") + std::string(p->variant);
    throw Diagnostic("E-argument", "--variant", "expected " + names + ", got '" + variant + "'");
  }
  if (const kiln_status s = force_(variants_, variant.c_str()); s.code != KILN_OK)
    throw Diagnostic("R-cpu", "--variant", message(s).substr(std::string_view("R-cpu: ").size()));
  desc_ = *at;
}

std::string LoadedProgram::describe_variants() const {
  std::string out;
  for (std::int32_t i = 0; i < variants_->n; ++i) {
    const kiln_program_desc* p = variants_->list[i];
    const bool runs = (p->cpu_sets & ~cpu_sets_()) == 0;
    out += std::string("variant ") + p->variant + (!runs ? " not on this CPU" : p == desc_ ? " selected" : "") + "\n";
  }
  return out;
}

void* LoadedProgram::symbol(const char* name) const {
  void* p = dlsym(library_.get(), name);
  if (p == nullptr) throw Diagnostic("E-library", file_, std::string("does not export ") + name);
  return p;
}

std::string LoadedProgram::message(kiln_status status) const {
  std::string text(message_(desc_, status, nullptr, 0) + 1, '\0');
  message_(desc_, status, text.data(), text.size());
  text.pop_back();
  return text;
}

std::optional<std::int64_t> evaluate(const kiln_program_desc& d, kiln_expr e, const SymbolValues& symbols) {
  std::vector<std::int64_t> stack;
  for (; *e != KILN_EXPR_END; ++e) {
    if (*e == KILN_PUSH_CONST) {
      stack.push_back(*++e);
    } else if (*e == KILN_PUSH_SYM) {
      const auto it = symbols.find(d.symbols[*++e].name);
      if (it == symbols.end()) return std::nullopt;
      stack.push_back(it->second);
    } else {
      if (stack.size() < 2) return std::nullopt;
      const std::int64_t b = stack.back();
      stack.pop_back();
      if (!apply(*e, stack.back(), b, stack.back())) return std::nullopt;
    }
  }
  return stack.size() == 1 ? std::optional(stack[0]) : std::nullopt;
}

std::string expression_text(const kiln_program_desc& d, kiln_expr e) {
  std::vector<std::string> stack;
  for (; *e != KILN_EXPR_END; ++e) {
    if (*e == KILN_PUSH_CONST) {
      stack.push_back(std::to_string(*++e));
    } else if (*e == KILN_PUSH_SYM) {
      stack.emplace_back(d.symbols[*++e].name);
    } else {
      if (stack.size() < 2) return "?";
      const std::string b = stack.back();
      stack.pop_back();
      stack.back() = operation(*e, stack.back(), b);
    }
  }
  return stack.size() == 1 ? stack[0] : "?";
}

const char* bare_symbol(const kiln_program_desc& d, kiln_expr e) {
  return e[0] == KILN_PUSH_SYM && e[2] == KILN_EXPR_END ? d.symbols[e[1]].name : nullptr;
}

std::string describe(const kiln_program_desc& d) {
  constexpr const char* directions[] = {"in", "out", "inout"};
  std::string s = std::string("program ") + d.name + "\n";
  for (int i = 0; i < d.n_symbols; ++i)
    s += std::string("symbol ") + d.symbols[i].name + " min " + std::to_string(d.symbols[i].min) + " max " +
         std::to_string(d.symbols[i].max) + " multiple_of " + std::to_string(d.symbols[i].multiple_of) + "\n";
  for (int i = 0; i < d.n_params; ++i) {
    const kiln_param_desc& p = d.params[i];
    s += std::string(directions[p.direction]) + " " + std::string(name(dtype_of(p))) + " [";
    for (int a = 0; a < p.rank; ++a) s += (a > 0 ? ", " : "") + expression_text(d, p.extents[a]);
    s += "]" + compiler::layout_text(p.n_strides, p.rank) + " " + p.name + "\n";
  }
  for (int i = 0; i < d.n_kernels; ++i) {
    const kiln_kernel_desc& k = d.kernels[i];
    s += std::string("kernel ") + k.name + " trip_count " + expression_text(d, k.trip_count) + " work " +
         expression_text(d, k.work) + (k.parallel != 0 ? " parallel" : " serial") + "\n";
  }
  for (int i = 0; i < d.n_loops; ++i) {
    const kiln_loop_desc& l = d.loops[i];
    s += "loop of kernels " + std::to_string(l.first_kernel) + " .. " + std::to_string(l.end_kernel - 1) + " from " +
         expression_text(d, l.begin) + " below " + expression_text(d, l.end) + " step " + std::to_string(l.step) +
         (l.condition >= 0 ? " while buffer " + std::to_string(l.condition) : "") + "\n";
  }
  return s + "workspace " + expression_text(d, d.workspace_bytes) + " bytes\n";
}

}  // namespace kiln::generator
