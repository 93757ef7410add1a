#include <gtest/gtest.h>
#include <sys/resource.h>

#include <pthread.h>

#include <string>
#include <vector>

#include "compiler/ir/builder.h"
#include "compiler/ir/diagnostic.h"
#include "compiler/ir/literal.h"
#include "compiler/ir/text.h"
#include "compiler/ir/text_index.h"
#include "compiler/ir/verify.h"

using namespace kiln::compiler;

namespace {

constexpr TextOptions plain{.locations = false};

std::string structure(Graph& g, const Program& p) { return write_program(g, p, plain); }

// Text -> program -> text gives the same text, and the sinks have the same hash.
void expect_round_trip(const std::string& text) {
  Graph g1, g2;
  const Program p1 = read_program(g1, text);
  verify(g1, p1);
  const std::string once = structure(g1, p1);
  const Program p2 = read_program(g2, once);
  verify(g2, p2);
  EXPECT_EQ(structure(g2, p2), once);
  EXPECT_EQ(g1[p1.sink].hash, g2[p2.sink].hash) << once;
}

std::string error_of(const std::string& text) {
  Graph g;
  try {
    read_program(g, text, "t.kiln");
  } catch (const Diagnostic& d) {
    return d.what();
  }
  return "";
}

}  // namespace

TEST(Literal, RoundTrip) {
  std::uint64_t state = 1;
  for (DType d :
       {DType::f16, DType::bf16, DType::f32, DType::f64, DType::i8, DType::u8, DType::i64, DType::u64, DType::boolean})
    for (int i = 0; i < 4000; ++i) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      std::uint64_t v = state >> 7 ^ state << 40;
      if (d == DType::boolean) v &= 1;
      if (bits(d) < 64) v &= (std::uint64_t{1} << bits(d)) - 1;
      if (d == DType::i8) v = static_cast<std::uint64_t>(static_cast<std::int8_t>(v));
      const std::string text = literal_text(d, v);
      const auto back = literal_bits(d, text);
      ASSERT_TRUE(back) << name(d) << " " << text;
      EXPECT_EQ(*back, v) << name(d) << " " << text;
    }
  for (std::uint64_t v = 0; v < 65536; ++v) {
    ASSERT_EQ(literal_bits(DType::f16, literal_text(DType::f16, v)), v);
    ASSERT_EQ(literal_bits(DType::bf16, literal_text(DType::bf16, v)), v);
  }
}

TEST(Literal, Forms) {
  EXPECT_EQ(literal_bits(DType::f32, "0x1.8p+1"), 0x40400000u);
  EXPECT_EQ(literal_bits(DType::f32, "-inf"), 0xff800000u);
  EXPECT_EQ(literal_bits(DType::f32, "nan"), 0x7fc00000u);
  EXPECT_EQ(literal_bits(DType::f32, "-0"), 0x80000000u);
  EXPECT_EQ(literal_bits(DType::f16, "0.1"), 0x2e66u);
  EXPECT_EQ(literal_text(DType::f32, 0x3dcccccd), "0.1");
  EXPECT_FALSE(literal_bits(DType::f16, "70000"));
  EXPECT_FALSE(literal_bits(DType::f32, "1e39"));
  EXPECT_FALSE(literal_bits(DType::u8, "256"));
  EXPECT_FALSE(literal_bits(DType::u8, "-1"));
  EXPECT_EQ(literal_bits(DType::i8, "-128"), static_cast<std::uint64_t>(-128));
  EXPECT_FALSE(literal_bits(DType::i8, "128"));
  EXPECT_FALSE(literal_bits(DType::boolean, "1"));
}

