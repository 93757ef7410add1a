// A compiled program in a shared library or an object, ready to be called.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/interp/array.h"
#include "generator/tools/shared_library.h"
#include "kiln/kiln.h"

namespace kiln::generator {

inline compiler::DType dtype_of(const kiln_param_desc& p) { return static_cast<compiler::DType>(p.dtype); }

class LoadedProgram {
 public:
  // `file`: a shared library that exports its program, or an object, which is first linked with the runtime. `program`: its
  // name or C symbol; may be empty if the file has one program. `runtime`: the archive, or empty. Errors: Diagnostic E-library.
  LoadedProgram(const std::string& file, const std::string& program, const std::string& runtime);

  const kiln_program_desc& desc() const { return *desc_; }
  kiln_status call(const std::vector<kiln_tensor>& args, const kiln_context& context) const {
    return desc_->entry(args.data(), static_cast<std::int32_t>(args.size()), &context);
  }
  kiln_status workspace(const std::vector<kiln_tensor>& args, std::int64_t& bytes) const {
    return workspace_(desc_, args.data(), static_cast<std::int32_t>(args.size()), &bytes);
  }
  std::string message(kiln_status status) const;

  // Makes desc() the variant of this name. Diagnostic E-argument: there is none. R-cpu: this CPU cannot run it.
  void force(const std::string& variant);
  // A line for each variant, best first.
  std::string describe_variants() const;

 private:
  struct close_library {
    void operator()(void* handle) const;
  };
  void* symbol(const char* name) const;

  std::optional<TemporaryFolder> linked_;  // it outlives the library in it
  std::unique_ptr<void, close_library> library_;
  std::string file_;
  const kiln_program_desc* desc_ = nullptr;
  const kiln_variants* variants_ = nullptr;
  decltype(&kiln_workspace_bytes) workspace_ = nullptr;
  decltype(&kiln_status_message) message_ = nullptr;
  decltype(&kiln_force_variant) force_ = nullptr;
  decltype(&kiln_cpu_sets) cpu_sets_ = nullptr;
};

using SymbolValues = std::map<std::string, std::int64_t>;

// The value of an extent; nullopt: it overflows, or uses a symbol without a value.
std::optional<std::int64_t> evaluate(const kiln_program_desc& d, kiln_expr e, const SymbolValues& symbols);
// The expression as infix text for people: "2*N + 1".
std::string expression_text(const kiln_program_desc& d, kiln_expr e);
// The symbol, if the extent is only a symbol; else null.
const char* bare_symbol(const kiln_program_desc& d, kiln_expr e);
std::string describe(const kiln_program_desc& d);

}  // namespace kiln::generator
