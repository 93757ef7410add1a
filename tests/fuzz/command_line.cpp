#include "tests/fuzz/command_line.h"

#include <CLI/CLI.hpp>

namespace kiln::test {

CommandLine::CommandLine(const std::string& about) : app_(std::make_unique<CLI::App>(about)) {}
CommandLine::~CommandLine() = default;

void CommandLine::option(const std::string& name, std::uint64_t& value, const std::string& text) {
  app_->add_option(name, value, text);
}
void CommandLine::option(const std::string& name, int& value, const std::string& text) { app_->add_option(name, value, text); }
void CommandLine::option(const std::string& name, double& value, const std::string& text) {
  app_->add_option(name, value, text);
}
void CommandLine::option(const std::string& name, std::string& value, const std::string& text) {
  app_->add_option(name, value, text);
}
void CommandLine::option(const std::string& name, std::vector<std::string>& values, const std::string& text) {
  app_->add_option(name, values, text);
}
void CommandLine::flag(const std::string& name, bool& value, const std::string& text) { app_->add_flag(name, value, text); }

std::optional<int> CommandLine::parse(int argc, char** argv) {
  try {
    app_->parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app_->exit(e);
  }
  return std::nullopt;
}

}  // namespace kiln::test
