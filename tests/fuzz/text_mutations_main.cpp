// text_mutations [--count N] [--seed S] [--jobs J] FILE...: puts mistakes into the texts of the FILEs and of random programs
// after every pass. Child processes read, verify and compile each text. It must be refused with a message that has an id, or
// compile. A signal, an internal error, or more time or memory than a good text needs is a finding. --as-is: checks the texts
// of the FILEs unchanged, for example texts with old findings.
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>

#include "compiler/ir/diagnostic.h"
#include "compiler/ir/text.h"
#include "compiler/ir/verify.h"
#include "compiler/pipeline/compile.h"
#include "generator/import.h"
#include "tests/fuzz/child.h"
#include "tests/fuzz/command_line.h"
#include "tests/fuzz/random_program.h"
#include "tests/fuzz/random_scopes.h"
#include "tests/fuzz/random_states.h"
#include "tests/fuzz/text_mutation.h"

namespace kiln::test {
namespace {

using namespace compiler;
using namespace compiler::testing;

constexpr std::uint64_t batch = 250;             // mutations of one program's texts
constexpr std::size_t longest_text = 12'000;     // longer texts are not mutated
constexpr std::uint64_t with_machine_code = 40;  // one of this many is compiled by LLVM

std::string text_of(tables::Tables made) {
  Graph g;
  return write_program(g, generator::import_program(g, made.get()), {.locations = false});
}

std::string read_text(const std::string& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Programs from the files and from all makers, in turn.
std::string program_of(const std::vector<std::string>& files, std::uint64_t seed) {
  const std::uint64_t which = seed % 8;
  if (which < 3 && !files.empty()) return read_text(files[(seed / 8 * 3 + which) % files.size()]);
  if (which < 5) return text_of(random_scopes(seed));
  if (which < 7) return text_of(random_states(seed));
  Graph g;
  return write_program(g, random_program(g, seed, seed % 2 == 0), {.locations = false});
}

// The texts of the program after each pass, without long ones.
std::vector<std::string> texts_of(const std::string& program) {
  std::vector<std::string> out;
  PassOptions options;
  options.done = [&](const Pass& pass, const Graph& h, const Schedule& s) {
    if (pass.leaves == Form::lowering) return;  // such a text is to be read only
    const std::string text = write_schedule(h, s);
    std::string plain;
    for (std::size_t at = 0; at < text.size();) {  // removes locations
      const std::size_t end = std::min(text.find('\n', at), text.size());
      const std::string line = text.substr(at, end - at);
      plain += line.substr(0, line.find(" @ \"")) + '\n';
      at = end + 1;
    }
    if (plain.size() <= longest_text) out.push_back(std::move(plain));
  };
  Graph g;
  Program p = read_program(g, program);
  run_passes(g, p, options);
  return out;
}

// "refused ID", "later ID" (refused by a pass), "compiled", or "finding ...".
std::string check_text(const std::string& text, bool has_machine_code) {
  std::string stage = "refused ";
  try {
    Graph g;
    Schedule s = read_schedule(g, text);
    CompileOptions options;
    options.outputs.object = has_machine_code;
    verify(g, s, form_after(s.after));
    stage = "later ";
    compile(g, s, options);
    return "compiled";
  } catch (const Diagnostic& d) {
    return stage + d.id();
  } catch (const std::exception& e) {
    return std::string("finding ") + e.what();
  }
}

class Campaign {
 public:
  Campaign(std::vector<std::string> files, std::uint64_t seed) : files_(std::move(files)), seed_(seed) {}

  std::string mutation(std::uint64_t key) {
    load(key / batch);
    Random random(seed_ * 0x9e3779b97f4a7c15u + key);
    const std::size_t a = static_cast<std::size_t>(random.next() % texts_.size());
    const std::size_t b = static_cast<std::size_t>(random.next() % texts_.size());
    return mutated_text(random, texts_[a], texts_[b]);
  }

 private:
  void load(std::uint64_t program) {
    if (program == program_) return;
    program_ = program;
    texts_.clear();
    for (std::uint64_t p = seed_ + program; texts_.empty(); p += 7919) texts_ = texts_of(program_of(files_, p));
  }

  std::vector<std::string> files_, texts_;
  std::uint64_t seed_, program_ = ~std::uint64_t{0};
};

int check_as_is(const std::vector<std::string>& files) {
  int findings = 0;
  for (const std::string& file : files) {
    const ChildEnd end = in_child([&] { return check_text(read_text(file), true); });
    const std::string said = end.problem.empty() ? end.report : "finding " + end.problem;
    std::cout << file << ": " << said << '\n';
    findings += said.starts_with("finding") ? 1 : 0;
  }
  return findings == 0 ? 0 : 1;
}

struct Finding {
  std::uint64_t count = 0, key = 0;  // key: of the mutation with the shortest text
  std::string text;
};

int run(Campaign& campaign, std::uint64_t seed, std::uint64_t count, std::size_t jobs, const std::string& save) {
  Children children([&](std::uint64_t key) { return check_text(campaign.mutation(key), key % with_machine_code == 0); });
  std::map<std::string, std::uint64_t> ends;
  std::map<std::string, Finding> findings;
  long most_memory = 0;
  for (std::uint64_t next = 0; next < count || !children.empty();) {
    while (next < count && children.running() < jobs) {
      std::vector<std::uint64_t> keys;
      for (; keys.size() < batch && next < count; ++next) keys.push_back(next);
      children.start(std::move(keys));
    }
    const auto [key, end] = children.wait();
    most_memory = std::max(most_memory, end.peak_kilobytes);
    const bool found = !end.problem.empty() || end.report.starts_with("finding");
    const std::string name = found && !end.problem.empty() ? "finding " + end.problem : end.report;
    ++ends[found ? "findings" : name];
    if (!found) continue;
    Finding& f = findings[name];
    std::string text = campaign.mutation(key);
    if (f.count < 3) {
      std::cout << "seed " << seed << ", mutation " << key << ": " << name << '\n';
      if (!save.empty()) std::ofstream(save + "/mutation_" + std::to_string(key) + ".kiln") << text;
    }
    if (f.count++ == 0 || text.size() < f.text.size()) f.key = key, f.text = std::move(text);
  }
  for (const auto& [name, n] : ends) std::cout << name << ": " << n << '\n';
  for (const auto& [name, f] : findings)
    std::cout << f.count << " x " << name << ", the shortest text is mutation " << f.key << ":\n" << f.text << '\n';
  std::cout << count << " mutations, " << ends["findings"] << " findings, at most " << most_memory / 1024 << " MiB\n";
  return ends["findings"] == 0 ? 0 : 1;
}

}  // namespace
}  // namespace kiln::test

int main(int argc, char** argv) {
  std::uint64_t count = 1000, seed = 0, print = ~std::uint64_t{0};
  std::size_t jobs = 1;
  std::string save;
  std::vector<std::string> files;
  bool as_is = false;
  kiln::test::CommandLine line("Texts of all levels with mistakes in them");
  line.option("--count", count, "how many mutations");
  line.option("--seed", seed, "of the first program");
  line.option("--jobs", jobs, "processes at a time");
  line.option("--print", print, "print this mutation and stop");
  line.option("--save", save, "folder for the texts of findings");
  line.flag("--as-is", as_is, "check the texts of the files as they are");
  line.option("files", files, "programs");
  if (const auto status = line.parse(argc, argv)) return *status;
  if (as_is) return kiln::test::check_as_is(files);
  kiln::test::Campaign campaign(files, seed);
  if (print != ~std::uint64_t{0}) {
    std::cout << campaign.mutation(print);
    return 0;
  }
  return kiln::test::run(campaign, seed, count, jobs, save);
}
