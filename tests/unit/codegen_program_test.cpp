// The program description, the external functions, and the bytes.
#include <algorithm>
#include <cstddef>

#include "compiler/codegen/expression.h"
#include "compiler/ir/diagnostic.h"
#include "tests/unit/codegen_harness.h"

// The layout that this version of the ABI has: who changes it raises the version.
static_assert(KILN_ABI_VERSION == 6);
static_assert(offsetof(kiln_program_desc, name) == 24 && offsetof(kiln_program_desc, symbols) == 32);
static_assert(offsetof(kiln_program_desc, params) == 40 && offsetof(kiln_program_desc, temps) == 48);
static_assert(offsetof(kiln_program_desc, kernels) == 56 && offsetof(kiln_program_desc, workspace_bytes) == 64);
static_assert(offsetof(kiln_program_desc, loops) == 80 && offsetof(kiln_program_desc, checks) == 112 &&
              offsetof(kiln_program_desc, variant) == 120 && offsetof(kiln_program_desc, entry) == 136 &&
              sizeof(kiln_program_desc) == 144 && sizeof(kiln_variants) == 24 && sizeof(kiln_symbol_desc) == 40 &&
              sizeof(kiln_temp_desc) == 16);
static_assert(offsetof(kiln_param_desc, strides) == 16 && offsetof(kiln_param_desc, dtype) == 24 &&
              offsetof(kiln_param_desc, n_strides) == 27 && sizeof(kiln_param_desc) == 32);
static_assert(offsetof(kiln_kernel_desc, n_buffers) == 48 && sizeof(kiln_kernel_desc) == 80 && sizeof(kiln_status) == 32);

static_assert(offsetof(kiln_loop_desc, step) == 16 && offsetof(kiln_loop_desc, first_kernel) == 36 &&
              sizeof(kiln_loop_desc) == 56);

namespace {
const kiln_program_desc* called_with = nullptr;
}

extern "C" kiln_status kiln_call(const kiln_program_desc* program, const kiln_tensor* args, int32_t n_args,
                                 const kiln_context* context) {
  called_with = program;
  return {KILN_R_SHAPE, n_args, args == nullptr ? 1 : 0, context == nullptr ? 1 : 0, 1234567890123, -5};
}

extern "C" const kiln_program_desc* kiln_selected_variant(const kiln_variants* variants) { return variants->list[0]; }

