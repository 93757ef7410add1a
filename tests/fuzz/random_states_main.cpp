// random_states [--count N] [--seed S] [--jobs J]: random programs of whole tensors and kernels that update them, in and around
// loops. Compiled at two vector widths, with 1 and 3 threads and chunks backwards, each computes the same as the interpreter
// from the unoptimised graph. A failure is shrunk.
#include "tests/fuzz/captured_campaign.h"
#include "tests/fuzz/random_states.h"

namespace {

bool has_loop(const kiln::dsl::record::program& p) {
  for (int i = 0; i < p.n_nodes; ++i)
    if (p.nodes[i].o == kiln::dsl::record::op::loop) return true;
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  return kiln::test::captured_campaign(argc, argv,
                                       {.about = "Random programs of tensors that kernels update",
                                        .make = kiln::test::random_states,
                                        .is_counted = has_loop,
                                        .counted_as = "with loops"});
}
