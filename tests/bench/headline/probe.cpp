// The machine's ceilings, measured in each round: `probe KIND SECONDS`. Kinds: fma_f32 fma_f64 dot_bf16 dot_i8 (operations per
// second), and read_LEVEL, copy_LEVEL, stream_LEVEL (bytes per second; stream: a copy by non-temporal stores), where LEVEL is
// the size of the data in KiB. Prints a JSON object.
#include <immintrin.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>

#include "tests/bench/headline/bench.h"

namespace {

using kiln::headline::keep;
#ifdef __AVX512F__
constexpr std::int64_t vector_bytes = 64;
#else
constexpr std::int64_t vector_bytes = 32;
#endif
typedef float floats __attribute__((vector_size(vector_bytes)));
typedef double doubles __attribute__((vector_size(vector_bytes)));

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// Independent chains of multiply-adds: as many as the latency asks for, and as the registers hold.
template <class V>
double fma_rate(double seconds) {
  constexpr int chains = 12, iterations = 20000;
  constexpr double operations = 2.0 * chains * iterations * (sizeof(V) / sizeof(V{}[0]));
  double best = 0;
  for (const double end = now() + seconds; now() < end;) {
    V s[chains] = {}, x = V{} + 1, y = V{} + 0.5f;
    const double begin = now();
    for (int i = 0; i < iterations; ++i) {
      for (V& v : s) v = v * y + x;
      asm volatile("" : "+x"(y), "+x"(x));
    }
    best = std::max(best, operations / (now() - begin));
    V sum{};
    for (const V& v : s) sum += v;
    keep(&sum);
  }
  return best;
}

#if defined __AVX512BF16__ && defined __AVX512VNNI__
template <class V, class F>
double dot_rate(double seconds, double per_instruction, V zero, F step) {
  constexpr int chains = 12, iterations = 20000;
  double best = 0;
  for (const double end = now() + seconds; now() < end;) {
    V s[chains];
    std::fill(s, s + chains, zero);
    const double begin = now();
    for (int i = 0; i < iterations; ++i) {
      for (V& v : s) v = step(v);
      asm volatile("" : "+v"(s[0]));
    }
    best = std::max(best, per_instruction * chains * iterations / (now() - begin));
    for (V& v : s) keep(&v);
  }
  return best;
}
double bf16_rate(double seconds) {
  __m512i x = _mm512_set1_epi16(0x3f80);
  return dot_rate(seconds, 64, _mm512_setzero_ps(), [&](__m512 s) {
    asm volatile("vdpbf16ps %1, %1, %0" : "+v"(s) : "v"(x));
    return s;
  });
}
double i8_rate(double seconds) {
  __m512i x = _mm512_set1_epi8(1);
  return dot_rate(seconds, 128, _mm512_setzero_si512(), [&](__m512i s) {
    asm volatile("vpdpbusd %1, %1, %0" : "+v"(s) : "v"(x));
    return s;
  });
}
#else
double bf16_rate(double seconds) { return fma_rate<floats>(seconds); }
double i8_rate(double seconds) { return fma_rate<floats>(seconds); }
#endif

void read(const floats* x, std::int64_t n) {
  floats s[8] = {};
  for (std::int64_t i = 0; i < n; i += 8)
    for (std::int64_t k = 0; k < 8; ++k) s[k] += x[i + k];
  for (const floats& v : s) keep(&v);
}
void copy(const floats* x, floats* y, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) y[i] = x[i];
  keep(y);
}
void stream(const floats* x, floats* y, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) __builtin_nontemporal_store(x[i], y + i);
  keep(y);
}

// Of `bytes` of data, which a copy divides between its two sides.
double bandwidth(const std::string& how, std::int64_t bytes, double seconds) {
  const std::int64_t size = how == "read" ? bytes : bytes / 2, n = size / vector_bytes / 8 * 8;
  const auto from = kiln::headline::allocate(size), to = kiln::headline::allocate(size);
  std::memset(from.get(), 0, static_cast<std::size_t>(size));
  std::memset(to.get(), 0, static_cast<std::size_t>(size));
  const auto* x = static_cast<const floats*>(from.get());
  auto* y = static_cast<floats*>(to.get());
  const std::int64_t iterations = std::max<std::int64_t>(1, (1 << 20) / bytes);
  double best = 0;
  int runs = 0;
  for (const double end = now() + seconds; now() < end || runs < 3; ++runs) {
    const double begin = now();
    for (std::int64_t i = 0; i < iterations; ++i) how == "read" ? read(x, n) : how == "copy" ? copy(x, y, n) : stream(x, y, n);
    best = std::max(best, static_cast<double>(vector_bytes * n * iterations * (how == "read" ? 1 : 2)) / (now() - begin));
  }
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return std::fprintf(stderr, "usage: probe KIND SECONDS\n"), 64;
  const std::string kind = argv[1];
  const double seconds = std::atof(argv[2]);
  const std::size_t line = kind.find('_');
  const std::string how = kind.substr(0, line);
  double rate = 0;
  if (kind == "fma_f32")
    rate = fma_rate<floats>(seconds);
  else if (kind == "fma_f64")
    rate = fma_rate<doubles>(seconds);
  else if (kind == "dot_bf16")
    rate = bf16_rate(seconds);
  else if (kind == "dot_i8")
    rate = i8_rate(seconds);
  else
    rate = bandwidth(how, std::atoll(kind.c_str() + line + 1) * 1024, seconds);
  std::printf("{\"rate\": %.6g}\n", rate);
}
