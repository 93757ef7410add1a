#include "generator/driver.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <new>
#include <set>

#include "compiler/ir/diagnostic.h"
#include "compiler/ir/text.h"
#include "compiler/lower/tuning.h"
#include "compiler/pipeline/compile.h"
#include "compiler/target/target.h"
#include "generator/generated_names.h"
#include "generator/header_writer.h"
#include "generator/import.h"
#include "generator/manifest_writer.h"
#include "generator/outputs.h"
#include "generator/remarks_writer.h"
#include "generator/revision.h"

namespace kiln::generator {
namespace {

using compiler::Diagnostic;

enum Exit : int { ok = 0, usage = 64, rejected = 65, internal = 70, exhausted = 75 };

const std::vector<std::string> kinds = {"obj", "header", "manifest", "ir", "llvm-ir", "asm"};

struct Options {
  bool list = false;
  std::string directory = ".", cpp_namespace = "kernels", depfile, depfile_target, object_list, revision_header;
  std::vector<std::string> programs, emit = {"obj", "header", "manifest"}, dump_after,
                                     variants = compiler::default_target_names(), tuning_files;
  compiler::Tuning tuning;  // of all files
  RemarkOptions remarks;

  bool emits(std::string_view kind) const { return std::ranges::find(emit, kind) != emit.end(); }
  std::string path(const std::string& program, const char* suffix) const {
    return directory == "." ? program + suffix : directory + "/" + program + suffix;
  }
};

std::string pass_list() {
  std::string s = "Passes for --dump-after: all";
  for (auto n : compiler::pass_names()) s += ", " + std::string(n);
  return s;
}

void define(CLI::App& app, Options& o) {
  app.footer(pass_list());
  app.add_flag("--list", o.list, "Print the exported programs and exit");
  app.add_option("-o", o.directory, "Folder for the outputs")->type_name("DIR")->capture_default_str();
  app.add_option("--namespace", o.cpp_namespace, "C++ namespace of the typed functions, prefix of the C symbols")
      ->type_name("NS")
      ->capture_default_str();
  app.add_option("--program", o.programs, "Only these programs")->type_name("NAME");
  app.add_option("--emit", o.emit, "Outputs: obj,header,manifest,ir,llvm-ir,asm")
      ->delimiter(',')
      ->check(CLI::IsMember(kinds))
      ->type_name("KIND");
  app.add_option("--variants", o.variants, "CPU levels and CPUs, for each of which the object has code; a call takes the best")
      ->delimiter(',')
      ->check(CLI::IsMember(compiler::target_names()))
      ->type_name("CPU")
      ->capture_default_str();
  app.add_option("--tuning", o.tuning_files, "Plans that kiln-tune found")->type_name("FILE");
  app.add_option("--dump-after", o.dump_after, "Print the program after this pass, or after `all`")
      ->delimiter(',')
      ->type_name("PASS");
  o.remarks.add_to(app);
  app.add_option("--depfile", o.depfile, "Write a Make dependency file")->type_name("FILE");
  app.add_option("--depfile-target", o.depfile_target, "The file that depends, in place of all outputs")->type_name("FILE");
  app.add_option("--object-list", o.object_list, "Write the paths of the objects, one a line")->type_name("FILE");
  app.add_option("--revision-header", o.revision_header, "Header in DIR that changes whenever another header does")
      ->type_name("NAME");
}

void print_list(std::span<const record::program* const> programs) {
  for (const record::program* p : programs) {
    std::cout << p->name << '(';
    for (int i = 0; i < p->n_params; ++i) std::cout << (i > 0 ? ", " : "") << p->params[i].name;
    std::cout << ")\n";
  }
}

// A mistake in the options that CLI11 cannot detect; empty: none.
std::string mistake(const Options& o, std::span<const record::program* const> programs) {
  if (!is_namespace(o.cpp_namespace)) return "--namespace expected identifiers joined by ::, got '" + o.cpp_namespace + "'";
  for (const std::string& n : o.programs)
    if (std::ranges::none_of(programs, [&](const record::program* p) { return n == p->name; }))
      return "--program expected an exported program (see --list), got '" + n + "'";
  const auto passes = compiler::pass_names();
  for (const std::string& n : o.dump_after)
    if (n != "all" && std::ranges::find(passes, n) == passes.end())
      return "--dump-after expected a pass, got '" + n + "'. " + pass_list();
  return {};
}

void compile_one(const record::program& captured, const Options& o, Outputs& out) {
  compiler::Graph g;
  const compiler::Program p = import_program(g, captured);
  if (o.emits("ir")) out.add(o.path(p.name, ".kiln"), compiler::write_program(g, p));
  if (o.emits("header")) out.add(o.path(p.name, ".h"), write_header(g, p, o.cpp_namespace));
  const bool code = o.emits("obj") || o.emits("manifest") || o.emits("llvm-ir") || o.emits("asm");
  if (!code && o.dump_after.empty()) return;

  compiler::CompileOptions options;
  options.targets = compiler::targets_named(o.variants);
  options.symbol_prefix = symbol_prefix(o.cpp_namespace);
  options.outputs = {o.emits("obj"), o.emits("llvm-ir"), o.emits("asm")};
  options.dump_after = o.dump_after;
  options.dump = [&](std::string_view pass, const std::string& text) {
    std::cout << "# " << p.name << " after " << pass << '\n' << text;
  };
  if (!o.tuning.empty())
    options.make_plan = compiler::tuned_plans(o.tuning, [](const std::string& message) { std::cerr << message << '\n'; });
  compiler::Remarks remarks;
  if (o.remarks.wanted) options.remarks = &remarks;
  compiler::Compiled c = compiler::compile(g, p, options);
  std::cerr << remarks_text(remarks, o.remarks, p.name);
  if (o.emits("obj")) out.add(o.path(p.name, ".o"), std::move(c.code.object));
  if (o.emits("llvm-ir")) out.add(o.path(p.name, ".ll"), std::move(c.code.llvm_ir));
  if (o.emits("asm")) out.add(o.path(p.name, ".s"), std::move(c.code.assembly));
  if (o.emits("manifest")) out.add(o.path(p.name, ".json"), write_manifest(c, o.cpp_namespace));
}

void read_tunings(Options& o) {
  for (const std::string& file : o.tuning_files) o.tuning.merge(compiler::read_tuning(read_file(file), file));
}

std::string make_escaped(const std::string& path) {
  std::string s;
  for (char c : path) {
    if (c == ' ' || c == '#') s += '\\';
    if (c == '$') s += '$';
    s += c;
  }
  return s;
}

// Every output depends on this executable and the tuning files only, because the programs are constants in it.
std::string depfile_text(const Outputs& out, const Options& o, const char* executable) {
  std::string needed = make_escaped(executable);
  for (const std::string& file : o.tuning_files) needed += " " + make_escaped(file);
  if (!o.depfile_target.empty()) return make_escaped(o.depfile_target) + ": " + needed + "\n";
  std::string s;
  for (const auto& [path, bytes] : out.files()) s += (s.empty() ? "" : " ") + make_escaped(path);
  return s + ": " + needed + "\n";
}

std::string object_list_text(const Outputs& out) {
  std::string s;
  for (const auto& [path, bytes] : out.files())
    if (path.ends_with(".o")) s += path + "\n";
  return s;
}

int generate(const Options& o, std::span<const record::program* const> programs, const char* executable) {
  if (programs.empty()) {
    std::cerr << Diagnostic("E-export", "", "expected `static const programs<NAME, ...> exported;` in a source, got no program")
                     .what()
              << '\n';
    return rejected;
  }
  Outputs out;
  std::set<std::string> names;
  bool failed = false;
  for (const record::program* p : programs) {
    if (!o.programs.empty() && std::ranges::find(o.programs, p->name) == o.programs.end()) continue;
    try {
      if (!names.insert(p->name).second)
        throw Diagnostic("E-duplicate",
                         std::string(p->loc.file) + ":" + std::to_string(p->loc.line) + ":" + std::to_string(p->loc.column),
                         "expected program names that differ, got `" + std::string(p->name) + "` twice");
      compile_one(*p, o, out);
    } catch (const Diagnostic& d) {  // continues, so that the user sees the mistakes of all programs
      std::cerr << d.what() << '\n';
      failed = true;
    }
  }
  if (failed) return rejected;
  if (!o.revision_header.empty()) add_revision_header(out, o.path(o.revision_header, ""));
  const std::string objects = object_list_text(out);
  if (!o.depfile.empty()) out.add(o.depfile, depfile_text(out, o, executable));
  if (!o.object_list.empty()) out.add(o.object_list, objects);
  out.write();
  return ok;
}

}  // namespace

int run(int argc, const char* const* argv, std::span<const record::program* const> programs) {
  Options o;
  CLI::App app("Compiles the Kiln programs in this executable to objects, C++ headers and manifests.");
  define(app, o);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? ok : usage;
  }
  if (o.list) {
    print_list(programs);
    return ok;
  }
  if (const std::string text = mistake(o, programs); !text.empty()) {
    std::cerr << "error: " << text << '\n';
    return usage;
  }
  try {
    read_tunings(o);
    return generate(o, programs, argv[0]);
  } catch (const OutputError& e) {
    std::cerr << e.what() << '\n';
    return e.exit_status();
  } catch (const Diagnostic& d) {
    std::cerr << d.what() << '\n';
    return rejected;
  } catch (const std::bad_alloc&) {
    std::cerr << "error: " << "E-oom" << ": out of memory\n";
    return exhausted;
  } catch (const std::exception& e) {
    std::cerr << "error: internal: " << e.what() << '\n';
    return internal;
  }
}

}  // namespace kiln::generator
