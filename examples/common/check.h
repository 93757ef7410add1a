// Ends the example if a call fails.
#pragma once

#include <kiln/view.h>

#include <stdexcept>

inline void check(const kiln::status& s) {
  if (!s) throw std::runtime_error(s.message());
}
