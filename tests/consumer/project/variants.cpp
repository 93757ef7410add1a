// variants_app NAMES SELECTED: checks which variants the object has and which this CPU selects ("any": one of them; "R-cpu":
// none), and calls each that runs here.
#include <kiln/variants.h>
#include <shapes/row_sums.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

void expect(bool right, const std::string& text) {
  if (right) return;
  std::printf("wrong: %s\n", text.c_str());
  std::exit(1);
}

float first_sum(kiln::status& s) {
  static const float rows[5][3] = {{1e8f, 1, -1e8f}, {4, 5, 6}, {7, 8, 9}, {10, 11, 12}, {13, 14, 15}};
  float sums[5] = {};
  s = demo::shapes::row_sums(rows, sums);
  return sums[0] + sums[4];
}

}  // namespace

int main(int, char** argv) {
  const std::string_view names = argv[1], selected = argv[2];
  kiln::variants variants(demo_shapes_row_sums_variants());
  std::string list;
  for (const kiln_program_desc* v : variants.list()) list += (list.empty() ? "" : " ") + std::string(v->variant);
  expect(list == names, "the variants are " + list);

  kiln::status s(kiln_status{}, nullptr);
  const float sum = first_sum(s);
  if (selected == "R-cpu") {
    expect(s.code() == KILN_R_CPU, s.message());
    expect(s.message().starts_with("R-cpu: program row_sums: this CPU lacks "), s.message());
  } else {
    expect(s.ok(), s.message());
    expect(selected == "any" || variants.selected() == selected, "selected " + std::string(variants.selected()));
  }
  const std::string before(variants.selected());
  int forced = 0;
  for (const kiln_program_desc* v : variants.list()) {
    const kiln::status done = variants.force(v->variant);
    if (!kiln::variants::runs(*v)) {
      expect(done.code() == KILN_R_CPU, "forced " + std::string(v->variant) + ": " + done.message());
      continue;
    }
    expect(done.ok() && variants.selected() == v->variant, "forced " + std::string(v->variant));
    const float again = first_sum(s);
    expect(s.ok() && again == sum, "another result of " + std::string(v->variant));
    ++forced;
  }
  expect(variants.force("x86-64-v9").code() == KILN_R_VARIANT, "x86-64-v9 was accepted");
  expect(variants.force(nullptr).ok() && variants.selected() == before, "not the best again");
  std::printf("%d variants run here\n", forced);
}
