#include "tests/run/compiled.h"

#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <stdexcept>

#include "compiler/interp/scalar.h"
#include "compiler/interp/visit.h"
#include "compiler/pipeline/compile.h"
#include "compiler/target/target.h"
#include "kiln/pool.h"
#include "tests/run/layouts.h"

namespace kiln::compiler::testing {
namespace {

template <class T>
bool same(T a, T b) {
  if constexpr (scalar::is_real<T>) {
    const auto x = scalar::load(a), y = scalar::load(b);
    if (x != x && y != y) return true;
  }
  return std::memcmp(&a, &b, sizeof a) == 0;
}

std::string object_of(const Graph& g, const Program& p, const std::vector<std::string>& variants) {
  CompileOptions options;
  options.targets = targets_named(variants);
  options.symbol_prefix = "t_";
  return compile(g, p, options).code.object;
}

void* allocate(void*, std::size_t n, std::size_t alignment) {
  return std::aligned_alloc(alignment, (n + alignment - 1) / alignment * alignment);
}
void release(void*, void* p, std::size_t) { std::free(p); }

}  // namespace

CompiledProgram::CompiledProgram(Graph& g, const Program& p, const std::vector<std::string>& variants)
    : CompiledProgram(p, object_of(g, p, variants)) {}

CompiledProgram::CompiledProgram(const Program& p, const std::string& object)
    : program_(p),
      object_(object),
      entry_(reinterpret_cast<Entry>(object_.symbol("t_" + p.name))),
      description_(reinterpret_cast<const kiln_program_desc* (*)()>(object_.symbol("t_" + p.name + "_desc"))()) {}

void CompiledProgram::force(const std::string& variant) {
  const kiln_variants* all = reinterpret_cast<const kiln_variants* (*)()>(object_.symbol("t_" + program_.name + "_variants"))();
  if (const kiln_status s = kiln_force_variant(all, variant.c_str()); s.code != KILN_OK)
    throw std::runtime_error(variant + ": " + kiln_status_name(s.code));
  description_ = kiln_selected_variant(all);
}

kiln_status CompiledProgram::call(std::span<const kiln_tensor> args, const kiln_context* context) const {
  return entry_(args.data(), static_cast<std::int32_t>(args.size()), context);
}

kiln_status CompiledProgram::run(std::vector<Array>& data, int workers) const {
  std::vector<kiln_tensor> args;
  std::vector<std::optional<LaidOut>> apart(data.size());
  ++calls_;
  for (std::size_t i = 0; i < data.size(); ++i) {
    if (!program_.is_argument(program_.params[i])) continue;
    if (program_.params[i].direction == Direction::out)
      data[i].data.assign(data[i].elements() * static_cast<std::size_t>(bytes(data[i].dtype)), std::byte{0xa5});
    args.push_back({data[i].data.data(), data[i].extents.data(), nullptr, static_cast<std::int32_t>(data[i].dtype),
                    static_cast<std::int32_t>(data[i].extents.size())});
    if (program_.params[i].free_strides == 0) continue;
    apart[i].emplace(program_.params[i], data[i], 10 * calls_ + i);
    args[i].data = apart[i]->data();
    args[i].strides = apart[i]->strides();
  }
  std::int64_t need = 0;
  const kiln_status sized = kiln_workspace_bytes(description_, args.data(), static_cast<std::int32_t>(args.size()), &need);
  kiln_context context{nullptr, nullptr, 0, allocate, release, nullptr};
  std::unique_ptr<pool> threads;
  if (workers > 1) {
    threads = std::make_unique<pool>(workers);
    context.executor = threads->executor();
  }
  const kiln_status s = sized.code == KILN_OK ? call(args, &context) : sized;
  for (std::size_t i = 0; i < data.size(); ++i)
    if (apart[i] && !apart[i]->take_back(data[i])) throw std::runtime_error("bytes between elements have changed");
  return s;
}

std::string CompiledProgram::message(std::span<const Array> arguments, int workers) const {
  std::vector<Array> data(arguments.begin(), arguments.end());
  char text[300];
  kiln_status_message(description_, run(data, workers), text, sizeof text);
  return text;
}

std::vector<Array> CompiledProgram::operator()(std::span<const Array> arguments, int workers) const {
  std::vector<Array> data(arguments.begin(), arguments.end());
  const kiln_status s = run(data, workers);
  if (s.code == KILN_R_CHECK) {
    const auto failed = static_cast<std::int32_t>(s.got);
    std::memcpy(data.back().data.data(), &failed, sizeof failed);
  } else if (s.code != KILN_OK) {
    char text[300];
    kiln_status_message(description_, s, text, sizeof text);
    throw std::runtime_error(text);
  }
  for (std::size_t i = 0; i < data.size(); ++i)
    if (program_.params[i].direction == Direction::in) data[i] = Array{};
  return data;
}

std::string difference(const Array& a, const Array& b) {
  if (a.dtype != b.dtype || a.extents != b.extents || a.data.size() != b.data.size()) return "dtype or extents differ";
  std::string text;
  if (a.data.empty()) return text;
  visit_type(a.dtype, [&]<class T>() {
    const auto *x = reinterpret_cast<const T*>(a.data.data()), *y = reinterpret_cast<const T*>(b.data.data());
    for (std::size_t i = 0; i < a.elements() && text.empty(); ++i)
      if (!same(x[i], y[i])) {
        const auto xd = scalar::convert<double>(x[i]), yd = scalar::convert<double>(y[i]);
        char buffer[120];
        std::snprintf(buffer, sizeof buffer, "element %zu: %.17g and %.17g (%a, %a)", i, xd, yd, xd, yd);
        text = buffer;
      }
  });
  return text;
}

}  // namespace kiln::compiler::testing
