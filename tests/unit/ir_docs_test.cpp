// Every ```kiln block of docs/ without a file name reads, verifies and reads back.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "compiler/ir/text.h"
#include "compiler/ir/verify.h"

using namespace kiln::compiler;

namespace {

constexpr TextOptions plain{.locations = false};

void check_program(const std::string& text) {
  Graph g, h;
  const Program p = read_program(g, text, "page.md");
  verify(g, p);
  const std::string once = write_program(g, p, plain);
  const Program q = read_program(h, once);
  EXPECT_EQ(write_program(h, q, plain), once);
}

void check_nodes(const std::string& text) {
  Graph g;
  const auto roots = read_nodes(g, text, "page.md");
  verify_nodes(g, Level::kernel, roots);
  EXPECT_EQ(write_nodes(g, roots, plain), text);
}

void check_schedule(const std::string& text) {
  Graph g, h;
  const Schedule s = read_schedule(g, text, "page.md");
  verify(g, s);
  const std::string once = write_schedule(g, s, plain);
  const Schedule t = read_schedule(h, once);
  EXPECT_EQ(write_schedule(h, t, plain), once);
}

}  // namespace

TEST(IrPages, ExamplesRead) {
  const std::string fence = "```kiln\n";
  int blocks = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(KILN_DOCS)) {
    if (entry.path().extension() != ".md") continue;
    SCOPED_TRACE(entry.path());
    std::ifstream in(entry.path());
    ASSERT_TRUE(in);
    const std::string page((std::istreambuf_iterator<char>(in)), {});
    for (auto at = page.find(fence); at != std::string::npos; at = page.find(fence, at)) {
      at += fence.size();
      const std::string text = page.substr(at, page.find("```", at) - at);
      SCOPED_TRACE(text);
      if (text.starts_with("nodes"))
        check_nodes(text);
      else if (text.starts_with("schedule"))
        check_schedule(text);
      else
        check_program(text);
      ++blocks;
    }
  }
  EXPECT_GE(blocks, 13);
}
