#include <shapes/axpy.h>
#include <shapes/row_sums.h>

#include <array>
#include <cstdio>
#include <vector>

int main() {
  std::vector<float> x{1, 2, 3}, y{10, 20, 30};
  if (kiln::status s = demo::shapes::axpy(2.0f, x, y); !s) {
    std::puts(s.message().c_str());
    return 1;
  }
  const float rows[2][3] = {{1, 2, 3}, {4, 5, 6}};
  std::array<float, 2> sums{};
  if (!demo::shapes::row_sums(rows, sums)) return 2;
  if (y != std::vector<float>{12, 24, 36} || sums[0] != 6 || sums[1] != 15) return 3;
  std::vector<float> shorter{1};
  const kiln::status s = demo::shapes::axpy(2.0f, x, shorter);
  if (s.code() != KILN_R_CONFLICT || shorter[0] != 1) return 4;
  std::puts(s.message().c_str());
}
