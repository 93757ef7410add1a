// Random tensor programs from end to end: the object, called through the runtime, gives what the interpreter gives, bit for
// bit.
#include <cmath>
#include <cstring>
#include <memory>

#include "compiler/interp/index_value.h"
#include "compiler/interp/interpret.h"
#include "compiler/pipeline/pipeline.h"
#include "tests/unit/codegen_harness.h"
#include "tests/unit/random_program.h"

namespace kiln::compiler::testing {
namespace {

[[gnu::used]] kiln_status (*const linked_for_generated_objects)(const kiln_program_desc*, const kiln_tensor*, std::int32_t,
                                                                const kiln_context*) = kiln_call;

void* allocate(void*, std::size_t size, std::size_t alignment) {
  return std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}
void release(void*, void* p, std::size_t) { std::free(p); }

template <class T>
void put(Array& a, std::size_t i, T value) {
  std::memcpy(a.data.data() + i * sizeof(T), &value, sizeof(T));
}

float random_float(std::mt19937& random) {
  static constexpr float special[] = {0.0F, -0.0F, HUGE_VALF, -HUGE_VALF, __builtin_nanf(""), 1e-40F};
  if (random() % 23 == 0) return special[random() % 6];
  return static_cast<float>(static_cast<int>(random() % 2001) - 1000) / 64.0F;
}

std::vector<Array> random_arguments(const Graph& g, const Program& p, const std::map<std::string, std::int64_t>& symbols,
                                    std::mt19937& random) {
  IndexValues value(g, symbols);
  std::vector<Array> out;
  for (const Parameter& q : p.params) {
    Array& a = out.emplace_back();
    a.dtype = q.dtype;
    for (const Id e : q.extents) a.extents.push_back(value(e).value());
    a.data.resize(a.elements() * static_cast<std::size_t>(bytes(q.dtype)));
    for (std::size_t i = 0; i < a.elements(); ++i) {
      if (q.dtype == DType::f32) put(a, i, random_float(random));
      if (q.dtype == DType::i32) put(a, i, static_cast<std::int32_t>(random() % 100) - 50);
    }
  }
  return out;
}

// NaN payloads do not count.
bool equal(const Array& a, const Array& b) {
  if (a.dtype != DType::f32) return a.data == b.data;
  for (std::size_t i = 0; i < a.elements(); ++i) {
    float x = 0, y = 0;
    std::memcpy(&x, a.data.data() + 4 * i, 4);
    std::memcpy(&y, b.data.data() + 4 * i, 4);
    if (std::memcmp(&x, &y, 4) != 0 && !(std::isnan(x) && std::isnan(y))) return false;
  }
  return true;
}

std::vector<Array> call(const test::Loaded& library, const Program& p, std::vector<Array> arguments) {
  std::vector<kiln_tensor> tensors;
  for (Array& a : arguments) {
    if (a.data.empty()) a.data.resize(8);  // a null pointer is an error even for an empty tensor
    tensors.push_back({a.data.data(), a.extents.data(), nullptr, static_cast<std::int32_t>(a.dtype),
                       static_cast<std::int32_t>(a.extents.size())});
  }
  kiln_context context{};
  context.allocate = allocate;
  context.release = release;
  using Entry = kiln_status (*)(const kiln_tensor*, std::int32_t, const kiln_context*);
  const kiln_status s =
      reinterpret_cast<Entry>(library.symbol(p.name))(tensors.data(), static_cast<std::int32_t>(tensors.size()), &context);
  EXPECT_EQ(s.code, KILN_OK) << kiln_status_name(s.code) << " parameter " << s.param << " axis " << s.axis;
  return arguments;
}

// index_bits 64: every index in 64 bits; nothing may depend on it.
std::unique_ptr<test::Loaded> load(Graph& g, const Program& p, int index_bits) {
  CompileOptions options;
  options.target.index_bits = index_bits;
  return std::make_unique<test::Loaded>(compile(g, p, options).code.object, p.name);
}

void check_seed(unsigned seed, bool symbolic) {
  SCOPED_TRACE(seed);
  Graph g;
  Program p = RandomProgram(g, seed, symbolic).make();
  for (const Symbol& s : p.symbols)  // every symbol has a parameter that defines it
    p.params.push_back({"of_" + s.name, Direction::in, DType::f32, {g.sym(s.name)}, {}});
  std::vector<std::unique_ptr<test::Loaded>> libraries;
  libraries.push_back(load(g, p, 32));
  if (seed % 2 == 0) libraries.push_back(load(g, p, 64));
  std::mt19937 random(seed);
  for (int round = 0; round < (symbolic ? 3 : 1); ++round) {
    std::map<std::string, std::int64_t> symbols;
    for (const Symbol& s : p.symbols)
      symbols[s.name] = s.min + static_cast<std::int64_t>(random() % static_cast<unsigned>(s.max - s.min + 1));
    if (unfit(g, p, symbols)) continue;
    const std::vector<Array> arguments = random_arguments(g, p, symbols, random), want = interpret(g, p, arguments);
    for (const auto& library : libraries) {
      const std::vector<Array> got = call(*library, p, arguments);
      for (std::size_t i = 0; i < want.size(); ++i) {
        if (p.params[i].direction == Direction::in || want[i].elements() == 0) continue;
        ASSERT_TRUE(equal(want[i], got[i])) << p.params[i].name;
      }
    }
  }
}

TEST(CodegenRandom, StaticExtents) {
  for (unsigned seed = 0; seed < 250 && !HasFatalFailure(); ++seed) check_seed(seed, false);
}

TEST(CodegenRandom, SymbolicExtents) {
  for (unsigned seed = 10'000; seed < 10'250 && !HasFatalFailure(); ++seed) check_seed(seed, true);
}

}  // namespace
}  // namespace kiln::compiler::testing
