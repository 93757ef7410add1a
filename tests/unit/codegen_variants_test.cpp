// Several variants in one object: the table, its order, shared data, and instructions that a target lacks.
#include <algorithm>

#include "compiler/ir/diagnostic.h"
#include "tests/unit/codegen_harness.h"

namespace kiln::compiler::test {
namespace {

// y = f(x) in `lanes` lanes.
HandProgram program(Op op, DType d, int lanes) {
  HandProgram p("f");
  const Id n = p.symbol("N");
  const int x = p.param("x", d, Direction::in, n), y = p.param("y", d, Direction::out, n);
  const Id i = p.range(n), from = p.load(x, p.ramp(i, lanes));
  const Id value = op == Op::FMA ? p.op(op, d, {from, from, from}, {}, lanes) : p.op(op, d, {from}, {}, lanes);
  p.kernel({p.loop(i, p.g.sym("$begin"), p.g.sym("$end"), lanes, {}, {}, {p.store(y, p.ramp(i, lanes), value)})}, n, lanes);
  return p;
}

CodegenResult both(HandProgram& a, const Target& first, HandProgram& b, const Target& second, CodegenOutputs outputs = {}) {
  const CodegenVariant variants[] = {{first, a.g, a.schedule, a.lowered}, {second, b.g, b.schedule, b.lowered}};
  return generate(variants, "", outputs);
}

const Target v2 = target_named("x86-64-v2"), v3 = target_named("x86-64-v3"), v4 = target_named("x86-64-v4");

const kiln_variants& table_of(const testing::LoadedObject& o) {
  return *reinterpret_cast<const kiln_variants* (*)()>(o.symbol("f_variants"))();
}

TEST(CodegenVariants, TheTableHasThemAll) {
  HandProgram a = program(Op::NEG, DType::f32, 16), b = program(Op::NEG, DType::f32, 4);
  const testing::LoadedObject o(both(a, v4, b, v2).object);
  const kiln_variants& t = table_of(o);
  EXPECT_EQ(t.abi_version, KILN_ABI_VERSION);
  ASSERT_EQ(t.n, 2);
  EXPECT_STREQ(t.list[0]->variant, "x86-64-v4");
  EXPECT_STREQ(t.list[1]->variant, "x86-64-v2");
  EXPECT_EQ(t.list[0]->cpu_sets, v4.cpu_sets);
  EXPECT_EQ(t.list[1]->cpu_sets, v2.cpu_sets);
  EXPECT_EQ(t.list[0]->kernels[0].alignment, 16);
  EXPECT_EQ(t.list[1]->kernels[0].alignment, 4);
  EXPECT_EQ(*t.selected, nullptr);
  EXPECT_NE(t.list[0]->kernels[0].fn, t.list[1]->kernels[0].fn);
}

TEST(CodegenVariants, ShareWhatIsTheSame) {
  HandProgram a = program(Op::NEG, DType::f32, 16), b = program(Op::NEG, DType::f32, 4);
  const testing::LoadedObject o(both(a, v4, b, v2).object);
  const kiln_variants& t = table_of(o);
  EXPECT_EQ(t.list[0]->params, t.list[1]->params);
  EXPECT_EQ(t.list[0]->symbols, t.list[1]->symbols);
  EXPECT_EQ(t.list[0]->name, t.list[1]->name);
}

// What runs before the selection has no vector registers beyond SSE.
TEST(CodegenVariants, TheDispatchIsForAnyCpu) {
  HandProgram a = program(Op::NEG, DType::f32, 16), b = program(Op::NEG, DType::f32, 8);
  const std::string text = both(a, v4, b, v3, {false, true, false}).llvm_ir;
  for (const char* name : {"@f(", "@f_desc(", "@f_variants("}) {
    const std::size_t at = text.find(std::string(name)), number = text.find(" #", at) + 2;
    ASSERT_NE(at, std::string::npos) << name;
    const std::size_t group = text.find("attributes #" + text.substr(number, text.find(' ', number) - number) + " =");
    ASSERT_NE(group, std::string::npos);
    EXPECT_EQ(text.substr(group, text.find('\n', group) - group).find("target-cpu"), std::string::npos) << name;
  }
}

// An application that asked for the workspace may force any variant afterwards.
TEST(CodegenVariants, TheWorkspaceSufficesForEach) {
  HandProgram a = program(Op::NEG, DType::f32, 16), b = program(Op::NEG, DType::f32, 8);
  a.schedule.workspace_bytes = a.index_op(Op::MUL, a.g.sym("N"), a.g.index(64));
  b.schedule.workspace_bytes = b.g.index(4096);
  const testing::LoadedObject o(both(a, v4, b, v3).object);
  const kiln_variants& t = table_of(o);
  const std::int64_t most[] = {KILN_PUSH_SYM, 0, KILN_PUSH_CONST, 64, KILN_MUL, KILN_PUSH_CONST, 4096, KILN_MAX, KILN_EXPR_END};
  for (int i = 0; i < t.n; ++i) EXPECT_TRUE(std::equal(std::begin(most), std::end(most), t.list[i]->workspace_bytes)) << i;
}

TEST(CodegenVariants, ATargetWithoutFma) {
  const auto text = [](HandProgram p) -> std::string {
    try {
      compile(p, {}, v2);
    } catch (const Diagnostic& d) {
      return d.what();
    }
    return "accepted";
  };
  EXPECT_EQ(text(program(Op::FMA, DType::f32, 4)),
            "error: E-target: expected a variant whose CPU has fma, of which this operation consists, got x86-64-v2");
  EXPECT_EQ(text(program(Op::FMA, DType::i32, 4)), "accepted");
  EXPECT_EQ(text(program(Op::SQRT, DType::f16, 8)), "accepted");
}

TEST(CodegenVariants, NamesOfTargets) {
  EXPECT_EQ(target_names(), (std::vector<std::string>{"x86-64-v2", "x86-64-v3", "haswell", "x86-64-v4", "skylake-server",
                                                      "znver4", "sapphirerapids"}));
  const std::vector<std::string> mixed = {"x86-64-v3", "znver4", "x86-64-v2", "x86-64-v3"};
  std::string sorted;
  for (const Target& t : targets_named(mixed)) sorted += t.name + " ";
  EXPECT_EQ(sorted, "znver4 x86-64-v3 x86-64-v2 ");
  EXPECT_THROW(targets_named(std::vector<std::string>{"x86-64-v3", "avx2"}), Diagnostic);
  EXPECT_EQ(target_named("znver4").features, "+avx512vbmi,+avx512vbmi2,+avx512vnni,+avx512bitalg,+avx512vpopcntdq");
}

// LLVM knows every name that this folder hands to it.
TEST(CodegenVariants, EveryTargetCompiles) {
  std::vector<Target> targets = targets_named(target_names());
  HandProgram p = program(Op::NEG, DType::f32, 16);
  std::vector<CodegenVariant> variants;
  for (const Target& t : targets) variants.push_back({t, p.g, p.schedule, p.lowered});
  ::testing::internal::CaptureStderr();
  const testing::LoadedObject o(generate(variants, "").object);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "") << "LLVM warns of a CPU or a feature";
  EXPECT_EQ(table_of(o).n, 7);
}

}  // namespace
}  // namespace kiln::compiler::test
