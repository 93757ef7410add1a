#include "compiler/ir/remark.h"

#include <algorithm>

#include "compiler/ir/index_poly.h"

namespace kiln::compiler {

void Remarks::add(const Graph& g, Id at, const RemarkKind& kind, std::string text) {
  Remark r{kind, pass_, where(g, g.loc(at)), std::move(text), {}};
  const auto same = [&](const Remark& o) {
    return o.kind.id == r.kind.id && o.pass == r.pass && o.where == r.where && o.text == r.text;
  };
  auto known = std::ranges::find_if(list_, same);
  if (known == list_.end()) {
    if (!variant_.empty()) r.variants.push_back(variant_);
    list_.push_back(std::move(r));
  } else if (!variant_.empty() && !known->variants.empty() && known->variants.back() != variant_) {
    known->variants.push_back(variant_);
  }
}

std::string line_of(const Remark& r) {
  std::string variants;
  for (const std::string& v : r.variants) variants += (variants.empty() ? " for " : ", ") + v;
  return (r.where.empty() ? "" : r.where + ": ") + "remark: " + std::string(r.kind.id) + ": " + r.text + " [" +
         std::string(r.pass) + variants + "]\n";
}

}  // namespace kiln::compiler
