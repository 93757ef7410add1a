#include "compiler/schedule/carried_buffers.h"

#include <algorithm>

#include "compiler/ir/scopes.h"

namespace kiln::compiler {

CarriedBuffers::CarriedBuffers(Graph& g, const Program& p, const HostTimes& times) : g_(g), shapes_(g), p_(p), times_(times) {
  for (const Id loop : times.loops()) loop_of_range_[loop_parts(g, loop).range] = loop;
  for (const Id n : times.nodes()) {
    if (times.is_host_carry(n)) nodes_[{loop_of_range_.at(g.range_of(n)), g.slot(n)}].push_back(n);
    if (times.is_host_result(n)) nodes_[{g.scope(n), g.slot(n)}].push_back(n);
    if (g.op(n) == Op::PARAM) params_[parameter_of(g, n)] = n;
  }
  for (const Id store : g.src(p.sink)) {
    const auto [param, value] = g.operands<2>(store);
    stored_[parameter_of(g, param)] = value;
  }
  for (const Id loop : times.loops()) {
    const auto init = loop_parts(g, loop).init;
    for (std::size_t i = 0; i < init.size(); ++i) give(loop, i, init[i]);
  }
  settle_in_outputs();
}

std::size_t CarriedBuffers::of(Id value) const {
  if (g_.op(value) == Op::PARAM) {
    const auto it = of_param_.find(parameter_of(g_, value));
    return it == of_param_.end() ? buffers_.size() : it->second;
  }
  if (times_.is_host_carry(value)) return of(loop_of_range_.at(g_.range_of(value)), g_.slot(value));
  if (times_.is_host_result(value)) return of(g_.scope(value), g_.slot(value));
  return buffers_.size();
}

void CarriedBuffers::give(Id loop, std::size_t slot, Id init) {
  std::size_t buffer = buffers_.size();
  if (may_take_over(loop, slot, init)) {
    buffer = of(init);
    if (buffer == buffers_.size()) {
      const int param = parameter_of(g_, init);
      of_param_[param] = buffer;
      buffers_.push_back({param, no_id, no_id, {init}});
    }
  } else {
    buffers_.push_back({-1, init, loop, {}});
  }
  of_[{loop, slot}] = buffer;
  if (const auto it = nodes_.find({loop, slot}); it != nodes_.end())
    buffers_[buffer].values.insert(buffers_[buffer].values.end(), it->second.begin(), it->second.end());
}

bool CarriedBuffers::may_take_over(Id loop, std::size_t slot, Id init) const {
  const bool is_param = g_.op(init) == Op::PARAM && stored_.contains(parameter_of(g_, init));
  if (!is_param && !times_.is_host_carry(init) && !times_.is_host_result(init)) return false;
  if (times_.region(init) != times_.region(loop)) return false;
  const LoopParts parts = loop_parts(g_, loop);
  for (std::size_t i = 0; i < parts.init.size(); ++i)
    if ((parts.init[i] == init && i != slot) || parts.yield[i] == init) return false;
  return std::ranges::all_of(times_.uses(init), [&](const TensorUse& u) {
    return u.node == loop || times_.moment(u, init) < 2 * times_.time(loop) + 1;
  });
}

void CarriedBuffers::settle_in_outputs() {
  for (const auto& [param, value] : stored_) {
    const std::size_t buffer = of(value);
    const bool is_read = params_.contains(param) && !times_.uses(params_.at(param)).empty();
    if (buffer == buffers_.size() || buffers_[buffer].param >= 0 || times_.region(value) != 0 || is_read) continue;
    if (shapes_.of(value) == nth(p_.params, param).extents) buffers_[buffer].param = param;
  }
}

std::uint32_t CarriedBuffers::store_time(Id loop, std::size_t slot) const {
  const std::uint32_t body = times_.regions().owned[loop];
  const Id next = loop_parts(g_, loop).yield[slot];
  std::uint32_t time = times_.region(next) == body ? times_.result_time(next) : 0;
  for (const Id v : buffers_[of(loop, slot)].values) {
    if (times_.region(v) != body) continue;
    for (const TensorUse& u : times_.uses(v)) {
      const std::uint32_t m = times_.moment(u, v);
      time = std::max(time, m == HostTimes::never ? times_.last_segment(body) : (m + 1) / 2);
    }
  }
  return time;
}

}  // namespace kiln::compiler
