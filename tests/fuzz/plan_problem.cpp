#include "tests/fuzz/plan_problem.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "compiler/interp/index_value.h"
#include "compiler/ir/state.h"
#include "tests/fuzz/plan_trace.h"

extern "C" {
#include "runtime/src/expression.h"
}

namespace kiln::compiler::testing {
namespace {

using Order = std::vector<std::vector<bool>>;

// before[k][j]: kernel j always ends before kernel k begins.
Order order_of(const Schedule& s) {
  Order before(s.kernels.size(), std::vector<bool>(s.kernels.size(), false));
  for (std::size_t k = 0; k < s.kernels.size(); ++k)
    for (const std::size_t j : s.kernels[k].depends_on) {
      before[k][j] = true;
      for (std::size_t i = 0; i < j; ++i)
        if (before[j][i]) before[k][i] = true;
    }
  return before;
}

struct Users {
  std::set<std::size_t> readers, writers;
  std::set<std::size_t> updaters;  // writers of the program's own that change some elements and read the others
  std::set<std::size_t> all() const {
    std::set<std::size_t> both = readers;
    both.insert(writers.begin(), writers.end());
    return both;
  }
};

using Values = std::map<std::string, std::int64_t>;  // by symbol

// The number of iterations of a kernel's outermost loop, before or after lowering; no_id: it has none.
Id trip_count(const Graph& g, const Schedule& s, std::size_t k) {
  if (!s.lowered.empty()) return s.lowered[k].trip_count;
  const Id end = g.src(s.kernels[k].sink).front();
  return g.op(end) == Op::END && g.src(end).size() > 1 && g.op(g.src(end, 1)) == Op::RANGE ? g.end(g.src(end, 1)) : no_id;
}

// The buffers that a kernel stores to.
std::set<int> stored(const Graph& g, const Kernel& k) {
  std::set<int> out;
  const Id roots[] = {k.sink};
  for (const Id id : g.reachable(roots))
    if (g.op(id) == Op::STORE && g.op(memory_of(g, g.src(id, 0))) == Op::BUFFER)
      out.insert(k.buffers[static_cast<std::size_t>(g.arg(memory_of(g, g.src(id, 0)), 0))]);
  return out;
}

// By kernel: whether it has no iterations for these values, and another kernel that the compiler made stores to the same
// buffers. So it is with the versions of a product. If no version has iterations, the last one counts.
std::vector<bool> replaced(const Graph& g, const Schedule& s, const Values& symbols) {
  IndexValues value(g, symbols);
  std::vector<bool> runs;
  std::vector<std::set<int>> stores;
  for (std::size_t k = 0; k < s.kernels.size(); ++k) {
    const Id n = trip_count(g, s, k);
    runs.push_back(n == no_id || value(n).value_or(1) > 0);
    stores.push_back(stored(g, s.kernels[k]));
  }
  std::vector<bool> out(runs.size(), false);
  for (std::size_t k = 0; k < runs.size(); ++k)
    for (std::size_t j = 0; j < runs.size() && !runs[k]; ++j)
      out[k] =
          out[k] || ((runs[j] || j > k) && !s.kernels[j].is_explicit && !s.kernels[k].is_explicit && stores[j] == stores[k]);
  return out;
}

// By buffer. The users of a parameter include the users of its views.
std::vector<Users> users_of(const Graph& g, const Schedule& s, const Values& symbols) {
  std::vector<Users> out(s.buffers.size());
  const std::vector<bool> without = replaced(g, s, symbols);
  for (std::size_t k = 0; k < s.kernels.size(); ++k) {
    if (without[k]) continue;
    const Id roots[] = {s.kernels[k].sink};
    for (const Id id : g.reachable(roots)) {
      for (const Symbol& y : s.program.symbols)
        if (g.op(id) == Op::SYM && y.kind == Symbol::Kind::element && y.name == g.name(id))
          out[static_cast<std::size_t>(y.buffer)].readers.insert(k);
      if (g.op(id) != Op::LOAD && g.op(id) != Op::STORE && g.op(id) != Op::ATOMIC) continue;
      const Id memory = memory_of(g, g.src(id, 0));
      if (g.op(memory) == Op::LOCAL) continue;
      const auto slot = static_cast<std::size_t>(g.arg(memory, 0));
      const auto b = static_cast<std::size_t>(s.kernels[k].buffers[slot]);
      Users& u = out[s.buffers[b].param >= 0 ? static_cast<std::size_t>(s.buffers[b].param) : b];  // a view: its parameter
      (g.op(id) == Op::LOAD ? u.readers : u.writers).insert(k);
      if (g.op(id) != Op::LOAD && s.kernels[k].is_explicit) u.updaters.insert(k);
    }
  }
  // A loop reads its condition before each iteration, so the first kernel of the iteration counts as a reader.
  for (std::size_t l = 0; l < s.loops.size(); ++l)
    for (std::size_t k = 0; k < s.kernels.size() && s.loops[l].condition >= 0; ++k)
      if (s.kernels[k].loop == static_cast<int>(l)) {
        out[static_cast<std::size_t>(s.loops[l].condition)].readers.insert(k);
        break;
      }
  return out;
}

std::string pair_text(const char* what, std::size_t buffer, std::size_t a, std::size_t b) {
  return std::string(what) + " of buffer " + std::to_string(buffer) + ": kernels " + std::to_string(a) + " and " +
         std::to_string(b) + " in no or the wrong order";
}

// A reader of a buffer that is updated in place may need the contents before or after. So any fixed order is accepted.
std::string update_problem(const Order& before, std::size_t b, const Users& u) {
  for (const std::size_t w : u.writers)
    for (const std::size_t other : u.all())
      if (other != w && !before[w][other] && !before[other][w]) return pair_text("uses", b, w, other);
  return {};
}

// An argument has its value at entry, so its readers come before its writer. Other buffers are written, then read. If a program
// runs in segments, each segment reads an argument as earlier segments left it.
std::string buffer_order_problem(const Schedule& s, const Order& before, std::size_t b, const Users& u) {
  const int param = s.buffers[b].param;
  const bool at_entry = param >= 0 && s.program.params[static_cast<std::size_t>(param)].direction != Direction::out;
  if (!at_entry && !u.readers.empty() && u.writers.empty()) return "nobody writes buffer " + std::to_string(b);
  const bool in_segments = std::ranges::any_of(s.kernels, [](const Kernel& k) { return k.at_entry.has_value(); });
  if (!u.updaters.empty() || (at_entry && in_segments)) return update_problem(before, b, u);
  for (const std::size_t w : u.writers) {
    for (const std::size_t r : u.readers)
      if (r != w && !(at_entry ? before[w][r] : before[r][w])) return pair_text("write and read", b, w, r);
    for (const std::size_t other : u.writers)
      if (other != w && !before[w][other] && !before[other][w]) return pair_text("two writes", b, w, other);
  }
  return {};
}

bool all_before(const Order& before, const std::set<std::size_t>& first, const std::set<std::size_t>& second) {
  return std::ranges::all_of(
      first, [&](std::size_t j) { return std::ranges::all_of(second, [&](std::size_t k) { return before[k][j]; }); });
}

std::vector<KernelUses> uses_of(const Schedule& s, const std::vector<Users>& users) {
  std::vector<KernelUses> out(s.kernels.size());
  for (std::size_t b = 0; b < users.size(); ++b) {
    for (const std::size_t k : users[b].readers) out[k].reads.insert(b);
    for (const std::size_t k : users[b].writers) out[k].writes.insert(b);
  }
  return out;
}

std::string description_problem(const Schedule& s, const kiln_program_desc& d) {
  if (static_cast<std::size_t>(d.n_kernels) != s.kernels.size()) return "another number of kernels than scheduled";
  if (static_cast<std::size_t>(d.n_loops) != s.loops.size()) return "another number of loops than scheduled";
  if (static_cast<std::size_t>(d.n_params + d.n_temps + d.n_rotating + d.n_views) != s.buffers.size())
    return "another number of buffers than scheduled";
  for (std::size_t r = 0; r < static_cast<std::size_t>(d.n_rotating); ++r) {
    const std::vector<int>& among = s.buffers[static_cast<std::size_t>(d.n_params + d.n_temps) + r].among;
    if (among.empty() ||
        !std::ranges::equal(std::span(d.rotating[r].buffers, static_cast<std::size_t>(d.rotating[r].n)), among))
      return "rotating " + std::to_string(r) + " is described with other buffers than scheduled";
  }
  for (std::size_t k = 0; k < s.kernels.size(); ++k) {
    const kiln_kernel_desc& got = d.kernels[k];
    const std::span buffers(got.buffers, static_cast<std::size_t>(got.n_buffers));
    const std::span needs(got.depends_on, static_cast<std::size_t>(got.n_depends_on));
    if (!std::ranges::equal(buffers, s.kernels[k].buffers) || !std::ranges::equal(needs, s.kernels[k].depends_on))
      return "kernel " + std::to_string(k) + " is described with other buffers or dependencies than scheduled";
  }
  return {};
}

struct Place {
  std::int64_t begin = 0, end = 0;
  std::set<std::size_t> users;
};

class PlanChecker {
 public:
  PlanChecker(const Graph& g, const Schedule& s, const kiln_program_desc& d, std::span<const std::int64_t> symbols)
      : g_(g), s_(s), d_(d), symbols_(symbols), before_(order_of(s)), users_(users_of(g, s, {})), value_(g, names_) {
    for (std::size_t i = 0; i < symbols.size(); ++i) names_[s.program.symbols[i].name] = symbols[i];
  }

