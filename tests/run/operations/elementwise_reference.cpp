#include <cmath>

#include "tests/run/operations/operations.h"

namespace kiln::compiler::testing {
namespace {

Op division(DType d) { return is_float(d) ? Op::FDIV : Op::CDIV; }

// x combined with the output's own value before the call (inout).
Reference compound(Op o) {
  return [o](const Call& c) { return each(o, {c.output, "x"})(c); };
}
Reference divided(std::string a, std::string b) {
  return each([a, b](const Point& p) { return Expected{p.op(division(p.type), p[a], p[b])}; });
}
Reference is(Op o, std::string a, std::string b) {  // a compared with b
  return each([o, a, b](const Point& p) { return expected_element(o, p.type, DType::boolean, {p[a], p[b]}); });
}
Reference selected(std::function<Bits(const Point&)> yes, std::function<Bits(const Point&)> no) {
  return each([yes, no](const Point& p) { return Expected{p["c"] != 0 ? yes(p) : no(p)}; });
}

// 1 / (1 + exp(-x)): two roundings, and exp's ulps with a weight of at most 1. If exp overflows, the result is 0 and the truth
// is below 1 / largest. times: a factor, which rounds once more and scales the absolute part.
Expected sigmoid(const Point& p, long double times) {
  const long double x = p.real("x"), y = times / (1 + std::exp(-x));
  Expected e;
  e.value = y;
  e.slack = std::fabs(y) * (2 * allowed_ulps(p.type) + 4) * roundoff(p.type) + (std::fabs(times) + 1) * 2 / largest(p.type) +
            real_value(p.type, 1);
  return e;
}

// x / 2 * (1 + erf(x / sqrt 2)). The argument has two roundings, worth less than one of erf's result. The sum cancels for
// negative x, so erf's error is absolute. Each product adds half an ulp.
Expected gelu(const Point& p) {
  const long double x = p.real("x"), u = roundoff(p.type), y = 0.5L * x * (1 + std::erf(x * std::sqrt(0.5L)));
  Expected e;
  e.value = y;
  e.slack = std::fabs(x) * (allowed_ulps(p.type) + 2) * u + 3 * std::fabs(y) * u + real_value(p.type, 1);
  return e;
}

Family arithmetic() {
  const auto two = [](const Point& p) { return p.literal(2); };
  return {"arithmetic",
          Fill::combinations,
          {{"add", "x + y", each(Op::ADD, {"x", "y"})},
           {"plus_literal", "x + y", each([two](const Point& p) { return Expected{p.op(Op::ADD, p["x"], two(p))}; })},
           {"sub", "x - y", each(Op::SUB, {"x", "y"})},
           {"minus_from", "x - y", each([](const Point& p) { return Expected{p.op(Op::SUB, p.literal(3), p["x"])}; })},
           {"mul", "x * y", each(Op::MUL, {"x", "y"})},
           {"div", "x / y", divided("x", "y")},
           {"neg", "-x", each(Op::NEG, {"x"})},
           {"absolute", "abs(x)", each(Op::ABS, {"x"})},
           {"signs", "sign(x)", each(Op::SIGN, {"x"})},
           {"fused", "fma(a, b, c)", each(Op::FMA, {"x", "y", "z"})},
           {"clamped", "clamp(x, lo, hi)",
            each([](const Point& p) { return Expected{p.op(Op::MIN, p.op(Op::MAX, p["x"], p["y"]), p["z"])}; })},
           {"clamp_literals", "clamp(x, lo, hi)",
            each([two](const Point& p) { return Expected{p.op(Op::MIN, p.op(Op::MAX, p["x"], two(p)), p.literal(7))}; })},
           {"rectified", "relu(x)", each([](const Point& p) { return Expected{p.op(Op::MAX, p["x"], p.literal(0))}; })},
           {"add_to", "y += x", compound(Op::ADD)},
           {"sub_from", "y -= x", compound(Op::SUB)},
           {"mul_by", "y *= x", compound(Op::MUL)},
           {"div_by", "y /= x", divided("div_by", "x")}}};
}

Family integers() {
  return {"integers",
          Fill::combinations,
          {{"mod", "x % y", each(Op::CMOD, {"x", "y"})},
           {"left", "x << y", each(Op::SHL, {"x", "y"})},
           {"right", "x >> y", each(Op::SHR, {"x", "y"})},
           {"inverted", "~x", each(Op::NOT, {"x"})},
           {"quotient", "floordiv(x, y)", each(Op::FLOORDIV, {"x", "y"})},
           {"remainder", "floormod(x, y)", each(Op::FLOORMOD, {"x", "y"})},
           {"mod_by", "y %= x", compound(Op::CMOD)},
           {"left_by", "y <<= x", compound(Op::SHL)},
           {"right_by", "y >>= x", compound(Op::SHR)}}};
}

Family bitwise() {
  return {"bitwise",
          Fill::combinations,
          {{"both", "x & y", each(Op::AND, {"x", "y"})},
           {"either", "x | y", each(Op::OR, {"x", "y"})},
           {"differ", "x ^ y", each(Op::XOR, {"x", "y"})},
           {"and_with", "y &= x", compound(Op::AND)},
           {"or_with", "y |= x", compound(Op::OR)},
           {"xor_with", "y ^= x", compound(Op::XOR)}}};
}

Family logic() {
  return {"logic",
          Fill::combinations,
          {{"both", "x && y", each(Op::AND, {"x", "y"})},
           {"either", "x || y", each(Op::OR, {"x", "y"})},
           {"negated", "!x", each(Op::NOT, {"x"})}}};
}

Family ordering() {
  const auto x = [](const Point& p) { return p["x"]; };
  const auto y = [](const Point& p) { return p["y"]; };
  const auto one = [](const Point& p) { return p.literal(1); };
  const auto zero = [](const Point& p) { return p.literal(0); };
  return {"ordering",
          Fill::combinations,
          {{"less", "x < y", is(Op::LT, "x", "y")},
           {"at_most", "x <= y", is(Op::LE, "x", "y")},
           {"greater", "x > y", is(Op::LT, "y", "x")},
           {"at_least", "x >= y", is(Op::LE, "y", "x")},
           {"equal", "x == y", is(Op::EQ, "x", "y")},
           {"unequal", "x != y", is(Op::NE, "x", "y")},
           {"least", "min(x, y)", each(Op::MIN, {"x", "y"})},
           {"greatest", "max(x, y)", each(Op::MAX, {"x", "y"})},
           {"selected", "select(c, x, y)", selected(x, y)},
           {"select_literal", "select(c, x, y)", selected(x, one)},
           {"two_literals", "select<D>(c, 1, 0)", selected(one, zero)},
           {"assigned", "y = x", each([](const Point& p) { return Expected{p["x"]}; })}}};
}

Family casts() {
  Family f{"casts", Fill::combinations, {}};
  for (int d = 0; d <= static_cast<int>(DType::f64); ++d) {
    const std::string to(name(static_cast<DType>(d)));
    f.operations.push_back({"to_" + to, "cast<" + to + ">(x)", each(Op::CAST, {"x"})});
  }
  return f;
}

Family bitcasts() {
  Family f{"bitcasts", Fill::combinations, {}};
  for (const char* to : {"to_signed", "to_unsigned", "to_float", "to_other"})
    f.operations.push_back({to, "bitcast<D>(x)", each(Op::BITCAST, {"x"})});
  return f;
}

Family functions() {
  Family f{"functions",
           Fill::combinations,
           {{"power", "pow(x, y)", each(Op::POW, {"x", "y"})},
            {"mixed", "lerp(a, b, t)",
             each([](const Point& p) { return Expected{p.op(Op::FMA, p["z"], p.op(Op::SUB, p["y"], p["x"]), p["x"])}; })},
            {"ge", "gelu(x)", each(gelu)},
            {"sg", "sigmoid(x)", each([](const Point& p) { return sigmoid(p, 1); })},
            {"si", "silu(x)", each([](const Point& p) { return sigmoid(p, p.real("x")); })},
            {"none", "isnan(x)", each([](const Point& p) { return Expected{std::isnan(p.real("x"))}; })},
            {"endless", "isinf(x)", each([](const Point& p) { return Expected{std::isinf(p.real("x"))}; })},
            {"number", "isfinite(x)", each([](const Point& p) { return Expected{std::isfinite(p.real("x"))}; })}}};
  const std::pair<const char*, Op> unary[] = {{"e", Op::EXP},
                                              {"e2", Op::EXP2},
                                              {"em", Op::EXPM1},
                                              {"l", Op::LOG},
                                              {"l2", Op::LOG2},
                                              {"l1", Op::LOG1P},
                                              {"root", Op::SQRT},
                                              {"inverse_root", Op::RSQRT},
                                              {"s", Op::SIN},
                                              {"c", Op::COS},
                                              {"t", Op::TAN},
                                              {"th", Op::TANH},
                                              {"er", Op::ERF},
                                              {"down", Op::FLOOR},
                                              {"up", Op::CEIL},
                                              {"nearest", Op::ROUND},
                                              {"toward_zero", Op::TRUNC}};
  for (const auto& [output, o] : unary) f.operations.push_back({output, std::string(name(o)) + "(x)", each(o, {"x"})});
  return f;
}

}  // namespace

std::vector<Family> elementwise_families() {
  return {arithmetic(), integers(), bitwise(), logic(), ordering(), casts(), bitcasts(), functions()};
}

}  // namespace kiln::compiler::testing
