// kiln-opt: reads graphs in textual form, verifies, transforms, interprets and compiles them.
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>

#include "compiler/interp/index_value.h"
#include "compiler/interp/interpret.h"
#include "compiler/ir/diagnostic.h"
#include "compiler/ir/index_poly.h"
#include "compiler/ir/text.h"
#include "compiler/ir/verify.h"
#include "compiler/lower/tuning.h"
#include "compiler/pipeline/compile.h"
#include "compiler/proof/rule_notes.h"
#include "compiler/symbolic/simplify.h"
#include "compiler/target/target.h"
#include "generator/generated_names.h"
#include "generator/header_writer.h"
#include "generator/manifest_writer.h"
#include "generator/outputs.h"
#include "generator/remarks_writer.h"
#include "generator/tools/arguments.h"
#include "generator/tools/npy.h"
#include "generator/tools/prove_command.h"
#include "generator/tools/rules_command.h"
#include "generator/tools/rules_file.h"
#include "generator/tools/shared_library.h"
#include "generator/tools/simplify_lines.h"

namespace kiln::generator {
namespace {

using namespace compiler;

struct Options {
  std::string file, pass, directory = ".", cpp_namespace = "kernels", runtime, tuning;
  std::vector<std::string> inputs, dims, dump_after, disabled, variants = {"x86-64-v3"};
  bool random = false, library = true, time_passes = false;
  std::uint64_t seed = 1;
  RemarkOptions remarks;
};

enum class Form { program, nodes, schedule };

// The form is the first word that is not in a comment.
Form form_of(const std::string& text, const std::string& file) {
  std::size_t at = 0;
  while (at < text.size() && (text[at] == '#' || std::isspace(static_cast<unsigned char>(text[at])) != 0))
    at = text[at] == '#' ? std::min(text.find('\n', at), text.size()) : at + 1;
  const std::string word = text.substr(at, text.find_first_of(" \t\r\n", at) - at);
  if (word == "program") return Form::program;
  if (word == "nodes") return Form::nodes;
  if (word == "schedule") return Form::schedule;
  throw Diagnostic("E-text", file,
                   "expected a text that starts with program, nodes or schedule, got '" + word.substr(0, 40) + "'");
}

Program program_in(Graph& g, const Options& o) {
  const std::string text = read_file(o.file);
  if (form_of(text, o.file) != Form::program) throw Diagnostic("E-text", o.file, "expected a text that starts with program");
  return read_program(g, text, o.file);
}

// Verifies a schedule in the form that its pass leaves. If its text names no pass, verify() finds the form from the statements.
void check(Graph& g, const Schedule& s) { s.after.empty() ? verify(g, s) : verify(g, s, form_after(s.after)); }

void print_or_verify(const Options& o, bool print) {
  Graph g;
  const std::string text = read_file(o.file);
  switch (form_of(text, o.file)) {
    case Form::program: {
      const Program p = read_program(g, text, o.file);
      if (print)
        std::cout << write_program(g, p);
      else
        verify(g, p);
      break;
    }
    case Form::schedule: {
      const Schedule s = read_schedule(g, text, o.file);
      if (print)
        std::cout << write_schedule(g, s);
      else
        check(g, s);
      break;
    }
    case Form::nodes: {
      const auto roots = read_nodes(g, text, o.file);
      if (print)
        std::cout << write_nodes(g, roots);
      else
        throw Diagnostic("E-usage", o.file, "nodes have no level to be verified at; expected a program or a schedule");
    }
  }
}

// The state to compile from: a program, or a schedule that some pass left.
Schedule state_in(Graph& g, const Options& o) {
  const std::string text = read_file(o.file);
  Schedule s;
  switch (form_of(text, o.file)) {
    case Form::program:
      s.program = read_program(g, text, o.file);
      verify(g, s.program);
      return s;
    case Form::schedule:
      s = read_schedule(g, text, o.file);
      check(g, s);
      return s;
    case Form::nodes: break;
  }
  throw Diagnostic("E-text", o.file, "expected a text that starts with program or schedule");
}

void simplify_nodes(const std::string& text, const std::string& file) {
  Graph g;
  const auto roots = read_nodes(g, text, file);
  std::cout << write_nodes(g, simplify_all(g, roots, {}));
}

// Runs all passes from the text's state to the named pass. A schedule of kernels that does not name the pass that it comes
// after counts as the state just before the named pass.
void run_pass(const Options& o) {
  const std::string text = read_file(o.file);
  if (form_of(text, o.file) == Form::nodes) {
    if (o.pass != "simplify") throw Diagnostic("E-pass", o.file, "nodes take the pass simplify only");
    return simplify_nodes(text, o.file);
  }
  const Pass& pass = pass_named(o.pass);
  Graph g;
  Schedule s = state_in(g, o);
  if (s.after.empty() && !s.kernels.empty() && &pass != passes().data()) s.after = (&pass)[-1].name;
  if (!s.after.empty() && &pass_named(s.after) >= &pass)
    throw Diagnostic("E-pass", o.file, "expected a text from before the pass " + o.pass + ", got one from after " + s.after);
  run_passes(g, std::move(s),
             {.disabled = o.disabled, .last = o.pass, .done = [&](const Pass& done, const Graph& h, const Schedule& now) {
                if (&done == &pass) std::cout << write_schedule(h, now);
              }});
}

Array no_check_failed() {
  Array a{DType::i32, {}, std::vector<std::byte>(sizeof no_check)};
  std::memcpy(a.data.data(), &no_check, sizeof no_check);
  return a;
}
void check_results(const Graph& g, const Program& p, std::span<const Array> results) {
  if (p.checks.empty()) return;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (p.is_argument(p.params[i])) continue;
    std::int32_t failed = no_check;
    std::memcpy(&failed, results[i].data.data(), sizeof failed);
    if (failed == no_check) continue;
    const DataCheck& c = p.checks.at(static_cast<std::size_t>(failed));
    throw Diagnostic("R-check", where(g, c.loc), c.text);
  }
}

// Arrays for all parameters: read from files, random, or zeros for `out`. Symbols get values from --dims and
// from the files' extents.
std::vector<Array> arguments_of(Graph& g, const Program& p, const Options& o) {
  auto files = named_values(o.inputs, "--in");
  auto symbols = named_integers(o.dims, "--dims");
  std::vector<std::optional<Array>> given(p.params.size());
  for (std::size_t i = 0; i < p.params.size(); ++i) {
    const Parameter& q = p.params[i];
    const auto it = files.find(q.name);
    if (it == files.end()) continue;
    if (q.direction == Direction::out) throw Diagnostic("E-argument", q.name, "is an output; --in expected an input");
    given[i] = as_dtype(read_npy(it->second), q.dtype, q.name);
    files.erase(it);
    for (std::size_t a = 0; a < q.extents.size() && a < given[i]->extents.size(); ++a)
      if (g.op(q.extents[a]) == Op::SYM) symbols.try_emplace(std::string(g.name(q.extents[a])), given[i]->extents[a]);
  }
  if (!files.empty()) throw Diagnostic("E-argument", "--in", "the program has no parameter '" + files.begin()->first + "'");
  std::vector<Array> out;
  IndexValues value(g, symbols);
  for (std::size_t i = 0; i < p.params.size(); ++i) {
    const Parameter& q = p.params[i];
    if (!p.is_argument(q)) {
      out.push_back(no_check_failed());
      continue;
    }
    if (given[i]) {
      out.push_back(*std::move(given[i]));
      continue;
    }
    if (q.direction != Direction::out && !o.random)
      throw Diagnostic("E-argument", q.name, "has no value; give --in " + q.name + "=FILE.npy, or --random");
    std::vector<std::int64_t> extents;
    for (Id e : q.extents) {
      const auto v = value(e);
      if (!v) throw Diagnostic("E-argument", q.name, "an extent is not known; give --dims for its symbols");
      extents.push_back(*v);
    }
    out.push_back(q.direction == Direction::out ? zero_array(q.dtype, extents, q.name)
                                                : random_array(q.dtype, extents, o.seed + i));
  }
  return out;
}

void interp(const Options& o) {
  Graph g;
  const Program p = program_in(g, o);
  verify(g, p);
  const auto results = interpret(g, p, arguments_of(g, p, o));
  check_results(g, p, results);
  Outputs out;
  for (std::size_t i = 0; i < p.params.size(); ++i)
    if (p.params[i].direction != Direction::in && p.is_argument(p.params[i]))
      out.add(o.directory + "/" + p.params[i].name + ".npy", format_npy(results[i]));
  out.write();
}

// One line for each pass: seconds, and the most memory in MiB so far.
class PassTimes {
 public:
  void operator()(std::string_view pass) {
    const auto now = std::chrono::steady_clock::now();
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    char line[120];
    std::snprintf(line, sizeof line, "%-20.*s %8.3f s %6ld MiB\n", static_cast<int>(pass.size()), pass.data(),
                  std::chrono::duration<double>(now - last_).count(), usage.ru_maxrss / 1024);
    std::cerr << line;
    last_ = now;
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

void compile_program(const Options& o) {
  if (!is_namespace(o.cpp_namespace)) throw Diagnostic("E-usage", "--namespace", "expected identifiers joined by ::");
  Graph g;
  Schedule begin = state_in(g, o);
  const Program p = begin.program;
  CompileOptions options;
  options.targets = targets_named(o.variants);
  options.symbol_prefix = symbol_prefix(o.cpp_namespace);
  if (o.time_passes) options.done = PassTimes();
  options.dump_after = o.dump_after;
  options.disabled = o.disabled;
  options.dump = [&](std::string_view pass, const std::string& text) {
    std::cout << "# " << p.name << " after " << pass << '\n' << text;
  };
  Tuning tuning;
  if (!o.tuning.empty()) {
    tuning = read_tuning(read_file(o.tuning), o.tuning);
    options.make_plan = tuned_plans(tuning, [](const std::string& message) { std::cerr << message << '\n'; });
  }
  const std::string header = write_header(g, p, o.cpp_namespace);
  Remarks remarks;
  if (o.remarks.wanted) options.remarks = &remarks;
  Compiled c = compiler::compile(g, begin, options);
  std::cerr << remarks_text(remarks, o.remarks, p.name);

  const std::string base = o.directory + "/" + p.name;
  Outputs out;
  out.add(base + ".o", c.code.object);
  out.add(base + ".h", header);
  out.add(base + ".json", write_manifest(c, o.cpp_namespace));
  if (o.library) {
    const TemporaryFolder temporary;
    const std::string object = temporary.path() + "/program.o", library = temporary.path() + "/lib" + p.name + ".so";
    write_file(object, c.code.object);
    link_shared({object}, o.runtime.empty() ? find_runtime() : o.runtime, library);
    out.add(o.directory + "/lib" + p.name + ".so", read_file(library));
  }
  out.write();
}

void simplify_lines(const std::string& file, const SimplifyOptions& options) {
  std::ifstream opened;
  if (file != "-") {
    opened.open(file);
    if (!opened) throw Diagnostic("E-file", file, "cannot be read");
  }
  std::istream& in = file == "-" ? std::cin : opened;
  for (std::string line; std::getline(in, line);) std::cout << simplify_line(line, options) << '\n';
}

void check_rules(const std::string& file, const RulesOptions& options) {
  const auto rules = file.empty() ? own_rules() : read_rules(read_file(file), file);
  if (!check_rules(rules, options, std::cout)) throw Diagnostic("E-rules", file, "expected every rule to be proven");
  if (file.empty() && !weigh_rules(std::cout))
    throw Diagnostic("E-rules", "", "expected every rule to make its node smaller, or a note why rewriting ends");
}

void mutate_rules(const RulesOptions& options) {
  if (!mutate_rules(options, std::cout)) throw Diagnostic("E-rules", "", "expected every changed guard to be caught");
}

void prove(const std::vector<std::string>& files, const RulesOptions& options) {
  if (!prove_files(files, options.jobs, options.limits, std::cout))
    throw Diagnostic("E-prove", files.front(), "expected every access of the kernels to be proven");
}

int run(int argc, char** argv) {
  Options o;
  std::vector<std::string> proven_files;
  RulesOptions rules_options;
  std::string rules_path;
  SimplifyOptions simplify_options;
  std::string lines = "-";
  CLI::App app("Reads, checks, transforms, interprets and compiles Kiln graphs in textual form.");
  app.require_subcommand(1);
  const auto command = [&](const char* name, const char* what, auto work) {
    CLI::App* sub = app.add_subcommand(name, what);
    sub->callback(work);
    return sub;
  };
  std::function<void()> chosen;
  const auto choose = [&](auto f) { return [&chosen, f] { chosen = f; }; };
  const auto file = [&](CLI::App* sub) { sub->add_option("FILE", o.file, "Graph text")->required(); };
  file(command("print", "Print it in canonical form", choose([&] { print_or_verify(o, true); })));
  file(command("verify", "Check it", choose([&] { print_or_verify(o, false); })));
  CLI::App* pass = command("run", "Run one pass and print the result", choose([&] { run_pass(o); }));
  file(pass);
  pass->add_option("--pass", o.pass, "Its name; see `passes`")->required();
  const auto disable = [&](CLI::App* sub) {
    sub->add_option("--disable", o.disabled, "Leave out this pass, if programs compile without it")->delimiter(',');
  };
  disable(pass);
  CLI::App* interpreter = command("interp", "Run it in the reference interpreter", choose([&] { interp(o); }));
  file(interpreter);
  interpreter->add_option("--in", o.inputs, "NAME=FILE.npy")->type_name("ARG");
  interpreter->add_option("--dims", o.dims, "SYMBOL=VALUE")->type_name("DIM");
  interpreter->add_flag("--random", o.random, "Random values for inputs that are not given");
  interpreter->add_option("--seed", o.seed, "Of the random values")->capture_default_str();
  interpreter->add_option("-o", o.directory, "Folder for NAME.npy of each output")->capture_default_str();
  CLI::App* compile =
      command("compile", "Make object, header, manifest and shared library", choose([&] { compile_program(o); }));
  file(compile);
  compile->add_option("-o", o.directory, "Folder for the outputs")->capture_default_str();
  compile->add_option("--namespace", o.cpp_namespace, "C++ namespace, prefix of the C symbols")->capture_default_str();
  compile->add_option("--variants", o.variants, "CPU levels and CPUs, for each of which the object has code")
      ->delimiter(',')
      ->check(CLI::IsMember(target_names()))
      ->type_name("CPU")
      ->capture_default_str();
  compile->add_option("--runtime", o.runtime, "The runtime's archive, libkiln_runtime.a");
  compile->add_option("--dump-after", o.dump_after, "Print the program after this pass, or after `all`")->delimiter(',');
  disable(compile);
  compile->add_option("--tuning", o.tuning, "Plans that kiln-tune found")->type_name("FILE");
  o.remarks.add_to(*compile);
  compile->add_flag("--time-passes", o.time_passes, "Print to the error stream what each pass takes");
  compile->add_flag("!--no-library", o.library, "Do not link the shared library");
  command("passes", "List the passes", choose([] {
            for (const auto name : pass_names()) std::cout << name << '\n';
          }));
  CLI::App* simplifier =
      command("simplify", "Simplify index expressions, JSON lines", choose([&] { simplify_lines(lines, simplify_options); }));
  simplifier->add_option("FILE", lines, "JSON lines; - is the standard input")->capture_default_str();
  simplifier->add_option("--disable", simplify_options.disabled, "Leave out this rule; see `rules list`")->delimiter(',');
  simplifier->add_flag("--trace", simplify_options.trace, "Show each rewrite");
  const auto solver_options = [&](CLI::App* sub) {
    sub->add_option("--jobs", rules_options.jobs, "Solvers at a time")->check(CLI::Range(1, 1024))->capture_default_str();
    sub->add_option("--timeout", rules_options.limits.seconds, "Seconds for each")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
  };
  CLI::App* rules = app.add_subcommand("rules", "Rewrite rules of index algebra");
  rules->require_subcommand(1);
  rules->add_subcommand("list", "Print Kiln's own")->callback(choose([] { list_rules(std::cout); }));
  CLI::App* check = rules->add_subcommand("check", "Prove or refute each with Z3");
  check->callback(choose([&] { check_rules(rules_path, rules_options); }));
  check->add_option("FILE", rules_path, "Rules in JSON; without it, Kiln's own");
  check->add_option("--cache", rules_options.cache, "A folder that keeps verdicts");
  CLI::App* mutate = rules->add_subcommand("mutate", "Change each part of each guard: is it caught?");
  mutate->callback(choose([&] { mutate_rules(rules_options); }));
  for (CLI::App* sub : {check, mutate}) {
    sub->add_option("--jobs", rules_options.jobs, "Solvers at a time")->check(CLI::Range(1, 1024))->capture_default_str();
    sub->add_option("--timeout", rules_options.limits.seconds, "Seconds for each")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
  }
  CLI::App* prover = command("prove", "Prove with Z3 that kernels stay inside their buffers and store each element once",
                             choose([&] { prove(proven_files, rules_options); }));
  prover->add_option("FILES", proven_files, "Programs as graph text")->required();
  solver_options(prover);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 64;
  }
  return run_tool(chosen);
}

}  // namespace
}  // namespace kiln::generator

int main(int argc, char** argv) { return kiln::generator::run(argc, argv); }
