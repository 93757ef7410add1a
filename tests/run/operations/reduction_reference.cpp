#include <cmath>

#include "tests/run/operations/operations.h"

namespace kiln::compiler::testing {
namespace {

using Axes = std::vector<std::int64_t>;

Bits exact(Op o, DType d, std::vector<Bits> x) { return expected_element(o, d, d, x).exact; }
Bits count_of(DType d, std::int64_t n) { return real_bits(d, static_cast<long double>(n)); }

std::int64_t count(const Tensor& x, const Axes& axes) {
  std::int64_t n = 1;
  for (const std::int64_t a : axes) n *= x.extents[static_cast<std::size_t>(a)];
  return n;
}
// keepdims: the output's extents are the program's extents, with 1 for reduced axes.
Reference reduced(ReduceKind kind, Axes axes, const char* input = "x") {
  return [=](const Call& c) { return exactly(expected_reshape(expected_reduce(kind, c[input], axes), c.extents)); };
}
// argmax and argmin over several axes: the row-major index over these axes, which come last.
Reference located(ReduceKind kind, Axes kept, Axes axes) {
  return [=](const Call& c) {
    Axes order = kept;
    order.insert(order.end(), axes.begin(), axes.end());
    Extents flat;
    for (const std::int64_t a : kept) flat.push_back(c["x"].extents[static_cast<std::size_t>(a)]);
    flat.push_back(count(c["x"], axes));
    const Tensor x = expected_reshape(expected_permute(c["x"], order), flat);
    return exactly(expected_reduce(kind, x, {static_cast<std::int64_t>(kept.size())}));
  };
}
Tensor mean(const Tensor& x, const Axes& axes) {
  const Tensor sum = expected_reduce(ReduceKind::sum, x, axes);
  const Bits n = count_of(x.dtype, count(x, axes));
  Tensor r = sum;
  for (Bits& b : r.elements) b = exact(Op::FDIV, x.dtype, {b, n});
  return r;
}
Reference averaged(Axes axes) {
  return [=](const Call& c) { return exactly(expected_reshape(mean(c["x"], axes), c.extents)); };
}

Reference scanned(ReduceKind kind, std::int64_t axis, bool exclusive, bool reversed, const char* input = "x") {
  return [=](const Call& c) { return exactly(expected_scan(kind, c[input], axis, exclusive, reversed)); };
}

Family sums() {
  using K = ReduceKind;
  const std::string sum = "sum<axes>(x)", sum_kept = "sum<axes>(x, keepdims)", prod = "prod<axes>(x)",
                    prod_kept = "prod<axes>(x, keepdims)", cumsum = "cumsum<axis>(x)";
  return {"sums",
          Fill::random,
          {{"sum0", sum, reduced(K::sum, {0})},
           {"sum2", sum, reduced(K::sum, {2})},
           {"sum12", sum, reduced(K::sum, {1, 2})},
           {"sum_all", sum, reduced(K::sum, {0, 1, 2})},
           {"sum_line", sum, reduced(K::sum, {0}, "line")},
           {"sum_kept", sum_kept, reduced(K::sum, {0, 2})},
           {"prod0", prod, reduced(K::prod, {0})},
           {"prod2", prod, reduced(K::prod, {2})},
           {"prod02", prod, reduced(K::prod, {0, 2})},
           {"prod_all", prod, reduced(K::prod, {0, 1, 2})},
           {"prod_line", prod, reduced(K::prod, {0}, "line")},
           {"prod_kept", prod_kept, reduced(K::prod, {1})},
           {"cumsum0", cumsum, scanned(K::sum, 0, false, true)},
           {"cumsum1", cumsum, scanned(K::sum, 1, true, false)},
           {"cumsum2", cumsum, scanned(K::sum, 2, false, false)},
           {"cumprod2", "cumprod<axis>(x)", scanned(K::prod, 2, true, true)},
           {"cumsum_line", cumsum, scanned(K::sum, 0, false, false, "line")}}};
}

Family extremes() {
  Family f{"extremes",
           Fill::random,
           {{"max_line", "max<axes>(x)", reduced(ReduceKind::max, {0}, "line")},
            {"argmin_line", "argmin<axes>(x)", reduced(ReduceKind::argmin, {0}, "line")},
            {"cummax0", "cummax<axis>(x)", scanned(ReduceKind::max, 0, false, false)},
            {"cummin2", "cummin<axis>(x)", scanned(ReduceKind::min, 2, true, true)}}};
  for (const auto& [name, kind] : {std::pair("max", ReduceKind::max), std::pair("min", ReduceKind::min)}) {
    const std::string n = name, spelling = n + "<axes>(x)";
    f.operations.push_back({n + "0", spelling, reduced(kind, {0})});
    f.operations.push_back({n + "12", spelling, reduced(kind, {1, 2})});
    f.operations.push_back({n + "_all", spelling, reduced(kind, {0, 1, 2})});
    f.operations.push_back({n + "_kept", n + "<axes>(x, keepdims)", reduced(kind, {0, 2})});
  }
  for (const auto& [name, kind] : {std::pair("argmax", ReduceKind::argmax), std::pair("argmin", ReduceKind::argmin)}) {
    const std::string n = name, spelling = n + "<axes>(x)";
    f.operations.push_back({n + "0", spelling, reduced(kind, {0})});
    f.operations.push_back({n + "2", spelling, reduced(kind, {2})});
    f.operations.push_back({n + "02", spelling, located(kind, {1}, {0, 2})});
    f.operations.push_back({n + "_all", spelling, located(kind, {}, {0, 1, 2})});
    f.operations.push_back({n + "_kept", n + "<axes>(x, keepdims)", reduced(kind, {1})});
  }
  return f;
}

Family quantifiers() {
  Family f{"quantifiers", Fill::random, {}};
  for (const auto& [name, kind] : {std::pair("any", ReduceKind::any), std::pair("all", ReduceKind::all)}) {
    const std::string n = name, spelling = n + "<axes>(x)";
    f.operations.push_back({n + "0", spelling, reduced(kind, {0})});
    f.operations.push_back({n + "12", spelling, reduced(kind, {1, 2})});
    f.operations.push_back({n + "_all", spelling, reduced(kind, {0, 1, 2})});
    f.operations.push_back({n + "_kept", n + "<axes>(x, keepdims)", reduced(kind, {0, 2})});
  }
  return f;
}

// mean((x - y)^2)
Expectation squared_error(const Call& c) {
  const Tensor &x = c["x"], &y = c["y"];
  Tensor d = x;
  for (std::size_t i = 0; i < d.elements.size(); ++i) {
    const Bits e = exact(Op::SUB, d.dtype, {x.elements[i], y.elements[i]});
    d.elements[i] = exact(Op::MUL, d.dtype, {e, e});
  }
  return exactly(mean(d, {0, 1, 2}));
}

Family means() {
  return {"means",
          Fill::random,
          {{"mean0", "mean<axes>(x)", averaged({0})},
           {"mean2", "mean<axes>(x)", averaged({2})},
           {"mean12", "mean<axes>(x)", averaged({1, 2})},
           {"mean_all", "mean<axes>(x)", averaged({0, 1, 2})},
           {"mean_kept", "mean<axes>(x, keepdims)", averaged({0, 2})},
           {"error", "mse(x, y)", squared_error}}};
}

}  // namespace

std::vector<Family> contraction_families();
std::vector<Family> normalized_families();

std::vector<Family> reduction_families() {
  std::vector<Family> f{sums(), extremes(), quantifiers(), means()};
  for (Family& g : contraction_families()) f.push_back(std::move(g));
  for (Family& g : normalized_families()) f.push_back(std::move(g));
  return f;
}

}  // namespace kiln::compiler::testing
