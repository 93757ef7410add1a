#include "tests/bench/backward_torch.h"

#include <torch/torch.h>

// libtorch may call OpenBLAS, which has a number of threads of its own.
extern "C" [[gnu::weak]] void openblas_set_num_threads(int);

namespace kiln::bench {
namespace {

void use_one_thread() {
  at::set_num_threads(1);
  if (openblas_set_num_threads != nullptr) openblas_set_num_threads(1);
}

at::Tensor values(std::initializer_list<std::int64_t> extents) { return torch::rand(extents) - 0.5; }

std::function<void()> without_tape(std::function<void()> f) {
  return [f = std::move(f)] {
    const torch::NoGradGuard guard;
    f();
  };
}

}  // namespace

TorchCalls torch_product(int n) {
  use_one_thread();
  const at::Tensor a = values({n, n}), b = values({n, n}), c = values({n, n});
  return {without_tape([=] { at::matmul(a, b); }), without_tape([=] { at::matmul(c, b.t()); }),
          without_tape([=] { at::matmul(a.t(), c); })};
}

TorchCalls torch_convolution(const image_size& i, const filter_size& f) {
  use_one_thread();
  const at::Tensor x = values({i.batch, i.channels, i.rows, i.columns});
  const at::Tensor w = values({f.filters, i.channels / f.groups, f.rows, f.columns});
  const at::Tensor c = torch::rand_like(at::conv2d(x, w, {}, f.stride, f.padding, 1, f.groups));
  const auto by = [=](bool image, bool filters) {
    return without_tape([=] {
      at::convolution_backward(c, x, w, c10::nullopt, at::IntArrayRef(f.stride), at::IntArrayRef(f.padding), at::IntArrayRef(1),
                               false, at::IntArrayRef(0), f.groups, {image, filters, false});
    });
  };
  return {without_tape([=] { at::conv2d(x, w, {}, f.stride, f.padding, 1, f.groups); }), by(true, false), by(false, true)};
}

std::array<std::function<void()>, 2> torch_attention(int heads, int length, int depth) {
  use_one_thread();
  const auto operand = [&] { return values({heads, length, depth}).requires_grad_(); };
  const at::Tensor q = operand(), k = operand(), v = operand(), c = values({heads, length, depth});
  const auto forward = [=] { return at::matmul(at::softmax(at::matmul(q, k.transpose(1, 2)) * 0.125, 2), v); };
  return {without_tape([=] { forward(); }), [=] { torch::autograd::grad({forward()}, {q, k, v}, {c}); }};
}

}  // namespace kiln::bench