TEST(Text, EveryTensorOperation) {
  std::string text = R"(program all
symbol N min 4 needed_at "k.cpp:7" max 100000 multiple_of 2
symbol M
in f32 [N, 8] x
in i32 [N, 8] i
in bool [N, 8] c
in f32 [] s
in f32 [M] m
)";
  int n = 10, outs = 0;
  std::string decls, stores;
  const auto add = [&](const std::string& op, const std::string& type, const std::string& shape, const std::string& rest) {
    text += "%" + std::to_string(n) + " = " + op + " " + type + " " + shape + " " + rest + "\n";
    decls += "out " + type + " " + shape + " o" + std::to_string(outs) + "\n";
    stores += "store o" + std::to_string(outs++) + ", %" + std::to_string(n++) + "\n";
  };
  text += "%0 = param x\n%1 = param i\n%2 = param c\n%3 = param s\n%4 = param m\n";
  for (int k = 0; k <= static_cast<int>(Op::FMA); ++k) {
    const Op op = static_cast<Op>(k);
    if (!is_elementwise(op) || levels(op).find('T') == std::string_view::npos) continue;
    const auto classes = operand_classes(op);
    const bool floats = classes.find('F') != std::string_view::npos;
    const std::string a = floats ? "%0" : "%1", type = floats ? "f32" : "i32";
    std::string operands = a;
    for (int j = 1; j < arity(op); ++j) operands += ", " + a;
    if (op == Op::WHERE) operands = "%2, %0, %3";
    const std::string result = is_comparison(op) ? "bool" : op == Op::CAST ? "bf16" : op == Op::BITCAST ? "u32" : type;
    add(std::string(name(op)), result, "[N, 8]", operands);
  }
  add("reshape", "f32", "[2*N, 4]", "%0");
  add("reshape", "f32", "[N, 1, 8]", "%0");
  add("expand", "f32", "[N, 3, 8]", "%" + std::to_string(n - 1));
  add("permute", "i32", "[8, N]", "%1, axes [1, 0]");
  add("slice", "f32", "[N - 2, 4]", "%0, begin [2, 7], step [1, -2]");
  for (const char* mode : {"constant", "edge", "reflect", "wrap"})
    add("pad", "f32", "[N + 3, 8]", "%0, %3, before [1, 0], mode " + std::string(mode));
  add("concat", "f32", "[2*N, 8]", "%0, %0, axis 0");
  add("gather", "f32", "[N, 8, 8]", "%0, %1");
  add("gather", "f32", "[N, 8]", "%0, %1, %1");
  add("stage", "f32", "[N, 8]", "%0");
  for (const char* kind : {"sum", "prod", "max", "min"}) add("reduce", "f32", "[8]", "%0, " + std::string(kind) + ", axes [0]");
  for (const char* kind : {"any", "all"}) add("reduce", "bool", "[]", "%2, " + std::string(kind) + ", axes [0, 1]");
  for (const char* kind : {"argmax", "argmin"}) add("reduce", "i64", "[N]", "%0, " + std::string(kind) + ", axes [1]");
  add("reduce", "f32", "[N]", "%0, %0, fma, axes [1]");
  for (const char* options : {"", ", exclusive", ", reversed", ", exclusive, reversed"})
    add("scan", "f32", "[N, 8]", "%0, prod, axis 1" + std::string(options));
  add("iota", "u8", "[2*N + 1]", "");
  add("cast", "i64", "[]", "(2*N*M - 1)");
  for (const char* c : {"bool true", "i8 -128", "u64 18446744073709551615", "f16 nan", "bf16 -inf", "f32 0.1",
                        "f64 bits(0x7ff0000000000001)"}) {
    const std::string type = std::string(c).substr(0, std::string(c).find(' '));
    add("const", type, "[]", std::string(c).substr(type.size() + 1));
  }
  const auto at = text.find("%0 = param");
  text.insert(at, decls);
  expect_round_trip(text + stores);
}

TEST(Text, HandWrittenMayLeaveOutResults) {
  expect_round_trip(R"(
# softmax over the last axis
program softmax
in f32 [N, 10] x
out f32 [N, 10] y   # trailing comment
%0 = param x
%1 = reduce %0, max, axes [1]
%2 = reshape [N, 1] %1
%3 = sub %0, %2
%4 = exp %3
%5 = reduce %4, sum, axes [1]
%6 = reshape [N, 1] %5
%7 = fdiv %4, %6
store y, %7
)");
}

TEST(Text, InoutAndLocations) {
  Graph g;
  const Program p = read_program(
      g, "program p\ninout f32 [N] x\n%0 = param x @ \"a b.cpp\":12:5\n%1 = neg %0 @ \"c\\\\d.cpp\":1:2\nstore x, %1\n");
  const std::string text = write_program(g, p);
  EXPECT_NE(text.find("%0 = param f32 [N] x @ \"a b.cpp\":12:5"), std::string::npos) << text;
  EXPECT_NE(text.find("%1 = neg f32 [N] %0 @ \"c\\\\d.cpp\":1:2"), std::string::npos) << text;
  Graph g2;
  const Program p2 = read_program(g2, text);
  EXPECT_EQ(structure(g2, p2), structure(g, p));
}

