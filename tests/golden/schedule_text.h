// The text of a schedule in golden tests.
#pragma once

#include <string>
#include <vector>

#include "compiler/ir/index_poly.h"
#include "compiler/ir/text.h"
#include "compiler/ir/verify.h"
#include "compiler/pipeline/run_passes.h"

namespace kiln::compiler::testing {

inline constexpr TextOptions plain{.locations = false};

template <class Number>
std::string list(const std::vector<Number>& v) {
  std::string out = "[";
  for (std::size_t i = 0; i < v.size(); ++i) out += (i > 0 ? ", " : "") + std::to_string(v[i]);
  return out + "]";
}

inline std::string kernels_text(const Graph& g, const Schedule& s) {
  std::string out;
  for (const Kernel& k : s.kernels) {
    const Id roots[] = {k.sink};
    out += "kernel " + k.name + " buffers " + list(k.buffers) + " after " + list(k.depends_on) + "\n" +
           write_nodes(g, roots, plain);
  }
  return out;
}

inline std::string memory_text(const Graph& g, const Schedule& s) {
  std::string out;
  for (std::size_t b = s.program.params.size(); b < s.buffers.size(); ++b) {
    const Buffer& t = s.buffers[b];
    out += "buffer " + std::to_string(b) + ": " + std::string(name(t.dtype)) + " x " + index_text_or_id(g, t.size);
    if (t.tile != no_id) out += ", " + index_text_or_id(g, t.tile) + " at a time";
    if (t.offset != no_id) out += " at byte " + index_text_or_id(g, t.offset);
    out += "\n";
  }
  if (s.workspace_bytes != no_id) out += "workspace " + index_text_or_id(g, s.workspace_bytes) + "\n";
  return out;
}

// Before kernel_split: the nodes of all segments. After it: the kernels.
inline std::string schedule_text(const Graph& g, const Schedule& s) {
  std::vector<Id> roots;
  for (const Segment& p : s.segments) roots.push_back(p.sink);
  if (s.segments.empty()) roots.push_back(s.program.sink);
  return s.kernels.empty() ? write_nodes(g, roots, plain) : kernels_text(g, s);
}

}  // namespace kiln::compiler::testing
