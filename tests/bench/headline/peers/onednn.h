// What the files of the oneDNN peer share. Memory and primitives are made before the measurement; run() executes them.
// Variants:
// "" takes all operands as they lie; "packed" brings constant weights into the library's layout before the measurement.
#pragma once

#include <dnnl.hpp>
#include <unordered_map>

#include "tests/bench/headline/bench.h"

namespace kiln::headline::onednn {

using dims = dnnl::memory::dims;
using desc = dnnl::memory::desc;

inline dnnl::engine& engine() {
  static dnnl::engine e(dnnl::engine::kind::cpu, 0);
  return e;
}
inline dnnl::stream& stream() {
  static dnnl::stream s(engine());
  return s;
}

inline dnnl::memory::data_type type(kiln_dtype t) {
  using enum dnnl::memory::data_type;
  switch (t) {
    case KILN_F32: return f32;
    case KILN_BF16: return bf16;
    case KILN_I8: return s8;
    case KILN_U8: return u8;
    case KILN_I32: return s32;
    default: throw std::runtime_error("oneDNN lacks a type");
  }
}
inline dims dense(const dims& shape) {
  dims s(shape.size(), 1);
  for (std::size_t r = shape.size(); r-- > 1;) s[r - 1] = s[r] * shape[r];
  return s;
}
// An argument in another shape, or with other strides; row-major by default.
inline desc shaped(const array& a, const dims& shape, const dims& strides = {}) {
  return {shape, type(a.type), strides.empty() ? dense(shape) : strides};
}
inline desc of(const array& a) { return shaped(a, a.shape.empty() ? dims{1} : dims(a.shape)); }
inline dnnl::memory memory(const array& a, const desc& d) { return {d, engine(), a.data.get()}; }
inline dnnl::memory memory(const desc& d) { return {d, engine()}; }
// A copy in another layout.
inline dnnl::memory reordered(dnnl::memory from, const desc& to) {
  dnnl::memory m = memory(to);
  dnnl::reorder(from, m).execute(stream(), from, m);
  stream().wait();
  return m;
}

using arguments = std::unordered_map<int, dnnl::memory>;
struct step {
  dnnl::primitive what;
  arguments with;
};
inline job run(std::vector<step> steps, std::function<void()> finish = nullptr) {
  return {[steps = std::move(steps)] {
            for (const step& s : steps) s.what.execute(stream(), s.with);
            stream().wait();
          },
          std::move(finish)};
}

// The layout of weights that are brought into the library's own.
inline desc any_layout(const desc& d) { return {d.dims(), d.data_type(), dnnl::memory::format_tag::any}; }

struct matmul_options {
  dnnl::primitive_attr attributes = {};
  bool packed = false;
  const dnnl::memory* bias = nullptr;
};
// c = a b, with what the options add.
inline step matmul(const dnnl::memory& a, const dnnl::memory& b, const dnnl::memory& c, const matmul_options& o = {}) {
  const desc weights = o.packed ? any_layout(b.get_desc()) : b.get_desc();
  const dnnl::matmul::desc d = o.bias != nullptr ? dnnl::matmul::desc(a.get_desc(), weights, o.bias->get_desc(), c.get_desc())
                                                 : dnnl::matmul::desc(a.get_desc(), weights, c.get_desc());
  const dnnl::matmul::primitive_desc p(d, o.attributes, engine());
  arguments with{{DNNL_ARG_SRC, a}, {DNNL_ARG_WEIGHTS, o.packed ? reordered(b, p.weights_desc()) : b}, {DNNL_ARG_DST, c}};
  if (o.bias != nullptr) with.emplace(DNNL_ARG_BIAS, *o.bias);
  return {dnnl::matmul(p), with};
}
inline dnnl::primitive_attr then(dnnl::algorithm a) {
  dnnl::post_ops list;
  list.append_eltwise(1, a, 0, 0);
  dnnl::primitive_attr r;
  r.set_post_ops(list);
  return r;
}

}  // namespace kiln::headline::onednn
