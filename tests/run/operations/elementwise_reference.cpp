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

__extension__ using Wide = __int128;

Bits narrowed(Wide v, DType d) { return static_cast<Bits>(v) & (~Bits{0} >> (64 - bits(d))); }
Wide integer(DType d, Bits b) {
  const bool negative = is_signed_int(d) && (b >> (bits(d) - 1) & 1) != 0;
  return static_cast<Wide>(narrowed(static_cast<Wide>(b), d)) - (negative ? static_cast<Wide>(1) << bits(d) : 0);
}
// A function of the values of integers x and y, and the number of bits.
Reference of_integers(std::function<Wide(Wide, Wide, int)> f) {
  return each([f](const Point& p) {
    return Expected{narrowed(f(integer(p.type, p["x"]), integer(p.type, p["y"]), bits(p.type)), p.type)};
  });
}
// The same of floats. The result rounds once.
Reference of_reals(std::function<long double(long double, long double)> f) {
  return each([f](const Point& p) { return Expected{real_bits(p.type, f(p.real("x"), p.real("y")))}; });
}
Wide rotated(Wide x, Wide n, int width) {
  const Wide ones = (static_cast<Wide>(1) << width) - 1, count = n & (width - 1);
  return ((x & ones) << count) | ((x & ones) >> (width - count));
}
Wide reversed_bytes(Wide x, int width) {
  Wide r = 0;
  for (int i = 0; i < width; i += 8) r = (r << 8) | (x >> i & 0xff);
  return r;
}
int trailing_zeros(Wide x, int width) {
  int n = 0;
  while (n < width && (x >> n & 1) == 0) ++n;
  return n;
}
Wide floor_half(Wide x) { return x >> 1; }
// Products of unsigned 64-bit values may exceed the range of Wide.
Wide upper_half(Wide x, Wide y, int width) {
  __extension__ using Unsigned = unsigned __int128;
  if (x >= 0 && y >= 0) return static_cast<Wide>(static_cast<Unsigned>(x) * static_cast<Unsigned>(y) >> width);
  return x * y >> width;
}

int exponent(long double y) {
  int e = 0;
  if (std::isfinite(y)) std::frexp(y, &e);
  return e;
}
Expected hypot(const Point& p) {
  Expected e;
  e.value = std::hypot(p.real("x"), p.real("y"));
  e.ulps = p.type == DType::f64 ? 2 : 1;
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
           {"ones", "popcount(x)", each(Op::POPCOUNT, {"x"})},
           {"above", "clz(x)", each(Op::CLZ, {"x"})},
           {"below", "ctz(x)", of_integers([](Wide x, Wide, int w) { return trailing_zeros(x, w); })},
           {"to_left", "rotl(x, n)", of_integers(rotated)},
           {"to_right", "rotr(x, n)", of_integers([](Wide x, Wide n, int w) { return rotated(x, -n, w); })},
           {"swapped", "byteswap(x)", of_integers([](Wide x, Wide, int w) { return reversed_bytes(x, w); })},
           {"upper", "mulhi(x, y)", of_integers([](Wide x, Wide y, int w) { return upper_half(x, y, w); })},
           {"average", "avg(x, y)", of_integers([](Wide x, Wide y, int) { return floor_half(x + y + 1); })},
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
            {"si", "silu(x)", each([](const Point& p) { return sigmoid(p, p.real("x")); })},
            {"none", "isnan(x)", each([](const Point& p) { return Expected{std::isnan(p.real("x"))}; })},
            {"endless", "isinf(x)", each([](const Point& p) { return Expected{std::isinf(p.real("x"))}; })},
            {"number", "isfinite(x)", each([](const Point& p) { return Expected{std::isfinite(p.real("x"))}; })}}};
  const std::pair<const char*, Op> unary[] = {{"e", Op::EXP},         {"e2", Op::EXP2},
                                              {"em", Op::EXPM1},      {"l", Op::LOG},
                                              {"l2", Op::LOG2},       {"l1", Op::LOG1P},
                                              {"root", Op::SQRT},     {"inverse_root", Op::RSQRT},
                                              {"s", Op::SIN},         {"c", Op::COS},
                                              {"t", Op::TAN},         {"th", Op::TANH},
                                              {"er", Op::ERF},        {"sg", Op::SIGMOID},
                                              {"down", Op::FLOOR},    {"up", Op::CEIL},
                                              {"nearest", Op::ROUND}, {"toward_zero", Op::TRUNC}};
  for (const auto& [output, o] : unary) f.operations.push_back({output, std::string(name(o)) + "(x)", each(o, {"x"})});
  return f;
}

Family inverses() {
  Family f{
      "inverses",
      Fill::combinations,
      {{"angle", "atan2(x, y)", each(Op::ATAN2, {"x", "y"})},
       {"rest", "fmod(x, y)", each(Op::FMOD, {"x", "y"})},
       {"nearest_rest", "remainder(x, y)", of_reals([](long double x, long double y) { return std::remainder(x, y); })},
       {"distance", "hypot(x, y)", each(hypot)},
       {"with_sign", "copysign(x, y)", of_reals([](long double x, long double y) { return std::copysign(x, y); })},
       {"scaled", "ldexp(x, n)", of_reals([](long double x, long double y) { return std::ldexp(x, exponent(y)); })},
       {"fraction", "frexp(x)", of_reals([](long double, long double y) { return std::ldexp(y, -exponent(y)); })},
       {"exponent", "frexp(x)", each([](const Point& p) { return Expected{narrowed(exponent(p.real("y")), DType::i32)}; })},
       {"minus", "signbit(x)", each([](const Point& p) { return Expected{std::signbit(p.real("x"))}; })}}};
  const std::pair<const char*, Op> unary[] = {{"l10", Op::LOG10}, {"cr", Op::CBRT},  {"as", Op::ASIN}, {"ac", Op::ACOS},
                                              {"at", Op::ATAN},   {"sh", Op::SINH},  {"ch", Op::COSH}, {"ash", Op::ASINH},
                                              {"ach", Op::ACOSH}, {"ath", Op::ATANH}};
  for (const auto& [output, o] : unary) f.operations.push_back({output, std::string(name(o)) + "(x)", each(o, {"x"})});
  return f;
}

}  // namespace

std::vector<Family> elementwise_families() {
  return {arithmetic(), integers(), bitwise(), logic(), ordering(), casts(), bitcasts(), functions(), inverses()};
}

}  // namespace kiln::compiler::testing
