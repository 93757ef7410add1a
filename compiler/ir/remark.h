// Remarks: decisions of the compiler about a line of the program, with their reasons. The pass that decides makes the remark.
// Remarks are made only for callers that ask for them, and never change the compiled code.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/graph.h"

namespace kiln::compiler {

// A kind of remark. docs/reference/remarks.md explains each.
struct RemarkKind {
  std::string_view id;         // stable
  std::string_view passes[3];  // the passes that decide; the last ones may be empty
  bool missed;                 // the decision costs time that another way to write the program may save
};

namespace remarks {
inline constexpr RemarkKind derivative{"derivative", {"differentiate"}, false};
inline constexpr RemarkKind contraction{"contraction", {"differentiate"}, false};
inline constexpr RemarkKind scatter{"scatter", {"differentiate"}, true};
inline constexpr RemarkKind stored{"stored", {"fold_stages"}, true};
inline constexpr RemarkKind recomputed{"recomputed", {"range_assignment", "fold_stages"}, false};
inline constexpr RemarkKind packed{"packed", {"pack_operands", "product_versions"}, false};
inline constexpr RemarkKind windows{"windows", {"pack_windows"}, false};
inline constexpr RemarkKind fused{"fused", {"fuse_rows", "sibling_kernels"}, false};
inline constexpr RemarkKind not_fused{"not-fused", {"fuse_rows"}, true};
inline constexpr RemarkKind copied{"copied", {"memory_plan"}, true};
inline constexpr RemarkKind rotated{"rotated", {"ping_pong"}, false};
inline constexpr RemarkKind serial{"serial", {"serial_atomics"}, true};
inline constexpr RemarkKind plan{"plan", {"vectorize_plan"}, false};
inline constexpr RemarkKind vectorised{"vectorised", {"workgroup_lanes", "loop_lanes", "vectorize_plan"}, false};
inline constexpr RemarkKind not_vectorised{"not-vectorised", {"workgroup_lanes", "loop_lanes", "vectorize_plan"}, true};
inline constexpr RemarkKind masked{"masked", {"workgroup_lanes", "mask_loops"}, true};
inline constexpr RemarkKind branch{"branch", {"workgroup_lanes", "mask_loops"}, false};
inline constexpr RemarkKind one_thread{"one-thread", {"loop_nest"}, true};
inline constexpr RemarkKind gathered{"gathered", {"interleaved_access"}, true};
inline constexpr RemarkKind wide_index{"wide-index", {"index_dtype"}, true};

inline constexpr RemarkKind all[] = {derivative,     contraction, scatter, stored,     recomputed, packed,    windows,
                                     fused,          not_fused,   copied,  rotated,    serial,     plan,      vectorised,
                                     not_vectorised, masked,      branch,  one_thread, gathered,   wide_index};
}  // namespace remarks

struct Remark {
  RemarkKind kind;
  std::string_view pass;  // the pass that made it, one of kind.passes
  std::string where;      // "kernels.cpp:12:5", or empty
  std::string text;
  std::vector<std::string> variants;  // to which the remark applies; empty: all
};

// Collects remarks, each once, in the order in which they are made.
class Remarks {
 public:
  // The variant that later remarks are about; empty: all.
  void set_variant(std::string name) { variant_ = std::move(name); }
  // The pass that makes later remarks: a name that outlives this object.
  void set_pass(std::string_view name) { pass_ = name; }
  void add(const Graph& g, Id at, const RemarkKind& kind, std::string text);
  const std::vector<Remark>& list() const { return list_; }

 private:
  std::vector<Remark> list_;
  std::string variant_;
  std::string_view pass_;
};

// "kernels.cpp:12:5: remark: stored: ... [fold_stages]"; with variants "[index_dtype for x86-64-v4, x86-64-v3]"
std::string line_of(const Remark& r);

// Makes a remark about the line of a node. text(): called only if the caller of the compiler asks for remarks.
template <class F>
void remark(const Graph& g, Id at, const RemarkKind& kind, F&& text) {
  if (g.remarks() != nullptr) g.remarks()->add(g, at, kind, text());
}

}  // namespace kiln::compiler
