#include "tests/bench/headline/bench.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <new>
#include <stdexcept>

namespace kiln::headline {

const std::vector<workload>& workloads() {
  static const std::vector<workload> list = {
#define ROW(name, family, type, ...) {#name, #family, #type, {__VA_ARGS__}},
#define SYMBOLIC(...)
#include HEADLINE_ROWS
#undef ROW
#undef SYMBOLIC
  };
  return list;
}
const std::vector<symbolic_row>& symbolic_rows() {
  static const std::vector<symbolic_row> list = {
#define ROW(...)
#define SYMBOLIC(family, type, ...) {#family, #type, #__VA_ARGS__},
#include HEADLINE_ROWS
#undef ROW
#undef SYMBOLIC
  };
  return list;
}
const workload& find_workload(std::string_view name) {
  for (const workload& w : workloads())
    if (w.name == name) return w;
  throw std::runtime_error("no workload " + std::string(name));
}

std::int64_t size_of(kiln_dtype t) {
#define KILN_X(code, name, bits, type) bits / 8,
  static constexpr std::int64_t sizes[] = {KILN_DTYPES(KILN_X)};
#undef KILN_X
  return sizes[t];
}
kiln_dtype type_of(std::string_view text) {
#define KILN_X(code, name, bits, type) \
  if (text == #name) return KILN_##code;
  KILN_DTYPES(KILN_X)
#undef KILN_X
  throw std::runtime_error("no type " + std::string(text));
}

void buffer_release::operator()(void* p) const { std::free(p); }
buffer allocate(std::int64_t bytes) {
  constexpr std::int64_t large = 4 << 20, page = 2 << 20;
  const std::int64_t alignment = bytes >= large ? page : 64;
  const auto size = static_cast<std::size_t>((std::max<std::int64_t>(bytes, 1) + alignment - 1) / alignment * alignment);
  void* p = std::aligned_alloc(static_cast<std::size_t>(alignment), size);
  if (p == nullptr) throw std::bad_alloc();
  if (bytes >= large) (void)madvise(p, size, MADV_HUGEPAGE);
  return buffer(p);
}

double array::operator[](std::int64_t i) const {
  switch (type) {
    case KILN_F32: return static_cast<double>(as<float>()[i]);
    case KILN_F64: return as<double>()[i];
    case KILN_BF16: return static_cast<double>(std::bit_cast<float>(std::uint32_t{as<std::uint16_t>()[i]} << 16));
    case KILN_I8: return as<std::int8_t>()[i];
    case KILN_U8: return as<std::uint8_t>()[i];
    case KILN_I32: return as<std::int32_t>()[i];
    case KILN_I64: return static_cast<double>(as<std::int64_t>()[i]);
    default: throw std::runtime_error("type of an argument");
  }
}

double initial(kiln_dtype type, std::size_t argument, std::int64_t i) {
  std::uint64_t h = (static_cast<std::uint64_t>(i) + (argument << 40) + 1) * 0x9e3779b97f4a7c15u;
  h = (h ^ (h >> 29)) * 0xbf58476d1ce4e5b9u;
  const auto bits = static_cast<std::uint32_t>(h >> 40);  // 24
  if (type == KILN_U8 || type == KILN_I32) return bits & 255;
  if (type == KILN_I8) return static_cast<double>(bits & 255) - 128;
  const double x = (static_cast<double>(bits) + 0.5) * 0x1p-23 - 1;
  // bf16 keeps 8 bits: a multiple of 1 / 128 is exact.
  return type == KILN_BF16 ? std::floor(x * 128) / 128 : static_cast<double>(static_cast<float>(x));
}

static void fill(const array& a, std::size_t argument) {
  for (std::int64_t i = 0; i < a.elements(); ++i) {
    const double x = initial(a.type, argument, i);
    switch (a.type) {
      case KILN_F32: a.as<float>()[i] = static_cast<float>(x); break;
      case KILN_F64: a.as<double>()[i] = x; break;
      case KILN_BF16:
        a.as<std::uint16_t>()[i] = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(static_cast<float>(x)) >> 16);
        break;
      case KILN_I8: a.as<std::int8_t>()[i] = static_cast<std::int8_t>(x); break;
      case KILN_U8: a.as<std::uint8_t>()[i] = static_cast<std::uint8_t>(x); break;
      case KILN_I32: a.as<std::int32_t>()[i] = static_cast<std::int32_t>(x); break;
      default: throw std::runtime_error("type of an input");
    }
  }
}

static std::vector<family>& family_list() {
  static std::vector<family> list;
  return list;
}
void add(const family& f) { family_list().push_back(f); }
const family& find_family(std::string_view name) {
  for (const family& f : family_list())
    if (f.name == name) return f;
  throw std::runtime_error("no family " + std::string(name));
}

double written_of(const problem& p) {
  double n = 0;
  for (const array& a : p.out) n += static_cast<double>(a.elements() * size_of(a.type));
  return n;
}
double bytes_of(const problem& p) {
  double n = written_of(p);
  for (const array& a : p.out) n += a.updated ? static_cast<double>(a.elements() * size_of(a.type)) : 0;
  for (const array& a : p.in) n += static_cast<double>(a.elements() * size_of(a.type));
  return n;
}

problem make_problem(const workload& w) {
  problem p;
  p.row = &w;
  find_family(w.family).arguments(w, p);
  for (std::size_t i = 0; i < p.in.size() + p.out.size(); ++i) {
    const bool input = i < p.in.size();
    array& a = input ? p.in[i] : p.out[i - p.in.size()];
    const std::int64_t bytes = a.elements() * size_of(a.type);
    a.data = allocate(bytes);
    if (input || a.updated)
      fill(a, i);
    else
      std::memset(a.data.get(), 0xff, static_cast<std::size_t>(bytes));
  }
  return p;
}

std::string check(const problem& p) {
  const family& f = find_family(p.row->family);
  double results = 0;
  for (const array& a : p.out) results += static_cast<double>(a.elements());
  // As many elements as 1e8 operations allow: all of a cheap result; else every n-th, where n is odd, and the last one.
  const double most = 1e8 / (20 + (f.cost != nullptr ? f.cost(*p.row) : f.work(*p.row) / results));
  for (std::size_t out = 0; out < p.out.size(); ++out) {
    const std::int64_t n = p.out[out].elements();
    const std::int64_t step = static_cast<std::int64_t>(static_cast<double>(n) / std::max(8.0, most)) | 1;
    for (std::int64_t i = 0; i < n; i = i + step < n || i == n - 1 ? i + step : n - 1) {
      const double expected = f.element(p, out, i), got = p.out[out][i];
      const kiln_dtype t = p.out[out].type;
      const double unit = t == KILN_F64 ? 1e-8 : 1,
                   allowed = t >= KILN_F16 ? unit * f.tolerance * std::max(1.0, std::abs(expected)) : f.difference;
      if (!(std::abs(got - expected) <= allowed))
        return "element " + std::to_string(i) + " of result " + std::to_string(out) + " is " + std::to_string(got) +
               ", the reference is " + std::to_string(expected);
    }
  }
  return "";
}

}  // namespace kiln::headline
