// Measures the time of two versions of a job, run alternately, and prints one row of the demo's table.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

struct row {
  std::string name, shape;
  double bytes = 0, flops = 0;  // per run: bytes that the job must read and write, operations that it must compute
};

inline double seconds(auto const& job) {
  const auto start = std::chrono::steady_clock::now();
  job();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

inline double median(std::vector<double> v) {
  std::nth_element(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2), v.end());
  return v[v.size() / 2];
}

inline void print_table_head() {
  std::printf("%-16s %-16s %10s %14s %14s %8s\n", "kernel", "shape", "Kiln ms", "rate", "C++ -O3 ms", "ratio");
}

inline void print_row(const row& r, double kiln, double plain) {
  char rate[32];
  if (r.flops > 0)
    std::snprintf(rate, sizeof rate, "%.2f GFLOP/s", r.flops / kiln * 1e-9);
  else
    std::snprintf(rate, sizeof rate, "%.2f GB/s", r.bytes / kiln * 1e-9);
  std::printf("%-16s %-16s %10.3f %14s %14.3f %7.2fx\n", r.name.c_str(), r.shape.c_str(), kiln * 1e3, rate, plain * 1e3,
              plain / kiln);
}

// Measures medians over alternating runs. The first run of each is not counted.
inline void compare(const row& r, auto const& kiln, auto const& plain) {
  std::vector<double> a, b;
  kiln();
  plain();
  for (int i = 0; i < 7; ++i) {
    a.push_back(seconds(kiln));
    b.push_back(seconds(plain));
  }
  print_row(r, median(a), median(b));
}
