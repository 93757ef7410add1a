#include "generator/tools/arguments.h"

#include <bit>
#include <charconv>
#include <cstring>
#include <iostream>
#include <new>

#include "compiler/ir/diagnostic.h"
#include "generator/outputs.h"

namespace kiln::generator {
namespace {

using compiler::Array;
using compiler::Diagnostic;
using compiler::DType;

std::uint64_t next_random(std::uint64_t& state) {  // splitmix64
  std::uint64_t z = state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

// Bits of a float with at most 8 significant bits and an exponent in f16's range: exact in every float dtype.
std::uint64_t float_bits(DType d, float v) {
  const auto f = std::bit_cast<std::uint32_t>(v);
  switch (d) {
    case DType::f64: return std::bit_cast<std::uint64_t>(static_cast<double>(v));
    case DType::f32: return f;
    case DType::bf16: return f >> 16;
    default: return v == 0 ? 0 : (f >> 16 & 0x8000u) | ((((f >> 23) & 0xffu) - 112u) << 10) | (f >> 13 & 0x3ffu);
  }
}

std::uint64_t random_bits(DType d, std::uint64_t& state) {
  const std::uint64_t r = next_random(state) >> 16;
  if (d == DType::boolean) return r & 1;
  if (is_float(d)) return float_bits(d, static_cast<float>(static_cast<int>(r % 512) - 256) / 256.0f);
  if (compiler::is_unsigned_int(d)) return r % 101;
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(r % 201) - 100);
}

}  // namespace

std::map<std::string, std::string> named_values(const std::vector<std::string>& pairs, std::string_view option) {
  std::map<std::string, std::string> out;
  for (const std::string& p : pairs) {
    const std::size_t at = p.find('=');
    if (at == 0 || at == std::string::npos || at + 1 == p.size())
      throw Diagnostic("E-usage", std::string(option), "expected NAME=VALUE, got '" + p + "'");
    if (!out.emplace(p.substr(0, at), p.substr(at + 1)).second)
      throw Diagnostic("E-usage", std::string(option), "expected each name once, got '" + p.substr(0, at) + "' twice");
  }
  return out;
}

std::map<std::string, std::int64_t> named_integers(const std::vector<std::string>& pairs, std::string_view option) {
  std::map<std::string, std::int64_t> out;
  for (const auto& [name, text] : named_values(pairs, option)) {
    std::int64_t v = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), v);
    if (error != std::errc() || end != text.data() + text.size())
      throw Diagnostic("E-usage", std::string(option), "expected an integer for " + name + ", got '" + text + "'");
    out[name] = v;
  }
  return out;
}

Array zero_array(DType d, std::vector<std::int64_t> extents, const std::string& where) {
  constexpr std::int64_t most = std::int64_t{1} << 46;
  std::int64_t size = bytes(d);
  bool empty = false;
  for (std::int64_t e : extents) {
    if (e < 0) throw Diagnostic("E-argument", where, "expected extents >= 0, got " + std::to_string(e));
    empty = empty || e == 0;
    if (__builtin_mul_overflow(size, e == 0 ? 1 : e, &size) || size > most)
      throw Diagnostic("E-argument", where, "expected at most 2^46 bytes");
  }
  Array a;
  a.dtype = d;
  a.extents = std::move(extents);
  a.data.resize(empty ? 0 : static_cast<std::size_t>(size));
  return a;
}

Array random_array(DType d, std::vector<std::int64_t> extents, std::uint64_t seed) {
  Array a = zero_array(d, std::move(extents), "--random");
  const std::size_t width = size_of(d);
  for (std::size_t at = 0; at < a.data.size(); at += width) {
    const std::uint64_t bits = random_bits(d, seed);
    std::memcpy(a.data.data() + at, &bits, width);  // little-endian
  }
  return a;
}

int run_tool(const std::function<void()>& work) {
  try {
    work();
    std::cout.flush();
    return std::cout ? 0 : 74;
  } catch (const OutputError& e) {
    std::cerr << e.what() << '\n';
    return e.exit_status();
  } catch (const Diagnostic& d) {
    std::cout.flush();  // flushes earlier output, so that it is shown before the error
    std::cerr << d.what() << '\n';
    return d.id() == "E-usage" ? 64 : 65;
  } catch (const std::bad_alloc&) {
    std::cerr << "error: " << "E-oom" << ": out of memory\n";
    return 75;
  } catch (const std::exception& e) {
    std::cerr << "error: internal: " << e.what() << '\n';
    return 70;
  }
}

}  // namespace kiln::generator