TEST(Text, MalformedLinesSayWhere) {
  const std::string head = "program p\nin f32 [N] x\nout f32 [N] y\n%0 = param x\n";
  struct Case {
    const char *line, *expect;
  };
  const Case cases[] = {
      {"%1 = ad %0, %0", "t.kiln:5:6: error: E-text: expected an operation, got `ad %0, %0`"},
      {"%1 = add %0, %7", "t.kiln:5:16: error: E-text: expected a node defined above, got %7"},
      {"%0 = neg %0", "E-text: expected a new node number, got %0 again"},
      {"%1 = add %0", "E-text: `add` expected 2 operands, got 1"},
      {"%1 = add f64 %0, %0", "E-text: expected the derived type f32, got f64"},
      {"%1 = add f32 [M] %0, %0", "E-text: expected a symbol of the parameters, got `M`"},
      {"%1 = add f32 [2*N] %0, %0", "E-text: expected the derived shape [N], got [2*N]"},
      {"%1 = const f32 1e99", "E-text: expected a constant of type f32 in its range, got `1e99`"},
      {"%1 = const 1", "E-text: `const` expected a type, got none"},
      {"%1 = const u8 -1", "E-text"},
      {"%1 = const f32x4 1", "E-text"},
      {"%1 = reduce %0, axes [0]", "E-text: `reduce` expected a kind such as sum, got none"},
      {"%1 = reduce %0, sum", "E-text: `reduce` expected `axes [...]`, got none"},
      {"%1 = reduce %0, sum, axes [0", "E-text: expected `]`, got the end of the text"},
      {"%1 = reduce %0, sum, axes [99999999999999999999]", "E-text: expected an integer of 64 bits"},
      {"%1 = reduce %0, sum, axes [1]", "E-axis"},
      {"%1 = pad [N] %0, mode blur", "E-text: expected constant, edge, reflect or wrap, got `blur`"},
      {"%1 = slice [N] %0", "E-text: `slice` expected `begin [...]`, got none"},
      {"%1 = reshape %0", "E-text: `reshape` expected a shape, got none"},
      {"%1 = reshape [N, N] %0", "E-reshape"},
      {"%1 = reshape [1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,N] %0", "E-rank: expected at most 16 axes, got 17"},
      {"%1 = load f32 %0, (N)", "E-text: expected an operation of the tensor level, got `load`"},
      {"%1 = neg %0 @ \"a.cpp:1:2", "E-text: expected a closing quote"},
      {"%1 = neg %0 @ \"a.cpp\":1", "E-text"},
      {"%1 = neg %0 extra", "E-text: expected the end of the line, got `extra`"},
      {"%99999999999999999999 = neg %0", "E-text: expected a node number below 2^63"},
      {"neg %0", "E-text: expected a statement, got `neg %0`"},
      {"store z, %0", "E-text: expected a parameter declared above, got `z`"},
      {"store x, %0", "E-store"},
      {"store y", "E-text: expected `,`, got the end of the text"},
      {"in f32 [N] x", "E-text: expected each parameter once, got `x` again"},
      {"in f99 [N] z", "E-text: expected a type, got `f99 [N] z`"},
      {"in index [N] z", "E-text"},
      {"symbol N min 1", "E-text: expected each symbol once"},
      {"symbol K min -1", "E-text: expected 0 <= min <= max"},
      {"symbol K min 3 max 5 multiple_of 7", "E-text: expected a multiple of 7 within the facts of `K`, got none in 3 .. 5"},
      {"symbol K min 2", "E-symbol: no argument gives the symbol `K`: expected it as the extent of an axis"},
      {"symbol K least 1",
       "E-text: expected `min`, `needed_at`, `max`, `multiple_of`, `counter`, `count` or `element`, got `least 1`"},
      {"%1 = cast i32 (N", "E-text: expected `)`"},
      {"%1 = cast i32 (N + )", "E-text: expected an extent, got `)`"},
      {"%1 = cast i32 (%0)", "E-text: expected an index value, got %0 of type f32"},
      {"\x01\xff", "E-text: expected a statement, got `??`"},
  };
  for (const Case& c : cases) {
    const std::string e = error_of(head + c.line);
    EXPECT_NE(e.find(c.expect), std::string::npos) << c.line << "\n  " << e;
    EXPECT_EQ(e.rfind("t.kiln:5:", 0), 0u) << c.line << "\n  " << e;
  }
  EXPECT_NE(error_of("").find("t.kiln:1:1: error: E-text: expected `program`, got the end of the text"), std::string::npos);
  EXPECT_EQ(error_of("program p\nout f32 [2] y\ninout f32 [2] z\n%0 = const f32 0\nstore z, %0\n"),
            "t.kiln:2:5: error: E-store: expected the output `y` to be assigned, got no store");
  EXPECT_NE(error_of("program p\nin f32 [" + std::string(1000, '(') + "N] x").find("at most 64 deep"), std::string::npos);
}

