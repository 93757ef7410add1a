#include <kiln/pool.h>
#include <shapes/axpy.h>

#include <vector>

int main() {
  kiln::pool pool;
  std::vector<float> x(1'000'000, 1.0f), y(x.size(), 2.0f);
  if (!demo::shapes::axpy(3.0f, x, y, kiln::context().executor(pool.executor()))) return 1;
  return y != std::vector<float>(x.size(), 5.0f);
}
