// wave OUT_DIR: the wave after 1, 100, 250 and 500 steps.
#include "../common/example.h"
#include "state.h"

namespace {
image picture(kiln::context& with) {
  wave w;
  std::vector<image> frames;
  int done = 0;
  for (const int steps : {1, 100, 250, 500}) {
    w.steps(steps - done, with);
    done = steps;
    frames.push_back(signed_colours(w.u, w.n, w.m, 0.2f));
  }
  return joined(frames, 2);
}
}  // namespace

int main(int argc, char** argv) { return example("wave", argc, argv, picture); }