  std::string run() {
    std::int64_t workspace = 0;
    if (!kiln_evaluate(d_.workspace_bytes, symbols_.data(), &workspace)) return "the workspace has no size";
    std::vector<Place> placed;
    for (std::size_t t = 0; t < static_cast<std::size_t>(d_.n_temps); ++t) {
      Place here;
      if (const std::string p = place(t, workspace, here); !p.empty()) return "temporary " + std::to_string(t) + p;
      for (std::size_t o = 0; o < placed.size() && s_.loops.empty(); ++o)
        if (overlap(here, placed[o]) && may_meet(here.users, placed[o].users))
          return "temporaries " + std::to_string(o) + " and " + std::to_string(t) + " share bytes and may be alive together";
      placed.push_back(std::move(here));
    }
    if (const std::string p = s_.loops.empty() ? "" : in_loops(placed); !p.empty()) return p;
    return views();
  }

 private:
  static bool overlap(const Place& a, const Place& b) { return a.begin < b.end && b.begin < a.end; }

  bool may_meet(const std::set<std::size_t>& here, const std::set<std::size_t>& there) const {
    return !all_before(before_, here, there) && !all_before(before_, there, here);
  }

  std::string in_loops(const std::vector<Place>& placed) const {
    const auto first = static_cast<std::size_t>(d_.n_params);
    const auto is_temporary = [&](std::size_t b) { return b >= first && b - first < placed.size(); };
    return trace_problem(g_, s_, uses_of(s_, users_), is_temporary, [&](std::size_t a, std::size_t b) {
      return is_temporary(a) && is_temporary(b) && overlap(placed[a - first], placed[b - first]);
    });
  }

