// What each graph-level pass makes of small programs: <case>.kiln in, <case>.txt out, one section per pass.
// With KILN_UPDATE_GOLDEN=1 in the environment the files are written instead of compared.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "compiler/ir/index_poly.h"
#include "compiler/ir/text.h"
#include "compiler/ir/verify.h"
#include "compiler/schedule/make_schedule.h"

namespace kiln::compiler {
namespace {

constexpr TextOptions plain{.locations = false};

std::string list(const std::vector<int>& v) {
  std::string out = "[";
  for (std::size_t i = 0; i < v.size(); ++i) out += (i > 0 ? ", " : "") + std::to_string(v[i]);
  return out + "]";
}

std::string kernels_text(const Graph& g, const Schedule& s) {
  std::string out;
  for (const Kernel& k : s.kernels) {
    const Id roots[] = {k.sink};
    out += "kernel " + k.name + " buffers " + list(k.buffers) + " after " + list(k.depends_on) + "\n" +
           write_nodes(g, roots, plain);
  }
  return out;
}

std::string memory_text(const Graph& g, const Schedule& s) {
  std::string out;
  for (std::size_t b = s.program.params.size(); b < s.buffers.size(); ++b) {
    const Buffer& t = s.buffers[b];
    out += "buffer " + std::to_string(b) + ": " + std::string(name(t.dtype)) + " x " + index_text_or_id(g, t.size);
    if (t.offset != no_id) out += " at byte " + index_text_or_id(g, t.offset);
    out += "\n";
  }
  if (s.workspace_bytes != no_id) out += "workspace " + index_text_or_id(g, s.workspace_bytes) + "\n";
  return out;
}

struct Recorder final : PassObserver {
  void after(std::string_view pass, Graph& g, const Schedule& s) const override {
    const bool kernels = !s.kernels.empty();
    const Id roots[] = {s.program.sink};
    if (pass == "graph_cleanup") verify(g, s.program);
    for (const Kernel& k : s.kernels) verify(g, k.sink, Level::kernel);
    const std::string now = kernels ? kernels_text(g, s) : write_nodes(g, roots, plain);
    text += "== " + std::string(pass) + "\n" + (now == last ? "as before\n" : now) + memory_text(g, s);
    last = now;
  }
  mutable std::string text, last;
};

std::string read(const std::string& path) {
  std::ostringstream out;
  out << std::ifstream(path, std::ios::binary).rdbuf();
  return out.str();
}

class ScheduleGolden : public ::testing::TestWithParam<const char*> {};

TEST_P(ScheduleGolden, Passes) {
  const std::string base = std::string(GOLDEN_FOLDER) + "/" + GetParam();
  Graph g;
  const Program p = read_program(g, read(base + ".kiln"), base + ".kiln");
  verify(g, p);
  Recorder recorder;
  make_schedule(g, p, &recorder);
  if (std::getenv("KILN_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(base + ".txt", std::ios::binary) << recorder.text;
    return;
  }
  EXPECT_EQ(read(base + ".txt"), recorder.text);
}

INSTANTIATE_TEST_SUITE_P(Cases, ScheduleGolden,
                         ::testing::Values("axpy_2d", "concat_iota", "long_sum", "matmul_relu", "packed_matmul", "pad_modes",
                                           "reshape_sum", "shift_in_place", "softmax"),
                         [](const auto& c) { return std::string(c.param); });

}  // namespace
}  // namespace kiln::compiler
