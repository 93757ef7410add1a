#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "compiler/ir/builder.h"
#include "compiler/ir/diagnostic.h"
#include "compiler/ir/text.h"
#include "compiler/ir/verify.h"
#include "compiler/ir/verify_kernels.h"
#include "compiler/ir/verify_loops.h"
#include "compiler/ir/verify_schedule.h"
#include "compiler/ir/verify_scopes.h"
#include "compiler/ir/verify_states.h"

using namespace kiln::compiler;

namespace {

std::string rule_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Diagnostic& d) {
    EXPECT_EQ(d.id(), "E-verify");
    const std::string text = d.what(), key = "breaks the rule ";
    const auto at = text.find(key);
    if (at == std::string::npos) return text;
    return text.substr(at + key.size(), text.find(':', at) - at - key.size());
  }
  return "";
}

struct Case {
  Level level;
  const char* rule;
  std::function<Id(Graph&)> make;
};

std::vector<Case> broken_nodes() {
  const auto f = [](Graph& g) { return g.constant(DType::f32, 0); };
  const auto i = [](Graph& g) { return g.constant(DType::i32, 0); };
  const auto x = [](Graph& g) { return g.make(Op::PARAM, DType::f32, {g.index(4), g.sym("N")}, {0}, "x"); };
  const auto buffer = [](Graph& g) { return g.make(Op::BUFFER, DType::f32, {}, {0}); };
  const auto range = [](Graph& g) { return g.make(Op::RANGE, DType::index, {g.index(4)}, {0, 0}); };
  using G = Graph&;
  return {
      {Level::kernel, "level", [](G g) { return g.make(Op::IOTA, DType::i32, {g.index(3)}); }},
      {Level::program, "level", [f](G g) { return g.make(Op::EXP, DType::f32, {f(g)}); }},
      {Level::tensor, "level", [buffer](G g) { return buffer(g); }},
      {Level::tensor, "arity", [f](G g) { return g.make(Op::ADD, DType::f32, {f(g)}); }},
      {Level::tensor, "scalar", [](G g) { return g.constant(DType::f32, 0, 4); }},
      {Level::tensor, "const-bits", [](G g) { return g.constant(DType::u8, 256); }},
      {Level::tensor, "symbol", [](G g) { return g.make(Op::SYM, DType::index, {}, {}, ""); }},
      {Level::tensor, "param", [f](G g) { return g.make(Op::PARAM, DType::f32, {f(g)}, {0}, "x"); }},
      {Level::tensor, "iota", [](G g) { return g.make(Op::IOTA, DType::boolean, {g.index(3)}); }},
      {Level::kernel, "buffer", [](G g) { return g.make(Op::BUFFER, DType::f32, {}, {-1}); }},
      {Level::kernel, "invalid", [](G g) { return g.make(Op::INVALID, DType::index, {}, {1}); }},
      {Level::kernel, "range", [](G g) { return g.make(Op::RANGE, DType::index, {g.index(4)}, {std::int64_t{1} << 40, 0}); }},
      {Level::tensor, "range", [](G g) { return g.make(Op::RANGE, DType::index, {g.index(4)}, {1'000'000, 0}); }},
      {Level::kernel, "range", [](G g) { return g.make(Op::RANGE, DType::index, {g.index(4)}, {0, 9}); }},
      {Level::tensor, "elementwise-types", [f, i](G g) { return g.make(Op::ADD, DType::f32, {f(g), i(g)}); }},
      {Level::tensor, "elementwise-types", [f](G g) { return g.make(Op::LT, DType::f32, {f(g), f(g)}); }},
      // A loop is not a value, with any other operands.
      {Level::tensor, "elementwise-types",
       [f, range](G g) { return g.make(Op::ADD, DType::f32, {f(g), g.make(Op::KERNEL, DType::none, {range(g)}, {1, 0})}); }},
      {Level::program, "elementwise-lanes",
       [f](G g) { return g.make(Op::ADD, DType::f32, {f(g), g.constant(DType::f32, 0, 4)}); }},
      {Level::tensor, "reshape-form", [x, i](G g) { return g.make(Op::RESHAPE, DType::f32, {x(g), i(g)}); }},
      {Level::tensor, "permute-form", [x](G g) { return g.make(Op::PERMUTE, DType::i32, {x(g)}, {1, 0}); }},
      {Level::tensor, "slice-form", [x](G g) { return g.make(Op::SLICE, DType::f32, {x(g), g.index(0)}, {1}); }},
      {Level::tensor, "pad-form", [x, i](G g) { return g.make(Op::PAD, DType::f32, {x(g), i(g)}, {0}); }},
      {Level::tensor, "concat-form", [x](G g) { return g.make(Op::CONCAT, DType::f32, {x(g)}); }},
      {Level::tensor, "gather-form", [x, f](G g) { return g.make(Op::GATHER, DType::f32, {x(g), f(g)}); }},
      {Level::tensor, "shear-form", [x](G g) { return g.make(Op::SHEAR, DType::f32, {x(g), g.index(2)}, {0, 1, 1, 0}); }},
      {Level::tensor, "gradient", [f, i](G g) { return g.make(Op::GRADIENT, DType::f32, {f(g), f(g), i(g)}); }},
      {Level::tensor, "tangent", [f](G g) { return g.make(Op::TANGENT, DType::f32, {f(g), f(g)}); }},
      {Level::tensor, "laplacian", [f, i](G g) { return g.make(Op::LAPLACIAN, DType::f32, {f(g), i(g)}); }},
      {Level::tensor, "mark", [f](G g) { return g.make(Op::MARK, DType::f32, {f(g)}, {3, 0}); }},
      {Level::tensor, "straight", [f, i](G g) { return g.make(Op::STRAIGHT, DType::f32, {f(g), i(g)}); }},
      {Level::tensor, "custom", [f](G g) { return g.make(Op::CUSTOM, DType::f32, {f(g), f(g)}, {0}); }},
      {Level::tensor, "cotangent", [](G g) { return g.make(Op::COTANGENT, DType::i32, {}, {0}); }},
      {Level::tensor, "stage", [x](G g) { return g.make(Op::STAGE, DType::f32, {x(g)}, {0}); }},
      {Level::tensor, "reduce-form", [x](G g) { return g.make(Op::REDUCE, DType::f32, {x(g)}, {0, 1, 0}); }},
      {Level::kernel, "reduce-form", [f](G g) { return g.make(Op::REDUCE, DType::f32, {f(g), f(g)}, {0, 0}); }},
      {Level::kernel, "reduce-form", [f](G g) { return g.make(Op::REDUCE, DType::f32, {f(g), f(g)}, {9, 0}); }},
      {Level::tensor, "scan-form", [x](G g) { return g.make(Op::SCAN, DType::f32, {x(g)}, {ReduceKind::any, 0, 0, 0}); }},
      {Level::tensor, "scan-form", [x](G g) { return g.make(Op::SCAN, DType::f32, {x(g)}, {0, 0, 0, 2}); }},
      {Level::kernel, "scan-form", [f](G g) { return g.make(Op::SCAN, DType::f32, {f(g), f(g)}, {0, 0}); }},
      {Level::kernel, "stage", [f](G g) { return g.make(Op::STAGE, DType::f32, {f(g), g.index(0)}); }},
      {Level::kernel, "index", [f, i](G g) { return g.make(Op::INDEX, DType::f32, {f(g), i(g)}); }},
      {Level::kernel, "entry", [f, range](G g) { return g.make(Op::ENTRY, DType::none, {f(g), range(g)}); }},
      {Level::kernel, "atomic",
       [buffer, i](G g) {
         const Id gate = g.constant(DType::boolean, 1);  // values must have the type of the memory
         return g.make(Op::ATOMIC, DType::none, {buffer(g), gate, i(g), g.index(0)}, {0});
       }},
      {Level::program, "old", [buffer](G g) { return g.make(Op::OLD, DType::f32, {buffer(g)}); }},
      {Level::kernel, "local", [f](G g) { return g.make(Op::LOCAL, DType::f32, {f(g), g.index(3)}, {0}); }},
      {Level::kernel, "load", [buffer, f](G g) { return g.make(Op::LOAD, DType::f32, {buffer(g), f(g)}); }},
      {Level::tensor, "store", [x, i](G g) { return g.make(Op::STORE, DType::none, {x(g), i(g)}); }},
      {Level::program, "store", [buffer, i](G g) { return g.make(Op::STORE, DType::none, {buffer(g), g.index(0), i(g)}); }},
      {Level::kernel, "end", [f, range](G g) { return g.make(Op::END, DType::none, {f(g), range(g)}); }},
      {Level::kernel, "sink", [f](G g) { return g.make(Op::SINK, DType::none, {f(g)}); }},
      {Level::program, "for", [range](G g) { return g.make(Op::FOR, DType::none, {range(g), g.index(0)}, {0, 1}); }},
      {Level::program, "carry", [f, i](G g) { return g.make(Op::CARRY, DType::f32, {f(g), i(g)}, {0}); }},
      {Level::program, "get", [f](G g) { return g.make(Op::GET, DType::f32, {f(g)}, {0}); }},
      {Level::program, "for",
       [range](G g) {
         const Id begin = g.index(0), init = g.index(1);  // the condition is not a bool
         return g.make(Op::FOR, DType::none, {range(g), begin, begin, init, init}, {1, 1, 1});
       }},
      {Level::tensor, "for",
       [range](G g) { return g.make(Op::FOR, DType::none, {range(g), g.index(0), g.index(4)}, {0, -1}); }},
      {Level::tensor, "get",
       [range](G g) {
         const Id loop = g.make(Op::FOR, DType::none, {range(g), g.index(0), g.index(4)}, {0, 1});
         return g.make(Op::GET, DType::f32, {loop}, {0});
       }},
      {Level::tensor, "kernel", [range](G g) { return g.make(Op::KERNEL, DType::none, {range(g)}, {0, 0}); }},
      {Level::tensor, "kernel", [range, x](G g) { return g.make(Op::KERNEL, DType::none, {range(g), x(g)}, {1, 1}); }},
      {Level::tensor, "range", [](G g) { return g.make(Op::RANGE, DType::index, {g.index(4)}, {0, 1}); }},
      {Level::tensor, "index", [x, i](G g) { return g.make(Op::INDEX, DType::f32, {x(g), i(g), i(g)}); }},
      {Level::tensor, "gated-index",
       [](G g) {
         const Id invalid = g.make(Op::INVALID, DType::index, {});
         return g.make(Op::ADD, DType::index, {g.index(1), invalid});
       }},
      {Level::tensor, "gated-index",
       [](G g) {
         const Id gate = g.constant(DType::boolean, 1), invalid = g.make(Op::INVALID, DType::index, {});
         return g.make(Op::ADD, DType::index, {g.index(1), g.make(Op::WHERE, DType::index, {gate, g.index(0), invalid})});
       }},
      {Level::tensor, "local", [range, i](G g) { return g.make(Op::LOCAL, DType::f32, {range(g), i(g)}, {0}); }},
      {Level::tensor, "update",
       [x, f](G g) { return g.make(Op::UPDATE, DType::f32, {x(g), f(g), f(g), g.index(0), g.index(0)}); }},
      {Level::tensor, "atomic",
       [x, f](G g) {
         const Id gate = g.constant(DType::boolean, 1);  // floats have no xor
         return g.make(Op::ATOMIC, DType::f32, {x(g), gate, f(g), g.index(0), g.index(0)},
                       {static_cast<std::int64_t>(AtomicKind::bit_xor)});
       }},
      {Level::tensor, "old", [x](G g) { return g.make(Op::OLD, DType::f32, {x(g)}); }},
      {Level::tensor, "shape",
       [x, f](G g) { return g.make(Op::UPDATE, DType::f32, {x(g), g.constant(DType::boolean, 1), f(g), g.index(0)}); }},
      {Level::tensor, "elementwise-shapes",
       [](G g) { return g.make(Op::CAST, DType::index, {g.make(Op::PARAM, DType::i32, {g.index(4)}, {0}, "x")}); }},
      {Level::program, "broadcast", [f](G g) { return g.make(Op::BROADCAST, DType::f32, {f(g)}); }},
      {Level::program, "ramp", [i](G g) { return g.make(Op::RAMP, DType::i32, {i(g)}, {}, {}, 4); }},
      {Level::program, "lane", [](G g) { return g.make(Op::LANE, DType::f32, {g.constant(DType::f32, 0, 4)}, {4}); }},
      {Level::program, "shuffle",
       [](G g) { return g.make(Op::SHUFFLE, DType::f32, {g.constant(DType::f32, 0, 4)}, {0, 9}, {}, 2); }},
      {Level::program, "pairs", [](G g) { return g.make(Op::PAIRS, DType::i32, {g.constant(DType::i16, 0, 4)}, {}, {}, 4); }},
      {Level::kernel, "elementwise-types",
       [](G g) {
         const Id word = g.constant(DType::i64, 0);
         return g.make(Op::DOT2, DType::i64, {word, word});
       }},
      {Level::tensor, "shape", [x](G g) { return g.make(Op::RESHAPE, DType::f32, {x(g), g.index(3)}); }},
      {Level::tensor, "shape", [x](G g) { return g.make(Op::PERMUTE, DType::f32, {x(g)}, {0, 0}); }},
      {Level::tensor, "shape", [x](G g) { return g.make(Op::CONCAT, DType::f32, {x(g)}, {7}); }},
      {Level::tensor, "shape", [x](G g) { return g.make(Op::REDUCE, DType::f32, {x(g)}, {0, 7}); }},
      {Level::tensor, "elementwise-shapes",
       [x](G g) {
         const Id y = g.make(Op::PARAM, DType::f32, {g.index(4)}, {1}, "y");
         return g.make(Op::ADD, DType::f32, {x(g), y});
       }},
  };
}

}  // namespace

