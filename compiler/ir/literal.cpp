#include "compiler/ir/literal.h"

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <system_error>

namespace kiln::compiler {
namespace {

struct Format {
  int mantissa, exponent;  // field widths
};
constexpr Format format_of(DType d) {
  return d == DType::f16 ? Format{10, 5} : d == DType::bf16 ? Format{7, 8} : d == DType::f32 ? Format{23, 8} : Format{52, 11};
}
std::uint64_t infinity_bits(Format f) { return ((std::uint64_t{1} << f.exponent) - 1) << f.mantissa; }

double decode(Format f, std::uint64_t bits) {
  const int bias = (1 << (f.exponent - 1)) - 1;
  const auto mantissa = static_cast<double>(bits & ((std::uint64_t{1} << f.mantissa) - 1));
  const int exponent = static_cast<int>((bits >> f.mantissa) & ((std::uint64_t{1} << f.exponent) - 1));
  const double implied = exponent == 0 ? 0.0 : std::ldexp(1.0, f.mantissa);
  const double magnitude = std::ldexp(implied + mantissa, (exponent == 0 ? 1 : exponent) - bias - f.mantissa);
  return ((bits >> (f.mantissa + f.exponent)) & 1) != 0 ? -magnitude : magnitude;
}

// Rounds to nearest even, for formats narrower than f64. nullopt: a finite value would become infinite.
std::optional<std::uint64_t> encode(Format f, double x) {
  const std::uint64_t sign = std::signbit(x) ? std::uint64_t{1} << (f.mantissa + f.exponent) : 0;
  const int bias = (1 << (f.exponent - 1)) - 1;
  int e = 0;
  std::frexp(x, &e);
  const int exponent = x == 0 ? 1 - bias : std::max(e - 1, 1 - bias);
  const double steps = std::nearbyint(std::ldexp(std::fabs(x), f.mantissa - exponent));
  const auto n = static_cast<std::uint64_t>(steps);
  const std::uint64_t bits = (static_cast<std::uint64_t>(exponent + bias - 1) << f.mantissa) + n;
  if (bits >= infinity_bits(f)) return std::nullopt;
  return sign | bits;
}

template <class T>
std::string shortest(T v) {
  std::array<char, 64> buffer{};
  const auto r = std::to_chars(buffer.data(), buffer.data() + buffer.size(), v);
  return {buffer.data(), r.ptr};
}

std::string hexadecimal(std::uint64_t v) {
  std::array<char, 20> buffer{};
  const auto r = std::to_chars(buffer.data(), buffer.data() + buffer.size(), v, 16);
  return "0x" + std::string(buffer.data(), r.ptr);
}

bool take_prefix(std::string_view& s, std::string_view prefix) {
  if (!s.starts_with(prefix)) return false;
  s.remove_prefix(prefix.size());
  return true;
}

std::optional<std::uint64_t> unsigned_value(std::string_view s) {
  const int base = take_prefix(s, "0x") ? 16 : 10;
  std::uint64_t v = 0;
  const auto r = std::from_chars(s.data(), s.data() + s.size(), v, base);
  if (s.empty() || r.ec != std::errc{} || r.ptr != s.data() + s.size()) return std::nullopt;
  return v;
}

std::optional<std::uint64_t> float_bits(DType d, std::string_view s) {
  const Format f = format_of(d);
  const bool minus = take_prefix(s, "-");
  const std::uint64_t sign = minus ? std::uint64_t{1} << (f.mantissa + f.exponent) : 0;
  if (s == "inf") return sign | infinity_bits(f);
  if (s == "nan" && !minus) return infinity_bits(f) | std::uint64_t{1} << (f.mantissa - 1);
  const auto style = take_prefix(s, "0x") ? std::chars_format::hex : std::chars_format::general;
  if (s.empty() || s[0] < '0' || s[0] > '9') return std::nullopt;
  const char* end = s.data() + s.size();
  if (d == DType::f32) {
    float v = 0;
    const auto r = std::from_chars(s.data(), end, v, style);
    if (r.ec != std::errc{} || r.ptr != end) return std::nullopt;
    return sign | std::bit_cast<std::uint32_t>(v);
  }
  double v = 0;
  const auto r = std::from_chars(s.data(), end, v, style);
  if (r.ec != std::errc{} || r.ptr != end) return std::nullopt;
  if (d == DType::f64) return sign | std::bit_cast<std::uint64_t>(v);
  const auto bits = encode(f, v);
  if (!bits) return std::nullopt;
  return sign | *bits;
}

std::optional<std::uint64_t> integer_bits(DType d, std::string_view s) {
  const bool minus = take_prefix(s, "-");
  const auto magnitude = unsigned_value(s);
  if (!magnitude) return std::nullopt;
  if (is_unsigned_int(d)) {
    if ((minus && *magnitude != 0) || (bits(d) < 64 && *magnitude >> bits(d) != 0)) return std::nullopt;
    return *magnitude;
  }
  const std::uint64_t limit = std::uint64_t{1} << (bits(d) - 1);
  if (*magnitude > (minus ? limit : limit - 1)) return std::nullopt;
  return minus ? 0 - *magnitude : *magnitude;
}

}  // namespace

double float_value(DType d, std::uint64_t v) {
  if (d == DType::f64) return std::bit_cast<double>(v);
  const Format f = format_of(d);
  const std::uint64_t sign = std::uint64_t{1} << (f.mantissa + f.exponent), magnitude = v & ~sign;
  if (magnitude < infinity_bits(f)) return decode(f, v);
  if (magnitude > infinity_bits(f)) return std::nan("");
  return v == magnitude ? HUGE_VAL : -HUGE_VAL;
}

bool is_canonical_literal(DType d, std::uint64_t v) {
  if (d == DType::boolean) return v <= 1;
  if (d == DType::none) return false;
  if (bits(d) == 64) return true;
  if (is_signed_int(d)) {
    const int shift = 64 - bits(d);
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(v << shift) >> shift) == v;
  }
  return v >> bits(d) == 0;
}

std::string literal_text(DType d, std::uint64_t v) {
  if (!is_canonical_literal(d, v)) return "bits(" + hexadecimal(v) + ")";
  if (d == DType::boolean) return v != 0 ? "true" : "false";
  if (is_unsigned_int(d)) return std::to_string(v);
  if (!is_float(d)) return std::to_string(static_cast<std::int64_t>(v));
  const Format f = format_of(d);
  const std::uint64_t magnitude = v & ~(std::uint64_t{1} << (f.mantissa + f.exponent));
  if (magnitude > infinity_bits(f))
    return v == (infinity_bits(f) | std::uint64_t{1} << (f.mantissa - 1)) ? "nan" : "bits(" + hexadecimal(v) + ")";
  if (magnitude == infinity_bits(f)) return v == magnitude ? "inf" : "-inf";
  if (d == DType::f64) return shortest(std::bit_cast<double>(v));
  return shortest(static_cast<float>(decode(f, v)));
}

std::optional<std::uint64_t> literal_bits(DType d, std::string_view s) {
  if (take_prefix(s, "bits(")) {
    if (!s.ends_with(')')) return std::nullopt;
    s.remove_suffix(1);
    const auto v = unsigned_value(s);
    return v && is_canonical_literal(d, *v) ? v : std::nullopt;
  }
  if (d == DType::boolean) {
    if (s == "true" || s == "false") return s == "true" ? 1 : 0;
    return std::nullopt;
  }
  if (d == DType::none) return std::nullopt;
  return is_float(d) ? float_bits(d, s) : integer_bits(d, s);
}

}  // namespace kiln::compiler
