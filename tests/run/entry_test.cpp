// The generated entry answers every call as kiln_call does: same status, same outputs, same use of the executor.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <functional>

#include "compiler/ir/text.h"
#include "tests/run/compiled.h"

namespace kiln::compiler::testing {
namespace {

constexpr std::int64_t most = 40'000;

// An executor that counts, and runs everything immediately.
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

// Arguments with strides of the caller: x and y are pitched, z is strided.
struct StridedCall {
  std::vector<float> x = std::vector<float>(4000, 1.5f), y = std::vector<float>(4000, -1.0f);
  std::vector<std::int16_t> z = std::vector<std::int16_t>(4000, 7);
  std::int64_t x_extents[2] = {4, 5}, y_extents[2] = {4, 5}, z_extents[1] = {5};
  std::int64_t x_strides[2] = {8, 1}, y_strides[2] = {7, 1}, z_strides[1] = {-3};
  kiln_tensor args[3] = {{x.data() + 1000, x_extents, x_strides, KILN_F32, 2},
                         {y.data() + 1000, y_extents, y_strides, KILN_F32, 2},
                         {z.data() + 1000, z_extents, z_strides, KILN_I16, 1}};
  void size(std::int64_t h, std::int64_t w) {
    x_extents[0] = y_extents[0] = h;
    x_extents[1] = y_extents[1] = z_extents[0] = w;
  }
};

const char* const strided_text = R"(program strided_entry
in f32 [H, W] pitched x
out f32 [H, W] pitched y
inout i16 [W] strided z
%0 = param x
%1 = add %0, %0
store y, %1
%2 = param z
%3 = add %2, %2
store z, %3
)";

struct StridedCase {
  const char* name;
  std::function<void(StridedCall&)> change;
  int code;
  const char* message = "";
};

constexpr std::int64_t huge = std::int64_t{1} << 62;
const StridedCase strided_cases[] = {
    {"right", [](StridedCall&) {}, KILN_OK},
    {"no strides: dense", [](StridedCall& c) { c.args[0].strides = c.args[1].strides = c.args[2].strides = nullptr; }, KILN_OK},
    {"the same row again and again", [](StridedCall& c) { c.x_strides[0] = 0; }, KILN_OK},
    {"rows overlap in an input", [](StridedCall& c) { c.x_strides[0] = 1; }, KILN_OK},
    {"upside down", [](StridedCall& c) { c.x_strides[0] = -8, c.y_strides[0] = -7; }, KILN_OK},
    {"rows of an output side by side", [](StridedCall& c) { c.y_strides[0] = 5; }, KILN_OK},
    {"rows of an output overlap", [](StridedCall& c) { c.y_strides[0] = 4; }, KILN_R_STRIDE,
     "R-stride: program strided_entry: argument y axis 0: elements of a written argument share memory: stride is too small: "
     "expected 5, got 4"},
    {"and backwards", [](StridedCall& c) { c.y_strides[0] = -4; }, KILN_R_STRIDE,
     "R-stride: program strided_entry: argument y axis 0: elements of a written argument share memory: stride is too small: "
     "expected 5, got -4"},
    {"one row for all of an output", [](StridedCall& c) { c.y_strides[0] = 0; }, KILN_R_STRIDE,
     "R-stride: program strided_entry: argument y axis 0: elements of a written argument share memory: stride is too small: "
     "expected 5, got 0"},
    {"one element for all of an inout", [](StridedCall& c) { c.z_strides[0] = 0; }, KILN_R_STRIDE,
     "R-stride: program strided_entry: argument z axis 0: elements of a written argument share memory: stride is too small: "
     "expected 1, got 0"},
    {"inner axis of a pitched input", [](StridedCall& c) { c.x_strides[1] = 2; }, KILN_R_STRIDE,
     "R-stride: program strided_entry: argument x axis 1: data is not dense in row-major order: stride differs: expected 1, "
     "got "
     "2"},
    {"inner axis of a pitched output", [](StridedCall& c) { c.y_strides[1] = -1; }, KILN_R_STRIDE,
     "R-stride: program strided_entry: argument y axis 1: data is not dense in row-major order: stride differs: expected 1, "
     "got "
     "-1"},
    {"one column", [](StridedCall& c) { c.size(4, 1), c.y_strides[0] = 1, c.x_strides[1] = c.y_strides[1] = 99; }, KILN_OK},
    {"one row", [](StridedCall& c) { c.size(1, 5), c.x_strides[0] = INT64_MIN, c.y_strides[0] = 0; }, KILN_OK},
    {"one element", [](StridedCall& c) { c.size(1, 1), c.x_strides[0] = c.z_strides[0] = INT64_MAX; }, KILN_OK},
    {"no rows", [](StridedCall& c) { c.size(0, 5), c.x_strides[0] = huge, c.y_strides[0] = 0; }, KILN_OK},
    {"no columns", [](StridedCall& c) { c.size(4, 0), c.x_strides[0] = huge, c.y_strides[0] = 0, c.z_strides[0] = 0; },
     KILN_OK},
    {"a stride that no address holds", [](StridedCall& c) { c.x_strides[0] = huge; }, KILN_R_TOOLARGE,
     "R-toolarge: program strided_entry: argument x axis 0: a size does not fit: got 4611686018427387904"},
    {"and backwards without end", [](StridedCall& c) { c.z_strides[0] = INT64_MIN; }, KILN_R_TOOLARGE,
     "R-toolarge: program strided_entry: argument z axis 0: a size does not fit"},
    {"an address below zero", [](StridedCall& c) { c.x_strides[0] = -(std::int64_t{1} << 40), c.size(1 << 21, 1); },
     KILN_R_TOOLARGE, "R-toolarge: program strided_entry: argument x: a size does not fit"},
    {"an output in the span of an input", [](StridedCall& c) { c.args[1].data = c.x.data() + 1003; }, KILN_R_ALIAS,
     "R-alias: program strided_entry: argument y shares memory with argument x"},
    {"an output behind the last element of an input", [](StridedCall& c) { c.args[1].data = c.x.data() + 1000 + 3 * 8 + 5; },
     KILN_OK},
    {"at the last element of an input", [](StridedCall& c) { c.args[1].data = c.x.data() + 1000 + 3 * 8 + 4; }, KILN_R_ALIAS},
    {"an input upside down behind an output",
     [](StridedCall& c) { c.x_strides[0] = -8, c.args[1].data = c.x.data() + 1005, c.args[0].data = c.x.data() + 1000; },
     KILN_OK},
    {"an input upside down in an output",
     [](StridedCall& c) { c.x_strides[0] = -8, c.args[1].data = c.x.data() + 998, c.args[0].data = c.x.data() + 1000; },
     KILN_R_ALIAS},
};

TEST(Entry, AnswersCallsWithStridesAsKilnCall) {
  Graph g;
  const Program p = read_program(g, strided_text, "strided_entry.kiln");
  const CompiledProgram compiled(g, p);
  for (const StridedCase& c : strided_cases) {
    SCOPED_TRACE(c.name);
    StridedCall fast, slow;
    c.change(fast), c.change(slow);
    const kiln_status got = compiled.call(fast.args, nullptr);
    const kiln_status want = kiln_call(compiled.description(), slow.args, 3, nullptr);
    EXPECT_EQ(want.code, c.code) << kiln_status_name(want.code);
    EXPECT_EQ(std::memcmp(&got, &want, sizeof got), 0)
        << kiln_status_name(got.code) << " instead of " << kiln_status_name(want.code);
    EXPECT_TRUE(fast.x == slow.x && fast.y == slow.y && fast.z == slow.z);
    char said[300];
    kiln_status_message(compiled.description(), want, said, sizeof said);
    EXPECT_TRUE(c.message[0] == 0 || std::string(said) == c.message) << said;
    EXPECT_TRUE(c.code == KILN_OK || (fast.y == StridedCall().y && fast.z == StridedCall().z));
  }
}

// A softmax, whose rows need a workspace.
const char* const workspace_text = R"(program workspace_entry
in f32 [N, 40] x
out f32 [N, 40] y
%0 = param x
%1 = reduce %0, max, axes [1]
%2 = reshape [N, 1] %1
%3 = sub %0, %2
%4 = exp %3
%5 = reduce %4, sum, axes [1]
%6 = reshape [N, 1] %5
%7 = fdiv %4, %6
store y, %7
)";

