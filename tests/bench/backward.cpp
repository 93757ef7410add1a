// Derivatives of products, convolutions and attention, beside the forward pass: backward_bench [NAME]. Each line has the time
// of the forward pass, of the derivative by each operand, and the ratio of both derivatives together to the forward pass. A
// derivative of a product is a product of the same size, so the ratio is 2 if all run at the same rate. Where libtorch is
// installed, its times for the same work stand on a second line, from the same rounds.
#include <kiln/dsl.h>
#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include "tests/bench/backward_torch.h"
#include "tests/bench/speed.h"

using namespace kiln;

namespace {

using bench::filter_size, bench::image_size;

template <image_size I, filter_size F>
struct sizes {
  static constexpr int rows = (I.rows + 2 * F.padding - F.rows) / F.stride + 1;
  static constexpr int columns = (I.columns + 2 * F.padding - F.columns) / F.stride + 1;
  using image = in<f32, I.batch, I.channels, I.rows, I.columns>;
  using image_out = out<f32, I.batch, I.channels, I.rows, I.columns>;
  using filters = in<f32, F.filters, I.channels / F.groups, F.rows, F.columns>;
  using filters_out = out<f32, F.filters, I.channels / F.groups, F.rows, F.columns>;
  using result = in<f32, I.batch, F.filters, rows, columns>;
  using result_out = out<f32, I.batch, F.filters, rows, columns>;
  static constexpr dsl::conv options = {
      .stride = dsl::hw(F.stride, F.stride), .padding = dsl::hw(F.padding, F.padding), .groups = F.groups};
};

template <image_size I, filter_size F>
struct forward : program<forward<I, F>> {
  typename sizes<I, F>::image x;
  typename sizes<I, F>::filters w;
  typename sizes<I, F>::result_out y;
  constexpr void body() { y = dsl::conv2d<sizes<I, F>::options>(x, w); }
};
template <image_size I, filter_size F>
struct by_image : program<by_image<I, F>> {
  typename sizes<I, F>::image x;
  typename sizes<I, F>::filters w;
  typename sizes<I, F>::result c;
  typename sizes<I, F>::image_out g;
  constexpr void body() { g = vjp(dsl::conv2d<sizes<I, F>::options>(x, w), x, c); }
};
template <image_size I, filter_size F>
struct by_filters : program<by_filters<I, F>> {
  typename sizes<I, F>::image x;
  typename sizes<I, F>::filters w;
  typename sizes<I, F>::result c;
  typename sizes<I, F>::filters_out g;
  constexpr void body() { g = vjp(dsl::conv2d<sizes<I, F>::options>(x, w), w, c); }
};

struct product : program<product> {
  in<f32, 512, 512> a, b;
  out<f32, 512, 512> y;
  constexpr void body() { y = matmul(a, b); }
};
struct product_by_left : program<product_by_left> {
  in<f32, 512, 512> a, b, c;
  out<f32, 512, 512> g;
  constexpr void body() { g = vjp(matmul(a, b), a, c); }
};
struct product_by_right : program<product_by_right> {
  in<f32, 512, 512> a, b, c;
  out<f32, 512, 512> g;
  constexpr void body() { g = vjp(matmul(a, b), b, c); }
};

constexpr auto attended = [](const auto& q, const auto& k, const auto& v) {
  return matmul(softmax<2>(matmul(q, transpose(k)) * 0.125f), v);
};
struct attention : program<attention> {
  in<f32, 8, 512, 64> q, k, v;
  out<f32, 8, 512, 64> y;
  constexpr void body() { y = attended(q, k, v); }
};
struct attention_with_gradients : program<attention_with_gradients> {
  in<f32, 8, 512, 64> q, k, v, c;
  out<f32, 8, 512, 64> y, gq, gk, gv;
  constexpr void body() {
    auto a = attended(q, k, v);
    y = a;
    auto [dq, dk, dv] = grad(sum(a * c), q, k, v);
    gq = dq;
    gk = dk;
    gv = dv;
  }
};

const char* wanted = nullptr;

// A tensor on pages of its own. malloc would place it on pages that earlier rows have freed, at another distance from the
// tensors beside it, and that changed a time by up to 10%: a load whose address equals, modulo 4096, that of a store shortly
// before it waits for the store.
class Pages {
 public:
  explicit Pages(std::size_t floats) : bytes_(floats * sizeof(float)) {
    memory_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory_ == MAP_FAILED) throw std::bad_alloc();
  }
  Pages(Pages&& from) noexcept : memory_(std::exchange(from.memory_, nullptr)), bytes_(from.bytes_) {}
  Pages& operator=(Pages&&) = delete;
  ~Pages() {
    if (memory_ != nullptr) munmap(memory_, bytes_);
  }
  float* data() const { return static_cast<float*>(memory_); }

