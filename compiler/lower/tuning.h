// tuning: plans that measurements found, in a text file.
//
// Before: a kernel that a PlanMaker plans (vectorize_plan.h), and a tuning that may have a plan for it.
// After: that plan, if the kernel and the target are in the tuning and the plan obeys check_plan.h; else vectorize_plan's. So
// no
//   tuning changes a result.
// Example: kernel 9f3c21d07a5be1f2 x86-64-v3 5400 5100 product
//            i0 of 64: copies 6, tails 1
//            i1 of 64: lanes 16, tails 1
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "compiler/lower/vectorize_plan.h"

namespace kiln::compiler {

// Equal for kernels that differ only in places of the source. Depends neither on the target nor on the machine.
std::uint64_t kernel_key(const Graph& g, std::span<const Id> stores, std::span<const Id> ranges);

struct TunedPlan {
  std::int64_t before = 0, after = 0;  // nanoseconds with the compiler's plan and with this one
  std::string name;                    // of a program with the kernel, for people
  std::string plan;                    // lines of plan_text.h
  std::string where;                   // file:line
};

// By key of the kernel and name of the target.
using Tuning = std::map<std::pair<std::uint64_t, std::string>, TunedPlan>;

// The text of equal tunings is equal, and reads back to the same tuning. Throws Diagnostic E-plan for a text of another form.
Tuning read_tuning(std::string_view text, const std::string& file);
std::string write_tuning(const Tuning& tuning);

// Plans from the tuning. warn: gets a message for each plan of the tuning that a kernel has and that is wrong. The tuning must
// outlive the result.
PlanMaker tuned_plans(const Tuning& tuning, std::function<void(const std::string& message)> warn);

}  // namespace kiln::compiler
