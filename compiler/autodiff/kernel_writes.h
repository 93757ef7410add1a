// The writes of a KERNEL without loops, for reverse mode, which does not go through kernels.
//
// The write of all elements, or of a row at one place, is a selection:
//   for i: t[2, i] = v[i]  ->  where(iota == 2, v, t)
// Another write becomes a CUSTOM: its value is the kernel's result, its operands are the tensor before and the written values v
// as a tensor over the work items, and its derivatives are what the places say, for the cotangent c:
//   for i: t[k[i]] += v[i]  ->  before: c; v: gather(c, k)
//   for i: t[k[i]] = v[i]   ->  before: c, 0 at the written places; v: gather(c, k) of the work item that wrote last, 0 of
//   others
#pragma once

#include <optional>

#include "compiler/autodiff/rules.h"

namespace kiln::compiler::autodiff {

// The GET of a KERNEL as such a value; nullopt: it is no such kernel. result: a GET with the same value.
std::optional<Id> written_value(Rules& rules, Id get, Id result);

}  // namespace kiln::compiler::autodiff
