// Record tables made by hand, in the form that the DSL makes.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "kiln/record.h"

namespace tables {

namespace record = kiln::dsl::record;

class Tables {
 public:
  explicit Tables(const char* name) { p_.name = name, p_.loc = {"user.cpp", 1, 1}; }

  static record::extent fixed(std::int64_t v) { return {v, nullptr}; }
  static record::extent text(const char* t) { return {0, t}; }

  const record::shape* shape(std::vector<record::extent> e) {
    extents_.push_back(std::move(e));
    shapes_.push_back({static_cast<int>(extents_.back().size()), extents_.back().data()});
    return &shapes_.back();
  }
  int param(const char* name, int direction, kiln_dtype d, const record::shape* s) {
    params_.push_back({name, direction, d, s});
    return static_cast<int>(params_.size()) - 1;
  }
  void symbol(const char* name, std::int64_t min, std::int64_t max = std::int64_t{1} << 40) {
    symbols_.push_back({name, min, max, 1});
  }

  int node(record::op o, kiln_dtype d, const record::shape* s, std::vector<int> sources = {},
           std::vector<record::extent> attrs = {}, std::uint64_t imm = 0) {
    record::node n{o,
                   d,
                   static_cast<std::int32_t>(sources.size()),
                   static_cast<std::int32_t>(sources_.size()),
                   static_cast<std::int32_t>(attrs.size()),
                   static_cast<std::int32_t>(attrs_.size()),
                   imm,
                   s,
                   {"user.cpp", static_cast<std::uint32_t>(nodes_.size()) + 10, 3}};
    sources_.insert(sources_.end(), sources.begin(), sources.end());
    attrs_.insert(attrs_.end(), attrs.begin(), attrs.end());
    nodes_.push_back(n);
    return static_cast<int>(nodes_.size()) - 1;
  }

  const record::program& get() {
    p_.n_params = static_cast<int>(params_.size());
    p_.n_nodes = static_cast<int>(nodes_.size());
    p_.n_symbols = static_cast<int>(symbols_.size());
    p_.params = params_.data();
    p_.nodes = nodes_.data();
    p_.sources = sources_.data();
    p_.attrs = attrs_.data();
    p_.symbols = symbols_.data();
    return p_;
  }

 private:
  record::program p_{};
  std::deque<std::vector<record::extent>> extents_;
  std::deque<record::shape> shapes_;
  std::vector<record::parameter> params_;
  std::vector<record::node> nodes_;
  std::vector<std::int32_t> sources_;
  std::vector<record::extent> attrs_;
  std::vector<record::symbol> symbols_;
};

// y = a * x + y over N, as in examples/01_first.
inline Tables saxpy(const char* name = "saxpy") {
  Tables t(name);
  t.symbol("N", 0);
  const auto* scalar = t.shape({});
  const auto* n = t.shape({Tables::text("N")});
  t.param("a", 0, KILN_F32, scalar);
  t.param("x", 0, KILN_F32, n);
  t.param("y", 2, KILN_F32, n);
  const int a = t.node(record::op::param, KILN_F32, scalar, {}, {}, 0);
  const int x = t.node(record::op::param, KILN_F32, n, {}, {}, 1);
  const int y = t.node(record::op::param, KILN_F32, n, {}, {}, 2);
  const int m = t.node(record::op::mul, KILN_F32, n, {a, x});
  const int s = t.node(record::op::add, KILN_F32, n, {m, y});
  t.node(record::op::store, KILN_F32, n, {s}, {}, 2);
  return t;
}

}  // namespace tables
