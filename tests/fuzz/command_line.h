// The options of a campaign's main. Only command_line.cpp includes CLI11, because compiling it takes seconds.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace kiln::test {

// Each option that is given sets its variable. The variables must outlive the command line.
class CommandLine {
 public:
  explicit CommandLine(const std::string& about);
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  void option(const std::string& name, std::uint64_t& value, const std::string& text);
  void option(const std::string& name, int& value, const std::string& text);
  void option(const std::string& name, double& value, const std::string& text);
  void option(const std::string& name, std::string& value, const std::string& text);
  void option(const std::string& name, std::vector<std::string>& values, const std::string& text);
  void flag(const std::string& name, bool& value, const std::string& text);

  // The exit status if the program must end here (after --help or a mistake, which are printed); nullopt: it continues.
  std::optional<int> parse(int argc, char** argv);

 private:
  std::unique_ptr<CLI::App> app_;
};

}  // namespace kiln::test
