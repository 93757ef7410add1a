#include "tests/grad/run.h"

#include <gtest/gtest.h>

#include "compiler/interp/interpret.h"
#include "compiler/interp/scalar.h"
#include "compiler/interp/visit.h"
#include "compiler/ir/diagnostic.h"
#include "compiler/pipeline/compile.h"
#include "generator/import.h"
#include "tests/run/array_of_elements.h"

namespace grad_test {

using namespace kiln::compiler;

Program::Program(const kiln::dsl::record::program& p) : record_(p), program_(kiln::generator::import_program(graph_, p)) {}

std::vector<Array> Program::arguments(const Tensors& in, const Symbols& symbols) const {
  std::vector<Array> out;
  for (int i = 0; i < record_.n_params; ++i) {
    const auto& q = record_.params[i];
    const auto dtype = static_cast<DType>(q.d);
    const Shape shape = dsl_test::shape_of(*q.s, symbols);
    const auto given = in.find(q.name);
    if (given == in.end() && q.direction != KILN_OUT) throw std::invalid_argument(std::string("no argument for ") + q.name);
    std::size_t next = 0;
    out.push_back(kiln::compiler::testing::array_of_elements(
        dtype, shape, [&] { return given == in.end() ? 0.0 : given->second.v.at(next++); }));
  }
  return out;
}

Tensors Program::tensors(const std::vector<Array>& in, const std::vector<Array>& out) const {
  Tensors r;
  for (int i = 0; i < record_.n_params; ++i) {
    const auto& q = record_.params[i];
    const Array& a = (q.direction == KILN_IN ? in : out)[static_cast<std::size_t>(i)];
    Tensor t{a.extents, {}};
    visit_type(a.dtype, [&]<class T>() {
      const auto* x = reinterpret_cast<const T*>(a.data.data());
      for (std::size_t k = 0; k < a.elements(); ++k) t.v.push_back(scalar::convert<double>(x[k]));
    });
    r[q.name] = std::move(t);
  }
  return r;
}

Tensors Program::interpret(const Tensors& in, const Symbols& symbols) {
  const auto given = arguments(in, symbols);
  return tensors(given, kiln::compiler::interpret(graph_, program_, given));
}

const kiln::compiler::testing::CompiledProgram& Program::object() {
  if (!object_) object_ = std::make_unique<kiln::compiler::testing::CompiledProgram>(graph_, program_);
  return *object_;
}

Tensors Program::operator()(const Tensors& in, const Symbols& symbols, int workers) {
  const auto given = arguments(in, symbols);
  return tensors(given, object()(given, workers));
}

Tensors Program::run(const Tensors& in, const Symbols& symbols) {
  const auto given = arguments(in, symbols);
  const auto expected = kiln::compiler::interpret(graph_, program_, given);
  for (const int workers : {1, 3}) {
    const auto got = object()(given, workers);
    for (std::size_t i = 0; i < got.size(); ++i)
      EXPECT_EQ(kiln::compiler::testing::difference(expected.at(i), got[i]), "")
          << program_.name << ", " << program_.params[i].name << ", workers " << workers;
  }
  return tensors(given, expected);
}

int Program::kernels() {
  const Scheduled end = run_passes(graph_, program_, {.last = std::string(last_pass(Form::planned))});
  return static_cast<int>(end.schedule.kernels.size());
}

std::string error_of(const kiln::dsl::record::program& p) {
  Graph g;
  try {
    const kiln::compiler::Program program = kiln::generator::import_program(g, p);
    compile(g, program, {});
  } catch (const Diagnostic& d) {
    return d.what();
  }
  return "";
}

void expect_near(const Tensor& got, const std::vector<double>& wanted, double tolerance, const std::string& what) {
  ASSERT_EQ(got.v.size(), wanted.size()) << what;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (std::isnan(wanted[i]) ? std::isnan(got.v[i]) : got.v[i] == wanted[i]) continue;
    EXPECT_NEAR(got.v[i], wanted[i], tolerance * std::max(1.0, std::abs(wanted[i]))) << what << "[" << i << "]";
  }
}

Tensors Program::check(const Tensors& in, const Symbols& symbols, double tolerance) {
  const Tensors wanted = grad_test::evaluate(record_, in, symbols);
  Tensors got = run(in, symbols);
  for (const auto& [name, t] : wanted) expect_near(got.at(name), t.v, tolerance, program_.name + "." + name);
  return got;
}

double norm(const Tensor& t) {
  double sum = 0;
  for (const double v : t.v) sum += v * v;
  return std::sqrt(sum);
}

}  // namespace grad_test