 private:
  void* memory_ = nullptr;
  std::size_t bytes_;
};

// Memory for the arguments of a program, all with static extents.
class Call {
 public:
  explicit Call(const dsl::record::program& p) : compiled_(bench::compiled(p)) {
    const kiln_program_desc& d = *compiled_.description();
    for (const kiln_param_desc& parameter : std::span(d.params, static_cast<std::size_t>(d.n_params))) {
      std::vector<std::int64_t>& shape = shapes_.emplace_back();
      for (const kiln_expr& extent : std::span(parameter.extents, parameter.rank))
        shape.push_back(extent[1]);  // KILN_PUSH_CONST, value
      std::size_t n = 1;
      for (const std::int64_t extent : shape) n *= static_cast<std::size_t>(extent);
      const Pages& data = data_.emplace_back(n);
      for (std::size_t k = 0; k < n; ++k) data.data()[k] = static_cast<float>(k * 2654435761U % 2003) / 2003 - 0.5F;
    }
    for (std::size_t i = 0; i < shapes_.size(); ++i)
      arguments_.push_back(bench::argument(data_[i].data(), KILN_F32, shapes_[i]));
  }
  void run() const { (void)compiled_.call(arguments_, memory_.get()); }

 private:
  compiler::testing::CompiledProgram compiled_;
  std::vector<std::vector<std::int64_t>> shapes_;  // by parameter
  std::vector<Pages> data_;
  std::vector<kiln_tensor> arguments_;
  context memory_;
};

// Wall-clock time. Reading the processor time is a system call. On a virtual machine it may empty the cache of page addresses;
// then a call of 60 microseconds took 107.
double seconds(const std::function<void()>& call) {
  using clock = std::chrono::steady_clock;
  const clock::time_point begin = clock::now();
  call();
  return std::chrono::duration<double>(clock::now() - begin).count();
}

// The least times in milliseconds of the programs, then of the peer's calls, run in turn for about a second.
std::vector<double> times(std::span<const dsl::record::program> programs, std::span<const std::function<void()>> peer) {
  std::vector<std::function<void()>> calls;
  for (const dsl::record::program& p : programs) calls.push_back([call = std::make_shared<Call>(p)] { call->run(); });
  calls.insert(calls.end(), peer.begin(), peer.end());
  std::vector<double> least(calls.size(), 1e9);
  for (double spent = 0; spent < 1;)
    for (std::size_t i = 0; i < calls.size(); ++i) {
      const double t = seconds(calls[i]);
      least[i] = std::min(least[i], t * 1e3);
      spent += t;
    }
  return least;
}

void print(const char* name, std::span<const double> ms) {
  std::printf("%-44s forward %8.3f ms  by operand %8.3f %8.3f  ratio %5.2f\n", name, ms[0], ms[1], ms[2],
              (ms[1] + ms[2]) / ms[0]);
  std::fflush(stdout);
}
void line(const char* name, std::span<const dsl::record::program> programs, std::span<const std::function<void()>> peer) {
  const std::vector<double> ms = times(programs, peer);
  print(name, ms);
  if (peer.empty()) return;
  const auto theirs = std::span(ms).subspan(3);
  print("  libtorch", theirs);
  std::printf("  %-42s forward %8.2f     derivatives %8.2f\n", "libtorch / Kiln", theirs[0] / ms[0],
              (theirs[1] + theirs[2]) / (ms[1] + ms[2]));
}

