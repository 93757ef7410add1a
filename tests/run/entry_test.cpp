// The generated entry answers every call as kiln_call does: same status, same outputs, same use of the executor.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>

#include "compiler/ir/text.h"
#include "tests/run/compiled.h"

namespace kiln::compiler::testing {
namespace {

constexpr std::int64_t most = 40'000;

// An executor that counts and runs everything at once.
struct Counting {
  kiln_executor face{run, 4};
  int calls = 0;
  static void run(kiln_executor* self, std::int64_t n, std::int64_t, std::int32_t,
                  void (*task)(void*, std::int64_t, std::int64_t), void* data) {
    ++reinterpret_cast<Counting*>(self)->calls;
    task(data, 0, n);
  }
};

struct Call {
  std::vector<float> x = std::vector<float>(2 * most + 8, 1.5f), y = std::vector<float>(most + 8, -1.0f);
  std::vector<std::uint8_t> z = std::vector<std::uint8_t>(2 * most + 9, 77);
  float a = 2.0f;
  std::int64_t x_extents[2] = {8, 2}, y_extents[1] = {8}, z_extents[1] = {17}, x_strides[2] = {2, 1};
  kiln_tensor args[4] = {{&a, nullptr, nullptr, KILN_F32, 0},
                         {x.data(), x_extents, nullptr, KILN_F32, 2},
                         {y.data(), y_extents, nullptr, KILN_F32, 1},
                         {z.data(), z_extents, nullptr, KILN_U8, 1}};
  const kiln_tensor* given = args;
  std::int32_t n_args = 4;
  Counting counting;
  kiln_context context{&counting.face, nullptr, 0, nullptr, nullptr, nullptr};
  const kiln_context* with = nullptr;

  void size(std::int64_t n) { x_extents[0] = y_extents[0] = n, z_extents[0] = 2 * n + 1; }
};

const char* const text = R"(program entry
symbol N min 2 max 40000 multiple_of 2
in f32 [] a
in f32 [N, 2] x
out f32 [N] y
out u8 [2*N + 1] z
%0 = param a
%1 = param x
%2 = reduce %1, sum, axes [1]
%3 = mul %0, %2
store y, %3
%4 = iota u8 [2*N + 1]
store z, %4
)";

struct Case {
  const char* name;
  std::function<void(Call&)> change;
  int code;
};

const Case cases[] = {
    {"right", [](Call&) {}, KILN_OK},
    {"most", [](Call& c) { c.size(most); }, KILN_OK},
    {"least", [](Call& c) { c.size(2); }, KILN_OK},
    {"executor, little work", [](Call& c) { c.with = &c.context; }, KILN_OK},
    {"executor, much work", [](Call& c) { c.size(most), c.with = &c.context; }, KILN_OK},
    {"context without executor", [](Call& c) { c.size(most), c.context.executor = nullptr, c.with = &c.context; }, KILN_OK},
    {"dense strides", [](Call& c) { c.args[1].strides = c.x_strides; }, KILN_OK},
    {"other strides", [](Call& c) { c.x_strides[0] = 4, c.args[1].strides = c.x_strides; }, KILN_R_STRIDE},
    {"too few", [](Call& c) { c.n_args = 3; }, KILN_R_ARGCOUNT},
    {"too many", [](Call& c) { c.n_args = 5; }, KILN_R_ARGCOUNT},
    {"no arguments", [](Call& c) { c.given = nullptr; }, KILN_R_NULL},
    {"no data", [](Call& c) { c.args[1].data = nullptr; }, KILN_R_NULL},
    {"no extents", [](Call& c) { c.args[3].extents = nullptr; }, KILN_R_NULL},
    {"dtype", [](Call& c) { c.args[2].dtype = KILN_I32; }, KILN_R_DTYPE},
    {"rank", [](Call& c) { c.args[1].rank = 1; }, KILN_R_RANK},
    {"rank of a scalar", [](Call& c) { c.args[0].rank = 1; }, KILN_R_RANK},
    {"static extent", [](Call& c) { c.x_extents[1] = 3; }, KILN_R_SHAPE},
    {"negative", [](Call& c) { c.size(-2); }, KILN_R_SHAPE},
    {"two values of N", [](Call& c) { c.y_extents[0] = 10; }, KILN_R_CONFLICT},
    {"extent made of N", [](Call& c) { c.z_extents[0] = 16; }, KILN_R_CONFLICT},
    {"below min", [](Call& c) { c.size(0); }, KILN_R_CONSTRAINT},
    {"above max", [](Call& c) { c.size(most + 2); }, KILN_R_CONSTRAINT},
    {"far above max", [](Call& c) { c.size(std::int64_t{1} << 60); }, KILN_R_CONSTRAINT},
    {"not a multiple", [](Call& c) { c.size(7); }, KILN_R_CONSTRAINT},
    {"misaligned", [](Call& c) { c.args[2].data = reinterpret_cast<char*>(c.y.data()) + 1; }, KILN_R_ALIGN},
    {"output over input", [](Call& c) { c.args[2].data = c.x.data() + 15; }, KILN_R_ALIAS},
    {"output after input", [](Call& c) { c.args[2].data = c.x.data() + 16; }, KILN_OK},
    {"output before input", [](Call& c) { c.args[2].data = c.x.data(), c.args[1].data = c.x.data() + 8; }, KILN_OK},
    {"outputs overlap", [](Call& c) { c.args[3].data = c.y.data() + 7; }, KILN_R_ALIAS},
    {"inputs overlap", [](Call& c) { c.args[0].data = c.x.data() + 3; }, KILN_OK},
};

TEST(Entry, AnswersAsKilnCall) {
  Graph g;
  const Program p = read_program(g, text, "entry.kiln");
  const CompiledProgram compiled(g, p);
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Call fast, slow;
    c.change(fast), c.change(slow);
    const kiln_status got = compiled.call(std::span(fast.given, static_cast<std::size_t>(fast.n_args)), fast.with);
    const kiln_status want = kiln_call(compiled.description(), slow.given, slow.n_args, slow.with);
    EXPECT_EQ(want.code, c.code) << kiln_status_name(want.code);
    EXPECT_EQ(std::memcmp(&got, &want, sizeof got), 0)
        << kiln_status_name(got.code) << " instead of " << kiln_status_name(want.code);
    EXPECT_EQ(fast.counting.calls, slow.counting.calls);
    EXPECT_TRUE(fast.x == slow.x && fast.y == slow.y && fast.z == slow.z);
  }
}

}  // namespace
}  // namespace kiln::compiler::testing
