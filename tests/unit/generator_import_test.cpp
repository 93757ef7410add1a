#include <gtest/gtest.h>

#include <string>

#include "compiler/ir/diagnostic.h"
#include "compiler/ir/text.h"
#include "generator/generated_names.h"
#include "generator/header_writer.h"
#include "generator/import.h"
#include "generator_tables.h"

using namespace kiln::compiler;
using tables::Tables;
using op = kiln::dsl::record::op;

namespace {

std::string imported(Tables t) {
  Graph g;
  const Program p = kiln::generator::import_program(g, t.get());
  return write_program(g, p, {.locations = false});
}

std::string error_of(Tables t) {
  try {
    imported(std::move(t));
  } catch (const Diagnostic& d) {
    return d.what();
  }
  return "";
}

}  // namespace

TEST(Import, Saxpy) {
  EXPECT_EQ(imported(tables::saxpy()),
            "program saxpy\n"
            "symbol N min 0 max 1099511627776 multiple_of 1\n"
            "in f32 [] a\nin f32 [N] x\ninout f32 [N] y\n"
            "%0 = param f32 [N] y\n%1 = param f32 [] a\n%2 = param f32 [N] x\n"
            "%3 = mul f32 [N] %1, %2\n%4 = add f32 [N] %3, %0\nstore y, %4\n");
}

TEST(Import, LocationsAreTheUsers) {
  Graph g;
  auto t = tables::saxpy();
  const Program p = kiln::generator::import_program(g, t.get());
  const std::string text = write_program(g, p);
  EXPECT_NE(text.find("add f32 [N] %3, %0 @ \"user.cpp\":14:3"), std::string::npos) << text;
}

// y = -x + |x|, with the operands recorded in either order, because C++ does not define the order.
TEST(Import, NodesAreInTheOrderOfOperands) {
  const auto recorded = [](bool last_first) {
    Tables t("terms");
    const auto* s = t.shape({Tables::fixed(4)});
    t.param("x", 0, KILN_I32, s);
    t.param("y", 1, KILN_I32, s);
    const int x = t.node(op::param, KILN_I32, s);
    const int first = t.node(last_first ? op::abs : op::neg, KILN_I32, s, {x});
    const int second = t.node(last_first ? op::neg : op::abs, KILN_I32, s, {x});
    const int sum = last_first ? t.node(op::add, KILN_I32, s, {second, first}) : t.node(op::add, KILN_I32, s, {first, second});
    t.node(op::store, KILN_I32, s, {sum}, {}, 1);
    return imported(std::move(t));
  };
  EXPECT_EQ(recorded(false), recorded(true));
  EXPECT_NE(recorded(true).find("= neg i32 [4] %0\n%2 = abs i32 [4] %0\n"), std::string::npos) << recorded(true);
}

TEST(Import, ReadAfterStoreIsTheStoredValue) {
  Tables t("twice");
  const auto* s = t.shape({Tables::fixed(4)});
  t.param("y", 2, KILN_I32, s);
  const int y = t.node(op::param, KILN_I32, s);
  const int n = t.node(op::neg, KILN_I32, s, {y});
  t.node(op::store, KILN_I32, s, {n});
  const int again = t.node(op::param, KILN_I32, s);
  t.node(op::store, KILN_I32, s, {t.node(op::abs, KILN_I32, s, {again})});
  EXPECT_EQ(imported(std::move(t)),
            "program twice\ninout i32 [4] y\n%0 = param i32 [4] y\n%1 = neg i32 [4] %0\n%2 = abs i32 [4] %1\nstore y, %2\n");
}

