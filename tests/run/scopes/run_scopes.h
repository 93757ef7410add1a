// Runs captured programs with scopes through the importer and the reference interpreter, and as compiled objects.
#pragma once

#include <bit>
#include <cstring>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "compiler/interp/array.h"
#include "compiler/ir/program.h"
#include "kiln/record.h"

namespace scopes {

using kiln::compiler::Array;

template <class T>
constexpr kiln::compiler::DType dtype_of_cpp() {
  using D = kiln::compiler::DType;
  if constexpr (std::is_same_v<T, bool>)
    return D::boolean;
  else if constexpr (std::is_floating_point_v<T>)
    return sizeof(T) == 4 ? D::f32 : D::f64;
  else if constexpr (std::is_signed_v<T>)
    return sizeof(T) == 1 ? D::i8 : sizeof(T) == 2 ? D::i16 : sizeof(T) == 4 ? D::i32 : D::i64;
  else
    return sizeof(T) == 1 ? D::u8 : sizeof(T) == 2 ? D::u16 : sizeof(T) == 4 ? D::u32 : D::u64;
}

// A row-major tensor with these values. Without values: an output with these extents.
template <class T>
Array tensor(std::vector<std::int64_t> extents, const std::vector<T>& values) {
  Array a{dtype_of_cpp<T>(), std::move(extents), {}};
  a.data.resize(a.elements() * sizeof(T));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const T v = values[i];  // vector<bool> has no addressable elements
    std::memcpy(a.data.data() + i * sizeof(T), &v, sizeof(T));
  }
  return a;
}
template <class T>
Array scalar(T v) {
  return tensor<T>({}, {v});
}
template <class T>
Array output(std::vector<std::int64_t> extents) {
  return tensor<T>(std::move(extents), {});
}
template <class T>
std::vector<T> values(const Array& a) {
  std::vector<T> out(a.elements());
  for (std::size_t i = 0; i < out.size(); ++i) {
    T v;
    std::memcpy(&v, a.data.data() + i * sizeof(T), sizeof(T));
    out[i] = v;
  }
  return out;
}

// A program's parameters after a call, by name: r["y"].
class Results : public std::vector<Array> {
 public:
  Results(const kiln::compiler::Program& program, std::vector<Array> arrays);
  const Array& operator[](std::string_view name) const;
  const Array& operator[](int) const = delete;  // r[0] would convert 0 to a name

 private:
  std::vector<std::string> names_;
};

// Arguments: one array for each parameter. With --compiled the object's results are compared with the interpreter's, bit for
// bit, on one thread and on three; a difference fails the test. If the program has checks, the last result is the number of the
// failed check, or no_check.
Results run(const kiln::dsl::record::program& p, const std::vector<Array>& arguments);
// The error that the compiler reports.
std::string compile_error(const kiln::dsl::record::program& p);

// Numbers of kernels in the compiled program: all; in host loops; of the latter, the ones that copy a whole tensor.
int all_kernels(const kiln::dsl::record::program& p);
int kernels_in_loops(const kiln::dsl::record::program& p);
int copies_in_loops(const kiln::dsl::record::program& p);
// Kernels directly in loop number `loop`. Loops are numbered in the order in which they begin.
int kernels_in_loop(const kiln::dsl::record::program& p, int loop);

// The same for a program in textual form in the folder host_loops.
Results run_file(const std::string& name, const std::vector<Array>& arguments);

}  // namespace scopes
