// Kernels with workgroups: loops and conditions around barriers and between them, and work items that meet.
#include <gtest/gtest.h>
#include <kiln/dsl.h>

#include "compiler/ir/diagnostic.h"
#include "tests/run/scopes/workgroups.h"

namespace workgroups_control_test {

using namespace kiln;

namespace {

using scopes::each_workgroup;
using scopes::H;
using scopes::integers;
using scopes::N;
using scopes::W;

// A value that the workgroup reads at one place decides for all work items: bounds, conditions and breaks around barriers.
struct decided : program<decided> {
  in<i32, N> x;
  out<i32, N> y;
  constexpr void body() {
    for (auto [i] : kernel(N).workgroup<16>()) {
      auto s = shared<i32, 16>();
      auto flag = shared<i32, 1>();
      auto t = local_id(i);
      s(t) = x(i);
      barrier();
      auto rounds = s(0) & 7;
      auto v = var(x(i));
      for (auto k : loop(rounds)) {
        auto left = s(0);
        barrier();
        s(t) = v + left + k;
        barrier();
        v = s(15 - t);
        if (auto c = when(t == 0)) flag(0) = v & 31;
        barrier();
        if (auto c = when(flag(0) == 5)) break_();
        continue_if((flag(0) & 1) == 1);
        v += 3;
        if (auto c = when(flag(0) > 20)) {
          s(t) = v * 2;
          barrier();
          v = s(t ^ 3);
        }
        if (auto c = otherwise()) v = v - t;
      }
      y(i) = v;
    }
  }
};
TEST(Workgroups, WhatAllShareDecides) {
  const int n = 16 * 40;
  const auto x = integers(n);
  std::vector<int> y(x.size());
  each_workgroup(n, 16, [&](int first, int) {
    std::array<int, 16> s{}, v{};
    const auto from = static_cast<std::size_t>(first);
    for (std::size_t t = 0; t < 16; ++t) s[t] = v[t] = x[from + t];
    const int rounds = s[0] & 7;
    for (int k = 0; k < rounds; ++k) {
      const int left = s[0];
      for (std::size_t t = 0; t < 16; ++t) s[t] = v[t] + left + k;
      for (std::size_t t = 0; t < 16; ++t) v[t] = s[15 - t];
      const int flag = v[0] & 31;
      if (flag == 5) break;
      if ((flag & 1) == 1) continue;
      for (int& e : v) e += 3;
      if (flag > 20) {
        for (std::size_t t = 0; t < 16; ++t) s[t] = v[t] * 2;
        for (std::size_t t = 0; t < 16; ++t) v[t] = s[t ^ 3];
      } else {
        for (std::size_t t = 0; t < 16; ++t) v[t] -= static_cast<int>(t);
      }
    }
    for (std::size_t t = 0; t < 16; ++t) y[from + t] = v[t];
  });
  const auto r = scopes::run(ir<decided>, {scopes::tensor({n}, x), scopes::output<int>({n})});
  EXPECT_EQ(scopes::values<int>(r["y"]), y);
}

// Atomics whose old values or rounding show the order of work items keep it, in lanes too. Promised places may become lanes.
struct meeting : program<meeting> {
  in<i32, N> x;
  in<i32, 64> places;
  out<i32, N> y;
  out<f32, N> z;
  constexpr void body() {
    for (auto [i] : kernel(N).workgroup<64>()) {
      auto s = shared<i32, 64>();
      auto f = shared<f32, 2>();
      auto t = local_id(i);
      unique(s(places(t))) = x(i);
      barrier();
      auto before = s(x(i) & 7).atomic_exchange(t);
      f(t & 1).atomic_add(cast<f32>(x(i)) * 0.1f);
      barrier();
      unique(s(places(t) ^ 5)) += before;
      barrier();
      y(i) = s(t / 2) + s(63 - t);
      z(i) = f(1) - f(0);
    }
  }
};
TEST(Workgroups, WorkItemsOfOneElementKeepTheirOrder) {
  const int n = 640;
  const auto x = integers(n);
  std::vector<int> y(x.size()), places;
  std::vector<float> z(x.size());
  for (int t = 0; t < 64; ++t) places.push_back(t * 11 % 64);
  each_workgroup(n, 64, [&](int first, int) {
    std::array<int, 64> s{}, before{};
    float f[2] = {};
    const auto from = static_cast<std::size_t>(first);
    const auto place = [&](std::size_t t) { return static_cast<std::size_t>(places[t]); };
    for (std::size_t t = 0; t < 64; ++t) s[place(t)] = x[from + t];
    for (std::size_t t = 0; t < 64; ++t) {
      before[t] = std::exchange(s[static_cast<std::size_t>(x[from + t] & 7)], static_cast<int>(t));
      f[t & 1] += static_cast<float>(x[from + t]) * 0.1f;
    }
    for (std::size_t t = 0; t < 64; ++t) s[place(t) ^ 5] += before[t];
    for (std::size_t t = 0; t < 64; ++t) {
      y[from + t] = s[t / 2] + s[63 - t];
      z[from + t] = f[1] - f[0];
    }
  });
  const auto r = scopes::run(ir<meeting>, {scopes::tensor({n}, x), scopes::tensor({64}, places), scopes::output<int>({n}),
                                           scopes::output<float>({n})});
  EXPECT_EQ(scopes::values<int>(r["y"]), y);
  EXPECT_EQ(scopes::values<float>(r["z"]), z);
}

// Two work items of one workgroup may not use one place between the same barriers; other workgroups and later phases may.
struct promised : program<promised> {
  in<i32, N> places;
  inout<i32, N> y;
  constexpr void body() {
    for (auto [i] : kernel(N).workgroup<8>()) {
      auto s = shared<i32, 8>();
      unique(s(places(i) & 7)) = i;
      barrier();
      unique(s(7 - (places(i) & 7))) += 1;
      y(i) = 0;
    }
    for (auto [i] : kernel(N).workgroup<8>()) unique(y(places(i))) = i;
  }
};
TEST(Workgroups, PromisesThatDoNotHold) {
  const auto run = [](std::vector<int> places) {
    const auto n = static_cast<std::int64_t>(places.size());
    std::vector<int> y(places.size());
    return scopes::values<int>(scopes::run(ir<promised>, {scopes::tensor({n}, places), scopes::tensor({n}, y)})["y"]);
  };
  const auto error = [&](const std::vector<int>& places) {
    try {
      run(places);
    } catch (const kiln::compiler::Diagnostic& d) {
      return std::string(d.what());
    }
    return std::string();
  };
  EXPECT_EQ(run({3, 0, 1, 2, 6, 7, 4, 5, 8, 9}), (std::vector<int>{1, 2, 3, 0, 6, 7, 4, 5, 8, 9}));
  const std::string of_workgroup = error({3, 0, 1, 3, 6, 7, 4, 5, 8, 9}), of_kernel = error({3, 0, 1, 2, 6, 7, 4, 5, 8, 1});
  EXPECT_NE(
      of_workgroup.find("E-race: two work items of a workgroup, between the same barriers, store to one element, number 3"),
      std::string::npos)
      << of_workgroup;
  EXPECT_NE(of_kernel.find("E-race: two work items of the kernel store to one element, number 1"), std::string::npos)
      << of_kernel;
}

// Loops that data ends, between barriers, on two axes. Their counters are indices.
struct inner_loops : program<inner_loops> {
  in<i32, H, W> x;
  inout<i32, 8> counts;
  out<i32, H, W> y;
  constexpr void body() {
    for (auto [i, j] : kernel(H, W).workgroup<11, 16>()) {
      auto s = shared<i32, 500>();
      auto t = local_id(j);
      auto n = var(0);
      for (auto k : forever()) {
        break_if(n > (x(i, j) & 7));
        n += 2;
        s(k * 16 + t).atomic_add(1);
      }
      barrier();
      for (auto k : loop(x(i, j) & 3)) {
        n = n + s(k * 16 + 15 - t);
        s(400 + k).atomic_add(1);
      }
      barrier();
      for (auto k : loop(3)) counts(k + (n & 3)).atomic_add(k);
      y(i, j) = n + s(400);
    }
  }
};
TEST(Workgroups, LoopsBetweenBarriers) {
  for (const int h : {1, 11, 30})
    for (const int w : {5, 16, 40}) {
      const auto x = integers(h * w);
      std::vector<int> y(x.size()), counts(8);
      for (int top = 0; top < h; top += 11)
        for (int left = 0; left < w; left += 16) {
          std::array<int, 500> s{};
          std::vector<int> n(x.size());
          const auto each = [&](auto f) {
            for (int i = top; i < std::min(h, top + 11); ++i)
              for (int j = left; j < std::min(w, left + 16); ++j)
                f(static_cast<std::size_t>(i * w + j), static_cast<std::size_t>(j - left));
          };
          each([&](std::size_t p, std::size_t t) {
            for (std::size_t k = 0; n[p] <= (x[p] & 7); ++k) {
              n[p] += 2;
              ++s[k * 16 + t];
            }
          });
          each([&](std::size_t p, std::size_t t) {
            for (std::size_t k = 0; k < static_cast<std::size_t>(x[p] & 3); ++k) {
              n[p] += s[k * 16 + 15 - t];
              ++s[400 + k];
            }
          });
          each([&](std::size_t p, std::size_t) {
            for (int k = 0; k < 3; ++k) counts[static_cast<std::size_t>(k + (n[p] & 3))] += k;
            y[p] = n[p] + s[400];
          });
        }
      const auto r = scopes::run(
          ir<inner_loops>, {scopes::tensor({h, w}, x), scopes::tensor({8}, std::vector<int>(8)), scopes::output<int>({h, w})});
      EXPECT_EQ(scopes::values<int>(r["y"]), y) << h << " x " << w;
      EXPECT_EQ(scopes::values<int>(r["counts"]), counts) << h << " x " << w;
    }
}

// The values that work items keep across a barrier must fit the stack: here 4 bytes for each.
template <int Size>
struct keeping : program<keeping<Size>> {
  inout<f32, H, W> x;
  constexpr void body() {
    for (auto [i, j] : this->kernel(H, W).template workgroup<Size, Size>()) {
      auto kept = x(i, j) * 2;
      this->barrier();
      x(i, j) = kept;
    }
  }
};

TEST(Workgroups, ArraysFitTheStack) {
  EXPECT_EQ(scopes::compile_error(ir<keeping<512>>), "");
  const std::string error = scopes::compile_error(ir<keeping<513>>);
  EXPECT_NE(error.find("groups_control_test.cpp"), error.npos) << error;
  EXPECT_NE(error.find("E-stack: expected at most 1048576 bytes of arrays in a kernel, got more"), error.npos) << error;
}

// A barrier that some work items might not reach is an error.
enum class around { condition, bound, break_before, otherwise, array };
constexpr int first_line = __LINE__;
template <around A>
struct apart : program<apart<A>> {
  in<i32, N> x;
  inout<i32, N> y;
  constexpr void body() {
    for (auto [i] : this->kernel(N).template workgroup<8>()) {
      auto n = this->var(0);
      if (auto c = this->when(x(i) > 0)) n = 3;
      if constexpr (A == around::condition)
        if (auto c = this->when(n > 0)) this->barrier();
      if constexpr (A == around::bound)
        for ([[maybe_unused]] auto k : this->loop(n)) this->barrier();
      if constexpr (A == around::break_before)
        for (auto k : this->loop(9)) {
          this->break_if(y(i) > k);
          this->barrier();
        }
      if constexpr (A == around::otherwise) {
        if (auto c = this->when(this->local_id(i) == 0)) n = 1;
        if (auto c = this->otherwise()) this->barrier();
      }
      if constexpr (A == around::array)
        for (auto k : this->loop(x(i))) {
          auto s = this->template shared<i32, 8>();
          s(0) = k;
        }
      y(i) = n;
    }
  }
};
template <around A>
void check_apart(const std::string& what, int line, int cause) {
  const std::string error = scopes::compile_error(ir<apart<A>>);
  const std::string file = "groups_control_test.cpp:";
  EXPECT_NE(error.find("E-barrier: " + what), std::string::npos) << error;
  EXPECT_NE(error.find(file + std::to_string(line)), std::string::npos) << error;
  EXPECT_NE(error.substr(std::min(error.size(), error.find(", at "))).find(file + std::to_string(cause)), std::string::npos)
      << error;
}
TEST(Workgroups, BarriersThatSomeDoNotReach) {
  check_apart<around::condition>("a barrier expected the condition", first_line + 10, first_line + 10);
  check_apart<around::bound>("a barrier expected the bounds of the loop", first_line + 12, first_line + 12);
  check_apart<around::break_before>("a barrier expected the break or continue", first_line + 16, first_line + 15);
  check_apart<around::otherwise>("a barrier expected the condition", first_line + 20, first_line + 19);
  check_apart<around::array>("a shared array expected the bounds of the loop", first_line + 24, first_line + 23);
}

// The inner loop uses only the outer loop's counter, and work items leave the outer loop at different iterations.
struct left_alone : program<left_alone> {
  in<i32> rounds;
  in<i32, N> last;
  inout<i32> sum;
  constexpr void body() {
    for (auto [i] : kernel(N).workgroup<8>()) {
      auto k = var(0);
      for (auto iteration : forever()) {
        break_if(k >= rounds);
        auto before = k + 0;
        k += 1;
        for (auto m : loop(6)) {
          break_if(before + m > 20);
          sum().atomic_add(m);
        }
        break_if(iteration == last(i));
      }
    }
  }
};
TEST(Workgroups, LoopsInLoopsThatWorkItemsLeave) {
  const int n = 8 * 3 + 5, rounds = 9;
  const auto x = integers(n);
  std::vector<int> last;
  int sum = 0;
  for (const int e : x) {
    last.push_back(e & 15);
    for (int k = 0; k < rounds; ++k) {
      for (int m = 0; m < 6 && k + m <= 20; ++m) sum += m;
      if (k == last.back()) break;
    }
  }
  const auto r = scopes::run(
      ir<left_alone>, {scopes::tensor({}, std::vector{rounds}), scopes::tensor({n}, last), scopes::tensor({}, std::vector{0})});
  EXPECT_EQ(scopes::values<int>(r["sum"]), std::vector{sum});
}

}  // namespace

}  // namespace workgroups_control_test