TEST(Import, EveryAttributeForm) {
  Tables t("forms");
  t.symbol("N", 4);
  const auto* x_shape = t.shape({Tables::text("N"), Tables::fixed(6)});
  const auto* flat = t.shape({Tables::text("6*N")});
  t.param("x", 0, KILN_F32, x_shape);
  t.param("y", 1, KILN_F32, flat);
  t.param("n", 1, KILN_I64, t.shape({}));
  const int x = t.node(op::param, KILN_F32, x_shape);
  const int zero = t.node(op::constant, KILN_F32, t.shape({}));
  const int p =
      t.node(op::permute, KILN_F32, t.shape({Tables::fixed(6), Tables::text("N")}), {x}, {Tables::fixed(1), Tables::fixed(0)});
  const int s = t.node(op::slice, KILN_F32, t.shape({Tables::fixed(3), Tables::text("(N+1)//2")}), {p},
                       {Tables::fixed(5), Tables::fixed(0), Tables::fixed(-2), Tables::fixed(2)});
  const int q = t.node(op::pad, KILN_F32, t.shape({Tables::fixed(6), Tables::text("(N+1)//2+2")}), {s, zero},
                       {Tables::fixed(1), Tables::fixed(2), Tables::fixed(0)});
  const int r = t.node(op::reduce, KILN_F32, t.shape({}), {q}, {Tables::fixed(0), Tables::fixed(0), Tables::fixed(1)});
  const int f = t.node(op::reduce, KILN_F32, t.shape({Tables::text("N")}), {x, x}, {Tables::fixed(8), Tables::fixed(1)});
  const int c = t.node(op::concat, KILN_F32, t.shape({Tables::text("2*N"), Tables::fixed(6)}), {x, x}, {Tables::fixed(0)});
  const int h =
      t.node(op::slice, KILN_F32, x_shape, {c}, {Tables::text("N"), Tables::fixed(0), Tables::fixed(1), Tables::fixed(1)});
  const int e = t.node(op::reshape, KILN_F32, t.shape({Tables::text("N"), Tables::fixed(1)}), {f});
  const int sum = t.node(op::add, KILN_F32, x_shape, {t.node(op::mul, KILN_F32, x_shape, {h, e}), r});
  t.node(op::store, KILN_F32, flat, {t.node(op::reshape, KILN_F32, flat, {sum})}, {}, 1);
  t.node(op::store, KILN_I64, t.shape({}), {t.node(op::dim, KILN_I64, t.shape({}), {}, {Tables::text("2*N-1")})}, {}, 2);
  const std::string text = imported(std::move(t));
  for (const char* part :
       {"slice f32 [3, ((N + 1) // (2))] %7, begin [5, 0], step [-2, 2]", "before [1, 2], mode constant",
        "reduce f32 [N] %0, %0, fma, axes [1]", "begin [N, 0], step [1, 1]", "expand f32 [N, 6]", "cast i64 [] (2*N - 1)"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
}

TEST(Import, Mistakes) {
  Tables unassigned("p");
  unassigned.param("y", 1, KILN_F32, unassigned.shape({}));
  EXPECT_EQ(error_of(std::move(unassigned)),
            "user.cpp:1:1: error: E-store: expected the output `y` to be assigned, got no store");

  Tables outside("p");
  const auto* n = outside.shape({Tables::text("N")});
  const auto* m = outside.shape({Tables::text("M")});
  outside.symbol("N", 0);
  outside.symbol("M", 0);
  outside.param("x", 0, KILN_F32, n);
  outside.param("y", 1, KILN_F32, m);
  outside.node(op::slice, KILN_F32, m, {outside.node(op::param, KILN_F32, n)}, {Tables::fixed(0), Tables::fixed(1)});
  EXPECT_NE(error_of(std::move(outside)).find("user.cpp:11:3: error: E-slice"), std::string::npos);
}

TEST(Import, NeededMinimaBecomeFacts) {
  Tables t("p");
  const auto* n = t.shape({Tables::text("N")});
  const auto* three = t.shape({Tables::fixed(3)});
  t.symbol("N", 1);
  t.param("x", 0, KILN_F32, n);
  t.param("y", 1, KILN_F32, three);
  t.node(op::store, KILN_F32, three,
         {t.node(op::slice, KILN_F32, three, {t.node(op::param, KILN_F32, n)}, {Tables::fixed(2), Tables::fixed(1)})}, {}, 1);
  EXPECT_NE(imported(std::move(t)).find("symbol N min 5 "), std::string::npos);
}

TEST(Names, Symbols) {
  using namespace kiln::generator;
  EXPECT_EQ(symbol_prefix("a::b"), "a_b_");
  EXPECT_EQ(symbol_prefix(""), "");
  EXPECT_TRUE(is_namespace("a::b2"));
  EXPECT_FALSE(is_namespace("a::"));
  EXPECT_FALSE(is_namespace("2a"));
  EXPECT_FALSE(is_namespace("a:b"));
}

TEST(Header, Declares) {
  Graph g;
  auto t = tables::saxpy();
  const Program p = kiln::generator::import_program(g, t.get());
  const std::string h = kiln::generator::write_header(g, p, "my");
  for (const char* part : {"kiln_status my_saxpy(const kiln_tensor* args, int32_t n_args, const kiln_context* context);",
                           "const kiln_program_desc* my_saxpy_desc(void);", "inline kiln::status saxpy(float a,",
                           "kiln::view<const float, kiln::dynamic_extent> x,", "kiln::view<float, kiln::dynamic_extent> y,",
                           "namespace my {", "inout f32 [N] y"})
    EXPECT_NE(h.find(part), std::string::npos) << part << "\n" << h;
  // C++ allows no namespace with the name of a C library function.
  const std::string named_as_c = kiln::generator::write_header(g, p, "time");
  EXPECT_NE(named_as_c.find("namespace kiln_programs {\nnamespace time {\n"), std::string::npos) << named_as_c;
  EXPECT_NE(named_as_c.find("\nusing namespace kiln_programs;\n"), std::string::npos) << named_as_c;
  EXPECT_EQ(h.find("kiln_programs"), std::string::npos) << h;
}
