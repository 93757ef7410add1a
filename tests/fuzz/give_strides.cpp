#include "tests/fuzz/give_strides.h"

#include "compiler/ir/layout.h"
#include "tests/fuzz/random_program.h"

namespace kiln::compiler::testing {

void give_strides(Program& p, std::uint64_t seed) {
  Draw draw(seed ^ 0x57d1de5);
  if (!draw.one_in(2)) return;
  for (Parameter& q : p.params) {
    const int rank = static_cast<int>(q.extents.size());
    if (rank > 0 && draw.one_in(2)) q.free_strides = draw.between(1, rank);
  }
  declare_strides(p);
}

}  // namespace kiln::compiler::testing
