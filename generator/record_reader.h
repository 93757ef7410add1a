// Reads extents and attributes of record tables as index expressions.
#pragma once

#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "compiler/ir/text_index.h"
#include "generator/record.h"

namespace kiln::generator {

class RecordReader {
 public:
  RecordReader(compiler::Graph& g, const record::program& in) : g_(g), in_(in) {}

  compiler::Id extent(const record::extent& e) {
    if (e.text == nullptr) return g_.index(e.value);
    const auto [it, made] = texts_.emplace(e.text, compiler::no_id);
    if (made) it->second = compiler::read_index(g_, e.text);
    return it->second;
  }
  std::vector<compiler::Id> extents(const record::shape& s) {
    std::vector<compiler::Id> out;
    for (int i = 0; i < s.rank; ++i) out.push_back(extent(s.extents[i]));
    return out;
  }
  std::vector<compiler::Id> extents(const record::node& n, int count) {
    std::vector<compiler::Id> out;
    for (int i = 0; i < count; ++i) out.push_back(extent(attrs(n)[i]));
    return out;
  }

  const record::extent* attrs(const record::node& n) const { return in_.attrs + n.attr_begin; }
  std::vector<std::int64_t> numbers(const record::node& n, int from, int count) const {
    std::vector<std::int64_t> out;
    for (int i = from; i < from + count; ++i) {
      if (attrs(n)[i].text != nullptr) throw std::logic_error("a symbolic attribute where a number is expected");
      out.push_back(attrs(n)[i].value);
    }
    return out;
  }

 private:
  compiler::Graph& g_;
  const record::program& in_;
  std::map<std::string, compiler::Id> texts_;
};

}  // namespace kiln::generator
