#include "compiler/codegen/extremum_networks.h"

#include <algorithm>
#include <set>

#include <llvm/IR/IntrinsicsX86.h>

#include "compiler/codegen/float_values.h"
#include "compiler/codegen/registers.h"
#include "compiler/codegen/target_machine.h"
#include "compiler/ir/nth.h"

namespace kiln::compiler {
namespace {

using llvm::Value;

constexpr std::size_t most_members = 200;  // that an end depends on
constexpr std::int64_t key_instructions = 3;

bool is_extremum(Op op) { return op == Op::MIN || op == Op::MAX; }

// The bits of a float as a signed integer with the order of the floats, -0 below +0. Applied twice, it gives the bits back.
Value* order_key(LlvmBuilder& b, Value* bits) {
  const unsigned sign = bits->getType()->getScalarSizeInBits() - 1;
  Value* magnitude = b.CreateLShr(b.CreateAShr(bits, sign), 1);
  return b.CreateXor(bits, magnitude);
}

Value* range_of_registers(LlvmBuilder& b, Op op, Value* x, Value* y) {
  const bool words = x->getType()->getScalarType()->isFloatTy();
  const auto size = x->getType()->getPrimitiveSizeInBits().getFixedValue();
  namespace I = llvm::Intrinsic;
  const auto which = size == 512   ? (words ? I::x86_avx512_mask_range_ps_512 : I::x86_avx512_mask_range_pd_512)
                     : size == 256 ? (words ? I::x86_avx512_mask_range_ps_256 : I::x86_avx512_mask_range_pd_256)
                                   : (words ? I::x86_avx512_mask_range_ps_128 : I::x86_avx512_mask_range_pd_128);
  // The sign of the result is that of the extremum, so zeros are in order.
  Value* extremum = b.getInt32(op == Op::MIN ? 4 : 5);
  Value* all_lanes = llvm::Constant::getAllOnesValue(b.getIntNTy(size == 512 && words ? 16 : 8));
  std::vector<Value*> operands = {x, y, extremum, llvm::PoisonValue::get(x->getType()), all_lanes};
  constexpr std::uint32_t current_rounding = 4;
  if (size == 512) operands.push_back(b.getInt32(current_rounding));
  return b.CreateIntrinsic(which, {}, operands);
}

Value* in_one_instruction(LlvmBuilder& b, Op op, Value* x, Value* y) {
  if (x->getType()->isIntOrIntVectorTy())
    return b.CreateBinaryIntrinsic(op == Op::MIN ? llvm::Intrinsic::smin : llvm::Intrinsic::smax, x, y);
  return in_registers(b, x, y, [&](Value* s, Value* t) { return range_of_registers(b, op, s, t); });
}

// Whether no lane of any value is a NaN. One instruction tests two values.
Value* all_ordered(LlvmBuilder& b, std::span<Value* const> x) {
  Value* all = nullptr;
  for (std::size_t i = 0; i < x.size(); i += 2) {
    Value* both = b.CreateFCmpORD(x[i], x[std::min(i + 1, x.size() - 1)]);
    all = all == nullptr ? both : b.CreateAnd(all, both);
  }
  return all;
}

// Sets of ends that share members.
class Groups {
 public:
  explicit Groups(std::size_t n) : parent_(n) {
    for (std::size_t i = 0; i < n; ++i) parent_[i] = i;
  }
  std::size_t operator()(std::size_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void join(std::size_t i, std::size_t j) {
    const std::size_t a = (*this)(i), b = (*this)(j);
    parent_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::vector<std::size_t> parent_;
};

}  // namespace

ExtremumNetworks::ExtremumNetworks(const Graph& g, const Scopes& scopes, const ZeroSigns& zero_signs, int vector_bits)
    : g_(g), scope_of_(scopes.of), zero_signs_(zero_signs), has_range_(vector_bits >= 512) {
  if (vector_bits < 256) return;
  const std::vector<Id> ends = find_ends(scopes);
  std::vector<Cone> cones;
  for (const Id end : ends) cones.push_back(cone_of(end));
  Groups groups(ends.size());
  std::unordered_map<Id, std::size_t> first;  // by member: an end that depends on it
  for (std::size_t i = 0; i < ends.size(); ++i)
    for (const Id member : cones[i].members) groups.join(i, first.emplace(member, i).first->second);
  std::vector<std::vector<Cone>> by_group(ends.size());
  for (std::size_t i = 0; i < ends.size(); ++i) by_group[groups(i)].push_back(std::move(cones[i]));
  for (std::vector<Cone>& group : by_group) {
    if (!pays(group)) continue;
    for (Cone& cone : group) {
      const Id end = cone.members.back();
      networks_.emplace(end, std::move(cone));
    }
  }
}

bool ExtremumNetworks::may_be_member(Id id) const {
  const DType d = g_.dtype(id);
  if (!is_extremum(g_.op(id)) || (d != DType::f32 && (d != DType::f64 || !has_range_)) || g_.lanes(id) == 1) return false;
  return std::ranges::none_of(g_.src(id), [&](Id s) { return g_.op(s) == Op::CARRY; });
}

bool ExtremumNetworks::is_inside(Id from, Id user) const {
  return inside_.contains(from) && inside_.contains(user) && g_.lanes(from) == g_.lanes(user) &&
         scope_of_[from] == scope_of_[user];
}

std::vector<Id> ExtremumNetworks::find_ends(const Scopes& scopes) {
  for (const Id id : scopes.nodes)
    if (may_be_member(id)) inside_.emplace(id, true);
  if (inside_.empty()) return {};
  for (const Id user : scopes.nodes)
    for (const Id s : g_.src(user))
      if (const auto it = inside_.find(s); it != inside_.end() && !is_inside(s, user)) it->second = false;
  std::vector<Id> ends;
  for (const Id id : scopes.nodes)
    if (const auto it = inside_.find(id); it != inside_.end() && !it->second) ends.push_back(id);
  return ends;
}

// A cone with too many members ends early: pays() refuses it.
ExtremumNetworks::Cone ExtremumNetworks::cone_of(Id end) const {
  std::set<Id> members = {end}, inputs;
  std::vector<Id> todo = {end};
  while (!todo.empty() && members.size() <= most_members) {
    const Id id = todo.back();
    todo.pop_back();
    for (const Id s : g_.src(id)) {
      const auto it = inside_.find(s);
      if (it == inside_.end() || !it->second)
        inputs.insert(s);
      else if (members.insert(s).second)
        todo.push_back(s);
    }
  }
  return {{inputs.begin(), inputs.end()}, {members.begin(), members.end()}};
}

// The number of instructions of a member if it is in no network.
std::int64_t ExtremumNetworks::alone(Id member) const {
  const bool any_zero = !zero_signs_.matters(member);
  for (const Id s : g_.src(member)) {
    if (may_be_nan(g_, s)) continue;
    if (const Id c = float_constant(g_, s); c != no_id) return any_zero || !float_of(g_, c).isZero() ? 1 : 2;
    if (any_zero) return 1;
  }
  if (any_zero) return has_range_ ? 2 : 3;
  return has_range_ || g_.op(member) == Op::MIN ? 3 : 5;
}

bool ExtremumNetworks::pays(std::span<const Cone> cones) const {
  std::set<Id> members, inputs;
  std::int64_t at_ends = 0, separate = 0;
  for (const Cone& cone : cones) {
    if (cone.members.size() > most_members) return false;
    const auto tested = std::ranges::count_if(cone.inputs, [&](Id id) { return may_be_nan(g_, id); });
    // With AVX-512 a comparison also combines its mask with the mask of another one.
    at_ends += has_range_ ? (tested + 1) / 2 + (tested > 0 ? 1 : 0) : key_instructions + tested;
    members.insert(cone.members.begin(), cone.members.end());
    inputs.insert(cone.inputs.begin(), cone.inputs.end());
  }
  for (const Id member : members) separate += alone(member);
  const std::int64_t keys = has_range_ ? 0 : key_instructions * std::ssize(inputs);
  // At equal numbers of instructions the network wins with AVX-512: comparisons run in other units than extrema, so they run
  // beside them.
  const std::int64_t together = std::ssize(members) + at_ends + keys;
  return has_range_ ? together <= separate : together < separate;
}

std::span<const Id> ExtremumNetworks::inputs(Id node) const {
  const auto it = networks_.find(node);
  return it == networks_.end() ? std::span<const Id>() : it->second.inputs;
}

Value* ExtremumNetworks::emit(LlvmBuilder& b, Id end, llvm::function_ref<Value*(Id)> input, Values& inside) const {
  const Cone& cone = networks_.at(end);
  Values outside;
  std::vector<Value*> tested;
  llvm::Type* type = input(cone.inputs[0])->getType();
  llvm::Type* ints = type->getWithNewType(b.getIntNTy(type->getScalarSizeInBits()));
  for (const Id id : cone.inputs) {
    Value* x = input(id);
    if (may_be_nan(g_, id)) tested.push_back(x);
    outside[id] = has_range_ ? x : order_key(b, b.CreateBitCast(x, ints));
  }
  Value* ordered = tested.empty() ? b.getTrue() : all_ordered(b, tested);
  for (const Id id : cone.members) {
    Value*& value = inside[id];
    if (value != nullptr) continue;
    const auto operand = [&](Id s) {
      const auto it = outside.find(s);
      return it == outside.end() ? inside.at(s) : it->second;
    };
    Value* x = operand(g_.src(id, 0));
    Value* y = operand(g_.src(id, 1));
    value = in_one_instruction(b, g_.op(id), x, y);
  }
  Value* result = has_range_ ? inside.at(end) : b.CreateBitCast(order_key(b, inside.at(end)), type);
  return b.CreateSelect(ordered, result, llvm::ConstantFP::getNaN(type));
}

}  // namespace kiln::compiler
