/* Program p8, written by the Kiln generator.
     in u8 [1024, 1024, 16] x
     out u8 [1024, 1024, 16] y
   Extents of one name are equal; every call checks that. */
#ifndef KILN_GENERATED_kernels_p8_H
#define KILN_GENERATED_kernels_p8_H

#ifdef __cplusplus
#include "kiln/view.h"
extern "C" {
#else
#include "kiln/kiln.h"
#endif

kiln_status kernels_p8(const kiln_tensor* args, int32_t n_args, const kiln_context* context);
const kiln_program_desc* kernels_p8_desc(void);
const kiln_variants* kernels_p8_variants(void);

#ifdef __cplusplus
}

namespace kernels {

inline kiln::status p8(kiln::view<const std::uint8_t, 1024, 1024, 16> x,
    kiln::view<std::uint8_t, 1024, 1024, 16> y,
    const kiln::context& kiln_with = {}) {
  const kiln_tensor kiln_args[] = {
      kiln::tensor_of(x),
      kiln::tensor_of(y),
  };
  return {::kernels_p8(kiln_args, 2, kiln_with.get()), ::kernels_p8_desc()};
}

}  // namespace kernels
#endif

#endif
