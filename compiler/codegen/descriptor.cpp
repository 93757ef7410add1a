#include "compiler/codegen/descriptor.h"

#include <map>
#include <stdexcept>
#include <vector>

#include <llvm/IR/IRBuilder.h>

#include "compiler/codegen/entry.h"
#include "compiler/codegen/expression.h"
#include "compiler/ir/layout.h"

namespace kiln::compiler {
namespace {

using llvm::Constant;

constexpr int abi_version = 5;  // KILN_ABI_VERSION

class DescriptorEmitter {
 public:
  DescriptorEmitter(llvm::Module& module, const Graph& g, const Schedule& schedule)
      : module_(module), g_(g), schedule_(schedule), symbols_(schedule.program.symbols) {}

  llvm::GlobalVariable* program(std::span<const LoweredKernel> lowered, std::span<llvm::Function* const> kernels) {
    std::vector<Constant*> symbols, params, temps, roles, views, kernel_rows, loops, checks;
    const Program& program = schedule_.program;
    for (const Parameter& p : program.params)
      if (program.is_argument(p)) params.push_back(param(p));
    for (const DataCheck& c : program.checks) checks.push_back(row({text(c.text), text(place(c.loc))}));
    // Arguments of the caller and, in a program with checks, the parameter of the runtime.
    const std::size_t given = program.params.size();
    for (const Buffer& b : schedule_.buffers) {
      const bool is_view = b.param >= 0 && b.offset != no_id;
      buffer_number_.push_back(b.param >= 0 && !is_view ? b.param
                                                        : static_cast<int>(given + temps.size() + roles.size() + views.size()));
      if (is_view) views.push_back(row({expr(b.offset), i64(b.param)}));
      if (!b.among.empty())
        roles.push_back(row({numbers(numbers_of(b.among)), i32(static_cast<int>(b.among.size())), i32(symbol(b.count))}));
      if (b.is_temporary()) temps.push_back(row({expr(b.offset), expr(b.stored(), bytes(b.dtype))}));
    }
    int n_extents = 0;
    for (const Symbol& s : schedule_.program.symbols) {
      n_extents += s.kind == Symbol::Kind::extent ? 1 : 0;
      symbols.push_back(row({text(s.name), i64(s.min), i64(s.max), i64(s.multiple_of),
                             s.min_needed_at.empty() ? null() : text(s.min_needed_at)}));
    }
    for (std::size_t i = 0; i < kernels.size(); ++i)
      kernel_rows.push_back(kernel(schedule_.kernels[i], lowered[i], kernels[i]));
    const std::vector<Part> parts = parts_of_loops();
    for (std::size_t l = 0; l < parts.size(); ++l) loops.push_back(loop(schedule_.loops[l], parts[l]));
    return global(row({i32(abi_version),
                       i32(n_extents),
                       count(params),
                       count(temps),
                       count(kernel_rows),
                       count(views),
                       text(schedule_.program.name),
                       array(symbols),
                       array(params),
                       array(temps),
                       array(kernel_rows),
                       workspace(),
                       array(views),
                       array(loops),
                       count(loops),
                       i32(static_cast<int>(symbols.size()) - n_extents),
                       array(roles),
                       count(roles),
                       count(checks),
                       array(checks)}));
  }

 private:
  Constant* i8(int v) { return llvm::ConstantInt::get(llvm::Type::getInt8Ty(context()), static_cast<std::uint64_t>(v)); }
  Constant* i32(int v) { return llvm::ConstantInt::getSigned(llvm::Type::getInt32Ty(context()), v); }
  Constant* i64(std::int64_t v) { return llvm::ConstantInt::getSigned(llvm::Type::getInt64Ty(context()), v); }
  Constant* count(const std::vector<Constant*>& rows) { return i32(static_cast<int>(rows.size())); }
  Constant* row(std::initializer_list<Constant*> members) {
    return llvm::ConstantStruct::getAnon(context(), {members.begin(), members.size()});
  }
  Constant* null() { return llvm::ConstantPointerNull::get(llvm::PointerType::getUnqual(context())); }
  llvm::LLVMContext& context() { return module_.getContext(); }

  llvm::GlobalVariable* global(Constant* init) {
    auto* v = new llvm::GlobalVariable(module_, init->getType(), true, llvm::GlobalValue::PrivateLinkage, init, "kiln.desc");
    v->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
    return v;
  }

  Constant* array(const std::vector<Constant*>& rows) {
    if (rows.empty()) return null();
    return global(llvm::ConstantArray::get(llvm::ArrayType::get(rows[0]->getType(), rows.size()), rows));
  }

  Constant* text(const std::string& s) {
    Constant*& c = texts_[s];
    if (c == nullptr) c = global(llvm::ConstantDataArray::getString(context(), s));
    return c;
  }

