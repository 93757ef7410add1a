// kiln-run: calls a compiled program on .npy files or random inputs, and times it.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <new>

#include "compiler/ir/diagnostic.h"
#include "generator/outputs.h"
#include "generator/tools/arguments.h"
#include "generator/tools/loaded_program.h"
#include "generator/tools/npy.h"
#include "kiln/threads.h"

namespace kiln::generator {
namespace {

using compiler::Array;
using compiler::Diagnostic;
using compiler::DType;

struct Options {
  std::string file, program, variant, directory, runtime;
  std::vector<std::string> inputs, dims;
  bool random = false, info = false;
  int repeat = 0, threads = 0;
  std::uint64_t seed = 1;
};

struct Freed {
  void operator()(void* p) const { std::free(p); }
};
using Memory = std::unique_ptr<std::byte, Freed>;
Memory aligned_memory(std::size_t bytes) {
  Memory m(static_cast<std::byte*>(std::aligned_alloc(64, (bytes / 64 + 1) * 64)));
  if (m == nullptr) throw std::bad_alloc();
  return m;
}

// Arguments with their data in 64-byte aligned memory, as an application would have it.
struct Arguments {
  std::vector<Array> arrays;  // given arrays; zeros for outputs
  std::vector<Memory> data;
  std::vector<kiln_tensor> tensors;

