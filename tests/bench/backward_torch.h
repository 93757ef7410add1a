// Derivatives by libtorch, beside which backward_bench runs ours. Each function takes a call of a forward pass, or of it and
// its derivatives; operands are made once and have static extents. All run on one thread.
#pragma once

#include <array>
#include <functional>

namespace kiln::bench {

struct image_size {
  int batch, channels, rows, columns;
};
struct filter_size {
  int filters, rows, columns, stride = 1, padding = 0, groups = 1;
};

// The forward pass, the derivative by the first operand, and that by the second.
using TorchCalls = std::array<std::function<void()>, 3>;

TorchCalls torch_product(int n);  // matmul of two n x n
TorchCalls torch_convolution(const image_size&, const filter_size&);
// softmax(q k^T / 8) v over [heads, length, depth]: the forward pass, and with all three derivatives.
std::array<std::function<void()>, 2> torch_attention(int heads, int length, int depth);

}  // namespace kiln::bench