namespace kiln::compiler::test {
namespace {

std::vector<std::int64_t> code(kiln_expr e) {
  std::vector<std::int64_t> words;
  while (*e != KILN_EXPR_END) {
    words.push_back(*e);
    if (*e == KILN_PUSH_CONST || *e == KILN_PUSH_SYM) words.push_back(*++e);
    ++e;
  }
  return words;
}

// y = -x through a temporary: two kernels, with symbols N and M.
HandProgram two_kernels() {
  HandProgram p("two");
  const Id n = p.symbol("N"), m = p.symbol("M");
  p.schedule.program.symbols[1] = {"M", 4, 64, 4};
  const int x = p.param("x", DType::f64, Direction::in, n);
  const int y = p.param("y", DType::f64, Direction::out, p.index_op(Op::ADD, n, p.index_op(Op::MUL, m, p.g.index(2))));
  p.schedule.buffers.push_back({DType::f64, n, -1, p.g.index(64)});
  p.schedule.workspace_bytes = p.index_op(Op::ADD, p.index_op(Op::MUL, n, p.g.index(8)), p.g.index(64));
  for (const auto& [from, to] : {std::pair{x, 2}, std::pair{2, y}}) {
    const Id r = p.range(n);
    p.kernel({p.loop(r, p.g.sym("$begin"), p.g.sym("$end"), 1, {}, {},
                     {p.store(to, r, from == x ? p.op(Op::NEG, DType::f64, {p.load(from, r)}) : p.load(from, r))})},
             n, 4);
  }
  p.schedule.kernels[1].depends_on = {0};
  return p;
}

TEST(CodegenProgram, Description) {
  HandProgram p = two_kernels();
  const Loaded l(p);
  const kiln_program_desc& d = *l.desc;
  EXPECT_EQ(d.abi_version, KILN_ABI_VERSION);
  EXPECT_STREQ(d.name, "two");
  ASSERT_EQ(d.n_symbols, 2);
  EXPECT_STREQ(d.symbols[1].name, "M");
  EXPECT_EQ(d.symbols[1].min, 4);
  EXPECT_EQ(d.symbols[1].max, 64);
  EXPECT_EQ(d.symbols[1].multiple_of, 4);
  ASSERT_EQ(d.n_params, 2);
  EXPECT_STREQ(d.params[1].name, "y");
  EXPECT_EQ(d.params[1].dtype, KILN_F64);
  EXPECT_EQ(d.params[1].direction, KILN_OUT);
  EXPECT_EQ(d.params[1].rank, 1);
  EXPECT_EQ(code(d.params[0].extents[0]), (std::vector<std::int64_t>{KILN_PUSH_SYM, 0}));
  EXPECT_EQ(code(d.params[1].extents[0]),
            (std::vector<std::int64_t>{KILN_PUSH_SYM, 1, KILN_PUSH_CONST, 2, KILN_MUL, KILN_PUSH_SYM, 0, KILN_ADD}));
  ASSERT_EQ(d.n_temps, 1);
  EXPECT_EQ(code(d.temps[0].offset), (std::vector<std::int64_t>{KILN_PUSH_CONST, 64}));
  EXPECT_EQ(code(d.temps[0].bytes), (std::vector<std::int64_t>{KILN_PUSH_SYM, 0, KILN_PUSH_CONST, 8, KILN_MUL}));
  ASSERT_EQ(d.n_kernels, 2);
  const kiln_kernel_desc& k = d.kernels[1];
  EXPECT_STREQ(k.name, "two_k1");
  ASSERT_EQ(k.n_buffers, 3);
  EXPECT_EQ(k.buffers[2], 2);
  ASSERT_EQ(k.n_depends_on, 1);
  EXPECT_EQ(k.depends_on[0], 0);
  EXPECT_EQ(d.kernels[0].depends_on, nullptr);
  EXPECT_EQ(k.alignment, 4);
  EXPECT_EQ(k.parallel, 1);
  EXPECT_EQ(code(k.trip_count), (std::vector<std::int64_t>{KILN_PUSH_SYM, 0}));
  EXPECT_EQ(code(d.workspace_bytes),
            (std::vector<std::int64_t>{KILN_PUSH_SYM, 0, KILN_PUSH_CONST, 8, KILN_MUL, KILN_PUSH_CONST, 64, KILN_ADD}));
}

// The runtime's evaluator has a stack of 64 words, so neither nesting of a long sum may need more.
TEST(CodegenProgram, LongSumsNeedLittleStack) {
  HandProgram p("sum");
  const Id n = p.symbol("N");
  Id left = n, right = n;
  for (int i = 1; i < 200; ++i) {
    left = p.index_op(Op::ADD, left, p.g.index(i));
    right = p.index_op(Op::ADD, p.g.index(i), right);
  }
  for (const Id e : {left, right, p.index_op(Op::MIN, left, right)}) {
    int depth = 0, deepest = 0;
    const std::vector<std::int64_t> words = postfix(p.g, e, SymbolIndex(p.schedule.program.symbols));
    for (std::size_t i = 0; i < words.size(); ++i) {
      const bool push = words[i] == KILN_PUSH_CONST || words[i] == KILN_PUSH_SYM;
      depth += push ? 1 : -1;
      i += push ? 1 : 0;
      deepest = std::max(deepest, depth);
    }
    EXPECT_EQ(depth, 1);
    EXPECT_LE(deepest, 4);
  }
  EXPECT_THROW(postfix(p.g, p.index_op(Op::XOR, n, n), SymbolIndex(p.schedule.program.symbols)), std::logic_error);
}

TEST(CodegenProgram, EntryPassesEverythingOn) {
  HandProgram p = two_kernels();
  const Loaded l(p);
  using Entry = kiln_status (*)(const kiln_tensor*, int32_t, const kiln_context*);
  const kiln_status s = reinterpret_cast<Entry>(l.object.symbol("two"))(nullptr, 7, nullptr);
  EXPECT_EQ(called_with, l.desc);
  EXPECT_EQ(s.code, KILN_R_SHAPE);
  EXPECT_EQ(s.param, 7);
  EXPECT_EQ(s.axis, 1);
  EXPECT_EQ(s.symbol, 1);
  EXPECT_EQ(s.expected, 1234567890123);
  EXPECT_EQ(s.got, -5);
}

TEST(CodegenProgram, OnlyTheRuntimeIsMissing) {
  HandProgram p = two_kernels();
  const Loaded l(p);
  EXPECT_EQ(l.object.undefined(), (std::vector<std::string>{"kiln_call", "kiln_selected_variant"}));
  EXPECT_EQ(l.object.defined(), (std::vector<std::string>{"two", "two_desc", "two_variants"}));
}

TEST(CodegenProgram, SameBytesAgain) {
  HandProgram p = two_kernels(), q = two_kernels();
  const CodegenOutputs all{true, true, true};
  const CodegenResult a = compile(p, all), b = compile(q, all);
  EXPECT_EQ(a.object, b.object);
  EXPECT_EQ(a.llvm_ir, b.llvm_ir);
  EXPECT_EQ(a.assembly, b.assembly);
  EXPECT_EQ(a.object, compile(p).object);
  EXPECT_NE(a.llvm_ir.find("define"), std::string::npos);
  EXPECT_NE(a.assembly.find(".note.GNU-stack"), std::string::npos);
}

// An application keeps Intel's control-flow protection only if every object has the note and the landing places.
TEST(CodegenProgram, ControlFlowProtection) {
  HandProgram p = two_kernels();
  const std::string text = compile(p, {false, false, true}).assembly;
  const std::size_t note = text.find(".note.gnu.property");
  ASSERT_NE(note, std::string::npos);
  // GNU_PROPERTY_X86_FEATURE_1_AND, 4 bytes: IBT and SHSTK.
  EXPECT_NE(text.find("\t.long\t3221225474\n\t.long\t4\n\t.long\t3\n", note), std::string::npos) << text.substr(note);
  std::size_t functions = 0, places = 0;
  for (std::size_t at = 0; (at = text.find(",@function\n", at)) != std::string::npos; ++at) ++functions;
  for (std::size_t at = 0; (at = text.find("\tendbr64\n", at)) != std::string::npos; ++at) ++places;
  EXPECT_GE(functions, 4u);  // two kernels, the entry, the description
  EXPECT_EQ(places, functions);
}

TEST(CodegenProgram, PrefixNamesTheEntry) {
  HandProgram p = two_kernels();
  const Target target;
  const CodegenVariant variant{target, p.g, p.schedule, p.lowered};
  const std::string text = generate({&variant, 1}, "my_", {false, false, true}).assembly;
  EXPECT_NE(text.find("my_two:"), std::string::npos);
  EXPECT_NE(text.find("my_two_desc:"), std::string::npos);
}

TEST(CodegenProgram, UnknownTargetIsADiagnostic) {
  HandProgram p = two_kernels();
  for (const auto& [triple, cpu] :
       {std::pair{"x86_64-unknown-linux-gnu", "no-such-cpu"}, std::pair{"no-such-machine", "generic"}}) {
    Target target;
    target.triple = triple;
    target.cpu = cpu;
    try {
      compile(p, {}, target);
      ADD_FAILURE() << triple << " " << cpu << " was accepted";
    } catch (const Diagnostic& d) {
      EXPECT_EQ(d.id(), "E-target");
      EXPECT_NE(std::string(d.what()).find(std::string("got '") + (cpu == std::string("no-such-cpu") ? cpu : triple) + "'"),
                std::string::npos)
          << d.what();
    }
  }
}

TEST(CodegenProgram, CpuLevelsByName) {
  for (const std::string& name : target_names()) EXPECT_EQ(target_named(name).name, name);
  EXPECT_EQ(target_named("x86-64-v2").vector_bytes, 16);
  EXPECT_EQ(target_named("x86-64-v3").vector_registers, 16);
  EXPECT_EQ(target_named("x86-64-v4").vector_registers, 32);
  try {
    target_named("avx2");
    ADD_FAILURE() << "avx2 was accepted";
  } catch (const Diagnostic& d) {
    EXPECT_STREQ(d.what(), "error: E-target: expected a CPU level or a CPU, got 'avx2'");
  }
}

TEST(CodegenProgram, OtherMachine) {
  HandProgram p = two_kernels();
  Target target;
  target.triple = "aarch64-unknown-linux-gnu";
  target.cpu = "cortex-a72";
  target.vector_bytes = 16;
  target.vector_registers = 32;
  EXPECT_NE(compile(p, {false, false, true}, target).assembly.find("fneg"), std::string::npos);
}

}  // namespace
}  // namespace kiln::compiler::test