  // Each view must be inside its parameter. A view of a parameter without elements may be anywhere, since nothing reads it.
  std::string views() {
    for (std::size_t v = 0; v < static_cast<std::size_t>(d_.n_views); ++v) {
      const Buffer& b = s_.buffers[static_cast<std::size_t>(d_.n_params + d_.n_temps + d_.n_rotating) + v];
      const Buffer& whole = s_.buffers[static_cast<std::size_t>(d_.views[v].param)];
      std::int64_t offset = 0;
      if (value_(whole.size).value() == 0) continue;
      if (!kiln_evaluate(d_.views[v].offset, symbols_.data(), &offset)) return "view " + std::to_string(v) + " has no place";
      const std::int64_t end = offset + value_(b.size).value() * bytes(b.dtype);
      if (b.param != d_.views[v].param || offset < 0 || end > value_(whole.size).value() * bytes(whole.dtype))
        return "view " + std::to_string(v) + " is not in its parameter";
    }
    return {};
  }

  std::string place(std::size_t t, std::int64_t workspace, Place& out) {
    const std::size_t b = static_cast<std::size_t>(d_.n_params) + t;
    std::int64_t size = 0;
    if (!kiln_evaluate(d_.temps[t].offset, symbols_.data(), &out.begin) ||
        !kiln_evaluate(d_.temps[t].bytes, symbols_.data(), &size))
      return " has no place";
    if (size != value_(s_.buffers[b].stored()).value() * bytes(s_.buffers[b].dtype)) return " has not its bytes";
    out.end = out.begin + size;
    out.users = users_[b].all();
    for (std::size_t r = 0; r < s_.buffers.size(); ++r)
      if (std::ranges::find(s_.buffers[r].among, static_cast<int>(b)) != s_.buffers[r].among.end())
        out.users.merge(users_[r].all());
    if (out.users.empty() || (out.begin >= 0 && out.begin % 64 == 0 && out.end <= workspace)) return {};
    return " at " + std::to_string(out.begin) + " .. " + std::to_string(out.end) + " of " + std::to_string(workspace) +
           " bytes";
  }

  const Graph& g_;
  const Schedule& s_;
  const kiln_program_desc& d_;
  std::span<const std::int64_t> symbols_;
  Order before_;
  std::vector<Users> users_;
  std::map<std::string, std::int64_t> names_;
  IndexValues value_;
};

}  // namespace

std::string order_problem(const Graph& g, const Schedule& s, const Values& symbols) {
  const std::vector<Users> users = users_of(g, s, s.loops.empty() ? symbols : Values{});
  if (!s.loops.empty())  // kernels run one after the other
    return trace_problem(
        g, s, uses_of(s, users), [&](std::size_t b) { return s.buffers[b].is_temporary(); },
        [](std::size_t, std::size_t) { return false; });
  const Order before = order_of(s);
  for (std::size_t b = 0; b < users.size(); ++b)
    if (const std::string p = buffer_order_problem(s, before, b, users[b]); !p.empty()) return p;
  return {};
}

std::string plan_problem(const Graph& g, const Schedule& s, const kiln_program_desc& d, std::span<const std::int64_t> symbols) {
  if (const std::string p = description_problem(s, d); !p.empty()) return p;
  return PlanChecker(g, s, d, symbols).run();
}

}  // namespace kiln::compiler::testing
