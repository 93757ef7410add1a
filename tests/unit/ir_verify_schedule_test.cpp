// Each rule for schedules refuses a text that breaks it: a good text of each form with one change.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "compiler/ir/diagnostic.h"
#include "compiler/ir/text.h"
#include "compiler/ir/verify.h"
#include "compiler/ir/verify_kernels.h"
#include "compiler/ir/verify_loops.h"
#include "compiler/ir/verify_schedule.h"
#include "compiler/ir/verify_states.h"

using namespace kiln::compiler;

namespace {

const std::string parameters = R"(symbol N min 0 max 100 multiple_of 1
in f32 [N] x
out f32 [N] y
)";
const std::string buffers = parameters + R"(buffer f32 size %0 param 0
buffer f32 size %0 param 1
)";

const std::string ranges = R"(schedule p after range_assignment
%0 = sym index "N"
%1 = param f32 {0} %0 "x"
%2 = param f32 {1} %0 "y"
%3 = range index {0, loop} %0
%4 = const f32 {0}
%5 = range index {1, loop} %0
%6 = range index {2, loop} %0
%7 = stage f32 %4, %5
%8 = const bool {true}
%9 = carry f32 {0} %6, %7
%10 = update f32 %9, %8, %4, %6
%11 = kernel none {1, 1} %6, %7, %10
%12 = get f32 {0} %11
%13 = index f32 %12, %3
%14 = range index {3, reduce} %0
%15 = index f32 %1, %14
%16 = reduce f32 {sum, striped} %15, %14
%17 = add f32 %13, %16
%18 = store none %2, %17
%19 = end none %18, %3
%20 = sink none %19
)" + parameters + "sink %20\n";

const std::string tensors = R"(schedule p after sum_atomics
%0 = sym index "N"
%1 = param f32 {0} %0 "x"
%2 = param f32 {1} %0 "y"
%3 = const bool {true}
%4 = const index {0}
%5 = range index {0, loop} %0
%6 = carry f32 {0} %5, %1
%7 = index f32 %1, %4
%8 = range index {1, loop} %0
%9 = carry f32 {0} %8, %7
%10 = index f32 %1, %8
%11 = add f32 %9, %10
%12 = for none {1, 1} %8, %4, %0, %7, %11
%13 = get f32 {0} %12
%14 = update f32 %6, %3, %13, %5
%15 = kernel none {1, 1} %5, %1, %14
%16 = get f32 {0} %15
%17 = const index {1}
%18 = reshape f32 %7, %17
%19 = reshape f32 %13, %17
%20 = expand f32 %18, %0
%21 = expand f32 %19, %0
%22 = add f32 %16, %16
%23 = store none %2, %22
%24 = sink none %23
)" + parameters + "sink %24\n";

const std::string plain = R"(schedule p after kernel_split
%0 = sym index "N"
%1 = range index {0, loop} %0
%2 = buffer f32 {1}
%3 = range index {1, reduce} %0
%4 = load f32 %2, %3
%5 = reduce f32 {sum, striped} %4, %3
%6 = buffer f32 {0}
%7 = store none %6, %1, %5
%8 = end none %7, %1
%9 = sink none %8
%10 = range index {2, loop} %0
)" + buffers + "kernel p_k0 sink %9 buffers [1, 0] depends_on []\n";

const std::string explicit_ = R"(schedule p after kernel_split
%0 = sym index "N"
%1 = range index {0, loop} %0
%2 = buffer f32 {0}
%3 = entry none %2, %1
%4 = const index {0}
%5 = range index {1, loop} %0
%6 = const f32 {0}
%7 = carry f32 {0} %5, %6
%8 = buffer f32 {1}
%9 = load f32 %8, %5
%10 = add f32 %7, %9
%11 = for none {1, 1} %5, %4, %0, %6, %10
%12 = get f32 {0} %11
%13 = range index {2, loop} %0
%14 = load f32 %8, %13
%15 = for none {1, 1} %13, %4, %0, %12, %14
%16 = get f32 {0} %15
%17 = local f32 {3} %1, %18
%19 = store none %3, %1, %16
%20 = end none %19, %1
%21 = sink none %20
)" + buffers + "kernel p_k0 sink %21 buffers [1, 0] depends_on [] explicit\n";

