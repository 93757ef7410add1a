#include "compiler/codegen/scale.h"

#include <algorithm>
#include <bit>

#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsX86.h>

namespace kiln::compiler {
namespace {

using llvm::Value;

// SCALE of at most one register.
Value* scale_register(Builder& b, Value* x, Value* n) {
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

Value* emit_scale(Builder& b, Value* x, Value* n) {
  const int lanes = lane_count(x), element = static_cast<int>(x->getType()->getScalarSizeInBits());
  const int width = std::clamp(static_cast<int>(std::bit_ceil(static_cast<unsigned>(lanes))), 128 / element, 512 / element);
  const auto part = [&](Value* v, int first) -> Value* {
    if (lanes == 1) return b.CreateInsertElement(llvm::PoisonValue::get(with_lanes(v->getType(), width)), v, std::uint64_t{0});
    if (lanes == width) return v;
    llvm::SmallVector<int, 16> from;
    for (int i = first; i < first + width; ++i) from.push_back(i < lanes ? i : llvm::PoisonMaskElem);
    return b.CreateShuffleVector(v, from);
  };
  Value* all = nullptr;
  for (int first = 0; first < lanes; first += width) {
    Value* scaled = scale_register(b, part(x, first), part(n, first));
    if (lanes == 1) return b.CreateExtractElement(scaled, std::uint64_t{0});
    llvm::SmallVector<int, 64> place;
    for (int i = 0; i < lanes; ++i) place.push_back(i >= first && i < first + width ? i - first : llvm::PoisonMaskElem);
    Value* wide = lanes == width ? scaled : b.CreateShuffleVector(scaled, place);
    if (all == nullptr) {
      all = wide;
      continue;
    }
    for (int i = 0; i < lanes; ++i)
      place[static_cast<unsigned>(i)] = i < first ? i : i < first + width ? lanes + i : llvm::PoisonMaskElem;
    all = b.CreateShuffleVector(all, wide, place);
  }
  return all;
}

}  // namespace kiln::compiler