TEST(Verify, EveryNodeRuleFires) {
  std::set<std::string> fired;
  for (const Case& c : broken_nodes()) {
    Graph g;
    const Id root[] = {c.make(g)};
    EXPECT_EQ(rule_of([&] { verify_nodes(g, c.level, root); }), c.rule);
    fired.insert(c.rule);
  }
  for (const char* whole : {"effects", "symbols"}) fired.insert(whole);  // tested below
  for (const auto rules :
       {loop_rules(), state_rules(), range_rules(), kernel_rules(), schedule_rules()})  // in ir_verify_schedule_test.cpp
    for (const VerifyRule& r : rules) fired.insert(std::string(r.name));
  for (const VerifyRule& r : scope_rules()) fired.insert(std::string(r.name));  // in ir_scopes_test.cpp
  for (const VerifyRule& r : verify_rules()) EXPECT_TRUE(fired.contains(std::string(r.name))) << r.name;
}

TEST(Verify, ProgramRules) {
  const char* text = "program p\nin f32 [N] x\nout f32 [N] y\n%0 = param x\n%1 = neg %0\nstore y, %1\n";
  Graph g;
  Program p = read_program(g, text);
  verify(g, p);
  const Program good = p;
  p.params[1].direction = Direction::in;
  EXPECT_EQ(rule_of([&] { verify(g, p); }), "effects");
  p = good;
  p.sink = g.make(Op::SINK, DType::none, {});
  EXPECT_EQ(rule_of([&] { verify(g, p); }), "effects");
  p = good;
  p.params[0].name = "other";
  EXPECT_EQ(rule_of([&] { verify(g, p); }), "param");
  p = good;
  p.symbols.clear();
  EXPECT_EQ(rule_of([&] { verify(g, p); }), "symbols");
  Graph h;  // the half of N does not determine N
  Program half = read_program(h, "program p\nin f32 [N] n\nin f32 [N // 2] x\nout f32 [N // 2] y\n%0 = param x\nstore y, %0\n");
  verify(h, half);
  half.params[0].extents.clear();
  EXPECT_EQ(rule_of([&] { verify(h, half); }), "symbols");
}
