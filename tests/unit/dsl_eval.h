// Evaluates captured tables in f64. This checks the capture, not dtypes. Integers up to 2^53 are exact.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "kiln/record.h"

namespace dsl_test {

using kiln::dsl::record::op;
using Shape = std::vector<std::int64_t>;

struct Tensor {
  Shape shape;
  std::vector<double> v;
  double& at(const Shape& i) { return v[static_cast<std::size_t>(linear(i))]; }
  double at(const Shape& i) const { return v[static_cast<std::size_t>(linear(i))]; }
  std::int64_t linear(const Shape& i) const {
    std::int64_t r = 0;
    for (std::size_t k = 0; k < shape.size(); ++k) r = r * shape[k] + i[k];
    return r;
  }
};

inline std::int64_t count(const Shape& s) {
  std::int64_t n = 1;
  for (const auto e : s) n *= e;
  return n;
}
inline Tensor make(Shape s) {
  const auto n = static_cast<std::size_t>(count(s));
  return {std::move(s), std::vector<double>(n)};
}
// Calls f(index) for every index in row-major order.
inline void each(const Shape& s, const std::function<void(const Shape&)>& f) {
  Shape i(s.size(), 0);
  for (std::int64_t n = count(s); n > 0; --n) {
    f(i);
    for (std::size_t k = s.size(); k-- > 0;) {
      if (++i[k] < s[k]) break;
      i[k] = 0;
    }
  }
}

using Symbols = std::map<std::string, std::int64_t>;

// The value of an extent's text, by the grammar in record.h.
inline std::int64_t value_of(const char*& p, const Symbols& symbols) {
  std::int64_t total = 0;
  while (*p != 0 && *p != ')') {
    std::int64_t term = 1;
    if (*p == '-' || *p == '+') term = *p++ == '-' ? -1 : 1;
    while (true) {
      if (*p == '(') {
        ++p;
        const std::int64_t inner = value_of(p, symbols);
        p += 3;  // ")//"
        std::int64_t d = 0;
        while (*p >= '0' && *p <= '9') d = d * 10 + (*p++ - '0');
        term *= inner / d - ((inner % d != 0 && inner < 0) ? 1 : 0);
      } else if (*p >= '0' && *p <= '9') {
        std::int64_t v = 0;
        while (*p >= '0' && *p <= '9') v = v * 10 + (*p++ - '0');
        term *= v;
      } else {
        std::string name;
        while (std::isalnum(static_cast<unsigned char>(*p)) != 0 || *p == '_') name += *p++;
        term *= symbols.at(name);
      }
      if (*p != '*') break;
      ++p;
    }
    total += term;
  }
  return total;
}
inline std::int64_t value_of(const kiln::dsl::record::extent& e, const Symbols& symbols) {
  if (e.text == nullptr) return e.value;
  const char* p = e.text;
  return value_of(p, symbols);
}
inline Shape shape_of(const kiln::dsl::record::shape& s, const Symbols& symbols) {
  Shape r;
  for (int i = 0; i < s.rank; ++i) r.push_back(value_of(s.extents[i], symbols));
  return r;
}

// The parameters' values after the program, by name. `in`: the values before.
std::map<std::string, Tensor> evaluate(const kiln::dsl::record::program& p, std::map<std::string, Tensor> in,
                                       const Symbols& symbols);

}  // namespace dsl_test
