/* Program rgba, written by the Kiln generator.
     in f32 [1024, 1024, 4] x
     out f32 [1024, 1024, 4] y
   Extents of one name are equal; every call checks that. */
#ifndef KILN_GENERATED_kernels_rgba_H
#define KILN_GENERATED_kernels_rgba_H

#ifdef __cplusplus
#include "kiln/view.h"
extern "C" {
#else
#include "kiln/kiln.h"
#endif

kiln_status kernels_rgba(const kiln_tensor* args, int32_t n_args, const kiln_context* context);
const kiln_program_desc* kernels_rgba_desc(void);
const kiln_variants* kernels_rgba_variants(void);

#ifdef __cplusplus
}

namespace kernels {

inline kiln::status rgba(kiln::view<const float, 1024, 1024, 4> x,
    kiln::view<float, 1024, 1024, 4> y,
    const kiln::context& kiln_with = {}) {
  const kiln_tensor kiln_args[] = {
      kiln::tensor_of(x),
      kiln::tensor_of(y),
  };
  return {::kernels_rgba(kiln_args, 2, kiln_with.get()), ::kernels_rgba_desc()};
}

}  // namespace kernels
#endif

#endif
