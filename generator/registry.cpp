#include "generator/registry.h"

namespace kiln::generator {

std::vector<const record::program*>& registered_programs() {
  static std::vector<const record::program*> list;  // made on first use, because registration runs before main
  return list;
}

}  // namespace kiln::generator

void kiln::dsl::record::register_programs(const program* const* list, int count) {
  auto& all = kiln::generator::registered_programs();
  all.insert(all.end(), list, list + count);
}