  void reset() {
    for (std::size_t i = 0; i < arrays.size(); ++i)
      if (!arrays[i].data.empty()) std::memcpy(data[i].get(), arrays[i].data.data(), arrays[i].data.size());
  }
  void allocate() {
    for (Array& a : arrays) {
      data.push_back(aligned_memory(a.data.size()));
      kiln_tensor t{};
      t.data = data.back().get();
      t.extents = a.extents.data();
      t.dtype = static_cast<std::int32_t>(a.dtype);
      t.rank = static_cast<std::int32_t>(a.extents.size());
      tensors.push_back(t);
    }
    reset();
  }
};

// Given inputs come first, because their extents determine symbols for random inputs and outputs.
Arguments arguments_of(const kiln_program_desc& d, const Options& o) {
  auto files = named_values(o.inputs, "--in");
  SymbolValues symbols = named_integers(o.dims, "--dims");
  for (const auto& [symbol, value] : symbols)
    if (std::none_of(d.symbols, d.symbols + d.n_symbols, [&](const kiln_symbol_desc& s) { return symbol == s.name; }))
      throw Diagnostic("E-argument", "--dims", "the program has no symbol '" + symbol + "'");
  Arguments out;
  out.arrays.resize(static_cast<std::size_t>(d.n_params));
  std::vector<bool> given(out.arrays.size(), false);
  for (std::size_t i = 0; i < out.arrays.size(); ++i) {
    const kiln_param_desc& p = d.params[i];
    const auto it = files.find(p.name);
    if (it == files.end()) continue;
    if (p.direction == KILN_OUT) throw Diagnostic("E-argument", p.name, "is an output; --in expected an input");
    out.arrays[i] = as_dtype(read_npy(it->second), dtype_of(p), p.name);
    given[i] = true;
    files.erase(it);
    for (std::size_t a = 0; a < p.rank && a < out.arrays[i].extents.size(); ++a)
      if (const char* s = bare_symbol(d, p.extents[a])) symbols.try_emplace(s, out.arrays[i].extents[a]);
  }
  if (!files.empty()) throw Diagnostic("E-argument", "--in", "the program has no parameter '" + files.begin()->first + "'");
  for (std::size_t i = 0; i < out.arrays.size(); ++i) {
    const kiln_param_desc& p = d.params[i];
    if (given[i]) continue;
    if (p.direction != KILN_OUT && !o.random)
      throw Diagnostic("E-argument", p.name, std::string("has no value; give --in ") + p.name + "=FILE.npy, or --random");
    std::vector<std::int64_t> extents;
    for (int a = 0; a < p.rank; ++a) {
      const auto v = evaluate(d, p.extents[a], symbols);
      if (!v)
        throw Diagnostic("E-argument", p.name,
                         "extent " + expression_text(d, p.extents[a]) + " is not known; give --dims for its symbols");
      extents.push_back(*v);
    }
    const auto type = dtype_of(p);
    out.arrays[i] = p.direction == KILN_OUT ? zero_array(type, extents, p.name) : random_array(type, extents, o.seed + i);
  }
  out.allocate();
  return out;
}

void check(const LoadedProgram& program, kiln_status status) {
  if (status.code == KILN_OK) return;
  const std::string id = kiln_status_name(status.code), text = program.message(status);  // the text begins with the id
  throw Diagnostic(id, "", text.substr(id.size() + 2));
}

void write_results(const kiln_program_desc& d, const Arguments& args, const std::string& directory) {
  Outputs out;
  for (std::size_t i = 0; i < args.arrays.size(); ++i) {
    if (d.params[i].direction == KILN_IN) continue;
    Array a = args.arrays[i];
    if (!a.data.empty()) std::memcpy(a.data.data(), args.data[i].get(), a.data.size());
    out.add(directory + "/" + d.params[i].name + ".npy", format_npy(a));
  }
  out.write();
}

void print_times(const kiln_program_desc& d, const Arguments& args, std::vector<double> seconds) {
  std::ranges::sort(seconds);
  const double least = seconds.front(), median = seconds[seconds.size() / 2];
  double bytes = 0;
  for (std::size_t i = 0; i < args.arrays.size(); ++i)
    bytes += static_cast<double>(args.arrays[i].data.size()) * (d.params[i].direction == KILN_INOUT ? 2 : 1);
  std::printf("%s: %zu runs, min %.3f us, median %.3f us, %.2f GB/s of arguments at the minimum\n", d.name, seconds.size(),
              least * 1e6, median * 1e6, bytes / least * 1e-9);
}

struct DestroyPool {
  void operator()(kiln_pool* p) const { kiln_pool_destroy(p); }
};

void run_program(const Options& o) {
  LoadedProgram program(o.file, o.program, o.runtime);
  if (!o.variant.empty()) program.force(o.variant);
  const kiln_program_desc& d = program.desc();
  if (o.info) {
    std::cout << describe(d) << program.describe_variants();
    return;
  }
  Arguments args = arguments_of(d, o);
  std::int64_t workspace_bytes = 0;
  check(program, program.workspace(args.tensors, workspace_bytes));
  const Memory workspace = aligned_memory(static_cast<std::size_t>(workspace_bytes));
  std::fill_n(workspace.get(), workspace_bytes, std::byte{0});  // maps its pages, as kiln::context does
  std::unique_ptr<kiln_pool, DestroyPool> pool;
  kiln_context context{};
  context.workspace = workspace.get();
  context.workspace_bytes = workspace_bytes;
  if (o.threads != 1) {
    pool.reset(kiln_pool_create(o.threads));
    if (pool == nullptr) throw std::bad_alloc();
    context.executor = kiln_pool_executor(pool.get());
  }
  check(program, program.call(args.tensors, context));
  if (!o.directory.empty()) write_results(d, args, o.directory);
  std::vector<double> seconds;
  for (int i = 0; i < o.repeat; ++i) {
    args.reset();
    const auto start = std::chrono::steady_clock::now();
    check(program, program.call(args.tensors, context));
    seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  if (!seconds.empty()) print_times(d, args, std::move(seconds));
}

int run(int argc, char** argv) {
  Options o;
  CLI::App app("Calls a compiled Kiln program in a shared library or an object.");
  app.add_option("FILE", o.file, "lib<program>.so or <program>.o")->required();
  app.add_option("--program", o.program, "Its name or C symbol, where there are several");
  app.add_option("--variant", o.variant, "The variant to run, in place of the best that this CPU can run; --info lists them")
      ->type_name("CPU");
  app.add_flag("--info", o.info, "Print what it takes and gives, and exit");
  app.add_option("--in", o.inputs, "NAME=FILE.npy")->type_name("ARG");
  app.add_option("--dims", o.dims, "SYMBOL=VALUE")->type_name("DIM");
  app.add_flag("--random", o.random, "Random values for inputs that are not given");
  app.add_option("--seed", o.seed, "Of the random values")->capture_default_str();
  app.add_option("--out,-o", o.directory, "Folder for NAME.npy of each output");
  app.add_option("--repeat", o.repeat, "Time that many further runs")->check(CLI::Range(0, 1000000000));
  app.add_option("--threads", o.threads, "Workers; 0: one for each CPU")
      ->check(CLI::Range(0, static_cast<int>(KILN_MAX_WORKERS)))
      ->capture_default_str();
  app.add_option("--runtime", o.runtime, "The runtime's archive, for objects");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 64;
  }
  return run_tool([&] { run_program(o); });
}

}  // namespace
}  // namespace kiln::generator

int main(int argc, char** argv) { return kiln::generator::run(argc, argv); }
