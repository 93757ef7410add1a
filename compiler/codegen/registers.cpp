#include "compiler/codegen/registers.h"

#include <algorithm>

#include "compiler/codegen/target_machine.h"
#include "compiler/ir/nth.h"
#include "compiler/ir/power_of_two.h"

namespace kiln::compiler {

using llvm::Value;

Value* in_registers(LlvmBuilder& b, Value* x, Value* y, llvm::function_ref<Value*(Value*, Value*)> f) {
  const int lanes = lane_count(x), element = narrow<int>(x->getType()->getScalarSizeInBits());
  const int widest = vector_bits(*b.GetInsertBlock()->getParent());
  const int width = std::clamp(ceil_power_of_two(lanes), 128 / element, widest / element);
  const auto part = [&](Value* v, int first) -> Value* {
    if (lanes == 1) return b.CreateInsertElement(llvm::PoisonValue::get(with_lanes(v->getType(), width)), v, std::uint64_t{0});
    if (lanes == width) return v;
    llvm::SmallVector<int, 16> from;
    for (int i = first; i < first + width; ++i) from.push_back(i < lanes ? i : llvm::PoisonMaskElem);
    return b.CreateShuffleVector(v, from);
  };
  Value* all = nullptr;
  for (int first = 0; first < lanes; first += width) {
    Value* part_x = part(x, first);
    Value* part_y = part(y, first);
    Value* result = f(part_x, part_y);
    if (lanes == 1) return b.CreateExtractElement(result, std::uint64_t{0});
    llvm::SmallVector<int, 64> place;
    for (int i = 0; i < lanes; ++i) place.push_back(i >= first && i < first + width ? i - first : llvm::PoisonMaskElem);
    Value* wide = lanes == width ? result : b.CreateShuffleVector(result, place);
    if (all == nullptr) {
      all = wide;
      continue;
    }
    for (int i = 0; i < lanes; ++i) nth(place, i) = i < first ? i : i < first + width ? lanes + i : llvm::PoisonMaskElem;
    all = b.CreateShuffleVector(all, wide, place);
  }
  return all;
}

}  // namespace kiln::compiler