  // "kernels.cpp:12", without the folders.
  std::string place(SourceLoc l) const {
    const std::string_view file = g_.string(l.file);
    const std::size_t slash = file.rfind('/');
    return std::string(slash == std::string_view::npos ? file : file.substr(slash + 1)) + ":" + std::to_string(l.line);
  }

  // Equal expressions share their code.
  Constant* code(std::vector<std::int64_t> words) {
    words.push_back(static_cast<std::int64_t>(ExprCode::end));
    Constant*& c = codes_[words];
    if (c == nullptr) c = global(llvm::ConstantDataArray::get(context(), llvm::ArrayRef<std::int64_t>(words)));
    return c;
  }

  Constant* expr(Id e, std::int64_t scale = 1) { return code(postfix(g_, e, symbols_, scale)); }

  Constant* workspace() {  // 0 bytes for a program without temporaries
    if (schedule_.workspace_bytes == no_id) return code({static_cast<std::int64_t>(ExprCode::push_const), 0});
    return expr(schedule_.workspace_bytes);
  }

  Constant* param(const Parameter& p) {
    if (p.extents.size() > 255) throw std::logic_error("codegen: rank above 255");
    std::vector<Constant*> extents;
    for (const Id e : p.extents) extents.push_back(expr(e));
    std::vector<int> strides;
    for (int axis = 0; axis < p.free_strides; ++axis)
      strides.push_back(static_cast<int>(symbols_.find(stride_name(p, static_cast<std::size_t>(axis))).value()));
    Constant* reserved = llvm::ConstantAggregateZero::get(llvm::ArrayType::get(llvm::Type::getInt8Ty(context()), 4));
    return row({text(p.name), array(extents), numbers(strides), i8(static_cast<int>(p.dtype)),
                i8(static_cast<int>(p.direction)), i8(static_cast<int>(p.extents.size())), i8(p.free_strides), reserved});
  }

  Constant* numbers(const std::vector<int>& values) {
    std::vector<Constant*> rows;
    for (const int v : values) rows.push_back(i32(v));
    return array(rows);
  }

  std::vector<int> numbers_of(const std::vector<int>& buffers) const {
    std::vector<int> out;
    for (const int b : buffers) out.push_back(buffer_number_.at(static_cast<std::size_t>(b)));
    return out;
  }

  Constant* kernel(const Kernel& k, const LoweredKernel& l, llvm::Function* function) {
    const std::vector<int> buffers = numbers_of(k.buffers);
    const Id roots[] = {l.sink, l.trip_count, l.work};
    const std::vector<Constant*> reads = reads_of(roots);
    return row({text(k.name), function, numbers(buffers), numbers(k.depends_on), expr(l.trip_count), expr(l.work),
                i32(static_cast<int>(buffers.size())), i32(static_cast<int>(k.depends_on.size())), i32(l.alignment),
                i32(l.parallel ? 1 : 0), array(reads), count(reads), i32(0)});
  }

  // The symbols of kind `element` that the expressions use, each with the buffer that the runtime reads it from.
  std::vector<Constant*> reads_of(std::span<const Id> expressions) {
    const std::vector<Symbol>& symbols = schedule_.program.symbols;
    std::vector<Constant*> out;
    for (const std::size_t i : symbols_.numbers_in(g_, expressions))
      if (symbols[i].kind == Symbol::Kind::element)
        out.push_back(row({i32(static_cast<int>(i)), i32(buffer_number_.at(static_cast<std::size_t>(symbols[i].buffer)))}));
    return out;
  }

  struct Part {
    int first = -1, end = 0;
  };
  // By loop: its part of the list of kernels.
  std::vector<Part> parts_of_loops() const {
    std::vector<Part> out(schedule_.loops.size());
    for (std::size_t k = 0; k < schedule_.kernels.size(); ++k)
      for (int l = schedule_.kernels[k].loop; l >= 0; l = schedule_.loops[static_cast<std::size_t>(l)].parent) {
        Part& part = out[static_cast<std::size_t>(l)];
        if (part.first < 0) part.first = static_cast<int>(k);
        part.end = static_cast<int>(k) + 1;
      }
    return out;
  }

  Constant* loop(const HostLoop& l, const Part& kernels) {
    const Id bounds[] = {l.begin, l.end};
    const std::vector<Constant*> reads = reads_of(bounds);
    const int condition = l.condition < 0 ? -1 : buffer_number_.at(static_cast<std::size_t>(l.condition));
    return row({expr(l.begin), expr(l.end), i64(l.step), array(reads), count(reads), i32(kernels.first), i32(kernels.end),
                i32(symbol(l.turn)), i32(condition), i32(symbol(l.count))});
  }

  // The index of a symbol; -1 for no_id.
  int symbol(Id sym) const {
    const auto i = sym == no_id ? std::nullopt : symbols_.find(g_.name(sym));
    return i ? static_cast<int>(*i) : -1;
  }

  llvm::Module& module_;
  const Graph& g_;
  const Schedule& schedule_;
  const SymbolIndex symbols_;
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
