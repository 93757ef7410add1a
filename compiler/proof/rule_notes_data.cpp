#include "compiler/proof/rule_notes.h"

namespace kiln::compiler {
namespace {

constexpr RuleNotes notes[] = {
    {.rule = "cmod-negative-dividend", .steps = "cdiv(x, d) == -cdiv(-x, d)", .fires = "x=0 d=0", .rests = "x=0 d=-1"},
    {.rule = "cmod-negative-divisor", .steps = "cdiv(x, d) == -cdiv(x, -d)", .fires = "x=0 d=0", .rests = "x=0 d=1"},
    {.rule = "mod-of-mod", .steps = "d == 0 or (f * u + r) // d == (f * (u % m) + r) // d + t * (u // m)"},
    {.rule = "mod-window", .steps = "(c * q + s) // c == q + k", .fires = "k=0 c=1 s=0"},
    {.rule = "mod-known-multiples", .steps = "(p + s) // c == p // c + s // c"},
    {.rule = "div-mod-recombine-nested",
     .steps = "(x + a * s + t * (a * d)) // (a * d) == (x + a * s) // (a * d) + t; (x // a + s) // d == (x + a * s) // (a * d)",
     .fires = "a=1 d=1"},
    {.rule = "mod-mod-join",
     .steps = "a == 0 or (v + a * s) // a == u // a + t; a == 0 or (v + a * s) // a == v // a + s; a == 0 or (v // a + s) // b "
              "== (v + a * s) // (a * b)",
     .fires = "b=1 a=0 s=0 v=0 t=0 u=0"},
    {.rule = "magic-division",
     .fires = "x=0 d=1 m=1 v=4611686018427387904 p=1; x=0 v=0 m=1 d=1 p=1",
     .rests = "x=0 d=1 m=1 v=4611686018427387905 p=1; x=1 v=2305843009213693952 m=4 d=1 p=4"},
    {.rule = "known-value", .fires = "x=0 k=0"},
    {.rule = "min-ordered", .fires = "b=0 a=0"},
    {.rule = "max-ordered", .fires = "b=0 a=0"},
    {.rule = "min-inner", .fires = "a=0 b=0"},
    {.rule = "min-outer", .fires = "b=0 a=0"},
    {.rule = "max-inner", .fires = "b=0 a=0"},
    {.rule = "max-outer", .fires = "a=0 b=0"},
    {.rule = "min-of-max", .fires = "a=0 b=0"},
    {.rule = "max-of-min", .fires = "b=0 a=0"},
    {.rule = "abs-positive", .fires = "x=0"},
    {.rule = "abs-negative", .fires = "x=0"},
    {.rule = "cdiv-floor", .fires = "x=0 d=0", .rests = "x=0 d=-1"},
    {.rule = "cdiv-both-negative", .fires = "x=0 d=0", .rests = "x=0 d=1"},
    {.rule = "cdiv-negative-dividend", .fires = "x=0 d=0", .rests = "x=0 d=-1"},
    {.rule = "cdiv-negative-divisor", .fires = "x=0 d=0", .rests = "x=0 d=1"},
    {.rule = "cmod-floor", .fires = "x=0 d=0", .rests = "x=0 d=-1"},
    {.rule = "cmod-both-negative", .steps = "cdiv(x, d) == x // d", .fires = "x=0 d=0", .rests = "x=0 d=1"},
    {.rule = "where-min", .fires = "l=0 r=0 t=0 f=0; l=-1 r=0 t=0 f=0"},
    {.rule = "where-max", .fires = "r=1 l=0 t=0 f=0; r=0 l=0 t=0 f=0"},
    {.rule = "div-by-negative", .fires = "d=-1", .rests = "d=0; d=1"},
    {.rule = "mod-by-negative", .steps = "x // d == -x // -d", .fires = "d=-1", .rests = "d=0; d=1"},
    {.rule = "div-window", .fires = "k=0 c=1 s=0"},
    {.rule = "div-two-values", .fires = "v=0 m=0; v=1 m=0"},
    {.rule = "mod-two-values", .steps = "v == m or v == m + 1", .fires = "v=0 m=0; v=1 m=0"},
    {.rule = "div-nest", .fires = "b=0 g=1 e=0"},
    {.rule = "mod-nest", .steps = "(g * a + b) // (g * e) == a // e", .fires = "b=0 g=1 e=1"},
    {.rule = "div-of-div", .fires = "d=0"},
    {.rule = "div-of-shifted-div", .fires = "a=1 d=0"},
    {.rule = "div-of-mod", .steps = "d == 0 or x // (k * d) == x // d // k", .fires = "k=0"},
    {.rule = "div-small-constant", .fires = "k=0 x=0 d=1"},
    {.rule = "shl-product", .fires = "k=0; k=61", .rests = "k=62"},
    {.rule = "shr-quotient", .fires = "k=0; k=61", .rests = "k=62"},
    {.rule = "and-low-mask", .fires = "m=0 k=0; m=2305843009213693951 k=61", .rests = "m=4611686018427387903 k=62"},
    {.rule = "div-of-mask", .fires = "k=0 m=-1; k=61 m=-1", .rests = "k=62 m=-1"},
    {.rule = "lt-true", .fires = "b=1 a=0"},
    {.rule = "lt-false", .fires = "a=0 b=0"},
    {.rule = "lt-window", .fires = "g=1 k=0 c=0 p=0"},
    {.rule = "lt-division", .fires = "d=1"},
    {.rule = "gt-division", .fires = "d=1"},
    {.rule = "lt-simplex", .fires = "k=1 x=0 s=0"},
    {.rule = "gt-simplex", .fires = "k=1 x=0 s=0"},
    {.rule = "and-limits", .fires = "b=0 a=0"},
    {.rule = "or-limits", .fires = "a=0 b=0"},
    {.rule = "and-empty", .fires = "b=-1 a=0"},
    {.rule = "or-all", .fires = "a=1 b=0"},
    {.rule = "mod-common-factor", .steps = "g == 0 or (g * x) // (g * y) == x // y"},
};

}  // namespace

std::span<const RuleNotes> all_notes() { return notes; }

}  // namespace kiln::compiler
