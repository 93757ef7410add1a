// Loops, carried values, masks and gathers: kernels built by hand, compared with plain loops.
#include <algorithm>
#include <numeric>

#include <pthread.h>
#include <sys/mman.h>

#include "tests/unit/codegen_harness.h"

namespace kiln::compiler::test {
namespace {

constexpr DType f32 = DType::f32;

// y = a*x + y over $begin..$end: a main loop of 8 lanes and a scalar tail.
HandProgram axpy() {
  HandProgram p("axpy");
  const Id n = p.symbol("N");
  const int a = p.param("a", f32, Direction::in, p.g.index(1));
  const int x = p.param("x", f32, Direction::in, n);
  const int y = p.param("y", f32, Direction::inout, n);
  const Id begin = p.g.sym("$begin"), end = p.g.sym("$end"), zero = p.g.index(0), eight = p.g.index(8);
  const Id count = p.index_op(Op::SUB, end, begin);
  const Id middle = p.index_op(Op::ADD, begin, p.index_op(Op::MUL, p.index_op(Op::FLOORDIV, count, eight), eight));
  const Id i = p.range(n), j = p.range(n), factor = p.load(a, zero);
  const Id wide = p.op(Op::BROADCAST, f32, {factor}, {}, 8), at = p.ramp(i, 8);
  const Id value = p.op(Op::ADD, f32, {p.op(Op::MUL, f32, {wide, p.load(x, at)}, {}, 8), p.load(y, at)}, {}, 8);
  const Id rest = p.op(Op::ADD, f32, {p.op(Op::MUL, f32, {factor, p.load(x, j)}), p.load(y, j)});
  p.kernel(
      {p.loop(i, begin, middle, 8, {}, {}, {p.store(y, at, value)}), p.loop(j, middle, end, 1, {}, {}, {p.store(y, j, rest)})},
      n, 8);
  return p;
}

TEST(CodegenKernel, Axpy) {
  HandProgram p = axpy();
  const Loaded l(p);
  for (const std::int64_t n : {0, 1, 7, 8, 9, 1003}) {
    std::vector<float> x(static_cast<std::size_t>(n) + 1), y(x.size(), 0.5f), expected = y;
    std::iota(x.begin(), x.end(), 1.0f);
    float a = 1.1f;
    for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
      const float product = a * x[i];
      expected[i] = product + y[i];
    }
    l.run(0, {&a, x.data(), y.data()}, {n}, 0, n);
    EXPECT_EQ(y, expected) << n;
  }
  std::vector<float> x(20, 1.0f), y(20, 0.0f);
  float a = 2.0f;
  l.run(0, {&a, x.data(), y.data()}, {20}, 8, 17);
  for (std::size_t i = 0; i < 20; ++i) EXPECT_EQ(y[i], i >= 8 && i < 17 ? 2.0f : 0.0f) << i;
}

// out[i] = sum over k of x[i, k]: a pure loop with a carried value, whose result is also scaled in a second loop.
TEST(CodegenKernel, RowSumAndReuse) {
  HandProgram p("row");
  const Id n = p.symbol("N"), k = p.symbol("K");
  const int x = p.param("x", f32, Direction::in, p.index_op(Op::MUL, n, k));
  const int sum = p.param("sum", f32, Direction::out, n);
  const int scaled = p.param("scaled", f32, Direction::out, p.index_op(Op::MUL, n, k));
  const Id zero = p.g.index(0), start = p.g.constant(f32, 0);
  const Id i = p.range(n), j = p.range(k), c = p.range(k);
  const Id row = p.index_op(Op::MUL, i, k);
  const Id acc = p.carry(j, start, 0);
  const Id next = p.op(Op::ADD, f32, {acc, p.load(x, p.index_op(Op::ADD, row, j))});
  const Id total = p.get(p.loop(j, zero, k, 1, {start}, {next}, {}), f32, 0);
  const Id at = p.index_op(Op::ADD, row, c);
  const Id inner = p.loop(c, zero, k, 1, {}, {}, {p.store(scaled, at, p.op(Op::FDIV, f32, {p.load(x, at), total}))});
  p.kernel({p.loop(i, p.g.sym("$begin"), p.g.sym("$end"), 1, {}, {}, {inner, p.store(sum, i, total)})}, n);
  const Loaded l(p);
  for (const std::size_t columns : {0u, 1u, 5u}) {
    const std::size_t rows = 3;
    std::vector<float> in(rows * columns + 1), out(rows, -1.0f), all(in.size()), expected(rows, 0.0f);
    for (std::size_t e = 0; e < in.size(); ++e) in[e] = 1.0f / static_cast<float>(e + 1);
    for (std::size_t r = 0; r < rows; ++r)
      for (std::size_t e = 0; e < columns; ++e) expected[r] += in[r * columns + e];
    l.run(0, {in.data(), out.data(), all.data()}, {3, static_cast<std::int64_t>(columns)}, 0, 3);
    EXPECT_EQ(out, expected);
    for (std::size_t e = 0; e < rows * columns; ++e) EXPECT_EQ(all[e], in[e] / expected[e / columns]);
  }
}

// Two carried values, vector accumulator, lanes summed at the end, constant bounds.
TEST(CodegenKernel, VectorCarryAndShuffle) {
  HandProgram p("vec");
  const int x = p.param("x", DType::i32, Direction::in, p.g.index(32));
  const int y = p.param("y", DType::i32, Direction::out, p.g.index(2));
  const Id zero = p.g.index(0), start = p.g.constant(DType::i32, 0, 8), last = p.g.constant(DType::i32, 0, 8);
  const Id r = p.range(p.g.index(32));
  const Id v = p.load(x, p.ramp(r, 8));
  const Id sum = p.op(Op::ADD, DType::i32, {p.carry(r, start, 0), v}, {}, 8);
  const Id loop = p.loop(r, zero, p.g.index(32), 8, {start, last}, {sum, v}, {});
  const Id total = p.get(loop, DType::i32, 0, 8), tail = p.get(loop, DType::i32, 1, 8);
  const Id high = p.op(Op::SHUFFLE, DType::i32, {total}, {4, 5, 6, 7}, 4),
           low = p.op(Op::SHUFFLE, DType::i32, {total}, {0, 1, 2, 3}, 4);
  const Id half = p.op(Op::ADD, DType::i32, {high, low}, {}, 4);
  Id result = p.op(Op::LANE, DType::i32, {half}, {0});
  for (int lane = 1; lane < 4; ++lane) result = p.op(Op::ADD, DType::i32, {result, p.op(Op::LANE, DType::i32, {half}, {lane})});
  p.kernel({p.store(y, zero, result), p.store(y, p.g.index(1), p.op(Op::LANE, DType::i32, {tail}, {7}))}, p.g.index(1));
  const Loaded l(p);
  std::vector<std::int32_t> in(32), out(2);
  std::iota(in.begin(), in.end(), 100);
  l.run(0, {in.data(), out.data()}, {}, 0, 1);
  EXPECT_EQ(out[0], std::accumulate(in.begin(), in.end(), 0));
  EXPECT_EQ(out[1], in[31]);
}

// Strides 3 and -2, one element for all lanes, and indices from memory.
TEST(CodegenKernel, StridedAndIndirect) {
  HandProgram p("strided");
  const int x = p.param("x", f32, Direction::in, p.g.index(64));
  const int at = p.param("at", DType::i32, Direction::in, p.g.index(8));
  const int y = p.param("y", f32, Direction::out, p.g.index(64));
  const int z = p.param("z", f32, Direction::out, p.g.index(64));
  const Id r = p.range(p.g.index(8)), lanes = p.ramp(r, 8);
  const Id scaled = p.index_op(Op::MUL, r, p.g.index(3));
  const Id third = p.load(x, p.ramp(scaled, 8, 3));
  const Id back = p.load(x, p.ramp(p.index_op(Op::SUB, p.g.index(40), r), 8, -2));
  const Id same = p.load(x, p.op(Op::BROADCAST, DType::index, {p.g.index(5)}, {}, 8));
  const Id index = p.op(Op::CAST, DType::index, {p.load(at, lanes)}, {}, 8);
  const Id sum = p.op(Op::ADD, f32, {p.op(Op::ADD, f32, {third, back}, {}, 8), same}, {}, 8);
  p.kernel({p.loop(r, p.g.sym("$begin"), p.g.sym("$end"), 8, {}, {},
                   {p.store(y, p.ramp(scaled, 8, 3), sum), p.store(z, index, p.load(x, index))})},
           p.g.index(8));
  const Loaded l(p);
  std::vector<float> in(64), out(64), moved(64);
  std::vector<std::int32_t> where{9, 1, 63, 0, 33, 5, 7, 20};
  std::iota(in.begin(), in.end(), 1.0f);
  l.run(0, {in.data(), where.data(), out.data(), moved.data()}, {}, 0, 8);
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(out[3 * i], in[3 * i] + in[40 - 2 * i] + in[5]) << i;
    EXPECT_EQ(out[3 * i + 1], 0.0f);
  }
  for (std::size_t i = 0; i < 64; ++i)
    EXPECT_EQ(moved[i], std::find(where.begin(), where.end(), static_cast<std::int32_t>(i)) != where.end() ? in[i] : 0.0f) << i;
}

