// The variants of a program in C++: which there are, which one runs, and how to choose another.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "kiln/view.h"

namespace kiln {

// kiln::variants(my_saxpy_variants()): the variants of the program my::saxpy.
class variants {
 public:
  explicit variants(const kiln_variants* table) : table_(table) {}

  // The descriptions of all variants, best first. The member `variant` of a description is the variant's name.
  std::span<const kiln_program_desc* const> list() const { return {table_->list, static_cast<std::size_t>(table_->n)}; }
  // The name of the variant that calls run.
  std::string_view selected() const { return kiln_selected_variant(table_)->variant; }
  // Whether this CPU can run the variant.
  static bool runs(const kiln_program_desc& variant) { return (variant.cpu_sets & ~kiln_cpu_sets()) == 0; }
  // Selects a variant for all later calls; nullptr: the best one again. After R-variant or R-cpu the selection stays.
  status force(const char* name) { return {kiln_force_variant(table_, name), kiln_selected_variant(table_)}; }

 private:
  const kiln_variants* table_;
};

}  // namespace kiln
