#include "compiler/codegen/descriptor.h"

#include <map>
#include <stdexcept>
#include <vector>

#include <llvm/IR/IRBuilder.h>

#include "compiler/codegen/entry.h"
#include "compiler/codegen/expression.h"

namespace kiln::compiler {
namespace {

using llvm::Constant;

constexpr int abi_version = 2;  // KILN_ABI_VERSION

class DescriptorEmitter {
 public:
  DescriptorEmitter(llvm::Module& module, const Graph& g, const Schedule& schedule)
      : module_(module), g_(g), schedule_(schedule) {}

  llvm::GlobalVariable* program(std::span<const LoweredKernel> lowered, std::span<llvm::Function* const> kernels) {
    std::vector<Constant*> symbols, params, temps, views, kernel_rows;
    for (const Symbol& s : schedule_.program.symbols)
      symbols.push_back(row({text(s.name), i64(s.min), i64(s.max), i64(s.multiple_of)}));
    for (const Parameter& p : schedule_.program.params) params.push_back(param(p));
    for (const Buffer& b : schedule_.buffers) {
      const bool is_view = b.param >= 0 && b.offset != no_id;
      buffer_number_.push_back(b.param >= 0 && !is_view ? b.param
                                                        : static_cast<int>(params.size() + temps.size() + views.size()));
      if (is_view) views.push_back(row({expr(b.offset), i64(b.param)}));
      if (b.param < 0) temps.push_back(row({expr(b.offset), expr(b.stored(), bytes(b.dtype))}));
    }
    for (std::size_t i = 0; i < kernels.size(); ++i)
      kernel_rows.push_back(kernel(schedule_.kernels[i], lowered[i], kernels[i]));
    return global(row({i32(abi_version), count(symbols), count(params), count(temps), count(kernel_rows), count(views),
                       text(schedule_.program.name), array(symbols), array(params), array(temps), array(kernel_rows),
                       workspace(), array(views)}));
  }

 private:
  Constant* i8(int v) { return llvm::ConstantInt::get(llvm::Type::getInt8Ty(context()), static_cast<std::uint64_t>(v)); }
  Constant* i32(int v) { return llvm::ConstantInt::getSigned(llvm::Type::getInt32Ty(context()), v); }
  Constant* i64(std::int64_t v) { return llvm::ConstantInt::getSigned(llvm::Type::getInt64Ty(context()), v); }
  Constant* count(const std::vector<Constant*>& rows) { return i32(static_cast<int>(rows.size())); }
  Constant* row(std::initializer_list<Constant*> members) {
    return llvm::ConstantStruct::getAnon(context(), {members.begin(), members.size()});
  }
  llvm::LLVMContext& context() { return module_.getContext(); }

  llvm::GlobalVariable* global(Constant* init) {
    auto* v = new llvm::GlobalVariable(module_, init->getType(), true, llvm::GlobalValue::PrivateLinkage, init, "kiln.desc");
    v->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
    return v;
  }

  Constant* array(const std::vector<Constant*>& rows) {
    if (rows.empty()) return llvm::ConstantPointerNull::get(llvm::PointerType::getUnqual(context()));
    return global(llvm::ConstantArray::get(llvm::ArrayType::get(rows[0]->getType(), rows.size()), rows));
  }

  Constant* text(const std::string& s) {
    Constant*& c = texts_[s];
    if (c == nullptr) c = global(llvm::ConstantDataArray::getString(context(), s));
    return c;
  }

  // Equal expressions share their code.
  Constant* code(std::vector<std::int64_t> words) {
    words.push_back(static_cast<std::int64_t>(ExprCode::end));
    Constant*& c = codes_[words];
    if (c == nullptr) c = global(llvm::ConstantDataArray::get(context(), llvm::ArrayRef<std::int64_t>(words)));
    return c;
  }

  Constant* expr(Id e, std::int64_t scale = 1) { return code(postfix(g_, e, schedule_.program.symbols, scale)); }

  Constant* workspace() {  // a program without temporaries needs none
    if (schedule_.workspace_bytes == no_id) return code({static_cast<std::int64_t>(ExprCode::push_const), 0});
    return expr(schedule_.workspace_bytes);
  }

  Constant* param(const Parameter& p) {
    if (p.extents.size() > 255) throw std::logic_error("codegen: rank above 255");
    std::vector<Constant*> extents;
    for (const Id e : p.extents) extents.push_back(expr(e));
    Constant* reserved = llvm::ConstantAggregateZero::get(llvm::ArrayType::get(llvm::Type::getInt8Ty(context()), 5));
    return row({text(p.name), array(extents), i8(static_cast<int>(p.dtype)), i8(static_cast<int>(p.direction)),
                i8(static_cast<int>(p.extents.size())), reserved});
  }

  Constant* numbers(const std::vector<int>& values) {
    std::vector<Constant*> rows;
    for (const int v : values) rows.push_back(i32(v));
    return array(rows);
  }

  Constant* kernel(const Kernel& k, const LoweredKernel& l, llvm::Function* function) {
    std::vector<int> buffers;
    for (const int b : k.buffers) buffers.push_back(buffer_number_.at(static_cast<std::size_t>(b)));
    return row({text(k.name), function, numbers(buffers), numbers(k.depends_on), expr(l.trip_count), expr(l.work),
                i32(static_cast<int>(buffers.size())), i32(static_cast<int>(k.depends_on.size())), i32(l.alignment),
                i32(l.parallel ? 1 : 0)});
  }

  llvm::Module& module_;
  const Graph& g_;
  const Schedule& schedule_;
  std::vector<int> buffer_number_;  // index in the schedule -> index in the description
  std::map<std::string, Constant*> texts_;
  std::map<std::vector<std::int64_t>, Constant*> codes_;
};

llvm::Function* external_function(llvm::Module& module, llvm::FunctionType* type, const std::string& name) {
  auto* f = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, name, module);
  f->addFnAttr(llvm::Attribute::NoUnwind);
  return f;
}

}  // namespace

void emit_program(llvm::Module& module, const Graph& g, const Schedule& schedule, std::span<const LoweredKernel> lowered,
                  std::span<llvm::Function* const> kernels, const std::string& entry_name) {
  llvm::GlobalVariable* description = DescriptorEmitter(module, g, schedule).program(lowered, kernels);
  emit_entry(module, description, g, schedule, lowered, kernels, entry_name);
  llvm::Function* get = external_function(module, llvm::FunctionType::get(description->getType(), false), entry_name + "_desc");
  llvm::IRBuilder<> b(llvm::BasicBlock::Create(module.getContext(), "", get));
  b.CreateRet(description);
}

}  // namespace kiln::compiler
