#include "compiler/codegen/rare_clamps.h"

#include <map>
#include <vector>

#include <llvm/ADT/STLExtras.h>
#include <llvm/Analysis/DomTreeUpdater.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

namespace kiln::compiler {
namespace {

using llvm::Instruction;
using llvm::Value;

// A function with more of them is unrolled code, in which so many blocks cost more than the instructions.
constexpr std::size_t most_clamps = 32;

constexpr unsigned copies =
    4;  // of the body of an innermost loop that carries nothing: a chain of values takes its time anyway

struct Clamp {
  Instruction* result;  // the second one of the two
  Instruction* first;
  Value* index;
  Value* limit;
};

bool matches(Value& v, Clamp& c) {
  using namespace llvm::PatternMatch;
  Value* first = nullptr;
  const bool max_last = match(&v, m_SMax(m_Value(first), m_Zero())) && match(first, m_SMin(m_Value(c.index), m_Value(c.limit)));
  const bool min_last =
      !max_last && match(&v, m_SMin(m_Value(first), m_Value(c.limit))) && match(first, m_SMax(m_Value(c.index), m_Zero()));
  if (!max_last && !min_last) return false;
  c.result = llvm::dyn_cast<Instruction>(&v);
  c.first = llvm::dyn_cast<Instruction>(first);
  return c.result != nullptr && c.first != nullptr && c.first->hasOneUse() && c.result->getParent() == c.first->getParent();
}

bool is_in_address(const Instruction& i) {
  for (const llvm::User* user : i.users()) {
    if (llvm::isa<llvm::GetElementPtrInst>(user)) return true;
    const auto* sum = llvm::dyn_cast<llvm::BinaryOperator>(user);
    const auto* cast = llvm::dyn_cast<llvm::CastInst>(user);
    const llvm::User* next = sum != nullptr ? static_cast<const llvm::User*>(sum) : cast;
    if (next == nullptr) continue;
    for (const llvm::User* last : next->users())
      if (llvm::isa<llvm::GetElementPtrInst>(last)) return true;
  }
  return false;
}

std::vector<Clamp> find(llvm::Function& f, const llvm::LoopInfo& loops) {
  std::vector<Clamp> out;
  for (Instruction& i : llvm::instructions(f)) {
    const llvm::Loop* loop = loops.getLoopFor(i.getParent());
    Clamp c{};
    if (loop == nullptr || !i.getType()->isIntegerTy() || !matches(i, c)) continue;
    if (loop->isLoopInvariant(c.index)) std::swap(c.index, c.limit);
    if (loop->isLoopInvariant(c.limit) && !loop->isLoopInvariant(c.index) && is_in_address(i)) out.push_back(c);
  }
  return out;
}

// The number of indices that are in bounds: limit + 1, or 0 if the limit is negative.
Value* count_of(Value* limit, llvm::Function& f) {
  Instruction* place = &*f.getEntryBlock().getFirstInsertionPt();
  if (auto* i = llvm::dyn_cast<Instruction>(limit)) place = &*i->getInsertionPointAfterDef().value();
  llvm::IRBuilder<> b(place);
  Value* next = b.CreateAdd(limit, llvm::ConstantInt::get(limit->getType(), 1));
  return b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, next, llvm::ConstantInt::get(limit->getType(), 0));
}

void branch(const Clamp& c, Value* count, llvm::Function& f, llvm::DomTreeUpdater& dominators, llvm::LoopInfo& loops) {
  llvm::IRBuilder<> b(c.first);
  Value* outside = b.CreateICmpUGE(c.index, count);
  llvm::MDNode* weights = llvm::MDBuilder(f.getContext()).createUnlikelyBranchWeights();
  llvm::BasicBlock* before = c.first->getParent();
  Instruction* at_end = llvm::SplitBlockAndInsertIfThen(outside, c.first->getIterator(), false, weights, &dominators, &loops);
  llvm::BasicBlock* after = c.first->getParent();
  llvm::PHINode* either = llvm::PHINode::Create(c.result->getType(), 2, "", after->begin());
  c.result->replaceAllUsesWith(either);
  c.first->moveBefore(at_end);
  c.result->moveBefore(at_end);
  either->addIncoming(c.index, before);
  either->addIncoming(c.result, at_end->getParent());
}

}  // namespace

void branch_at_rare_clamps(llvm::Function& f, llvm::FunctionAnalysisManager& analyses) {
  llvm::LoopInfo& loops = analyses.getResult<llvm::LoopAnalysis>(f);
  llvm::DomTreeUpdater dominators(analyses.getResult<llvm::DominatorTreeAnalysis>(f),
                                  llvm::DomTreeUpdater::UpdateStrategy::Eager);
  const std::vector<Clamp> clamps = find(f, loops);
  if (clamps.size() > most_clamps) return;
  std::map<Value*, Value*> counts;  // never iterated
  for (const Clamp& c : clamps) {
    llvm::Loop* loop = loops.getLoopFor(c.result->getParent());
    if (loop->isInnermost() && llvm::hasSingleElement(loop->getHeader()->phis()))
      llvm::addStringMetadataToLoop(loop, "llvm.loop.unroll.count", copies);
    Value*& count = counts[c.limit];
    if (count == nullptr) count = count_of(c.limit, f);
    branch(c, count, f, dominators, loops);
  }
}

}  // namespace kiln::compiler
