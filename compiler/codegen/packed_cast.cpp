#include "compiler/codegen/packed_cast.h"

#include <vector>

#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsX86.h>

#include "compiler/codegen/target_machine.h"
#include "compiler/ir/nth.h"

namespace kiln::compiler {
namespace {

using llvm::Value;
using namespace llvm::Intrinsic;

constexpr int part_lanes = 4;  // 32-bit lanes of the 16 bytes within which instructions pack

// What becomes an integer: the number, rounded to nearest or toward zero.
struct Source {
  Value* number;
  bool to_nearest;  // the rounding mode of calls (docs/reference/numbers.md)
  bool to_signed;
  double most;  // of the result
};

// cast(round(x)) takes one instruction for both.
Source source_of(Value* v, DType to) {
  const double most = static_cast<double>((1 << (bits(to) - (is_signed(to) ? 1 : 0))) - 1);
  const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(v);
  const bool rounds = call != nullptr && call->getIntrinsicID() == llvm::Intrinsic::roundeven;
  return {rounds ? call->getArgOperand(0) : v, rounds, is_signed(to), most};
}

Value* converted(LlvmBuilder& b, Value* x, bool to_nearest, Value* mask) {
  const int lanes = lane_count(x);
  if (lanes == 16) {
    Value* none = llvm::Constant::getNullValue(with_lanes(b.getInt32Ty(), lanes));
    const ID which = to_nearest ? x86_avx512_mask_cvtps2dq_512 : x86_avx512_mask_cvttps2dq_512;
    return b.CreateIntrinsic(which, {}, {x, none, mask, b.getInt32(4)});  // 4: the rounding mode of calls
  }
  const ID nearest = lanes == 8 ? x86_avx_cvt_ps2dq_256 : x86_sse2_cvtps2dq;
  const ID toward_zero = lanes == 8 ? x86_avx_cvtt_ps2dq_256 : x86_sse2_cvttps2dq;
  return b.CreateIntrinsic(to_nearest ? nearest : toward_zero, {}, {x});
}

// One register. NaN becomes 0, numbers above `most` become `most`, and numbers below the range of i32 its lowest integer.
Value* to_words(LlvmBuilder& b, Value* x, const Source& s) {
  Value* limit = llvm::ConstantFP::get(x->getType(), s.most);
  Value* zero = llvm::Constant::getNullValue(x->getType());
  const auto below = [&](Value* v) { return b.CreateSelect(b.CreateFCmpOLT(v, limit), v, limit); };
  if (!s.to_signed)
    return converted(b, below(b.CreateSelect(b.CreateFCmpOGT(x, zero), x, zero)), s.to_nearest, b.getInt16(0xffff));
  Value* is_number = b.CreateFCmpORD(x, x);
  if (lane_count(x) < 16) return converted(b, below(b.CreateSelect(is_number, x, zero)), s.to_nearest, nullptr);
  Value* mask = b.CreateBitCast(is_number, b.getInt16Ty());
  return converted(b, below(x), s.to_nearest, mask);
}

// Packs the registers x and y into one register. Each part of 16 bytes of the result has elements of x first, then of y.
Value* pack(LlvmBuilder& b, Value* x, Value* y, bool to_signed) {
  static constexpr ID words[2][3] = {{x86_sse41_packusdw, x86_avx2_packusdw, x86_avx512_packusdw_512},
                                     {x86_sse2_packssdw_128, x86_avx2_packssdw, x86_avx512_packssdw_512}};
  static constexpr ID bytes[2][3] = {{x86_sse2_packuswb_128, x86_avx2_packuswb, x86_avx512_packuswb_512},
                                     {x86_sse2_packsswb_128, x86_avx2_packsswb, x86_avx512_packsswb_512}};
  const auto size = x->getType()->getPrimitiveSizeInBits().getFixedValue();
  const int level = size == 512 ? 2 : size == 256 ? 1 : 0;
  const bool from_words = x->getType()->getScalarSizeInBits() == 32;
  return b.CreateIntrinsic((from_words ? words : bytes)[to_signed ? 1 : 0][level], {}, {x, y});
}

// The first `registers` of the `packed` registers in x, one after the other.
Value* in_order(LlvmBuilder& b, Value* x, int packed, int registers) {
  const int parts = lane_count(x) / (packed * part_lanes);
  llvm::SmallVector<int, 64> from;
  for (int r = 0; r < registers; ++r)
    for (int p = 0; p < parts; ++p)
      for (int lane = 0; lane < part_lanes; ++lane) from.push_back((p * packed + r) * part_lanes + lane);
  return b.CreateShuffleVector(x, from);
}

}  // namespace

Value* packed_cast(LlvmBuilder& b, Value* v, DType to) {
  const int lanes = lane_count(v), width = vector_bits(*b.GetInsertBlock()->getParent()) / 32;
  if (lanes % (2 * width) != 0) return nullptr;
  const bool to_bytes = bits(to) == 8;
  const Source source = source_of(v, to);
  std::vector<Value*> words, out;
  const auto words_from = [&](int first) {
    llvm::SmallVector<int, 16> from;
    for (int i = first; i < first + width; ++i) from.push_back(i);
    return to_words(b, b.CreateShuffleVector(source.number, from), source);
  };
  for (int first = 0; first < lanes; first += 2 * width) {
    Value* low = words_from(first);
    Value* high = words_from(first + width);
    words.push_back(pack(b, low, high, to_bytes || is_signed(to)));
  }
  for (std::size_t i = 0; i < words.size(); i += to_bytes ? 2 : 1) {
    const bool has_both = i + 1 < words.size();
    Value* x = to_bytes ? pack(b, words[i], words[has_both ? i + 1 : i], is_signed(to)) : words[i];
    out.push_back(in_order(b, x, to_bytes ? 4 : 2, to_bytes && has_both ? 4 : 2));
  }
  return out.size() == 1 ? out[0] : llvm::concatenateVectors(b, out);
}

}  // namespace kiln::compiler
