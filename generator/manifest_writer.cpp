#include "generator/manifest_writer.h"

#include <nlohmann/json.hpp>

#include "compiler/ir/index_poly.h"
#include "compiler/ir/layout.h"
#include "generator/names.h"

namespace kiln::generator {
namespace {

using namespace compiler;
using Json = nlohmann::ordered_json;

Json value(Graph& g, Id id) {
  if (id == no_id) return 0;
  if (const auto v = index_value(g, id)) return *v;
  return expression(g, id);
}

Json symbols(const Program& p) {
  Json list = Json::array();
  for (const Symbol& s : p.symbols)
    if (s.kind == Symbol::Kind::extent) {
      Json one{{"name", s.name}, {"min", s.min}, {"max", s.max}, {"multiple_of", s.multiple_of}};
      if (!s.min_needed_at.empty()) one["min_needed_at"] = s.min_needed_at;
      list.push_back(one);
    }
  return list;
}

// The symbols that are not extents: strides, loop counters, numbers of iterations, and elements of buffers.
Json numbers(const Program& p) {
  Json list = Json::array();
  for (const Symbol& s : p.symbols) {
    if (s.kind == Symbol::Kind::extent) continue;
    Json one{{"name", s.name}, {"min", s.min}, {"max", s.max}};
    if (s.kind == Symbol::Kind::element) one["buffer"] = s.buffer;
    list.push_back(one);
  }
  return list;
}

Json loops(Graph& g, const Schedule& s) {
  Json list = Json::array();
  for (const HostLoop& l : s.loops) {
    Json one{{"begin", value(g, l.begin)}, {"end", value(g, l.end)}, {"step", l.step}};
    if (l.parent >= 0) one["in"] = l.parent;
    if (l.counter != no_id) one["position"] = std::string(g.name(l.counter));
    if (l.condition >= 0) one["condition"] = l.condition;
    if (l.count != no_id) one["count"] = std::string(g.name(l.count));
    list.push_back(one);
  }
  return list;
}

Json params(Graph& g, const Program& p) {
  Json list = Json::array();
  for (const Parameter& q : p.params) {
    if (!p.is_argument(q)) continue;
    Json extents = Json::array();
    for (Id e : q.extents) extents.push_back(value(g, e));
    Json one{{"name", q.name},
             {"direction", direction_name(q.direction)},
             {"dtype", name(q.dtype)},
             {"dtype_code", static_cast<int>(q.dtype)},
             {"extents", extents}};
    if (q.free_strides > 0) {
      Json& strides = one["strides"] = Json::array();
      for (const Id stride : strides_of(g, q)) strides.push_back(value(g, stride));
    }
    list.push_back(one);
  }
  return list;
}

Json buffers(Graph& g, const Schedule& s) {
  Json list = Json::array();
  for (const Buffer& b : s.buffers) {
    Json one{{"dtype", name(b.dtype)}, {"elements", value(g, b.stored())}};
    if (b.param >= 0) one["param"] = b.param;
    if (b.offset != no_id) one["offset"] = value(g, b.offset);
    if (!b.among.empty()) one["among"] = b.among;
    if (b.count != no_id) one["count"] = std::string(g.name(b.count));
    list.push_back(one);
  }
  return list;
}

Json kernels(Compiled& c) {
  Graph& g = c.graph;
  Json list = Json::array();
  const std::vector<std::size_t> first = kernel_functions(c.schedule, c.schedule.lowered);
  for (std::size_t i = 0; i < c.schedule.kernels.size(); ++i) {
    const Kernel& k = c.schedule.kernels[i];
    const LoweredKernel& l = c.schedule.lowered[i];
    Json one({{"name", k.name},
              {"function", c.schedule.kernels[first[i]].name},
              {"buffers", k.buffers},
              {"depends_on", k.depends_on},
              {"trip_count", value(g, l.trip_count)},
              {"work", value(g, l.work)},
              {"alignment", l.alignment},
              {"parallel", l.parallel}});
    if (k.loop >= 0) one["loop"] = k.loop;
    list.push_back(one);
  }
  return list;
}

}  // namespace

std::string write_manifest(Compiled& c, const Target& target, std::string_view ns) {
  Graph& g = c.graph;
  const Program& p = c.schedule.program;
  const std::string entry = symbol_prefix(ns) + p.name;
  Json j{{"kiln_manifest", 1},
         {"name", p.name},
         {"namespace", ns},
         {"entry", entry},
         {"description", entry + "_desc"},
         {"target", {{"triple", target.triple}, {"cpu", target.cpu}, {"features", target.features}}},
         {"symbols", symbols(p)},
         {"params", params(g, p)},
         {"buffers", buffers(g, c.schedule)},
         {"kernels", kernels(c)},
         {"workspace_bytes", value(g, c.schedule.workspace_bytes)}};
  if (!c.schedule.loops.empty()) j["loops"] = loops(g, c.schedule);
  for (const DataCheck& check : p.checks) j["checks"].push_back(check.text);
  if (const Json set = numbers(p); !set.empty()) j["numbers"] = set;
  return j.dump(2) + "\n";
}

}  // namespace kiln::generator
