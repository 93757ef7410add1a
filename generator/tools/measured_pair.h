// measured_pair: compares two compiled forms of a program: their results, and their times.
//
// Both run alternately in one child process, so that a disturbance slows both down. The child has limits: the time of a call is
// at most 3 times the one of the first form.
#pragma once

#include <functional>
#include <string>

#include "generator/tools/loaded_program.h"

namespace kiln::generator {

struct MeasuredPair {
  // not_run: the first form gives no result for arguments of random numbers.
  enum class End { measured, slow, other_bits, failed, not_run } end = End::failed;
  double first = 0, second = 0;  // seconds of a call on one thread: the least ones
  std::string message;           // of `failed` and `not_run`
};

// first: a library. second: makes another library in the child, and returns its path. symbols: values of the program's symbols;
// typical ones for the others. seconds: how long to measure.
MeasuredPair measure_pair(const std::string& first, const std::function<std::string()>& second, const SymbolValues& symbols,
                          double seconds);

}  // namespace kiln::generator