// Extents that no call can satisfy are reported when the program is read, not in every call.
TEST(Text, ArgumentsGiveEverySymbol) {
  const auto with = [](const std::string& params) {
    return "program p\n" + params + "out f32 [2] y\n%0 = const f32 0\nstore y, %0\n";
  };
  for (const char* given :
       {"in f32 [3*N] x\n", "in f32 [2*N + 1] x\n", "in f32 [2*N] x\nin f32 [N + M] z\n", "in f32 [N + M] z\nin f32 [M] x\n",
        "symbol N max 9\nin f32 [9 - N] x\n", "symbol M min 1\nin f32 [M] m\nin f32 [M*N] x\n",
        "in f32 [M//2 + N] x\nin f32 [M + 1] m\n", "in f32 [N//2] x\nin f32 [3*N] m\n"})
    EXPECT_EQ(error_of(with(given)), "") << given;
  for (const char* open : {"in f32 [N//2] x\n", "in f32 [N*N] x\n", "in f32 [N + M] x\n", "in f32 [M] m\nin f32 [M*N] x\n",
                           "in f32 [max(N, 2)] x\n", "in f32 [N + N//2] x\n", "in f32 [(N + 1) % 4] x\n"})
    EXPECT_NE(error_of(with(open)).find("E-symbol: no argument gives the symbol"), std::string::npos) << open;
  EXPECT_NE(error_of(with("in f32 [7] x\nsymbol K min 2\n")).find("t.kiln:3:"), std::string::npos);
}

TEST(Text, CallsHaveLimits) {
  const auto program = [](int n, const std::string& extent) {
    std::string text = "program p\n";
    for (int i = 0; i < n; ++i)
      text += "in f32 [" + extent + (extent == "N" ? "" : std::to_string(i)) + "] x" + std::to_string(i) + "\n";
    return text;
  };
  EXPECT_EQ(error_of(program(256, "N")), "");
  EXPECT_NE(error_of(program(257, "N")).find("E-limit: parameters of program `p`: expected at most 256, got 257"),
            std::string::npos);
  EXPECT_EQ(error_of(program(64, "M")), "");
  EXPECT_NE(error_of(program(65, "M")).find("E-limit: symbols of program `p`: expected at most 64, got 65"), std::string::npos);
}

TEST(Text, TruncationsAndNoiseNeverCrash) {
  const std::string text =
      "program p\nsymbol N min 3\nin f32 [N] x\nout f32 [2*N + 1] y\n%0 = param x @ \"f\":1:2\n"
      "%1 = const f32 -0.5\n%2 = pad f32 [2*N + 1] %0, %1, before [N], mode wrap\nstore y, %2\n";
  for (std::size_t n = 0; n < text.size(); ++n) (void)error_of(text.substr(0, n));
  std::uint64_t state = 7;
  for (int i = 0; i < 20000; ++i) {
    std::string t = text;
    for (int k = 0; k < 2; ++k) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      t[(state >> 33) % t.size()] = static_cast<char>(state >> 20);
    }
    (void)error_of(t);
  }
}

