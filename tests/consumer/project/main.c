#include <shapes/axpy.h>

int main(void) {
  float a = 2, x[3] = {1, 2, 3}, y[3] = {10, 20, 30};
  const int64_t extents[] = {3};
  const kiln_tensor args[] = {{&a, 0, 0, KILN_F32, 0}, {x, extents, 0, KILN_F32, 1}, {y, extents, 0, KILN_F32, 1}};
  const kiln_status s = demo_shapes_axpy(args, 3, 0);
  return s.code != KILN_OK || y[0] != 12 || y[1] != 24 || y[2] != 36;
}
