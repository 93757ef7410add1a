// Owner of the default thread pool, for C++.
#pragma once

#include <memory>
#include <new>

#include "kiln/threads.h"
#include "kiln/view.h"

namespace kiln {

class pool {
 public:
  // 0: one worker for each CPU in the affinity mask, the caller among them. Throws std::bad_alloc.
  explicit pool(std::int32_t workers = 0) : pool_(kiln_pool_create(workers)) {
    if (!pool_) throw std::bad_alloc();
  }
  kiln_executor* executor() const { return kiln_pool_executor(pool_.get()); }
  std::int32_t workers() const { return executor()->workers; }

 private:
  struct destroy {
    void operator()(kiln_pool* p) const { kiln_pool_destroy(p); }
  };
  std::unique_ptr<kiln_pool, destroy> pool_;
};

}  // namespace kiln
