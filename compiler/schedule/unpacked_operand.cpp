#include "compiler/schedule/unpacked_operand.h"

#include <algorithm>
#include <unordered_map>

#include "compiler/ir/index_poly.h"
#include "compiler/ir/nth.h"
#include "compiler/schedule/kernel_ranges.h"
#include "compiler/symbolic/linear.h"

namespace kiln::compiler {
namespace {

// The kernel that stores the buffer, if it is the only one, and no kernel but `reader` loads from it.
std::optional<std::size_t> only_writer(std::span<const KernelAccess> accesses, int buffer, std::size_t reader) {
  std::optional<std::size_t> writer;
  for (std::size_t k = 0; k < accesses.size(); ++k) {
    if (k != reader && std::ranges::binary_search(accesses[k].loads, buffer)) return std::nullopt;
    if (!std::ranges::binary_search(accesses[k].stores, buffer)) continue;
    if (writer) return std::nullopt;
    writer = k;
  }
  return writer;
}

// Whether the buffer has the same contents from kernel number `from` on, in all iterations of loops.
bool is_constant(const Schedule& s, std::span<const KernelAccess> accesses, int buffer, std::size_t from) {
  const Buffer& b = nth(s.buffers, buffer);
  if (b.param >= 0) return nth(s.program.params, b.param).direction == Direction::in;
  if (!b.is_temporary() || s.kernels[from].loop >= 0) return false;
  return std::ranges::none_of(accesses.subspan(from),
                              [&](const KernelAccess& a) { return std::ranges::binary_search(a.stores, buffer); });
}

// The ranges of the copy, as ranges of the kernel that reads the element at `index`; empty: they are others. Each range of the
// copy has a distance in memory of its own, by which the reader's range is found.
std::unordered_map<Id, Id> ranges_of_reader(const Graph& g, const Kernel& copy, Id stored, const Operand& o, Id index) {
  const std::optional<Poly> to = symbolic::sum_of(g, stored), from = symbolic::sum_of(g, index);
  if (!to || !from) return {};
  std::vector<Id> readers = o.outer;
  readers.insert(readers.end(), {o.r, o.column});
  std::unordered_map<Id, Id> found;
  for (const Id range : loop_ranges_of(g, copy)) {
    const SplitAt here = split_at(*to, range);
    if (here.square || here.factor.empty()) return {};
    for (const Id r : readers)
      if (g.end(r) == g.end(range) && split_at(*from, r).factor == here.factor && !found.contains(range)) found[range] = r;
    if (!found.contains(range)) return {};
  }
  return found.size() == readers.size() ? found : std::unordered_map<Id, Id>{};
}

}  // namespace

std::optional<Unpacked> unpacked(Graph& g, const Schedule& s, std::span<const KernelAccess> accesses, std::size_t k,
                                 const Operand& o) {
  Kernel kernel = s.kernels[k];
  const int buffer = nth(kernel.buffers, g.slot(g.state(o.value)));
  if (o.column == no_id || !nth(s.buffers, buffer).is_temporary()) return std::nullopt;
  const std::optional<std::size_t> writer = only_writer(accesses, buffer, k);
  if (!writer) return std::nullopt;
  const Kernel& copy = s.kernels[*writer];
  if (copy.is_explicit || has_tile_steps(g, copy.sink) || g.src(copy.sink).size() != 1 || copy.loop != kernel.loop)
    return std::nullopt;
  const Id store = g.store(g.src(copy.sink).front()), value = g.src(store, 2);
  if (g.src(store).size() != 3 || g.op(value) != Op::LOAD || g.src(value).size() != 2) return std::nullopt;
  std::unordered_map<Id, Id> map = ranges_of_reader(g, copy, g.src(store, 1), o, g.src(o.value, 1));
  if (map.empty()) return std::nullopt;
  const int original = nth(copy.buffers, g.slot(g.state(value)));
  if (!is_constant(s, accesses, original, *writer)) return std::nullopt;
  const auto slot = std::ranges::find(kernel.buffers, original) - kernel.buffers.begin();
  if (slot == std::ssize(kernel.buffers)) kernel.buffers.push_back(original);
  map[g.state(value)] = g.make(Op::BUFFER, g.dtype(g.state(value)), {}, {slot});
  const Id in_place = substitute(g, value, map);
  kernel.sink = substitute(g, kernel.sink, {{o.value, in_place}});
  return Unpacked{*writer, std::move(kernel)};
}

}  // namespace kiln::compiler