const std::string updated = R"(schedule p after kernel_split
%0 = sym index "N"
%1 = const index {1}
%2 = range index {0, loop} %1
%3 = buffer f32 {0}
%4 = entry none %3, %2
%5 = const index {0}
%6 = range index {1, loop} %0
%7 = carry none {0} %6, %4
%8 = load f32 %7, %6
%9 = store none %7, %6, %8
%10 = for none {1, 1} %6, %5, %0, %4, %9
%11 = get none {0} %10
%12 = end none %11, %2
%13 = sink none %12
)" + buffers + "kernel p_k0 sink %13 buffers [1] depends_on [] explicit\n";

const std::string lowered = R"(schedule p after index_dtype
%0 = sym index "N"
%1 = sym index "$begin"
%2 = sym index "$end"
%3 = cast i64 %1
%4 = cast i64 %2
%5 = range i64 {0, thread} %4
%12 = ramp i64x4 {1} %5
%13 = const index {2000000}
%14 = local f32 {1} %5, %13
%15 = entry none %14, %5
%16 = load f32 %15, %5
%6 = buffer f32 {1}
%7 = load f32 %6, %5
%8 = buffer f32 {0}
%9 = store none %8, %5, %7
%10 = for none {0, 1} %5, %3, %4, %9
%11 = sink none %10
)" + buffers + "kernel p_k0 sink %11 buffers [1, 0] depends_on [] trip_count %0 work %0 alignment 1 parallel\n";

struct Case {
  const char* rule;
  Form form;
  const std::string* text;
  std::string from, to;
};

