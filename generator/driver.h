// The command line of every generator executable. Exit status: 0 ok, 64 bad command line, 65 a program was rejected, 70
// internal error, 73 cannot write, 74 I/O error, 75 out of memory. Messages: `file:line:col: error: E-xxx: text`.
#pragma once

#include <span>

#include "generator/record.h"

namespace kiln::generator {

int run(int argc, const char* const* argv, std::span<const record::program* const> programs);

}  // namespace kiln::generator
