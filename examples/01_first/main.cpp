// The application: it includes the generated headers and links the objects and the runtime.
#include <first_kernels/dense_gelu.h>
#include <first_kernels/saxpy.h>

#include <cstdio>
#include <vector>

int main() {
  std::vector<float> x = {1, 2, 3}, y = {10, 20, 30};
  if (kiln::status s = first_kernels::saxpy(2.0f, x, y); !s) return std::puts(s.message().c_str()), 1;
  std::printf("saxpy: %g %g %g\n", static_cast<double>(y[0]), static_cast<double>(y[1]), static_cast<double>(y[2]));

  y.pop_back();  // N is 3 in x and 2 in y, so the call returns an error and leaves y as it is
  std::puts(first_kernels::saxpy(2.0f, x, y).message().c_str());

  std::vector<float> input(2 * 768, 0.01f), weights(768 * 3072, 0.02f), bias(3072, -0.1f), output(2 * 3072);
  kiln::view<const float, kiln::dynamic_extent, 768> in(input.data(), 2);
  kiln::view<const float, 768, 3072> w(weights.data());
  kiln::view<float, kiln::dynamic_extent, 3072> out(output.data(), 2);
  if (kiln::status s = first_kernels::dense_gelu(in, w, bias, out); !s) return std::puts(s.message().c_str()), 1;
  std::printf("dense_gelu: %.6f\n", static_cast<double>(output[0]));
}
