#include "compiler/codegen/scale.h"

#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsX86.h>

#include "compiler/codegen/registers.h"

namespace kiln::compiler {
namespace {

using llvm::Value;

// SCALE of at most one register.
Value* scale_register(LlvmBuilder& b, Value* x, Value* n) {
  const bool single = x->getType()->getScalarType()->isFloatTy();
  const int lanes = lane_count(x), bits = lanes * (single ? 32 : 64);
  using namespace llvm::Intrinsic;
  const auto rounding = b.getInt32(4), all = b.getInt8(0xff);  // 4: as the control register says
  if (bits == 512) {
    Value* mask = single ? static_cast<Value*>(b.getInt16(0xffff)) : all;
    return b.CreateIntrinsic(single ? x86_avx512_mask_scalef_ps_512 : x86_avx512_mask_scalef_pd_512, {},
                             {x, n, x, mask, rounding});
  }
  const auto half = single ? x86_avx512_mask_scalef_ps_256 : x86_avx512_mask_scalef_pd_256;
  const auto quarter = single ? x86_avx512_mask_scalef_ps_128 : x86_avx512_mask_scalef_pd_128;
  return b.CreateIntrinsic(bits == 256 ? half : quarter, {}, {x, n, x, all});
}

}  // namespace

Value* emit_scale(LlvmBuilder& b, Value* x, Value* n) {
  return in_registers(b, x, n, [&](Value* part, Value* exponents) { return scale_register(b, part, exponents); });
}

}  // namespace kiln::compiler