TEST(Text, NodesOfEveryOperationAndLevel) {
  Graph g;
  std::vector<Id> roots;
  const Id buffer = g.make(Op::BUFFER, DType::f32, {}, {0}), end = g.sym("N"), gate = g.constant(DType::boolean, 1);
  const Id range = g.make(Op::RANGE, DType::index, {end}, {3, static_cast<std::int64_t>(RangeKind::reduce)});
  const Id value = g.make(Op::LOAD, DType::f32, {buffer, range, g.constant(DType::f32, 0), gate});
  const Id sum = g.make(Op::REDUCE, DType::f32, {value, range}, {0, 1});
  const Id store = g.make(Op::STORE, DType::none, {buffer, g.index(0), sum});
  roots.push_back(g.make(Op::SINK, DType::none, {g.make(Op::END, DType::none, {store})}));
  for (std::size_t k = 0; k < op_count; ++k) {  // any operation, with strange parts: the generic form keeps them
    const std::vector<Id> src(arity(static_cast<Op>(k)) < 0 ? 2 : static_cast<std::size_t>(arity(static_cast<Op>(k))), value);
    const std::vector<std::int64_t> args(static_cast<Op>(k) == Op::CONST ? 1 : 2, 1);
    roots.push_back(g.make(static_cast<Op>(k), DType::i32, src, args, "odd \"name\"", 8));
  }
  const std::string text = write_nodes(g, roots, plain);
  Graph h;
  const auto back = read_nodes(h, text);
  ASSERT_EQ(back.size(), roots.size());
  for (std::size_t i = 0; i < roots.size(); ++i) EXPECT_EQ(g[roots[i]].hash, h[back[i]].hash);
  EXPECT_EQ(write_nodes(h, back, plain), text);
}

TEST(Text, ScheduleRoundTrip) {
  Graph g;
  Schedule s;
  s.program = read_program(g, "program p\nin f32 [N] x\nout f32 [N] y\n%0 = param x\n%1 = neg %0\nstore y, %1\n");
  const Id n = g.sym("N"), range = g.make(Op::RANGE, DType::index, {n}, {0, 0});
  const Id in = g.make(Op::BUFFER, DType::f32, {}, {0}), out = g.make(Op::BUFFER, DType::f32, {}, {1});
  const Id value = g.make(Op::NEG, DType::f32, {g.make(Op::LOAD, DType::f32, {in, range})});
  const Id end = g.make(Op::END, DType::none, {g.make(Op::STORE, DType::none, {out, range, value}), range});
  s.buffers = {{DType::f32, n, 0, no_id}, {DType::f32, n, 1, no_id}, {DType::f32, n, -1, g.index(64)}};
  s.kernels.push_back({"p_k0", g.make(Op::SINK, DType::none, {end}), {0, 2}, {}});
  s.kernels.push_back({"p_k1", g.make(Op::SINK, DType::none, {end}), {2, 1}, {0}});
  s.workspace_bytes = g.make(Op::MUL, DType::index, {n, g.index(4)});
  verify(g, s);
  const std::string text = write_schedule(g, s, plain);
  Graph h;
  const Schedule back = read_schedule(h, text);
  verify(h, back);
  EXPECT_EQ(write_schedule(h, back, plain), text);
  EXPECT_EQ(back.kernels[1].depends_on, std::vector<std::size_t>{0});
  EXPECT_EQ(back.buffers[2].param, -1);
}

namespace {
// Runs f on a thread with a stack of 256 KB.
template <class F>
void on_small_stack(F f) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 256 * 1024);
  pthread_t thread{};
  const auto run = [](void* p) -> void* {
    (*static_cast<F*>(p))();
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, run, &f), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}
}  // namespace

TEST(Text, HundredThousandNodesOnASmallStack) {
  on_small_stack([] {
    std::string text = "program chain\nin f32 [N, 3] x\nout f32 [N, 3] y\n%0 = param x\n";
    constexpr int n = 100'000;
    for (int i = 1; i <= n; ++i)
      text += "%" + std::to_string(i) + " = add %" + std::to_string(i - 1) + ", %" + std::to_string(i / 2) + "\n";
    text += "store y, %" + std::to_string(n) + "\n";
    Graph g;
    const Program p = read_program(g, text);
    verify(g, p);
    const std::string once = write_program(g, p, plain);
    Graph h;
    const Program q = read_program(h, once);
    EXPECT_EQ(write_program(h, q, plain), once);
    const Id roots[] = {p.sink};
    Graph k;
    EXPECT_EQ(read_nodes(k, write_nodes(g, roots)).size(), 1u);
  });
}
