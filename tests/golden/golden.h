// The files of golden tests, in the folder GOLDEN_FOLDER of the test.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

namespace kiln::compiler::testing {

inline std::string golden_path(const std::string& file) { return std::string(GOLDEN_FOLDER) + "/" + file; }

inline std::string read(const std::string& path) {
  std::ostringstream out;
  out << std::ifstream(path, std::ios::binary).rdbuf();
  return out.str();
}

// Compares the text with the file `name`.txt. With KILN_UPDATE_GOLDEN=1 in the environment the file is written instead.
inline void expect_golden(const std::string& text, const std::string& name) {
  const std::string path = golden_path(name + ".txt");
  if (std::getenv("KILN_UPDATE_GOLDEN") != nullptr)
    std::ofstream(path, std::ios::binary) << text;
  else
    EXPECT_EQ(read(path), text) << path;
}

}  // namespace kiln::compiler::testing
