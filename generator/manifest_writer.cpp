#include "generator/manifest_writer.h"

#include <nlohmann/json.hpp>

#include "compiler/ir/index_poly.h"
#include "compiler/ir/layout.h"
#include "generator/generated_names.h"

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

Json kernels(Graph& g, const Schedule& s) {
  Json list = Json::array();
  const std::vector<std::size_t> first = kernel_functions(g, s, s.lowered);
  for (std::size_t i = 0; i < s.kernels.size(); ++i) {
    const Kernel& k = s.kernels[i];
    const LoweredKernel& l = s.lowered[i];
    Json one({{"name", k.name},
              {"function", s.kernels[first[i]].name},
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

Json variant(Variant& v) {
  const Target& t = v.target;
  Schedule& s = v.schedule;
  Json j{{"name", t.name},
         {"target", {{"triple", t.triple}, {"cpu", t.cpu}, {"features", t.features}}},
         {"buffers", buffers(v.graph, s)},
         {"kernels", kernels(v.graph, s)},
         {"workspace_bytes", value(v.graph, s.workspace_bytes)}};
  if (!s.loops.empty()) j["loops"] = loops(v.graph, s);
  if (const Json set = numbers(s.program); !set.empty()) j["numbers"] = set;
  return j;
}

}  // namespace

std::string write_manifest(Compiled& c, std::string_view ns) {
  Variant& best = c.variants.front();
  const Program& p = best.schedule.program;
  const std::string entry = symbol_prefix(ns) + p.name;
  Json j{{"kiln_manifest", 2},
         {"name", p.name},
         {"namespace", ns},
         {"entry", entry},
         {"description", entry + "_desc"},
         {"symbols", symbols(p)},
         {"params", params(best.graph, p)}};
  for (const DataCheck& check : p.checks) j["checks"].push_back(check.text);
  for (Variant& v : c.variants) j["variants"].push_back(variant(v));
  return j.dump(2) + "\n";
}

}  // namespace kiln::generator
