#include "tests/run/values.h"

#include <cmath>
#include <cstring>

namespace kiln::compiler::testing {

std::vector<Bits> special_values(DType d) {
  std::vector<Bits> v;
  if (d == DType::boolean) return {0, 1};
  if (is_float(d)) {
    for (long double x : {0.0L,   -0.0L,         1.0L,    -1.0L,    0.5L,  -0.5L,  1.5L,
                          2.5L,   -2.5L,         3.0L,    0.1L,     -3.3L, 7.75L,  100.7L,
                          -88.0L, 1e-3L,         1e-30L,  3e4L,     1e10L, -1e10L, 3.14159265358979L,
                          1e38L,  2147483648.0L, 9.3e18L, -9.3e18L, 300.0L})
      v.push_back(real_bits(d, x));
    for (long double x : {1e-7L, -3e-5L, 1e-40L, -1e-310L}) v.push_back(real_bits(d, x));  // denormals of f16, of f32, of f64
    for (long double x : {INFINITY, -INFINITY, NAN}) v.push_back(real_bits(d, x));
    return v;
  }
  const Bits mask = bits(d) == 64 ? ~Bits{0} : (Bits{1} << bits(d)) - 1;
  const Bits high = Bits{1} << (bits(d) - 1);
  for (Bits x : {Bits{0}, Bits{1}, Bits{2}, Bits{3}, Bits{7}, Bits{13}, Bits{100}, ~Bits{0}, ~Bits{1}, ~Bits{6}, ~Bits{99},
                 high, high - 1, high + 1, high / 2})
    v.push_back(x & mask);
  return v;
}

Bits random_element(DType d, Data data, std::mt19937& random) {
  const bool special = data == Data::special;
  if (d == DType::boolean) return random() % 2;
  if (!is_float(d)) {
    const Bits mask = bits(d) == 64 ? ~Bits{0} : (Bits{1} << bits(d)) - 1;
    const Bits high = Bits{1} << (bits(d) - 1), any = Bits{random()} << 32 | random();
    const Bits specials[] = {0, 1, high, high - 1, ~Bits{0}, any % 5};
    return (special && random() % 4 == 0 ? specials[random() % 6] : any) & mask;
  }
  if (special && random() % 32 == 0) {
    const long double specials[] = {0.0L, -0.0L, 1e-6L, 1e-40L, -1e-310L, 3e4L, -1e30L, 1e38L, INFINITY, -INFINITY, NAN};
    return real_bits(d, specials[random() % 11]);
  }
  const long double magnitude = 0.98L + static_cast<long double>(random() % 1024) / 25600.0L;
  const long double scale = data != Data::cancelling ? 1.0L : random() % 8 == 0 ? 32768.0L / magnitude : 1.0L / 1024.0L;
  return real_bits(d, random() % 2 == 0 ? magnitude * scale : -magnitude * scale);
}

Array array_of(const Tensor& t) {
  Array a{t.dtype, t.extents, {}};
  const auto size = static_cast<std::size_t>(bytes(t.dtype));
  a.data.resize(t.elements.size() * size);
  for (std::size_t i = 0; i < t.elements.size(); ++i) std::memcpy(a.data.data() + i * size, &t.elements[i], size);
  return a;
}

Tensor tensor_of(const Array& a) {
  Tensor t{a.dtype, a.extents, std::vector<Bits>(a.elements())};
  const auto size = static_cast<std::size_t>(bytes(a.dtype));
  for (std::size_t i = 0; i < t.elements.size(); ++i) std::memcpy(&t.elements[i], a.data.data() + i * size, size);
  return t;
}

}  // namespace kiln::compiler::testing
