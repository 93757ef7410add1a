/* Program random, written by the Kiln generator.
     out i32 [] o3
     in i32 [456684] q6
   Extents of one name are equal; every call checks that. */
#ifndef KILN_GENERATED_kernels_random_H
#define KILN_GENERATED_kernels_random_H

#ifdef __cplusplus
#include "kiln/view.h"
extern "C" {
#else
#include "kiln/kiln.h"
#endif

kiln_status kernels_random(const kiln_tensor* args, int32_t n_args, const kiln_context* context);
const kiln_program_desc* kernels_random_desc(void);
const kiln_variants* kernels_random_variants(void);

#ifdef __cplusplus
}

namespace kernels {

inline kiln::status random(std::int32_t& o3,
    kiln::view<const std::int32_t, 456684> q6,
    const kiln::context& kiln_with = {}) {
  const kiln_tensor kiln_args[] = {
      kiln::tensor_of(o3),
      kiln::tensor_of(q6),
  };
  return {::kernels_random(kiln_args, 2, kiln_with.get()), ::kernels_random_desc()};
}

}  // namespace kernels
#endif

#endif
