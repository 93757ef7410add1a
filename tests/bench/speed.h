// What benches of whole programs share. They run programs beside plain C++ in the same run, interleaved, or beside times
// that a survey measured of another compiler, and print the ratio that the project asks for. One thread, processor time,
// medians.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/record.h"
#include "kiln/view.h"
#include "tests/run/compiled.h"

namespace kiln::bench {

// For this machine's vectors.
compiler::testing::CompiledProgram compiled(const dsl::record::program& p);
compiler::testing::CompiledProgram compiled(std::string_view name);  // one of those that are exported
int lanes();                                                         // of f32 in a vector

inline kiln_tensor argument(void* data, kiln_dtype d, const std::vector<std::int64_t>& extents) {
  return {data, extents.data(), nullptr, d, static_cast<std::int32_t>(extents.size())};
}

double seconds(const std::function<void()>& f);  // of processor time
double median(std::vector<double> v);

// What TensorFrost 0.7.4 takes on a CPU, as a survey measured it: (a) processor time of one thread, (b) wall clock of four.
inline constexpr const char *survey = "TensorFrost (a)", *survey_wall = "TensorFrost (b)";

// The machines that the figures come from.
void print_head();
// A line: our time, the time of `other`, their ratio and the one that is asked for (0: none).
void print_line(const char* name, double ours, const char* other, double theirs, double asked);
// For main: 1, with a line, where results are not what they should be.
int result(bool right);

}  // namespace kiln::bench
