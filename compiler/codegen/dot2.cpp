#include "compiler/codegen/dot2.h"

#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsX86.h>

#include "compiler/codegen/registers.h"

namespace kiln::compiler {
namespace {

using llvm::Value;

// DOT2 of one register. The instruction wraps in the one case in which the sum exceeds i32: when all four halves are -32768.
Value* dot2_register(LlvmBuilder& b, Value* x, Value* y) {
  using namespace llvm::Intrinsic;
  const int words = lane_count(x);
  llvm::Type* halves = with_lanes(b.getInt16Ty(), 2 * words);
  Value* pairs_x = b.CreateBitCast(x, halves);
  Value* pairs_y = b.CreateBitCast(y, halves);
  const auto which = words == 16 ? x86_avx512_pmaddw_d_512 : words == 8 ? x86_avx2_pmadd_wd : x86_sse2_pmadd_wd;
  return b.CreateIntrinsic(which, {}, {pairs_x, pairs_y});
}

}  // namespace

Value* emit_dot2(LlvmBuilder& b, Value* x, Value* y) {
  return in_registers(b, x, y, [&](Value* part, Value* other) { return dot2_register(b, part, other); });
}

}  // namespace kiln::compiler
