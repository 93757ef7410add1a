#include "compiler/ir/typing.h"

#include "compiler/ir/nth.h"

#include <array>

namespace kiln::compiler {
namespace {

struct Rule {
  Op op;
  std::string_view classes;
};

constexpr Rule rules[] = {
    {Op::NEG, "IFX"},     {Op::NOT, "BI"},     {Op::ABS, "IF"},   {Op::SIGN, "IF"},   {Op::SQRT, "F"},     {Op::RSQRT, "F"},
    {Op::EXP, "F"},       {Op::EXP2, "F"},     {Op::LOG, "F"},    {Op::LOG2, "F"},    {Op::EXPM1, "F"},    {Op::LOG1P, "F"},
    {Op::SIN, "F"},       {Op::COS, "F"},      {Op::TAN, "F"},    {Op::TANH, "F"},    {Op::ERF, "F"},      {Op::FLOOR, "F"},
    {Op::CEIL, "F"},      {Op::ROUND, "F"},    {Op::TRUNC, "F"},  {Op::CAST, "BIFX"}, {Op::BITCAST, "IF"}, {Op::ADD, "IFX"},
    {Op::SUB, "IFX"},     {Op::MUL, "IFX"},    {Op::FDIV, "F"},   {Op::CDIV, "IX"},   {Op::CMOD, "IX"},    {Op::FLOORDIV, "IX"},
    {Op::FLOORMOD, "IX"}, {Op::POW, "F"},      {Op::MIN, "BIFX"}, {Op::MAX, "BIFX"},  {Op::AND, "BI"},     {Op::OR, "BI"},
    {Op::XOR, "BI"},      {Op::SHL, "I"},      {Op::SHR, "I"},    {Op::LT, "BIFX"},   {Op::LE, "BIFX"},    {Op::EQ, "BIFX"},
    {Op::NE, "BIFX"},     {Op::WHERE, "BIFX"}, {Op::FMA, "IF"},   {Op::SCALE, "F"},   {Op::DOT2, "I"},     {Op::LOG10, "F"},
    {Op::CBRT, "F"},      {Op::SIGMOID, "F"},  {Op::ASIN, "F"},   {Op::ACOS, "F"},    {Op::ATAN, "F"},     {Op::SINH, "F"},
    {Op::COSH, "F"},      {Op::ASINH, "F"},    {Op::ACOSH, "F"},  {Op::ATANH, "F"},   {Op::POPCOUNT, "I"}, {Op::CLZ, "I"},
    {Op::ATAN2, "F"},     {Op::FMOD, "F"},
};

constexpr std::string_view reduce_classes[] = {"IF", "IF",  "BIF", "BIF", "B",
                                               "B",  "BIF", "BIF", "IF",  "IF"};  // in ReduceKind's order

constexpr std::string_view atomic_classes[] = {"IF", "BIF", "BIF", "BI", "BI", "BI", "BIF", "BIF"};  // in AtomicKind's order

bool expect_class(std::string_view what, std::string_view classes, DType d, std::string& problem) {
  if (in_classes(classes, d)) return true;
  problem = "`" + std::string(what) + "` expected " + classes_text(classes) + ", got " + std::string(name(d));
  return false;
}

}  // namespace

std::string_view operand_classes(Op op) {
  for (const Rule& r : rules)
    if (r.op == op) return r.classes;
  return {};
}

bool in_classes(std::string_view classes, DType d) {
  const char c = d == DType::boolean ? 'B' : is_int(d) ? 'I' : is_float(d) ? 'F' : d == DType::index ? 'X' : '-';
  return classes.find(c) != std::string_view::npos;
}

std::string classes_text(std::string_view classes) {
  std::string out;
  for (char c : classes) {
    if (!out.empty()) out += ", ";
    out += c == 'B' ? "bool" : c == 'I' ? "integer" : c == 'F' ? "float" : "index";
  }
  return "a type among: " + out;
}

DType elementwise_dtype(Op op, std::span<const DType> operands, DType target, std::string& problem) {
  const auto text = [&](DType d) { return std::string(name(d)); };
  if (op == Op::WHERE && operands[0] != DType::boolean && operands[0] != DType::none) {
    problem = "`where` expected a bool condition, got " + text(operands[0]);
    return DType::none;
  }
  const auto values = op == Op::WHERE ? operands.subspan(1) : operands;
  DType d = DType::none;
  for (DType v : values) {
    if (v == DType::none) continue;
    if (d != DType::none && v != d) {
      problem = "`" + std::string(name(op)) + "` expected operands of one type, got " + text(d) + " and " + text(v);
      return DType::none;
    }
    d = v;
  }
  if (!expect_class(name(op), operand_classes(op), d, problem)) return DType::none;
  if (op == Op::DOT2 && d != DType::i32) {
    problem = "`dot2` expected words of type i32, got " + text(d);
    return DType::none;
  }
  if (is_comparison(op)) return DType::boolean;
  if (op == Op::CAST) {
    if (target == DType::none) problem = "`cast` expected a result type, got none";
    return target;
  }
  if (op == Op::BITCAST) {
    if (in_classes("IF", target) && bits(target) == bits(d)) return target;
    problem = "`bitcast` expected a non-bool type of " + std::to_string(bits(d)) + " bits, got " + text(target);
    return DType::none;
  }
  return d;
}

DType reduce_dtype(ReduceKind k, DType operand, std::string& problem) {
  const std::string what = "reduce " + std::string(name(k));
  if (!expect_class(what, nth(reduce_classes, k), operand, problem)) return DType::none;
  return k == ReduceKind::argmax || k == ReduceKind::argmin ? DType::i64 : operand;
}

DType scan_dtype(ReduceKind k, DType operand, std::string& problem) {
  return expect_class("scan " + std::string(name(k)), nth(reduce_classes, k), operand, problem) ? operand : DType::none;
}

std::string atomic_problem(AtomicKind k, DType d) {
  std::string problem;
  expect_class("atomic " + std::string(name(k)), nth(atomic_classes, k), d, problem);
  return problem;
}

}  // namespace kiln::compiler
