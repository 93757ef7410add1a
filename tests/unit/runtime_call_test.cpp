// Every status of kiln_call, for a description made by hand. A failed check leaves the outputs unchanged.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "runtime_program.h"

namespace {

struct Call {
  std::int64_t n = 6, m = 1;
  std::vector<float> x, w, y;
  float s = 2;
  std::vector<std::int64_t> x_extents, w_extents, y_extents, x_strides;
  std::vector<kiln_tensor> args;
  kiln_context context{};
  kiln_program_desc program = *row_sum_desc();

  explicit Call(std::int64_t rows = 6)
      : n(rows),
        x(static_cast<std::size_t>(4 * rows + 1), 1.0f),
        w(3, 0.5f),
        y(static_cast<std::size_t>(rows + 1), 7.0f),
        x_extents{rows, 4},
        w_extents{3},
        y_extents{rows},
        x_strides{4, 1} {
    args = {{x.data(), x_extents.data(), nullptr, KILN_F32, 2},
            {w.data(), w_extents.data(), nullptr, KILN_F32, 1},
            {&s, nullptr, nullptr, KILN_F32, 0},
            {y.data(), y_extents.data(), nullptr, KILN_F32, 1}};
    context.allocate = [](void*, std::size_t bytes, std::size_t alignment) {
      return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
    };
    context.release = [](void*, void* p, std::size_t) { std::free(p); };
  }

  kiln_status run() { return kiln_call(&program, args.data(), static_cast<std::int32_t>(args.size()), &context); }

  // The call must fail with `code` and `message`, and write nothing.
  void fails(int code, const std::string& message) {
    const std::vector<float> before = y;
    const kiln_status status = run();
    EXPECT_EQ(status.code, code);
    EXPECT_EQ(text(status), message);
    EXPECT_EQ(y, before);
  }