std::vector<Case> cases() {
  const Form t = Form::tensors, r = Form::ranges, k = Form::kernels, o = Form::ordered, p = Form::planned, l = Form::lowered;
  return {
      {"ranges-ended", k, &plain, "end none %7, %1", "end none %7"},
      {"ranges-ended", l, &lowered, "%5 = range i64 {0, thread} %4",
       "%17 = range i64 {1, thread} %4\n%5 = range i64 {0, thread} %17"},
      {"loop-range", k, &explicit_, "%15 = for none {1, 1} %13", "%15 = for none {1, 1} %5"},
      {"loop-range", k, &explicit_, "%11 = for none {1, 1} %5, %4, %0", "%11 = for none {1, 1} %5, %4, %5"},
      {"loop-carry", k, &explicit_, "carry f32 {0} %5, %6", "carry f32 {1} %5, %6"},
      {"loop-carry", k, &explicit_, "carry f32 {0} %5, %6", "carry f32 {0} %1, %6"},
      {"loop-effect", l, &lowered, "sink none %10", "sink none %10, %10"},
      {"loop-nesting", k, &explicit_, "%13, %4, %0, %12, %14", "%13, %4, %0, %12, %9"},
      {"memory-use", k, &plain, "load f32 %2, %3\n", "neg f32 %2\n"},
      {"effect-use", l, &lowered, "%10 = for none {0, 1} %5, %3, %4, %9", "%10 = for none {1, 1} %5, %3, %4, %9, %9"},
      {"range-program", r, &ranges, "range index {3, reduce}", "range index {3, loop}"},
      {"range-program", r, &ranges, "end none %18, %3", "end none %18"},
      {"tensor-use", r, &ranges, "%17 = add f32 %13, %16", "%17 = add f32 %12, %16"},
      {"tensor-use", r, &ranges, "index f32 %12, %3", "index f32 %12, %3, %3"},
      {"tensor-use", r, &ranges, "update f32 %9, %8", "update f32 %1, %8"},
      {"range-scope", r, &ranges, "carry f32 {0} %6, %7", "carry f32 {0} %3, %7"},
      {"range-scope", r, &ranges, "%13 = index f32 %12, %3", "%13 = index f32 %12, %6"},
      {"kernel-states", r, &ranges, "kernel none {1, 1} %6, %7, %10", "kernel none {1, 1} %6, %7, %1"},
      {"carry-slot", r, &ranges, "carry f32 {0} %6, %7", "carry f32 {1} %6, %7"},
      {"param", r, &ranges, "param f32 {0} %0 \"x\"", "param f32 {7} %0 \"x\""},
      {"buffers", k, &plain, "buffer f32 {1}", "buffer f32 {2}"},
      {"kernel-form", k, &plain, "buffers [1, 0] depends_on []", "buffers [1, 0] depends_on [] explicit"},
      {"kernel-form", k, &plain, "load f32 %2, %3\n", "index f32 %2, %3\n"},
      {"kernel-form", k, &explicit_, "depends_on [] explicit", "depends_on []"},
      // A mutated text that crashed the lowering: the kernel ends in the state of its own array.
      {"kernel-form", k, &explicit_, "%20 = end none %19, %1",
       "%22 = entry none %17, %1\n%23 = store none %22, %1, %16\n%20 = end none %23, %1"},
      {"range-end", k, &plain, "range index {0, loop} %0", "range index {0, loop} %11"},
      {"range-end", k, &explicit_, "range index {2, loop} %0", "range index {2, loop} %1"},
      {"kernel-ends", k, &plain, "sink none %8\n", "sink none %8, %12\n"},
      {"state-access", k, &explicit_, "load f32 %8, %13", "load f32 %2, %13"},
      {"state-loop", k, &updated, "store none %7, %6, %8", "store none %4, %6, %8"},
      {"state-order", k, &updated, "load f32 %7, %6", "load f32 %4, %6"},
      {"state-order", k, &updated, "%8\n%10 = for none {1, 1} %6, %5, %0, %4, %9",
       "%8\n%14 = load f32 %9, %6\n%15 = const bool {true}\n%16 = load f32 %7, %6, %14, %15\n%17 = store none %9, %6, %16\n"
       "%10 = for none {1, 1} %6, %5, %0, %4, %17"},
      {"access-lanes", l, &lowered, "load f32 %6, %5", "load f32 %6, %12"},
      {"loop-type", l, &lowered, "for none {0, 1}", "for none {0, -1}"},
      {"array", l, &lowered, "store none %8, %5, %7", "store none %8, %5, %16"},
      {"form", o, &plain, "kernel p_k0", "segment sink %9 reads [] writes []\nkernel p_k0"},
      {"form", l, &plain, "%10", "%10"},
      {"form", r, &plain, "%10", "%10"},
      {"form", k, &plain, "buffer f32 size %0 param 1\nkernel p_k0 sink %9 buffers [1, 0]", "kernel p_k0 sink %9 buffers [0]"},
      {"whole-tensors", t, &tensors, "add f32 %16, %16", "add f32 %16, %20"},
      {"whole-tensors", t, &tensors, "add f32 %16, %16", "add f32 %16, %21"},
      {"gradient-left", t, &tensors, "add f32 %16, %16", "mark f32 {1, 0} %16"},
      {"declared", k, &plain, "symbol N min 0 max 100 multiple_of 1\nin f32 [N] x\nout f32 [N] y\n",
       "in f32 [] x\nout f32 [] y\n"},
      {"declared", k, &plain, "in f32 [N] x", "symbol c element 1\nin f32 [N] x"},
      {"run-expression", k, &plain, "buffer f32 size %0 param 1", "buffer f32 size %4 param 1"},
      {"run-expression", l, &lowered, "trip_count %0", "trip_count %1"},
      {"parameters", o, &plain, "in f32 [N] x", "state f32 [N] x"},
      {"schedule-buffers", k, &plain, "buffer f32 size %0 param 1", "buffer f32 size %0"},
      {"schedule-buffers", k, &plain, "buffer f32 size %0 param 1", "buffer i32 size %0 param 1"},
      {"schedule-buffers", k, &plain, "kernel p_k0", "buffer f32 size %0 offset %0\nkernel p_k0"},
      {"schedule-buffers", p, &plain, "kernel p_k0", "buffer f32 size %0\nkernel p_k0"},
      {"schedule-buffers", p, &plain, "kernel p_k0", "buffer f32 size %0 param 1 offset %0\nkernel p_k0"},
      {"schedule-buffers", o, &plain, "kernel p_k0", "buffer f32 size %0 among [0, 1] count %0\nkernel p_k0"},
      {"loops", o, &plain, "kernel p_k0", "loop counter %0 begin %0 end %0\nkernel p_k0"},
      {"loops", o, &plain, "kernel p_k0", "loop begin %0 end %0 while 0\nkernel p_k0"},
      {"segments", k, &plain, "kernel p_k0", "segment sink %8 reads [] writes []\nkernel p_k0"},
      {"schedule-kernels", k, &plain, "kernel p_k0 sink %9", "kernel p_k0 sink %8"},
      {"schedule-kernels", k, &plain, "depends_on []", "depends_on [] at_entry [0]"},
  };
}

