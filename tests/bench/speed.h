// Functions that benchmarks of whole programs share. They run programs and plain C++ alternately, or compare with
// times that a survey measured for another compiler, and print the ratio that the project requires. One thread,
// processor time, medians.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/record.h"
#include "kiln/view.h"
#include "tests/run/compiled.h"

namespace kiln::bench {

// Compiles for this machine's vectors.
compiler::testing::CompiledProgram compiled(const dsl::record::program& p);
compiler::testing::CompiledProgram compiled(std::string_view name);  // an exported program by name
int lanes();                                                         // f32 lanes of a vector

inline kiln_tensor argument(void* data, kiln_dtype d, const std::vector<std::int64_t>& extents) {
  return {data, extents.data(), nullptr, d, static_cast<std::int32_t>(extents.size())};
}

double seconds(const std::function<void()>& f);  // of processor time
double median(std::vector<double> v);

// Times of TensorFrost 0.7.4 on a CPU in a survey: (a) processor time of one thread, (b) wall clock of four threads.
inline constexpr const char *survey = "TensorFrost (a)", *survey_wall = "TensorFrost (b)";

// Prints the machines that the figures come from.
void print_head();
// Prints a line: our time, the time of `other`, their ratio and the required ratio (0: none).
void print_line(const char* name, double ours, const char* other, double theirs, double asked);
// For main: prints a line and returns 1 if results are wrong.
int result(bool right);

}  // namespace kiln::bench
