#include "tests/fuzz/shrink.h"

#include <algorithm>
#include <optional>
#include <regex>
#include <set>
#include <vector>

#include "compiler/ir/builder.h"
#include "compiler/ir/diagnostic.h"
#include "compiler/ir/text.h"
#include "compiler/ir/verify.h"

namespace kiln::compiler::testing {
namespace {

bool is_value(const Graph& g, Id id) {
  const Op op = g.op(id);
  return op != Op::STORE && op != Op::SINK && g.dtype(id) != DType::index && g.dtype(id) != DType::none;
}

// Removes parameters that nothing uses and that define no symbol. The others get new slots through the text.
std::string without_unused(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  static const std::regex declaration(R"((in|out|inout)\s+\S+\s+\[(.*)\]\s+(\w+)\s*)");
  std::string out;
  std::set<std::string> symbols;
  for (const std::string& line : lines) {
    std::smatch m;
    if (std::regex_match(line, m, declaration)) {
      const std::string name = m[3];
      const std::regex use("= param " + name + "\\b|store " + name + ",|= param .*\\b" + name + "\\b");
      const bool used = std::ranges::any_of(lines, [&](const std::string& l) { return std::regex_search(l, use); });
      static const std::regex symbol(R"([A-Z]\w*)");
      const std::string extents = m[2];
      bool defines = false;
      for (const char* s : {"N", "M", "K"}) defines = defines || (extents == s && symbols.insert(s).second);
      if (!used && !defines) continue;
    }
    out += line + '\n';
  }
  return out;
}

// The text in the writer's form; nullopt: it is not a program.
std::optional<std::string> checked(const std::string& text) {
  try {
    Graph g;
    Program p = read_program(g, text, "program");
    const std::string small = without_unused(write_program(g, p, {.locations = false}));
    Graph again;
    p = read_program(again, small, "program");
    verify(again, p);
    return write_program(again, p, {.locations = false});
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

double cost(const std::string& text) {
  Graph g;
  const Program p = read_program(g, text, "program");
  const Id roots[] = {p.sink};
  double sum = static_cast<double>(text.size()) / 1000;
  for (const Id id : g.reachable(roots)) {
    if (g.op(id) == Op::STORE) sum += 4;
    if (is_value(g, id)) sum += g.op(id) == Op::PARAM || g.op(id) == Op::CONST ? 1 : 4;
    if (g.op(id) == Op::CONST && g.dtype(id) == DType::index)
      sum += std::min(1.0, static_cast<double>(std::abs(g.arg(id, 0))) / 100);
    if (g.op(id) == Op::SYM) sum += 4;
  }
  return sum;
}

class Shrinker {
 public:
  Shrinker(std::string text, const std::function<bool(const std::string&)>& still_fails, int tries)
      : text_(std::move(text)), still_fails_(still_fails), tries_(tries) {}

  std::string run() {
    for (bool better = true; better && tries_ > 0;) {
      better = false;
      for (auto step : {&Shrinker::stores, &Shrinker::nodes, &Shrinker::symbols, &Shrinker::numbers})
        while (tries_ > 0 && (this->*step)()) better = true;
    }
    return text_;
  }

 private:
  bool attempt(const std::string& candidate) {
    const auto text = checked(candidate);
    if (!text || cost(*text) >= cost(text_) || tries_-- <= 0 || !still_fails_(*text)) return false;
    text_ = *text;
    return true;
  }

  // Tries a program. It is no candidate if its sink cannot be made, because shapes do not agree any more.
  bool attempt(Graph& g, Program p, const std::function<Id()>& make_sink) {
    try {
      p.sink = make_sink();
      return attempt(write_program(g, p, {.locations = false}));
    } catch (const Diagnostic&) {
      return false;
    }
  }

  bool stores() {
    Graph g;
    const Program p = read_program(g, text_, "program");
    const std::vector<Id> all(g.src(p.sink).begin(), g.src(p.sink).end());
    for (std::size_t i = 0; all.size() > 1 && i < all.size(); ++i) {
      std::vector<Id> rest = all;
      rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
      if (attempt(g, p, [&] { return g.with_src(p.sink, rest); })) return true;
    }
    return false;
  }

  bool nodes() {
    Graph g;
    const Program p = read_program(g, text_, "program");
    const Id roots[] = {p.sink};
    std::vector<Id> order = g.reachable(roots);
    std::erase_if(order, [&](Id id) { return !is_value(g, id) || g.op(id) == Op::PARAM || g.op(id) == Op::CONST; });
    for (std::size_t k = order.size(); k-- > 0;)
      if (replace(g, p, order[k])) return true;
    return false;
  }

  bool replace(Graph& g, const Program& p, Id node) {
    Builder b(g);
    b.trust_bounds();
    const std::vector<Id> shape = b.shape_of(node), sources(g.src(node).begin(), g.src(node).end());
    for (const Id s : sources)
      if (is_value(g, s) && g.dtype(s) == g.dtype(node) && b.shape_of(s) == shape &&
          attempt(g, p, [&] { return substitute(g, p.sink, {{node, s}}); }))
        return true;
    Program more = p;
    more.params.push_back({"q" + std::to_string(p.params.size()), Direction::in, g.dtype(node), shape, {}});
    while (std::ranges::count(more.params, more.params.back().name, &Parameter::name) > 1) more.params.back().name += "q";
    const Id param = b.param(static_cast<int>(p.params.size()), more.params.back());
    if (attempt(g, more, [&] { return substitute(g, p.sink, {{node, param}}); })) return true;
    return shape_free(g, p, node);
  }

  // Replaces an operation whose operands have other shapes: stores the operation's source instead.
  bool shape_free(Graph& g, const Program& p, Id node) {
    Builder b(g);
    for (const Id store : std::vector<Id>(g.src(p.sink).begin(), g.src(p.sink).end())) {
      if (g.src(store, 1) != node) continue;
      const auto slot = static_cast<std::size_t>(g.arg(g.src(store, 0), 0));
      if (p.params[slot].direction != Direction::out) continue;
      for (const Id s : std::vector<Id>(g.src(node).begin(), g.src(node).end())) {
        if (!is_value(g, s)) continue;
        Program other = p;
        other.params[slot].dtype = g.dtype(s);
        other.params[slot].extents = b.shape_of(s);
        const Id param = b.param(static_cast<int>(slot), other.params[slot]);
        if (attempt(g, other, [&] { return substitute(g, p.sink, {{store, b.store(param, other.params[slot], s)}}); }))
          return true;
      }
    }
    return false;
  }

  bool symbols() {
    for (const char* s : {"N", "M", "K"}) {
      if (!std::regex_search(text_, std::regex(std::string("\\b") + s + "\\b"))) continue;
      for (const char* value : {"1", "2", "3", "5", "8", "16"}) {
        std::string text = std::regex_replace(text_, std::regex(std::string("symbol ") + s + "[^\n]*\n"), "");
        if (attempt(std::regex_replace(text, std::regex(std::string("\\b") + s + "\\b"), value))) return true;
      }
    }
    return false;
  }

  bool numbers() {
    static const std::regex number(R"([\[( -]\d+(?=[\], )]))");
    std::set<std::int64_t> all;
    for (auto it = std::sregex_iterator(text_.begin(), text_.end(), number); it != std::sregex_iterator(); ++it)
      if (it->length() < 12) all.insert(std::stoll(it->str().substr(1)));
    for (auto it = all.rbegin(); it != all.rend(); ++it) {
      std::set<std::int64_t> smaller{1, 2, *it / 4, *it / 2, *it - 1};
      for (const std::int64_t v : smaller) {
        if (v >= *it || v < 0) continue;
        const std::regex whole("([\\[( -])" + std::to_string(*it) + "(?=[\\], )])");
        if (attempt(std::regex_replace(text_, whole, "$01" + std::to_string(v)))) return true;
      }
    }
    return false;
  }

  std::string text_;
  const std::function<bool(const std::string&)>& still_fails_;
  int tries_;
};

}  // namespace

std::string shrink_program(std::string text, const std::function<bool(const std::string&)>& still_fails, int tries) {
  return Shrinker(std::move(text), still_fails, tries).run();
}

}  // namespace kiln::compiler::testing
