// Programs give the same results in every floating-point environment of the caller and of the pool. A call leaves the caller's
// environment as it was, with its status flags, and raises no signal if exceptions are unmasked.
#include <gtest/gtest.h>
#include <xmmintrin.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <thread>

#include "compiler/interp/interpret.h"
#include "compiler/ir/text.h"
#include "kiln/pool.h"
#include "tests/run/array_of_elements.h"
#include "tests/run/compiled.h"

namespace kiln::compiler::testing {
namespace {

struct Environment {
  const char* name;
  unsigned mxcsr;
};
constexpr Environment default_environment{"default", 0x1f80};
constexpr Environment environments[] = {default_environment,     {"upward", 0x5f80},           {"downward", 0x3f80},
                                        {"toward zero", 0x7f80}, {"flush to zero", 0x9f80},    {"denormals are zeros", 0x1fc0},
                                        {"unmasked", 0x0000},    {"every flag raised", 0x1fbf}};

constexpr std::int64_t n = 30'011;  // more than one chunk

// An operation on one f32 operand, which is node 0.
std::string unary(const std::string& name, const std::string& nodes, const std::string& type = "f32") {
  return "program " + name + "\nin f32 [N] x\nout " + type + " [N] y\n%0 = param x\n" + nodes + "store y, %1\n";
}

std::string binary(const std::string& name, const std::string& type, const std::string& node) {
  return "program " + name + "\nin " + type + " [N] a\nin " + type + " [N] b\ninout " + type +
         " [N] y\n%0 = param a\n%1 = param b\n%2 = param y\n%3 = " + node + "\nstore y, %3\n";
}

const std::string programs[] = {
    binary("add", "f32", "add %0, %1"),
    binary("mul", "f32", "mul %0, %1"),
    binary("divide", "f32", "fdiv %0, %1"),
    binary("multiply_add", "f64", "fma %0, %1, %2"),
    binary("power", "f32", "pow %0, %1"),
    binary("half", "f16", "mul %0, %1"),
    binary("brain", "bf16", "add %0, %1"),
    binary("least", "f32", "min %0, %1"),
    binary("difference", "f64", "sub %0, %1"),
    unary("root", "%1 = sqrt %0\n"),
    unary("inverse_root", "%1 = rsqrt %0\n"),
    unary("exponential", "%1 = exp %0\n"),
    unary("logarithm", "%1 = log %0\n"),
    unary("sine", "%1 = sin %0\n"),
    unary("tangent", "%1 = tanh %0\n"),
    unary("error", "%1 = erf %0\n"),
    unary("nearest", "%1 = round %0\n"),
    unary("to_half", "%1 = cast f16 %0\n", "f16"),
    unary("to_int", "%1 = cast i32 %0\n", "i32"),
    unary("below", "%2 = const f32 0\n%1 = lt %2, %0\n", "bool"),
    "program to_single\nin f64 [N] x\nin i64 [N] i\nout f32 [N] y\nout f32 [N] z\n%0 = param x\n%1 = param i\n"
    "%2 = cast f32 %0\n%3 = cast f32 %1\nstore y, %2\nstore z, %3\n",
    "program total\nin f32 [N] x\nin f16 [8, N] h\nout f32 [] y\nout f16 [N] z\n%0 = param x\n%1 = param h\n"
    "%2 = reduce %0, sum, axes [0]\n%3 = reduce %1, sum, axes [0]\nstore y, %2\nstore z, %3\n",
    "program product\nin f32 [N, 12] a\nin f32 [12, 16] b\nout f32 [N, 16] c\n%0 = param a\n%1 = param b\n"
    "%2 = reshape [N, 1, 12] %0\n%3 = permute %1, axes [1, 0]\n%4 = reshape [1, 16, 12] %3\n%5 = expand [N, 16, 12] %2\n"
    "%6 = expand [N, 16, 12] %4\n%7 = reduce %5, %6, fma, axes [2]\nstore c, %7\n",
    "program softmax\nin f32 [N, 10] x\nout f32 [N, 10] y\n%0 = param x\n%1 = reduce %0, max, axes [1]\n"
    "%2 = reshape [N, 1] %1\n%3 = sub %0, %2\n%4 = exp %3\n%5 = reduce %4, sum, axes [1]\n%6 = reshape [N, 1] %5\n"
    "%7 = fdiv %4, %6\nstore y, %7\n",
    // Three kernels. The second one is in a loop, which carries the first one's result in temporary memory.
    "program iterations\nin f32 [N] x\nout f32 [N] y\n%0 = param x\n%1 = mul %0, %0\n%2 = stage %1\n%3 = range (3), id 0\n"
    "%4 = carry %3, %2, slot 0\n%5 = const f32 0.1\n%6 = fma %4, %5, %0\n%7 = for %3, (0), (3), %2, %6\n"
    "%8 = get %7, slot 0\n%9 = sqrt %8\nstore y, %9\n",
};

std::vector<Array> arguments_for(const Graph& g, const Program& p) {
  std::mt19937 random(7);
  const auto element = [&] {
    const double special[] = {0.0, -0.0, INFINITY, -INFINITY, NAN, 1e-42, -3e-40, 1e-310, 65504, 1e38, -1e300};
    const double ordinary = static_cast<double>(static_cast<std::int32_t>(random())) * 1e-9;
    return random() % 12 == 0 ? special[random() % std::size(special)] : ordinary;
  };
  std::vector<Array> out;
  for (const Parameter& q : p.params) {
    std::vector<std::int64_t> extents;
    for (const Id e : q.extents) extents.push_back(g.is_const(e) ? g.arg(e, 0) : n);
    out.push_back(array_of_elements(q.dtype, std::move(extents), element));
  }
  return out;
}

// Runs each chunk on a thread of its own, with an environment of its own.
struct Threads {
  kiln_executor face{run, 2};
  unsigned mxcsr;
  static void run(kiln_executor* self, std::int64_t count, std::int64_t alignment, std::int32_t,
                  void (*task)(void*, std::int64_t, std::int64_t), void* data) {
    const unsigned environment = reinterpret_cast<Threads*>(self)->mxcsr;
    const std::int64_t half = count / 2 / alignment * alignment;
    const auto part = [=](std::int64_t begin, std::int64_t end) {
      _mm_setcsr(environment);
      task(data, begin, end);
      EXPECT_EQ(_mm_getcsr(), environment);
      _mm_setcsr(default_environment.mxcsr);
    };
    std::thread first(part, 0, half), second(part, half, count);
    first.join(), second.join();
  }
};

class Calls {
 public:
  explicit Calls(const std::string& text)
      : program_(read_program(graph_, text, "environment.kiln")),
        compiled_(graph_, program_),
        arguments_(arguments_for(graph_, program_)) {
    expected_ = interpret(graph_, program_, arguments_);
  }

