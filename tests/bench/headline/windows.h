// The extents of a convolution, by name.
#pragma once

#include "tests/bench/headline/bench.h"

namespace kiln::headline {

struct conv_shape {
  std::int64_t n, c, h, w, o, r, stride, padding, groups, oh, ow;
  explicit conv_shape(const workload& x)
      : n(x.e[0]),
        c(x.e[1]),
        h(x.e[2]),
        w(x.e[3]),
        o(x.e[4]),
        r(x.e[5]),
        stride(x.e[6]),
        padding(x.e[7]),
        groups(x.e[8]),
        oh((h + 2 * padding - r) / stride + 1),
        ow((w + 2 * padding - r) / stride + 1) {}
};

}  // namespace kiln::headline