bool is_wanted(const char* name) { return wanted == nullptr || std::strcmp(wanted, name) == 0; }

template <image_size I, filter_size F>
void convolution(const char* name) {
  if (!is_wanted(name)) return;
  const dsl::record::program programs[] = {ir<forward<I, F>>, ir<by_image<I, F>>, ir<by_filters<I, F>>};
  std::vector<std::function<void()>> peer;
#ifdef KILN_WITH_TORCH
  for (auto& call : bench::torch_convolution(I, F)) peer.push_back(call);
#endif
  line(name, programs, peer);
}
void products(const char* name) {
  if (!is_wanted(name)) return;
  const dsl::record::program programs[] = {ir<product>, ir<product_by_left>, ir<product_by_right>};
  std::vector<std::function<void()>> peer;
#ifdef KILN_WITH_TORCH
  for (auto& call : bench::torch_product(512)) peer.push_back(call);
#endif
  line(name, programs, peer);
}
void attentions(const char* name) {
  if (!is_wanted(name)) return;
  const dsl::record::program programs[] = {ir<attention>, ir<attention_with_gradients>};
  std::vector<std::function<void()>> peer;
#ifdef KILN_WITH_TORCH
  for (auto& call : bench::torch_attention(8, 512, 64)) peer.push_back(call);
#endif
  const std::vector<double> ms = times(programs, peer);
  for (std::size_t i = 0; i < ms.size(); i += 2)
    std::printf("%-44s forward %8.3f ms  with backward %8.3f  backward / forward %5.2f\n", i == 0 ? name : "  libtorch", ms[i],
                ms[i + 1], ms[i + 1] / ms[i] - 1);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) wanted = argv[1];
  products("matmul 512");
  convolution<image_size{1, 64, 56, 56}, filter_size{64, 3, 3, 1, 1}>("conv 64x56x56, 64 of 3x3");
  convolution<image_size{1, 64, 56, 56}, filter_size{128, 3, 3, 2, 1}>("conv 64x56x56, 128 of 3x3, stride 2");
  convolution<image_size{1, 128, 28, 28}, filter_size{256, 3, 3, 2, 1}>("conv 128x28x28, 256 of 3x3, stride 2");
  convolution<image_size{1, 256, 7, 7}, filter_size{256, 3, 3, 1, 1}>("conv 256x7x7, 256 of 3x3");
  convolution<image_size{8, 32, 28, 28}, filter_size{64, 3, 3, 1, 1}>("conv 8x32x28x28, 64 of 3x3");
  convolution<image_size{1, 64, 56, 56}, filter_size{128, 1, 1, 2}>("conv 64x56x56, 128 of 1x1, stride 2");
  convolution<image_size{1, 128, 28, 28}, filter_size{128, 1, 1}>("conv 128x28x28, 128 of 1x1");
  convolution<image_size{1, 64, 56, 56}, filter_size{128, 2, 2, 2}>("conv 64x56x56, 128 of 2x2, stride 2");
  convolution<image_size{1, 64, 56, 56}, filter_size{64, 4, 4, 2, 1}>("conv 64x56x56, 64 of 4x4, stride 2");
  convolution<image_size{1, 3, 224, 224}, filter_size{64, 7, 7, 2, 3}>("conv 3x224x224, 64 of 7x7, stride 2");
  convolution<image_size{1, 128, 56, 56}, filter_size{128, 3, 3, 1, 1, 128}>("conv 128x56x56, depthwise 3x3");
  convolution<image_size{1, 128, 56, 56}, filter_size{128, 3, 3, 2, 1, 128}>("conv 128x56x56, depthwise 3x3, stride 2");
  attentions("attention 8x512x64");
}
