#include "compiler/codegen/descriptor.h"

#include <concepts>
#include <map>
#include <stdexcept>
#include <vector>

#include <llvm/IR/IRBuilder.h>

#include "compiler/codegen/entry.h"
#include "compiler/codegen/expression.h"
#include "compiler/ir/layout.h"
#include "compiler/ir/nth.h"
#include "kiln/program.h"

namespace kiln::compiler {
namespace {

using llvm::Constant;

// A member of a C struct of kiln/program.h and its value. A number gets the member's width.
template <class Struct>
struct Member {
  template <class T>
  Member(T Struct::* at, Constant* v) : offset(offset_of(at)), value(v) {}
  template <std::integral T>
  Member(T Struct::* at, std::integral auto n)
      : offset(offset_of(at)), bits(8 * sizeof(T)), number(static_cast<std::uint64_t>(n)) {}

  template <class T>
  static std::size_t offset_of(T Struct::* at) {
    static constexpr Struct any{};
    return static_cast<std::size_t>(reinterpret_cast<const char*>(&(any.*at)) - reinterpret_cast<const char*>(&any));
  }

  std::size_t offset;
  Constant* value = nullptr;  // null: a number
  unsigned bits = 0;
  std::uint64_t number = 0;
};

class DescriptorEmitter {
 public:
  DescriptorEmitter(llvm::Module& module, const Graph& g, const Schedule& schedule)
      : module_(module), g_(g), schedule_(schedule), symbols_(schedule.program.symbols) {}

  llvm::GlobalVariable* program(std::span<const LoweredKernel> lowered, std::span<llvm::Function* const> kernels) {
    std::vector<Constant*> symbols, params, temps, rotating, views, kernel_rows, loops, checks;
    const Program& program = schedule_.program;
    for (const Parameter& p : program.params)
      if (program.is_argument(p)) params.push_back(param(p));
    for (const DataCheck& c : program.checks) checks.push_back(check(c));
    // Arguments of the caller and, in a program with checks, the parameter of the runtime.
    const std::size_t given = program.params.size();
    for (const Buffer& b : schedule_.buffers) {
      const bool is_view = b.param >= 0 && b.offset != no_id;
      buffer_number_.push_back(
          b.param >= 0 && !is_view ? b.param : static_cast<int>(given + temps.size() + rotating.size() + views.size()));
      if (is_view) views.push_back(view(b));
      if (!b.among.empty()) rotating.push_back(rotating_row(b));
      if (b.is_temporary()) temps.push_back(temporary(b));
    }
    int n_extents = 0;
    for (const Symbol& s : schedule_.program.symbols) {
      n_extents += s.kind == Symbol::Kind::extent ? 1 : 0;
      symbols.push_back(symbol(s));
    }
    for (std::size_t i = 0; i < kernels.size(); ++i)
      kernel_rows.push_back(kernel(schedule_.kernels[i], lowered[i], kernels[i]));
    const std::vector<Part> parts = parts_of_loops();
    for (std::size_t l = 0; l < parts.size(); ++l) loops.push_back(loop(schedule_.loops[l], parts[l]));
    using Row = kiln_program_desc;
    return global(
        row<Row>({{&Row::abi_version, KILN_ABI_VERSION}, {&Row::n_symbols, n_extents},
                  {&Row::n_params, params.size()},       {&Row::n_temps, temps.size()},
                  {&Row::n_kernels, kernel_rows.size()}, {&Row::n_views, views.size()},
                  {&Row::name, text(program.name)},      {&Row::symbols, array(symbols)},
                  {&Row::params, array(params)},         {&Row::temps, array(temps)},
                  {&Row::kernels, array(kernel_rows)},   {&Row::workspace_bytes, workspace()},
                  {&Row::views, array(views)},           {&Row::loops, array(loops)},
                  {&Row::n_loops, loops.size()},         {&Row::n_numbers, static_cast<int>(symbols.size()) - n_extents},
                  {&Row::rotating, array(rotating)},     {&Row::n_rotating, rotating.size()},
                  {&Row::n_checks, checks.size()},       {&Row::checks, array(checks)}}));
  }

 private:
  // Throws std::logic_error unless all members are there, in the order of the C struct.
  template <class Struct>
  Constant* row(std::initializer_list<Member<Struct>> members) {
    std::vector<Constant*> values;
    for (const Member<Struct>& m : members)
      values.push_back(m.value != nullptr ? m.value
                                          : llvm::ConstantInt::get(context(), llvm::APInt(64, m.number).zextOrTrunc(m.bits)));
    auto* out = llvm::cast<llvm::ConstantStruct>(llvm::ConstantStruct::getAnon(context(), values));
    const llvm::StructLayout& layout = *module_.getDataLayout().getStructLayout(out->getType());
    bool equal = layout.getSizeInBytes() == sizeof(Struct);
    for (unsigned i = 0; i < members.size(); ++i) equal = equal && layout.getElementOffset(i) == members.begin()[i].offset;
    if (!equal) throw std::logic_error("codegen: a description differs from its C struct");
    return out;
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
    words.push_back(KILN_EXPR_END);
    Constant*& c = codes_[words];
    if (c == nullptr) c = global(llvm::ConstantDataArray::get(context(), llvm::ArrayRef<std::int64_t>(words)));
    return c;
  }

  Constant* expr(Id e, std::int64_t scale = 1) { return code(postfix(g_, e, symbols_, scale)); }

  Constant* workspace() {  // 0 bytes for a program without temporaries
    if (schedule_.workspace_bytes == no_id) return code({KILN_PUSH_CONST, 0});
    return expr(schedule_.workspace_bytes);
  }

