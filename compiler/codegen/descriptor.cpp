#include "compiler/codegen/descriptor.h"

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "compiler/codegen/expression.h"
#include "compiler/ir/layout.h"
#include "compiler/ir/nth.h"
#include "kiln/program.h"

namespace kiln::compiler {
namespace {

using llvm::Constant;

class DescriptorEmitter {
 public:
  DescriptorEmitter(Constants& constants, const CodegenVariant& variant)
      : c_(constants),
        target_(variant.target),
        g_(variant.graph),
        schedule_(variant.schedule),
        lowered_(variant.lowered),
        symbols_(variant.schedule.program.symbols) {}

  llvm::GlobalVariable* program(std::span<llvm::Function* const> kernels, llvm::Function* entry, Constant* workspace) {
    std::vector<Constant*> symbols, params, temps, rotating, views, kernel_rows, loops, checks;
    const Program& program = schedule_.program;
    for (const Parameter& p : program.params)
      if (program.is_argument(p)) params.push_back(param(p));
    for (const DataCheck& c : program.checks) checks.push_back(check(c));
    // Arguments of the caller and, in a program with checks, the parameter of the runtime.
    int next = count_of(program.params);
    for (const Buffer& b : schedule_.buffers) {
      const bool is_view = b.param >= 0 && b.offset != no_id;
      buffer_number_.push_back(b.param >= 0 && !is_view ? b.param : next++);
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
      kernel_rows.push_back(kernel(schedule_.kernels[i], lowered_[i], kernels[i]));
    const std::vector<Part> parts = parts_of_loops();
    for (std::size_t l = 0; l < parts.size(); ++l) loops.push_back(loop(schedule_.loops[l], parts[l]));
    using Row = kiln_program_desc;
    return c_.global(c_.row<Row>({{&Row::abi_version, KILN_ABI_VERSION},
                                  {&Row::n_symbols, n_extents},
                                  {&Row::n_params, params.size()},
                                  {&Row::n_temps, temps.size()},
                                  {&Row::n_kernels, kernel_rows.size()},
                                  {&Row::n_views, views.size()},
                                  {&Row::name, c_.text(program.name)},
                                  {&Row::symbols, c_.array(symbols)},
                                  {&Row::params, c_.array(params)},
                                  {&Row::temps, c_.array(temps)},
                                  {&Row::kernels, c_.array(kernel_rows)},
                                  {&Row::workspace_bytes, workspace},
                                  {&Row::views, c_.array(views)},
                                  {&Row::loops, c_.array(loops)},
                                  {&Row::n_loops, loops.size()},
                                  {&Row::n_numbers, count_of(symbols) - n_extents},
                                  {&Row::rotating, c_.array(rotating)},
                                  {&Row::n_rotating, rotating.size()},
                                  {&Row::n_checks, checks.size()},
                                  {&Row::checks, c_.array(checks)},
                                  {&Row::variant, c_.text(target_.name)},
                                  {&Row::cpu_sets, target_.cpu_sets},
                                  {&Row::entry, entry}}));
  }

 private:
  // "kernels.cpp:12", without the folders.
  std::string place(SourceLoc l) const {
    const std::string_view file = g_.string(l.file);
    const std::size_t slash = file.rfind('/');
    return std::string(slash == std::string_view::npos ? file : file.substr(slash + 1)) + ":" + std::to_string(l.line);
  }

  Constant* expr(Id e, std::int64_t scale = 1) { return c_.code(postfix(g_, e, symbols_, scale)); }

  Constant* param(const Parameter& p) {
    if (p.extents.size() > 255) throw std::logic_error("codegen: rank above 255");
    std::vector<Constant*> extents;
    for (const Id e : p.extents) extents.push_back(expr(e));
    std::vector<int> strides;
    for (std::size_t axis = 0; std::cmp_less(axis, p.free_strides); ++axis)
      strides.push_back(narrow<int>(symbols_.find(stride_name(p, axis)).value()));
    using Row = kiln_param_desc;
    Constant* const none =
        llvm::ConstantAggregateZero::get(llvm::ArrayType::get(llvm::Type::getInt8Ty(c_.context()), sizeof(Row::reserved)));
    return c_.row<Row>({{&Row::name, c_.text(p.name)},
                        {&Row::extents, c_.array(extents)},
                        {&Row::strides, c_.numbers(strides)},
                        {&Row::dtype, p.dtype},
                        {&Row::direction, p.direction},
                        {&Row::rank, p.extents.size()},
                        {&Row::n_strides, p.free_strides},
                        {&Row::reserved, none}});
  }

  Constant* symbol(const Symbol& s) {
    using Row = kiln_symbol_desc;
    return c_.row<Row>({{&Row::name, c_.text(s.name)},
                        {&Row::min, s.min},
                        {&Row::max, s.max},
                        {&Row::multiple_of, s.multiple_of},
                        {&Row::min_needed_at, s.min_needed_at.empty() ? c_.null() : c_.text(s.min_needed_at)}});
  }

  Constant* check(const DataCheck& c) {
    using Row = kiln_check_desc;
    return c_.row<Row>({{&Row::text, c_.text(c.text)}, {&Row::place, c_.text(place(c.loc))}});
  }

  Constant* temporary(const Buffer& b) {
    using Row = kiln_temp_desc;
    return c_.row<Row>({{&Row::offset, expr(b.offset)}, {&Row::bytes, expr(b.stored(), bytes(b.dtype))}});
  }

  Constant* view(const Buffer& b) {
    using Row = kiln_view_desc;
    return c_.row<Row>({{&Row::offset, expr(b.offset)}, {&Row::param, b.param}});
  }

  Constant* rotating_row(const Buffer& b) {
    using Row = kiln_rotating_desc;
    return c_.row<Row>(
        {{&Row::buffers, c_.numbers(numbers_of(b.among))}, {&Row::n, b.among.size()}, {&Row::count, number_of(b.count)}});
  }

  std::vector<int> numbers_of(const std::vector<int>& buffers) const {
    std::vector<int> out;
    for (const int b : buffers) out.push_back(nth(buffer_number_, b));
    return out;
  }

  Constant* kernel(const Kernel& k, const LoweredKernel& l, llvm::Function* function) {
    const std::vector<int> buffers = numbers_of(k.buffers);
    const Id roots[] = {l.sink, l.trip_count, l.work};
    const std::vector<Constant*> reads = reads_of(roots);
    using Row = kiln_kernel_desc;
    return c_.row<Row>({{&Row::name, c_.text(k.name)},
                        {&Row::fn, function},
                        {&Row::buffers, c_.numbers(buffers)},
                        {&Row::depends_on, c_.numbers({k.depends_on.begin(), k.depends_on.end()})},
                        {&Row::trip_count, expr(l.trip_count)},
                        {&Row::work, expr(l.work)},
                        {&Row::n_buffers, buffers.size()},
                        {&Row::n_depends_on, k.depends_on.size()},
                        {&Row::alignment, l.alignment},
                        {&Row::parallel, l.parallel ? 1 : 0},
                        {&Row::reads, c_.array(reads)},
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
        out.push_back(c_.row<Row>({{&Row::symbol, i}, {&Row::buffer, nth(buffer_number_, symbols[i].buffer)}}));
    return out;
  }

  struct Part {
    int first = -1, end = 0;
  };
  // By loop: its part of the list of kernels.
  std::vector<Part> parts_of_loops() const {
    std::vector<Part> out(schedule_.loops.size());
    for (int k = 0; k < count_of(schedule_.kernels); ++k)
      for (int l = nth(schedule_.kernels, k).loop; l >= 0; l = nth(schedule_.loops, l).parent) {
        Part& part = nth(out, l);
        if (part.first < 0) part.first = k;
        part.end = k + 1;
      }
    return out;
  }

  Constant* loop(const HostLoop& l, const Part& kernels) {
    const Id bounds[] = {l.begin, l.end};
    const std::vector<Constant*> reads = reads_of(bounds);
    const int condition = l.condition < 0 ? -1 : nth(buffer_number_, l.condition);
    using Row = kiln_loop_desc;
    return c_.row<Row>({{&Row::begin, expr(l.begin)},
                        {&Row::end, expr(l.end)},
                        {&Row::step, l.step},
                        {&Row::reads, c_.array(reads)},
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
    return i ? narrow<int>(*i) : -1;
  }

  Constants& c_;
  const Target& target_;
  const Graph& g_;
  const Schedule& schedule_;
  const std::span<const LoweredKernel> lowered_;
  const SymbolIndex symbols_;
  std::vector<int> buffer_number_;  // index in the schedule -> index in the description
};

}  // namespace

Constant* emit_workspace(Constants& constants, std::span<const CodegenVariant> variants) {
  std::vector<std::vector<std::int64_t>> sizes;
  for (const CodegenVariant& v : variants) {
    const Id bytes = v.schedule.workspace_bytes;  // no_id: a program without temporaries
    std::vector<std::int64_t> code = {KILN_PUSH_CONST, 0};
    if (bytes != no_id) code = postfix(v.graph, bytes, SymbolIndex(v.schedule.program.symbols));
    if (std::ranges::find(sizes, code) == sizes.end()) sizes.push_back(std::move(code));
  }
  std::vector<std::int64_t> most = sizes.front();
  for (std::size_t i = 1; i < sizes.size(); ++i) {
    most.insert(most.end(), sizes[i].begin(), sizes[i].end());
    most.push_back(KILN_MAX);
  }
  return constants.code(std::move(most));
}

llvm::GlobalVariable* emit_description(Constants& constants, const CodegenVariant& variant,
                                       std::span<llvm::Function* const> kernels, llvm::Function* entry, Constant* workspace) {
  return DescriptorEmitter(constants, variant).program(kernels, entry, workspace);
}

}  // namespace kiln::compiler