  enum Way { entry, general };
  void run(Way way, kiln_executor* executor, unsigned mxcsr) const {
    std::vector<Array> data = arguments_;
    std::vector<kiln_tensor> args;
    for (Array& a : data)
      args.push_back({a.data.data(), a.extents.data(), nullptr, static_cast<std::int32_t>(a.dtype),
                      static_cast<std::int32_t>(a.extents.size())});
    const kiln_context context{
        executor,
        nullptr,
        0,
        [](void*, std::size_t size, std::size_t) { return std::aligned_alloc(64, (size + 63) / 64 * 64); },
        [](void*, void* p, std::size_t) { std::free(p); },
        nullptr};
    _mm_setcsr(mxcsr);
    const kiln_status s =
        way == entry ? compiled_.call(args, &context)
                     : kiln_call(compiled_.description(), args.data(), static_cast<std::int32_t>(args.size()), &context);
    const unsigned after = _mm_getcsr();
    _mm_setcsr(default_environment.mxcsr);
    EXPECT_EQ(s.code, KILN_OK);
    EXPECT_EQ(after, mxcsr);
    for (std::size_t i = 0; i < data.size(); ++i)
      if (program_.params[i].direction != Direction::in) {
        EXPECT_EQ(difference(expected_[i], data[i]), "") << program_.params[i].name;
      }
  }

  const std::string& name() const { return program_.name; }

 private:
  Graph graph_;
  Program program_;
  CompiledProgram compiled_;
  std::vector<Array> arguments_, expected_;
};

std::unique_ptr<pool> pool_made_in(const Environment& e) {
  _mm_setcsr(e.mxcsr);
  auto made = std::make_unique<pool>(3);
  _mm_setcsr(default_environment.mxcsr);
  return made;
}

TEST(FloatEnvironment, OfCallerAndPoolDoesNotMatter) {
  std::vector<std::unique_ptr<pool>> pools;
  for (const Environment& e : environments) pools.push_back(pool_made_in(e));
  for (const std::string& text : programs) {
    const Calls calls(text);
    SCOPED_TRACE(calls.name());
    for (const Environment& caller : environments) {
      SCOPED_TRACE(caller.name);
      calls.run(Calls::entry, nullptr, caller.mxcsr);
      calls.run(Calls::general, nullptr, caller.mxcsr);
      for (std::size_t maker = 0; maker < pools.size(); ++maker) {
        SCOPED_TRACE(std::string("pool made in: ") + environments[maker].name);
        calls.run(Calls::entry, pools[maker]->executor(), caller.mxcsr);
      }
      Threads own{.mxcsr = caller.mxcsr};
      calls.run(Calls::entry, &own.face, default_environment.mxcsr);
    }
  }
}

// In a small call the entry runs the kernels itself.
TEST(FloatEnvironment, OfSmallCalls) {
  Graph g;
  const Program p = read_program(g, programs[0], "environment.kiln");
  const CompiledProgram compiled(g, p);
  for (const Environment& e : environments) {
    SCOPED_TRACE(e.name);
    float a = 1, b = 1e-10f, y = 0;
    const std::int64_t one = 1;
    const kiln_tensor args[] = {
        {&a, &one, nullptr, KILN_F32, 1}, {&b, &one, nullptr, KILN_F32, 1}, {&y, &one, nullptr, KILN_F32, 1}};
    _mm_setcsr(e.mxcsr);
    const kiln_status s = compiled.call(args, nullptr);
    const unsigned after = _mm_getcsr();
    _mm_setcsr(default_environment.mxcsr);
    EXPECT_EQ(s.code, KILN_OK);
    EXPECT_EQ(after, e.mxcsr);
    EXPECT_EQ(y, 1.0f);
  }
}

// A refused call does not change the environment either.
TEST(FloatEnvironment, OfRefusedCalls) {
  Graph g;
  const Program p = read_program(g, programs[0], "environment.kiln");
  const CompiledProgram compiled(g, p);
  for (const Environment& e : environments) {
    _mm_setcsr(e.mxcsr);
    const kiln_status s = compiled.call({}, nullptr);
    const unsigned after = _mm_getcsr();
    _mm_setcsr(default_environment.mxcsr);
    EXPECT_EQ(s.code, KILN_R_ARGCOUNT);
    EXPECT_EQ(after, e.mxcsr);
  }
}

}  // namespace
}  // namespace kiln::compiler::testing