  Constant* param(const Parameter& p) {
    if (p.extents.size() > 255) throw std::logic_error("codegen: rank above 255");
    std::vector<Constant*> extents;
    for (const Id e : p.extents) extents.push_back(expr(e));
    std::vector<int> strides;
    for (int axis = 0; axis < p.free_strides; ++axis)
      strides.push_back(static_cast<int>(symbols_.find(stride_name(p, static_cast<std::size_t>(axis))).value()));
    using Row = kiln_param_desc;
    Constant* const none =
        llvm::ConstantAggregateZero::get(llvm::ArrayType::get(llvm::Type::getInt8Ty(context()), sizeof(Row::reserved)));
    return row<Row>({{&Row::name, text(p.name)},
                     {&Row::extents, array(extents)},
                     {&Row::strides, numbers(strides)},
                     {&Row::dtype, static_cast<int>(p.dtype)},
                     {&Row::direction, static_cast<int>(p.direction)},
                     {&Row::rank, p.extents.size()},
                     {&Row::n_strides, p.free_strides},
                     {&Row::reserved, none}});
  }

  Constant* symbol(const Symbol& s) {
    using Row = kiln_symbol_desc;
    return row<Row>({{&Row::name, text(s.name)},
                     {&Row::min, s.min},
                     {&Row::max, s.max},
                     {&Row::multiple_of, s.multiple_of},
                     {&Row::min_needed_at, s.min_needed_at.empty() ? null() : text(s.min_needed_at)}});
  }

  Constant* check(const DataCheck& c) {
    using Row = kiln_check_desc;
    return row<Row>({{&Row::text, text(c.text)}, {&Row::place, text(place(c.loc))}});
  }

  Constant* temporary(const Buffer& b) {
    using Row = kiln_temp_desc;
    return row<Row>({{&Row::offset, expr(b.offset)}, {&Row::bytes, expr(b.stored(), bytes(b.dtype))}});
  }

  Constant* view(const Buffer& b) {
    using Row = kiln_view_desc;
    return row<Row>({{&Row::offset, expr(b.offset)}, {&Row::param, b.param}});
  }

  Constant* rotating_row(const Buffer& b) {
    using Row = kiln_rotating_desc;
    return row<Row>(
        {{&Row::buffers, numbers(numbers_of(b.among))}, {&Row::n, b.among.size()}, {&Row::count, number_of(b.count)}});
  }

  Constant* numbers(const std::vector<int>& values) {
    return values.empty() ? null() : global(llvm::ConstantDataArray::get(context(), llvm::ArrayRef<std::int32_t>(values)));
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
    using Row = kiln_kernel_desc;
    return row<Row>({{&Row::name, text(k.name)},
                     {&Row::fn, function},
                     {&Row::buffers, numbers(buffers)},
                     {&Row::depends_on, numbers(k.depends_on)},
                     {&Row::trip_count, expr(l.trip_count)},
                     {&Row::work, expr(l.work)},
                     {&Row::n_buffers, buffers.size()},
                     {&Row::n_depends_on, k.depends_on.size()},
                     {&Row::alignment, l.alignment},
                     {&Row::parallel, l.parallel ? 1 : 0},
                     {&Row::reads, array(reads)},
                     {&Row::n_reads, reads.size()},
                     {&Row::reserved, 0}});
  }

  // The symbols of kind `element` that the expressions use, each with the buffer that the runtime reads it from.
  std::vector<Constant*> reads_of(std::span<const Id> expressions) {
    using Row = kiln_read_desc;
    const std::vector<Symbol>& symbols = schedule_.program.symbols;
    std::vector<Constant*> out;
    for (const std::size_t i : symbols_.numbers_in(g_, expressions))
      if (symbols[i].kind == Symbol::Kind::element)
        out.push_back(
            row<Row>({{&Row::symbol, i}, {&Row::buffer, buffer_number_.at(static_cast<std::size_t>(symbols[i].buffer))}}));
    return out;
  }

  struct Part {
    int first = -1, end = 0;
  };
  // By loop: its part of the list of kernels.
  std::vector<Part> parts_of_loops() const {
    std::vector<Part> out(schedule_.loops.size());
    for (std::size_t k = 0; k < schedule_.kernels.size(); ++k)
      for (int l = schedule_.kernels[k].loop; l >= 0; l = nth(schedule_.loops, l).parent) {
        Part& part = nth(out, l);
        if (part.first < 0) part.first = static_cast<int>(k);
        part.end = static_cast<int>(k) + 1;
      }
    return out;
  }

  Constant* loop(const HostLoop& l, const Part& kernels) {
    const Id bounds[] = {l.begin, l.end};
    const std::vector<Constant*> reads = reads_of(bounds);
    const int condition = l.condition < 0 ? -1 : buffer_number_.at(static_cast<std::size_t>(l.condition));
    using Row = kiln_loop_desc;
    return row<Row>({{&Row::begin, expr(l.begin)},
                     {&Row::end, expr(l.end)},
                     {&Row::step, l.step},
                     {&Row::reads, array(reads)},
                     {&Row::n_reads, reads.size()},
                     {&Row::first_kernel, kernels.first},
                     {&Row::end_kernel, kernels.end},
                     {&Row::counter, number_of(l.counter)},
                     {&Row::condition, condition},
                     {&Row::count, number_of(l.count)}});
  }

  // The index of a symbol; -1 for no_id.
  int number_of(Id sym) const {
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
