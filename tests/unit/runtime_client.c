/* A C program as a client: no C++ anywhere. */
#include <stdio.h>
#include <string.h>

#include "kiln/threads.h"
#include "runtime_program.h"

enum { N = 6 };

static int expect_message(kiln_status s, const char* expected) {
  char text[256];
  kiln_status_message(row_sum_desc(), s, text, sizeof text);
  if (strcmp(text, expected) == 0) return 0;
  fprintf(stderr, "expected: %s\n     got: %s\n", expected, text);
  return 1;
}

int main(void) {
  float x[N][4], w[3] = {0.5f, 0, 0}, s = 2, y[N];
  for (int i = 0; i < N; ++i)
    for (int j = 0; j < 4; ++j) x[i][j] = (float)(i + j);
  const int64_t x_extents[] = {N, 4}, w_extents[] = {3};
  int64_t y_extents[] = {N};
  const kiln_tensor args[] = {
      {x, x_extents, 0, KILN_F32, 2}, {w, w_extents, 0, KILN_F32, 1}, {&s, 0, 0, KILN_F32, 0}, {y, y_extents, 0, KILN_F32, 1}};
  _Alignas(64) char workspace[64];
  kiln_pool* pool = kiln_pool_create(2);
  const kiln_context context = {kiln_pool_executor(pool), workspace, sizeof workspace, 0, 0, 0};

  int failures = expect_message(row_sum(args, 4, &context), "ok: program row_sum: done");
  for (int i = 0; i < N; ++i) failures += y[i] != 2 * (float)(4 * i + 6) + 0.5f;
  y_extents[0] = 4;
  failures += expect_message(row_sum(args, 4, &context),
                             "R-conflict: program row_sum: extent N: argument y axis 0 is 4, but argument x axis 0 gave 6");
  kiln_pool_destroy(pool);
  return failures != 0;
}