// Arrays that end at an unreadable page: an access by a masked-off lane, or with a false gate, would fault.
template <class T>
class GuardedArray {
 public:
  explicit GuardedArray(std::size_t n) : n_(n) {
    base_ = static_cast<char*>(mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(base_ + page, page, PROT_NONE);
  }
  ~GuardedArray() { munmap(base_, 2 * page); }
  GuardedArray(const GuardedArray&) = delete;
  GuardedArray& operator=(const GuardedArray&) = delete;
  T* data() const { return reinterpret_cast<T*>(base_ + page) - n_; }
  T& operator[](std::size_t i) const { return data()[i]; }

 private:
  static constexpr std::size_t page = 4096;
  std::size_t n_;
  char* base_;
};

// One vector of 8 lanes over n < 8 elements: a load (alt -1), the same reversed by a gather, stores; all gated by lane < n.
template <class T>
void check_masks(DType d) {
  HandProgram p("mask");
  const Id n = p.symbol("N");
  const int x = p.param("x", d, Direction::in, n);
  const int y = p.param("y", d, Direction::out, n);
  const int z = p.param("z", d, Direction::out, n);
  const Id r = p.range(p.g.index(8)), at = p.ramp(r, 8);
  const Id bound = p.op(Op::BROADCAST, DType::index, {n}, {}, 8);
  const Id gate = p.op(Op::LT, DType::boolean, {at, bound}, {}, 8);
  const Id last = p.op(Op::BROADCAST, DType::index, {p.index_op(Op::SUB, n, p.g.index(1))}, {}, 8);
  const Id back = p.op(Op::SUB, DType::index, {last, at}, {}, 8);
  const Id alt = p.g.constant(d, 1, 8);
  const Id loaded = p.load(x, at, alt, gate);
  const Id j = p.range(p.g.index(8)), scalar_gate = p.op(Op::LT, DType::boolean, {j, n});
  const Id scalar = p.load(x, j, p.g.constant(d, 1), scalar_gate);
  p.kernel({p.loop(r, p.g.sym("$begin"), p.g.sym("$end"), 8, {}, {},
                   {p.store(y, at, loaded, gate), p.store(z, back, p.load(x, back, alt, gate), gate)})},
           p.g.index(8));
  p.kernel({p.loop(j, p.g.sym("$begin"), p.g.sym("$end"), 1, {}, {}, {p.store(y, j, scalar, scalar_gate)})}, p.g.index(8));
  const Loaded l(p);
  for (std::size_t n_elements = 0; n_elements <= 8; ++n_elements) {
    const GuardedArray<T> in(n_elements), out(n_elements), reversed(n_elements);
    for (std::size_t i = 0; i < n_elements; ++i) in[i] = static_cast<T>(d == DType::boolean ? i % 2 : 3 * i + 1);
    const auto symbol = static_cast<std::int64_t>(n_elements);
    for (int kernel : {0, 1}) {
      l.run(kernel, {in.data(), out.data(), reversed.data()}, {symbol}, 0, 8);
      for (std::size_t i = 0; i < n_elements; ++i) EXPECT_EQ(out[i], in[i]) << name(d) << " kernel " << kernel << " " << i;
      std::fill_n(out.data(), n_elements, T{});
    }
    for (std::size_t i = 0; i < n_elements; ++i) EXPECT_EQ(reversed[i], in[i]) << name(d);
  }
}

TEST(CodegenKernel, MaskedLanesTouchNothing) {
  check_masks<std::uint8_t>(DType::boolean);
  check_masks<std::int8_t>(DType::i8);
  check_masks<std::uint16_t>(DType::u16);
  check_masks<std::uint16_t>(DType::f16);
  check_masks<std::uint16_t>(DType::bf16);
  check_masks<std::int32_t>(DType::i32);
  check_masks<float>(f32);
  check_masks<double>(DType::f64);
}

// x[0] is used only in an inner loop without iterations, so it must not be read.
TEST(CodegenKernel, NoLoadAboveAnEmptyLoop) {
  HandProgram p("empty");
  const Id n = p.symbol("N"), m = p.symbol("M");
  const int x = p.param("x", f32, Direction::in, m);
  const int y = p.param("y", f32, Direction::out, p.index_op(Op::MUL, n, m));
  const Id i = p.range(n), j = p.range(m), zero = p.g.index(0);
  const Id value = p.op(Op::NEG, f32, {p.load(x, zero)});
  const Id inner = p.loop(j, zero, m, 1, {}, {}, {p.store(y, p.index_op(Op::ADD, p.index_op(Op::MUL, i, m), j), value)});
  p.kernel({p.loop(i, p.g.sym("$begin"), p.g.sym("$end"), 1, {}, {}, {inner})}, n);
  const Loaded l(p);
  l.run(0, {nullptr, nullptr}, {5, 0}, 0, 5);
  std::vector<float> in{2.0f}, out(3);
  l.run(0, {in.data(), out.data()}, {3, 1}, 0, 3);
  EXPECT_EQ(out, std::vector<float>(3, -2.0f));
}

// Two stores into one buffer that both need its old contents (a swap).
TEST(CodegenKernel, InPlaceReadsComeFirst) {
  HandProgram p("swap");
  const int x = p.param("x", DType::i64, Direction::inout, p.g.index(2));
  const Id zero = p.g.index(0), one = p.g.index(1);
  p.kernel({p.store(x, zero, p.load(x, one)), p.store(x, one, p.load(x, zero))}, p.g.index(1));
  const Loaded l(p);
  std::vector<std::int64_t> v{3, 4};
  l.run(0, {v.data()}, {}, 0, 1);
  EXPECT_EQ(v, (std::vector<std::int64_t>{4, 3}));
}

HandProgram chain(int length) {
  HandProgram p("chain");
  const int x = p.param("x", f32, Direction::inout, p.g.index(9));
  const Id i = p.range(p.g.index(8)), j = p.range(p.g.index(9)), eight = p.g.index(8);
  std::vector<Id> loops;
  for (const int lanes : {8, 1}) {
    const Id r = lanes == 8 ? i : j, at = lanes == 8 ? p.ramp(r, 8) : r, c = p.g.constant(f32, 0x3f800001, lanes);
    Id v = p.load(x, at);
    for (int k = 0; k < length; ++k) v = p.op(k % 2 == 0 ? Op::MUL : Op::SUB, f32, {v, c}, {}, lanes);
    loops.push_back(p.loop(r, lanes == 8 ? p.g.sym("$begin") : eight, lanes == 8 ? eight : p.g.sym("$end"), lanes, {}, {},
                           {p.store(x, at, v)}));
  }
  p.kernel({loops[0], loops[1]}, p.g.index(9));
  return p;
}

// A long chain compiles on a thread with a small stack: Kiln does not recurse, and LLVM runs on a stack of its own.
TEST(CodegenKernel, ChainOfHundredThousand) {
  constexpr int length = 100'000;
  HandProgram p = chain(length);
  std::string object;
  const auto work = [&] { object = compile(p).object; };
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 256 * 1024);
  pthread_t thread{};
  const auto run = [](void* f) -> void* { return (*static_cast<decltype(work)*>(f))(), nullptr; };
  ASSERT_EQ(pthread_create(&thread, &attributes, run, const_cast<void*>(static_cast<const void*>(&work))), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);

  const Loaded l(object, "chain");
  std::vector<float> x{1.0f, 0.5f, -2.0f, 1e30f, 3.0f, 0.0f, 7.25f, -1.0f, 9.0f}, expected = x;
  const float c = 1.00000012f;
  for (float& v : expected)
    for (int k = 0; k < length; ++k) v = k % 2 == 0 ? v * c : v - c;
  l.run(0, {x.data()}, {}, 0, 9);
  EXPECT_EQ(x, expected);
}

}  // namespace
}  // namespace kiln::compiler::test