  std::string text(const kiln_status& status) const {
    std::string t(kiln_status_message(&program, status, nullptr, 0), '\0');
    kiln_status_message(&program, status, t.data(), t.size() + 1);
    return t;
  }
};

TEST(RuntimeCall, Computes) {
  for (std::int64_t n : {2, 6, 1000}) {
    Call c(n);
    EXPECT_EQ(c.run().code, KILN_OK);
    for (std::int64_t i = 0; i < n; ++i) ASSERT_EQ(c.y[static_cast<std::size_t>(i)], 8.5f);
    EXPECT_EQ(c.y.back(), 7.0f);
  }
}

TEST(RuntimeCall, ZeroSizedArgumentsMayBeNull) {
  Call c(0);
  c.args[0].data = c.args[3].data = nullptr;
  EXPECT_EQ(c.run().code, KILN_OK);
}

TEST(RuntimeCall, Abi) {
  Call c;
  c.program.abi_version = 99;
  c.fails(KILN_R_ABI, "R-abi: object and runtime disagree about the ABI version");
}

TEST(RuntimeCall, ArgumentCount) {
  Call c;
  c.args.pop_back();
  c.fails(KILN_R_ARGCOUNT, "R-argcount: program row_sum: number of arguments differs: expected 4, got 3");
}

TEST(RuntimeCall, Null) {
  Call c;
  c.args[1].data = nullptr;
  c.fails(KILN_R_NULL, "R-null: program row_sum: argument w: a pointer is null");
  Call d;
  d.args[0].extents = nullptr;
  d.fails(KILN_R_NULL, "R-null: program row_sum: argument x: a pointer is null");
  EXPECT_EQ(kiln_call(nullptr, d.args.data(), 4, nullptr).code, KILN_R_NULL);
  EXPECT_EQ(kiln_call(&d.program, nullptr, 4, nullptr).code, KILN_R_NULL);
}

TEST(RuntimeCall, DtypeAndRank) {
  Call c;
  c.args[0].dtype = KILN_BF16;
  c.fails(KILN_R_DTYPE, "R-dtype: program row_sum: argument x: element type differs: expected f32, got bf16");
  c.args[0].dtype = 1000;
  c.fails(KILN_R_DTYPE, "R-dtype: program row_sum: argument x: element type differs: expected f32, got unknown");
  Call d;
  d.args[0].rank = 1;
  d.fails(KILN_R_RANK, "R-rank: program row_sum: argument x: rank differs: expected 2, got 1");
}

TEST(RuntimeCall, Shape) {
  Call c;
  c.x_extents[1] = 5;
  c.fails(KILN_R_SHAPE, "R-shape: program row_sum: argument x axis 1: extent differs: expected 4, got 5");
  c.x_extents = {-1, 4};
  c.fails(KILN_R_SHAPE, "R-shape: program row_sum: argument x axis 0: extent differs: expected at least 0, got -1");
}

TEST(RuntimeCall, SharedExtent) {
  Call c;
  c.y_extents[0] = 4;
  c.fails(KILN_R_CONFLICT, "R-conflict: program row_sum: extent N: argument y axis 0 is 4, but argument x axis 0 gave 6");
  const kiln_status s = c.run();
  EXPECT_EQ(s.param, 3);
  EXPECT_EQ(s.axis, 0);
  EXPECT_EQ(s.symbol, 0);
  EXPECT_EQ(s.expected, 6);
  EXPECT_EQ(s.got, 4);
}

TEST(RuntimeCall, ExtentThatNoSymbolFits) {
  Call c;
  c.w_extents[0] = 2;  // 2*M + 1
  c.fails(KILN_R_CONFLICT, "R-conflict: program row_sum: extent M: argument w axis 0 is 2, but no value fits");
}

TEST(RuntimeCall, Facts) {
  Call odd(3);
  odd.fails(KILN_R_CONSTRAINT, "R-constraint: program row_sum: extent N: argument x axis 0: expected a multiple of 2, got 3");
  Call low;
  low.w_extents[0] = 1;
  low.fails(KILN_R_CONSTRAINT, "R-constraint: program row_sum: extent M: expected at least 1, got 0");
  Call high;
  high.x_extents[0] = high.y_extents[0] = std::int64_t{1} << 41;
  high.fails(KILN_R_CONSTRAINT,
             "R-constraint: program row_sum: extent N: argument x axis 0: expected at most 1099511627776, got 2199023255552");
  Call few(2);
  const kiln_symbol_desc needed[] = {{"N", 4, 9, 2, "kernels.cpp:12"}, {"M", 0, 9, 1, nullptr}};
  few.program.symbols = needed;
  few.fails(
      KILN_R_CONSTRAINT,
      "R-constraint: program row_sum: extent N: argument x axis 0: expected at least 4, got 2 (kernels.cpp:12 needs that)");
}

TEST(RuntimeCall, SizesOverflow) {
  Call c;
  const kiln_symbol_desc wide[] = {{"N", 0, INT64_MAX, 1, nullptr}, {"M", 0, INT64_MAX, 1, nullptr}};
  c.program.symbols = wide;
  c.x_extents[0] = c.y_extents[0] = std::int64_t{1} << 60;
  c.fails(KILN_R_TOOLARGE, "R-toolarge: program row_sum: argument x axis 0: a size does not fit: got 1152921504606846976");
  c.program.n_symbols = 65;
  EXPECT_EQ(c.run().code, KILN_R_TOOLARGE);
}

TEST(RuntimeCall, Strides) {
  Call c;
  c.args[0].strides = c.x_strides.data();
  EXPECT_EQ(c.run().code, KILN_OK);
  c.x_strides = {1, 6};
  c.fails(
      KILN_R_STRIDE,
      "R-stride: program row_sum: argument x axis 1: data is not dense in row-major order: stride differs: expected 1, got 6");
}

TEST(RuntimeCall, StridesOfEmptyAndSingleAxesDoNotCount) {
  Call empty(0);
  const std::int64_t odd[] = {5, 9};
  empty.args[0].strides = odd;
  EXPECT_EQ(empty.run().code, KILN_OK);
  Call one(1);
  const kiln_symbol_desc any[] = {{"N", 0, 9, 1, nullptr}, {"M", 0, 9, 1, nullptr}};
  one.program.symbols = any;
  const std::int64_t row[] = {77, 1};
  one.args[0].strides = row;
  EXPECT_EQ(one.run().code, KILN_OK);
}

TEST(RuntimeCall, Alignment) {
  Call c;
  c.args[0].data = reinterpret_cast<char*>(c.x.data()) + 2;
  c.fails(KILN_R_ALIGN, "R-align: program row_sum: argument x: data is not aligned: expected 4, got 2");
}

TEST(RuntimeCall, Aliasing) {
  Call c;
  c.args[3].data = c.x.data() + 23;  // the last float of x
  c.fails(KILN_R_ALIAS, "R-alias: program row_sum: argument y shares memory with argument x");
  c.args[3].data = c.y.data();
  c.args[1].data = c.x.data();  // two inputs may be the same memory
  EXPECT_EQ(c.run().code, KILN_OK);
}

TEST(RuntimeCall, AnEmptyOutputAliasesNothing) {
  Call c(0);
  c.args[3].data = c.w.data() + 1;
  EXPECT_EQ(c.run().code, KILN_OK);
}

TEST(RuntimeCall, Workspace) {
  Call c;
  c.context.allocate = nullptr;
  c.fails(KILN_R_OOM, "R-oom: program row_sum: no workspace of the needed size: expected 24, got 0");
  alignas(64) static char space[128];
  c.context.workspace = space + 4;
  c.context.workspace_bytes = 64;
  c.fails(KILN_R_ALIGN, "R-align: program row_sum: data is not aligned: expected 64, got 4");
  c.context.workspace = space;
  EXPECT_EQ(c.run().code, KILN_OK);
  c.args[3].data = space + 16;
  EXPECT_EQ(c.text(c.run()), "R-alias: program row_sum: argument y shares memory with the workspace");
  std::int64_t bytes = 0;
  EXPECT_EQ(kiln_workspace_bytes(&c.program, c.args.data(), 4, &bytes).code, KILN_OK);
  EXPECT_EQ(bytes, 24);
}

TEST(RuntimeCall, AllocationFails) {
  Call c;
  c.context.allocate = [](void*, std::size_t, std::size_t) -> void* { return nullptr; };
  c.fails(KILN_R_OOM, "R-oom: program row_sum: no workspace of the needed size: expected 24, got 0");
}

// Counts chunks and checks their bounds.
struct Recorder {
  kiln_executor executor;
  int calls = 0;
  std::int32_t most = 0;
};

TEST(RuntimeCall, ExecutorGetsLargeKernelsOnly) {
  Recorder r{{[](kiln_executor* self, std::int64_t n, std::int64_t alignment, std::int32_t max_chunks,
                 void (*task)(void*, std::int64_t, std::int64_t), void* data) {
                auto* rec = reinterpret_cast<Recorder*>(self);
                ++rec->calls;
                rec->most = max_chunks;
                EXPECT_EQ(alignment, 8);
                task(data, 0, 8);
                task(data, 8, n);
              },
              4}};
  Call small(1000);
  small.context.executor = &r.executor;
  EXPECT_EQ(small.run().code, KILN_OK);
  EXPECT_EQ(r.calls, 0);
  Call large(1'000'000);
  large.context.executor = &r.executor;
  EXPECT_EQ(large.run().code, KILN_OK);
  EXPECT_EQ(r.calls, 2);
  EXPECT_LE(r.most, 4 * 16);
  EXPECT_EQ(large.y[999'999], 8.5f);
}

TEST(RuntimeCall, ManyArguments) {
  const std::int64_t extent_code[] = {KILN_PUSH_CONST, 1, KILN_EXPR_END}, extent[] = {1};
  const kiln_expr extents[] = {extent_code};
  std::vector<kiln_param_desc> params(256, {"p", extents, nullptr, KILN_U8, KILN_INOUT, 1, 0, {}});
  std::vector<char> data(257);
  std::vector<kiln_tensor> args;
  for (char& c : data) args.push_back({&c, extent, nullptr, KILN_U8, 1});
  kiln_program_desc p{KILN_ABI_VERSION, 0,       256,     0,           0,       0,       "many", nullptr,
                      params.data(),    nullptr, nullptr, extent_code, nullptr, nullptr, 0,      0,
                      nullptr,          0,       0,       nullptr,     nullptr, 0,       nullptr};
  p.workspace_bytes = row_sum_desc()->kernels[2].trip_count;
  EXPECT_EQ(kiln_call(&p, args.data(), 256, nullptr).code, KILN_OK);
  p.n_params = 257;
  EXPECT_EQ(kiln_call(&p, args.data(), 257, nullptr).code, KILN_R_TOOLARGE);
}

TEST(RuntimeMessage, IsCutWithAClosingZero) {
  char text[8];
  std::memset(text, 'x', sizeof text);
  const kiln_status s{KILN_R_CPU, -1, -1, -1, -1, -1};
  EXPECT_EQ(kiln_status_message(row_sum_desc(), s, text, sizeof text),
            std::strlen("R-cpu: program row_sum: this CPU lacks what the kernel needs"));
  EXPECT_STREQ(text, "R-cpu: ");
  EXPECT_STREQ(kiln_status_name(12345), "R-unknown");
  EXPECT_STREQ(kiln_status_name(KILN_R_CONFLICT), "R-conflict");
}

// A status of another program may name a parameter that this one lacks.
TEST(RuntimeMessage, IndicesBeyondTheProgramCountAsNone) {
  char text[128];
  kiln_status_message(row_sum_desc(), {KILN_R_STRIDE, 1000000, 0, -1, 1, 2}, text, sizeof text);
  EXPECT_STREQ(text, "R-stride: program row_sum: data is not dense in row-major order: stride differs: expected 1, got 2");
  kiln_status_message(row_sum_desc(), {KILN_R_CONFLICT, 0, 0, 1000000, 1, 2}, text, sizeof text);
  EXPECT_STREQ(text, "R-conflict: program row_sum: argument x axis 0: a shared extent has two values: expected 1, got 2");
}

}  // namespace
