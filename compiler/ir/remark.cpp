#include "compiler/ir/remark.h"

#include <algorithm>

#include "compiler/ir/index_poly.h"

namespace kiln::compiler {

void Remarks::add(const Graph& g, Id at, const RemarkKind& kind, std::string text) {
  Remark r{kind, where(g, g.loc(at)), std::move(text)};
  const auto same = [&](const Remark& o) { return o.kind.id == r.kind.id && o.where == r.where && o.text == r.text; };
  if (std::ranges::none_of(list_, same)) list_.push_back(std::move(r));
}

std::string line_of(const Remark& r) {
  return (r.where.empty() ? "" : r.where + ": ") + "remark: " + std::string(r.kind.id) + ": " + r.text + " [" +
         std::string(r.kind.pass) + "]\n";
}

}  // namespace kiln::compiler
