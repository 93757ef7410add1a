// Owner of the default thread pool, for C++.
#pragma once

#include <memory>

#include "kiln/threads.h"
#include "kiln/view.h"

namespace kiln {

class pool {
 public:
  // workers: number of threads including the caller; 0: one for each CPU in the affinity mask. Throws nothing: if memory runs
  // out, executor() is null, which means serial execution.
  explicit pool(std::int32_t workers = 0) noexcept : pool_(kiln_pool_create(workers)) {}
  kiln_executor* executor() const { return pool_ ? kiln_pool_executor(pool_.get()) : nullptr; }
  std::int32_t workers() const { return pool_ ? executor()->workers : 1; }

 private:
  struct destroy {
    void operator()(kiln_pool* p) const { kiln_pool_destroy(p); }
  };
  std::unique_ptr<kiln_pool, destroy> pool_;
};

}  // namespace kiln
