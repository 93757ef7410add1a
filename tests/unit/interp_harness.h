// Runs one expression through the interpreter.
#pragma once

#include <cstring>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

#include "compiler/interp/interpret.h"
#include "compiler/ir/builder.h"
#include "compiler/ir/text.h"
#include "compiler/ir/verify.h"

namespace kiln::compiler::testing {

template <class T>
constexpr DType dtype_of() {
  if constexpr (std::is_same_v<T, float>)
    return DType::f32;
  else if constexpr (std::is_same_v<T, double>)
    return DType::f64;
  else if constexpr (std::is_same_v<T, std::int8_t>)
    return DType::i8;
  else if constexpr (std::is_same_v<T, std::int16_t>)
    return DType::i16;
  else if constexpr (std::is_same_v<T, std::int32_t>)
    return DType::i32;
  else if constexpr (std::is_same_v<T, std::int64_t>)
    return DType::i64;
  else if constexpr (std::is_same_v<T, std::uint8_t>)
    return DType::u8;
  else if constexpr (std::is_same_v<T, std::uint16_t>)
    return DType::u16;
  else if constexpr (std::is_same_v<T, std::uint32_t>)
    return DType::u32;
  else
    return DType::u64;
}

// d: needed for types that represent several dtypes (u8 is also bool, u16 is also f16 and bf16).
template <class T>
Array array(std::vector<std::int64_t> extents, const std::vector<T>& v, DType d = dtype_of<T>()) {
  Array a{d, std::move(extents), {}};
  a.data.resize(v.size() * sizeof(T));
  if (!v.empty()) std::memcpy(a.data.data(), v.data(), a.data.size());
  return a;
}
template <class T>
std::vector<T> values(const Array& a) {
  std::vector<T> v(a.data.size() / sizeof(T));
  if (!v.empty()) std::memcpy(v.data(), a.data.data(), a.data.size());
  return v;
}

// Runs a program in textual form.
inline std::vector<Array> run_text(const std::string& text, const std::vector<Array>& arguments) {
  Graph g;
  const Program p = read_program(g, text, "t");
  verify(g, p);
  return interpret(g, p, arguments);
}

using Expression = std::function<Id(Builder&, const std::vector<Id>&)>;

// The value of f(inputs) for these arrays, computed by a program with static extents.
inline Array evaluate(const std::vector<Array>& inputs, const Expression& f) {
  Graph g;
  Builder b(g);
  Program p;
  p.name = "test";
  std::vector<Array> arguments = inputs;
  std::vector<Id> x;
  for (const Array& a : inputs) {
    Parameter q{"x" + std::to_string(x.size()), Direction::in, a.dtype, {}, {}};
    for (std::int64_t e : a.extents) q.extents.push_back(g.index(e));
    p.params.push_back(q);
    x.push_back(b.param(static_cast<int>(x.size()), q));
  }
  const Id y = f(b, x);
  p.params.push_back({"y", Direction::out, g.dtype(y), b.shape_of(y), {}});
  const Id stores[] = {b.store(b.param(static_cast<int>(x.size()), p.params.back()), p.params.back(), y)};
  p.sink = g.make(Op::SINK, DType::none, stores);
  Array out{g.dtype(y), {}, {}};
  for (Id e : p.params.back().extents) out.extents.push_back(g.arg(e, 0));
  arguments.push_back(out);
  return interpret(g, p, arguments).back();
}

}  // namespace kiln::compiler::testing
