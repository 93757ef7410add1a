// The runtime's C++ headers work in an application that is built with -fno-exceptions and -fno-rtti.
#include "kiln/pool.h"
#include "kiln/view.h"

int main() {
  kiln::pool pool(2);
  kiln::context context;
  context.executor(pool.executor());
  return pool.workers() >= 1 ? 0 : 1;
}