std::string rule_of(const std::string& text, Form form) {
  try {
    Graph g;
    verify(g, read_schedule(g, text), form);
  } catch (const Diagnostic& d) {
    const std::string said = d.what(), key = "breaks the rule ";
    const auto at = said.find(key);
    return at == std::string::npos ? said : said.substr(at + key.size(), said.find(':', at) - at - key.size());
  }
  return "";
}

// Adds nodes that the good text does not use, so that a change in one place can name them.
std::string with(std::string text, const std::string& line, const std::string& added) {
  return text.insert(text.find(line), added);
}

std::string text_of(const Case& c) {
  std::string text = *c.text;
  if (c.text == &explicit_) text = with(text, "%17 = local", "%18 = const index {4}\n");
  if (c.text == &plain)
    text = with(with(text, "%1 = range", "%11 = const index {-1}\n"), "%9 = sink", "%12 = end none %7, %13\n"),
    text = with(text, "%1 = range", "%13 = range index {3, loop} %0\n");
  return text;
}

}  // namespace

TEST(VerifySchedule, TextsAreGood) {
  const Case good[] = {{"", Form::tensors, &tensors, "", ""},
                       {"", Form::ranges, &ranges, "", ""},
                       {"", Form::kernels, &plain, "", ""},
                       {"", Form::kernels, &explicit_, "", ""},
                       {"", Form::lowered, &lowered, "", ""}};
  for (const Case& c : good) EXPECT_EQ(rule_of(text_of(c), c.form), "");
}

TEST(VerifySchedule, WantsASink) {
  EXPECT_EQ(rule_of("schedule x\n", Form::tensors), "form");
  EXPECT_EQ(rule_of("schedule x after fold_stages\n%0 = sym index \"N\"\n%1 = const index {1}\n", Form::ranges), "form");
  EXPECT_EQ(rule_of("schedule x\nsegment reads [] writes []\n", Form::tensors), "segments");
}

TEST(VerifySchedule, EveryRuleFires) {
  std::set<std::string> fired;
  for (const Case& c : cases()) {
    std::string text = text_of(c);
    const auto at = text.find(c.from);
    ASSERT_NE(at, std::string::npos) << c.from;
    text.replace(at, c.from.size(), c.to);
    EXPECT_EQ(rule_of(text, c.form), c.rule) << text;
    fired.insert(c.rule);
  }
  for (const auto rules : {loop_rules(), state_rules(), range_rules(), kernel_rules(), schedule_rules()})
    for (const VerifyRule& rule : rules) EXPECT_TRUE(fired.contains(std::string(rule.name))) << rule.name;
}