// An allocator that counts its allocations and releases.
struct CountingMemory {
  alignas(64) std::array<char, 65536> memory{};
  std::size_t shift = 0;  // from an aligned address
  int given = 0, returned = 0;
  static void* allocate(void* user, std::size_t bytes, std::size_t) {
    auto* own = static_cast<CountingMemory*>(user);
    if (own->shift + bytes > own->memory.size()) return nullptr;
    ++own->given;
    return own->memory.data() + own->shift;
  }
  static void release(void* user, void*, std::size_t) { ++static_cast<CountingMemory*>(user)->returned; }
};

struct WorkspaceCall {
  std::vector<float> x = std::vector<float>(400, 1.5f), y = std::vector<float>(400, -1.0f);
  std::int64_t extents[2] = {10, 40};
  kiln_tensor args[2] = {{x.data(), extents, nullptr, KILN_F32, 2}, {y.data(), extents, nullptr, KILN_F32, 2}};
  CountingMemory own, lent;
  kiln_context context{nullptr, own.memory.data(), 65536, CountingMemory::allocate, CountingMemory::release, &lent};
  bool has_context = true;
};

struct WorkspaceCase {
  const char* name;
  std::function<void(WorkspaceCall&)> change;
  int code;
};

const WorkspaceCase workspace_cases[] = {
    {"workspace of the context", [](WorkspaceCall&) {}, KILN_OK},
    {"too small", [](WorkspaceCall& c) { c.context.workspace_bytes = 16; }, KILN_OK},
    {"none", [](WorkspaceCall& c) { c.context.workspace = nullptr; }, KILN_OK},
    {"no rows", [](WorkspaceCall& c) { c.extents[0] = 0, c.context.workspace = nullptr; }, KILN_OK},
    {"memory is not taken back", [](WorkspaceCall& c) { c.context.workspace = nullptr, c.context.release = nullptr; }, KILN_OK},
    {"no allocator", [](WorkspaceCall& c) { c.context.workspace = nullptr, c.context.allocate = nullptr; }, KILN_R_OOM},
    {"no context", [](WorkspaceCall& c) { c.has_context = false; }, KILN_R_OOM},
    {"no memory left", [](WorkspaceCall& c) { c.context.workspace = nullptr, c.lent.shift = 65536; }, KILN_R_OOM},
    {"misaligned", [](WorkspaceCall& c) { c.context.workspace = c.own.memory.data() + 4, c.context.workspace_bytes -= 4; },
     KILN_R_ALIGN},
    {"misaligned memory of the allocator", [](WorkspaceCall& c) { c.context.workspace = nullptr, c.lent.shift = 4; },
     KILN_R_ALIGN},
    {"over an argument", [](WorkspaceCall& c) { c.args[1].data = c.own.memory.data() + 64; }, KILN_R_ALIAS},
};

TEST(Entry, AnswersCallsWithAWorkspaceAsKilnCall) {
  Graph g;
  const Program p = read_program(g, workspace_text, "workspace_entry.kiln");
  const CompiledProgram compiled(g, p);
  for (const WorkspaceCase& c : workspace_cases) {
    SCOPED_TRACE(c.name);
    WorkspaceCall fast, slow;
    c.change(fast), c.change(slow);
    const kiln_status got = compiled.call(fast.args, fast.has_context ? &fast.context : nullptr);
    const kiln_status want = kiln_call(compiled.description(), slow.args, 2, slow.has_context ? &slow.context : nullptr);
    EXPECT_EQ(want.code, c.code) << kiln_status_name(want.code);
    EXPECT_EQ(std::memcmp(&got, &want, sizeof got), 0)
        << kiln_status_name(got.code) << " instead of " << kiln_status_name(want.code);
    EXPECT_EQ(fast.lent.given == 0, slow.lent.given == 0);
    EXPECT_EQ(fast.lent.returned, fast.context.release == nullptr ? 0 : fast.lent.given);
    EXPECT_EQ(fast.y, slow.y);
  }
}

}  // namespace
}  // namespace kiln::compiler::testing
