// Kiln as a peer. Its programs are found by their symbols: the name is made of the family, the type and the extents, as the
// generator makes it. The caller gives the workspace once, and asks for huge pages for it.
#include <dlfcn.h>

#include <cctype>
#include <cstdio>
#include <sstream>
#include <stdexcept>

#include "kiln/pool.h"
#include "kiln/view.h"
#include "tests/bench/headline/bench.h"

namespace kiln::headline {
namespace {

// "product_f32_64_64_64"; the extent M is "dim_str_1_M_".
std::string symbol(std::string_view family, std::string_view type, std::istream& arguments) {
  std::string s = "headline_" + std::string(family) + "_" + std::string(type);
  for (std::string word; std::getline(arguments, word, ',');) {
    word.erase(0, word.find_first_not_of(' '));
    if (s.back() != '_') s += '_';
    s += std::isdigit(static_cast<unsigned char>(word[0])) != 0 ? word
                                                                : "dim_str_" + std::to_string(word.size()) + "_" + word + "_";
  }
  return s;
}
std::string static_symbol(const workload& w) {
  std::stringstream text;
  for (const std::int64_t e : w.e) text << e << ',';
  return symbol(w.family, w.type, text);
}
// Whether the numbers among the extents of a symbolic row are those of the workload.
bool serves(const symbolic_row& r, const workload& w) {
  if (r.family != w.family || r.type != w.type) return false;
  std::stringstream text{std::string(r.arguments)};
  std::string word;
  for (const std::int64_t e : w.e) {
    if (!std::getline(text, word, ',')) return false;
    word.erase(0, word.find_first_not_of(' '));
    if (std::isdigit(static_cast<unsigned char>(word[0])) != 0 && std::stoll(word) != e) return false;
  }
  return true;
}
std::string symbolic_symbol(const workload& w) {
  for (const symbolic_row& r : symbolic_rows())
    if (serves(r, w)) {
      std::stringstream text{std::string(r.arguments)};
      return symbol(w.family, w.type, text);
    }
  return "";
}

using entry = kiln_status(const kiln_tensor*, std::int32_t, const kiln_context*);
using description = const kiln_program_desc*();

template <class F>
F* find(const std::string& name) {
  void* p = dlsym(RTLD_DEFAULT, name.c_str());
  if (p == nullptr) throw std::runtime_error("no program " + name);
  return reinterpret_cast<F*>(p);
}

struct call {
  std::vector<kiln_tensor> arguments;
  buffer workspace;
  kiln::pool pool{threads()};
  kiln::context context;
};

job make(problem& p, const std::string& name) {
  entry* const program = find<entry>(name);
  const kiln_program_desc* const d = find<description>(name + "_desc")();
  const auto c = std::make_shared<call>();
  for (const std::vector<array>* list : {&p.in, &p.out})
    for (const array& a : *list)
      c->arguments.push_back({a.data.get(), a.shape.data(), nullptr, a.type, static_cast<std::int32_t>(a.shape.size())});
  const auto n = static_cast<std::int32_t>(c->arguments.size());
  std::int64_t bytes = 0;
  const auto right = [d](kiln_status s) {
    char text[500];
    if (s.code == KILN_OK) return;
    (void)kiln_status_message(d, s, text, sizeof text);
    throw std::runtime_error(text);
  };
  right(kiln_workspace_bytes(d, c->arguments.data(), n, &bytes));
  c->workspace = allocate(bytes);
  c->context.workspace(c->workspace.get(), bytes);
  if (threads() > 1) c->context.executor(c->pool.executor());
  return {[=] { right(program(c->arguments.data(), n, c->context.get())); }};
}

bool has_symbolic(const workload& w) { return !symbolic_symbol(w).empty(); }

const peers here{
    {"*", "*", "", [](problem& p) { return make(p, static_symbol(*p.row)); }},
    {"*", "*", "symbolic", [](problem& p) { return make(p, symbolic_symbol(*p.row)); }, has_symbolic},
};

}  // namespace
}  // namespace kiln::headline
