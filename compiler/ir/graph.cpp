#include "compiler/ir/graph.h"

#include "compiler/ir/nth.h"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <utility>

namespace kiln::compiler {
namespace {

constexpr std::uint64_t mix(std::uint64_t h, std::uint64_t v) {  // splitmix64 finaliser over a running state
  std::uint64_t z = h * 0x9e3779b97f4a7c15u + v + 0x632be59bd9b4e019u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

// A set of ids in the order of insertion. Its cost depends on its size, not on the graph's size.
class IdSet {
 public:
  IdSet() : table_(64, no_id) {}
  void add(Id id) {
    std::size_t slot = place(id);
    if (table_[slot] == id) return;
    table_[slot] = id;
    ids.push_back(id);
    if (ids.size() * 2 > table_.size()) grow();
  }

  std::vector<Id> ids;

 private:
  std::size_t place(Id id) const {
    std::size_t slot = id * std::size_t{0x9e3779b97f4a7c15u} >> 32 & (table_.size() - 1);
    while (table_[slot] != no_id && table_[slot] != id) slot = (slot + 1) & (table_.size() - 1);
    return slot;
  }
  void grow() {
    table_.assign(table_.size() * 4, no_id);
    for (const Id id : ids) table_[place(id)] = id;
  }

  std::vector<Id> table_;
};

constexpr std::uint64_t hash_text(std::string_view s) {  // FNV-1a
  std::uint64_t h = 0xcbf29ce484222325u;
  for (char c : s) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return h;
}

// The hash of a node contains the name of its operation. The number would change with every new operation, and with it the
// order of operands.
constexpr std::uint64_t op_hashes[] = {
#define KILN_X(e, t, l, a) hash_text(t),
    KILN_OPS(KILN_X)
#undef KILN_X
};

// Lists of sources and arguments are short, so a loop is cheaper than a call of memcmp or memmove.
template <class T>
bool same(std::span<const T> a, std::span<const T> b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (a[i] != b[i]) return false;
  return true;
}

}  // namespace

Graph::Graph() : table_(1024, no_id) {
  kept_.fill(no_id);
  intern("");
}

std::uint32_t Graph::intern(std::string_view s) {
  if (auto it = string_ids_.find(s); it != string_ids_.end()) return it->second;
  auto id = static_cast<std::uint32_t>(strings_.size());
  string_ids_.emplace(strings_.emplace_back(s), id);
  return id;
}

std::uint64_t Graph::hash_of(const UOp& n, std::span<const Id> src, std::span<const std::int64_t> args) const {
  std::uint64_t h =
      mix(nth(op_hashes, n.op) ^ (static_cast<std::uint64_t>(n.dtype) << 16 | n.lanes), src.size() << 32 | args.size());
  if (n.name != 0) h = mix(h, hash_text(string(n.name)));
  for (std::int64_t a : args) h = mix(h, static_cast<std::uint64_t>(a));
  for (Id s : src) h = mix(h, nodes_[s].hash);
  return h;
}

// The memory of the state that a node continues. Sources or args may be missing, because the text reader makes nodes before
// they are verified.
Id Graph::memory_of(Op op, std::span<const Id> src, std::span<const std::int64_t> args) const {
  const auto of = [&](std::span<const Id> states, std::size_t i) {
    return i < states.size() ? nodes_[states[i]].memory : no_id;
  };
  switch (op) {
    case Op::ENTRY:
    case Op::STORE:
    case Op::ATOMIC: return of(src, 0);
    case Op::CARRY: return of(src, 1);
    case Op::GET: {
      const bool of_loop = src.size() == 1 && args.size() == 1 && args[0] >= 0 && nodes_[src[0]].op == Op::FOR;
      return of_loop ? of(this->src(src[0]), 3 + narrow<std::size_t>(args[0])) : no_id;
    }
    default: return no_id;
  }
}

void Graph::grow_table() {
  table_.assign(table_.size() * 2, no_id);
  const std::size_t mask = table_.size() - 1;
  for (Id id = 0; id < nodes_.size(); ++id) {
    std::size_t slot = nodes_[id].hash & mask;
    while (table_[slot] != no_id) slot = (slot + 1) & mask;
    table_[slot] = id;
  }
}

Id Graph::make(Op op, DType dtype, std::span<const Id> sources, std::span<const std::int64_t> arguments, std::string_view name,
               int lanes) {
  // The arguments may be views into this graph, so they are copied before the pools grow.
  if (src_.capacity() < src_.size() + sources.size() || args_.capacity() < args_.size() + arguments.size()) {
    const std::vector<Id> s(sources.begin(), sources.end());
    const std::vector<std::int64_t> a(arguments.begin(), arguments.end());
    src_.reserve(std::max<std::size_t>(2 * src_.capacity(), src_.size() + s.size() + 1024));
    args_.reserve(std::max<std::size_t>(2 * args_.capacity(), args_.size() + a.size() + 1024));
    return make(op, dtype, std::span(s), std::span(a), name, lanes);
  }
  UOp n{op, dtype, static_cast<std::uint16_t>(lanes), name.empty() ? 0u : intern(name), 0, 0, 0, 0, no_id, 0, loc_};
  n.hash = hash_of(n, sources, arguments);
  const std::size_t mask = table_.size() - 1;
  std::size_t slot = n.hash & mask;
  for (; table_[slot] != no_id; slot = (slot + 1) & mask) {
    const Id id = table_[slot];
    const UOp& o = nodes_[id];
    if (o.hash == n.hash && o.op == op && o.dtype == dtype && o.lanes == n.lanes && o.name == n.name &&
        same(src(id), sources) && same(args(id), arguments))
      return id;
  }
  const Id id = static_cast<Id>(nodes_.size());
  for ([[maybe_unused]] Id s : sources) assert(s < id);
  n.src_begin = static_cast<std::uint32_t>(src_.size());
  n.src_count = static_cast<std::uint32_t>(sources.size());
  n.arg_begin = static_cast<std::uint32_t>(args_.size());
  n.arg_count = static_cast<std::uint32_t>(arguments.size());
  for (Id s : sources) src_.push_back(s);
  for (std::int64_t a : arguments) args_.push_back(a);
  n.memory = op == Op::BUFFER || op == Op::LOCAL ? id : memory_of(op, sources, arguments);
  nodes_.push_back(n);
  table_[slot] = id;
  if (nodes_.size() * 2 > table_.size()) grow_table();
  return id;
}

Id Graph::make(Op op, DType dtype, std::span<const Id> sources, std::initializer_list<Arg> arguments, std::string_view name,
               int lanes) {
  given_.clear();
  for (const Arg a : arguments) given_.push_back(a.value);
  return make(op, dtype, sources, given_, name, lanes);
}
Id Graph::make(Op op, DType dtype, std::initializer_list<Id> sources, std::initializer_list<Arg> arguments,
               std::string_view name, int lanes) {
  return make(op, dtype, std::span(sources.begin(), sources.size()), arguments, name, lanes);
}

Id Graph::with_src(Id id, std::span<const Id> sources) {
  if (same(src(id), sources)) return id;
  const UOp n = nodes_[id];
  const LocScope of_node(*this, n.loc);
  return make(n.op, n.dtype, sources, args(id), string(n.name), n.lanes);
}

Id Graph::constant(DType d, std::uint64_t value_bits, int lanes) { return make(Op::CONST, d, {}, {value_bits}, {}, lanes); }
Id Graph::index(Arg arg) {
  const std::int64_t v = arg.value;
  if (v < least_kept || v >= least_kept + std::ssize(kept_)) return make(Op::CONST, DType::index, {}, {v});
  Id& kept = nth(kept_, v - least_kept);
  if (kept == no_id) kept = make(Op::CONST, DType::index, {}, {v});
  return kept;
}
Id Graph::sym(std::string_view n) { return make(Op::SYM, DType::index, {}, {}, n); }

void Graph::set_multiple(std::string_view symbol, std::int64_t divisor) {
  constexpr std::int64_t most = 1 << 16;
  if (divisor > most) divisor = std::gcd(divisor, most);
  if (divisor > 1) multiples_[intern(symbol)] = divisor;
}

std::int64_t Graph::multiple_of(Id id) const {
  if (op(id) != Op::SYM) return 1;
  const auto found = multiples_.find(nodes_[id].name);
  return found == multiples_.end() ? 1 : found->second;
}

bool Graph::is_index_const(Id id, std::int64_t v) const {
  return nodes_[id].op == Op::CONST && nodes_[id].dtype == DType::index && value(id) == v;
}

std::vector<Id> Graph::reachable(std::span<const Id> roots) const {
  IdSet found;
  for (const Id r : roots) found.add(r);
  for (std::size_t i = 0; i < found.ids.size(); ++i) {
    if (found.ids.size() > nodes_.size() / 16) return reachable_by_sweep(roots);
    for (const Id s : src(found.ids[i])) found.add(s);
  }
  std::ranges::sort(found.ids);
  return std::move(found.ids);
}

// The same as reachable(), faster for a large part of the graph.
std::vector<Id> Graph::reachable_by_sweep(std::span<const Id> roots) const {
  Id top = 0;
  for (const Id r : roots) top = std::max(top, r + 1);
  std::vector<bool> seen(top, false);
  for (const Id r : roots) seen[r] = true;
  std::size_t count = 0;
  for (Id id = top; id-- > 0;)  // users come before sources in this direction, so one sweep marks all nodes
    if (seen[id]) {
      ++count;
      for (Id s : src(id)) seen[s] = true;
    }
  std::vector<Id> out;
  out.reserve(count);
  for (Id id = 0; id < top; ++id)
    if (seen[id]) out.push_back(id);
  return out;
}

std::vector<Id> Graph::in_order(std::span<const Id> roots) const {
  std::vector<Id> out;
  std::vector<bool> done(nodes_.size(), false);
  std::vector<std::pair<Id, std::size_t>> open;  // a node and the number of its next source
  for (const Id root : roots) {
    if (!done[root]) open.emplace_back(root, 0);
    while (!open.empty()) {
      auto& [id, next] = open.back();
      if (next < src(id).size()) {
        const Id s = src(id, next++);
        if (!done[s]) open.emplace_back(s, 0);
        continue;
      }
      done[id] = true;
      out.push_back(id);
      open.pop_back();
    }
  }
  return out;
}

Id substitute(Graph& g, Id root, const std::unordered_map<Id, Id>& map) {
  std::unordered_map<Id, Id> done;
  std::vector<Id> sources;
  for (Id id : g.reachable(root)) {
    if (auto it = map.find(id); it != map.end()) {
      done[id] = it->second;
      continue;
    }
    sources.clear();
    for (Id s : g.src(id)) sources.push_back(done.at(s));
    done[id] = g.with_src(id, sources);
  }
  return done.at(root);
}

}  // namespace kiln::compiler
