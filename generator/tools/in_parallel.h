// A loop whose iterations run on several threads.
#pragma once

#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace kiln::generator {

// Calls work(0) ... work(n - 1) in any order. The first exception ends the loop and is thrown again here.
template <class Work>
void in_parallel(std::size_t n, unsigned jobs, const Work& work) {
  std::atomic<std::size_t> next = 0;
  std::exception_ptr failure;
  std::mutex failing;
  const auto run = [&] {
    try {
      for (std::size_t i = next++; i < n; i = next++) work(i);
    } catch (...) {
      next = n;
      const std::lock_guard lock(failing);
      failure = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> threads;
    for (unsigned i = 0; i < jobs; ++i) threads.emplace_back(run);
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace kiln::generator
