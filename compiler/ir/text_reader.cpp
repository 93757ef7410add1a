#include "compiler/ir/text_reader.h"

#include <algorithm>

#include "compiler/ir/layout.h"
#include "compiler/ir/nth.h"

namespace kiln::compiler {

TextReader::TextReader(Graph& g, std::string_view text, std::string_view file)
    : scan(text, file), graph(g), build(g), file_(g.intern(file)) {}

std::string_view TextReader::header(std::string_view keyword, bool named, std::string* after) {
  if (!scan.next_statement() || !scan.accept_word(keyword)) scan.fail("`" + std::string(keyword) + "`");
  const auto n = named ? scan.word("a name") : std::string_view{};
  if (after != nullptr && scan.accept_word("after")) *after = scan.word("a pass");
  scan.end_statement();
  return n;
}

Id TextReader::known(std::uint64_t n) {
  const auto it = nodes_.find(n);
  if (it == nodes_.end()) scan.reject("expected a node defined above, got %" + std::to_string(n));
  return it->second;
}

Id TextReader::symbol(std::string_view n) {
  if (symbols_.emplace(n, true).second) {
    if (!in_params_) scan.reject("expected a symbol of the parameters, got `" + std::string(n) + "`");
    program.symbols.push_back({.name = std::string(n), .loc = graph.loc()});
  }
  return graph.sym(n);
}

Id TextReader::index() {
  graph.set_loc({file_, scan.line(), scan.column()});  // the location of messages about overflow
  const IndexNames names{
      [this](std::uint64_t n) {
        const Id id = known(n);
        if (graph.dtype(id) != DType::index)
          scan.reject("expected an index value, got %" + std::to_string(n) + " of type " + std::string(name(graph.dtype(id))));
        return id;
      },
      [this](std::string_view n) { return symbol(n); }};
  return scan_index(scan, graph, names);
}

namespace {
template <class T, class Read>
std::vector<T> bracketed(Scanner& s, Read read) {
  std::vector<T> out;
  s.expect('[');
  if (s.accept(']')) return out;
  do out.push_back(read());
  while (s.accept(','));
  s.expect(']');
  return out;
}
}  // namespace

std::vector<Id> TextReader::index_list() {
  auto v = bracketed<Id>(scan, [this] { return index(); });
  if (v.size() > max_rank)
    scan.reject("expected at most " + std::to_string(max_rank) + " axes, got " + std::to_string(v.size()), "E-rank");
  return v;
}
std::vector<std::int64_t> TextReader::number_list() {
  return bracketed<std::int64_t>(scan, [this] { return scan.integer("an integer"); });
}
std::vector<int> TextReader::small_list() {
  return bracketed<int>(scan, [this] {
    const std::int64_t v = scan.integer("an integer");
    if (v < 0 || v > INT32_MAX) scan.reject("expected a number below 2^31, got " + std::to_string(v));
    return narrow<int>(v);
  });
}

std::uint64_t TextReader::definition() {
  if (!scan.accept('%')) scan.fail("a statement");
  const std::uint64_t n = scan.natural("a node number");
  if (nodes_.contains(n)) scan.reject("expected a new node number, got %" + std::to_string(n) + " again");
  if (nodes_.size() >= max_text_nodes) scan.reject("expected at most " + std::to_string(max_text_nodes) + " nodes");
  scan.expect('=');
  return n;
}

void TextReader::define(std::uint64_t n, Id id) { nodes_.emplace(n, id); }

Id TextReader::node() {
  scan.expect('%');
  return known(scan.natural("a node number"));
}

Op TextReader::operation() {
  const auto w = scan.peek_word();
  const auto op = op_from_name(w);
  if (!op) scan.fail("an operation");
  scan.accept_word(w);
  return *op;
}

namespace {
// "f32", "f32x8"
std::optional<DType> split_type(std::string_view w, int& lanes) {
  lanes = 1;
  if (auto d = dtype_from_name(w)) return d;
  const auto x = w.rfind('x');
  if (x == std::string_view::npos || x + 1 == w.size() || w.size() - x > 6) return std::nullopt;
  lanes = 0;
  for (char c : w.substr(x + 1)) {
    if (c < '0' || c > '9') return std::nullopt;
    lanes = lanes * 10 + (c - '0');
  }
  if (lanes < 1 || lanes > 65535) return std::nullopt;
  return dtype_from_name(w.substr(0, x));
}
}  // namespace

bool TextReader::at_type() {
  int lanes = 1;
  return split_type(scan.peek_word(), lanes).has_value();
}

DType TextReader::type(int& lanes) {
  const auto w = scan.peek_word();
  const auto d = split_type(w, lanes);
  if (!d) scan.fail("a type");
  scan.accept_word(w);
  return *d;
}

SourceLoc TextReader::here() {
  scan.peek();
  return {file_, scan.line(), scan.column()};
}

void TextReader::location() {
  SourceLoc loc{file_, scan.line(), 1};
  if (scan.accept('@')) {
    loc.file = graph.intern(scan.quoted("a quoted file name"));
    scan.expect(':');
    const std::uint64_t line = scan.natural("a line");
    scan.expect(':');
    const std::uint64_t column = scan.natural("a column");
    if (line > UINT32_MAX || column > UINT32_MAX) scan.reject("expected line and column below 2^32");
    loc.line = static_cast<std::uint32_t>(line);
    loc.column = static_cast<std::uint32_t>(column);
  }
  scan.end_statement();
  graph.set_loc(loc);
}

const Parameter* TextReader::find_param(std::string_view n, int& slot) const {
  const auto it = params_.find(std::string(n));
  if (it == params_.end()) return nullptr;
  slot = it->second;
  return &nth(program.params, slot);
}

void TextReader::read_symbol() {
  Symbol s;
  s.loc = here();
  s.name = scan.word("a symbol's name");
  if (!symbols_.emplace(s.name, true).second)
    scan.reject("expected each symbol once, and before its first use, got `" + s.name + "`");
  while (!scan.at_line_end()) {
    if (scan.accept_word("min"))
      s.min = scan.integer("an integer");
    else if (scan.accept_word("max"))
      s.max = scan.integer("an integer");
    else if (scan.accept_word("multiple_of"))
      s.multiple_of = scan.integer("an integer");
    else if (scan.accept_word("needed_at"))
      s.min_needed_at = scan.quoted("the place of an operation");
    else if (scan.accept_word("counter"))
      s.kind = Symbol::Kind::counter;
    else if (scan.accept_word("count"))
      s.kind = Symbol::Kind::count;
    else if (scan.accept_word("element")) {
      s.kind = Symbol::Kind::element;
      s.buffer = narrow<int>(std::min<std::uint64_t>(scan.natural("a buffer"), INT32_MAX));
    } else
      scan.fail("`min`, `needed_at`, `max`, `multiple_of`, `counter`, `count` or `element`");
  }
  if ((s.min < 0 && s.kind == Symbol::Kind::extent) || s.max < s.min || s.multiple_of < 1)
    scan.reject("expected 0 <= min <= max and multiple_of >= 1 for `" + s.name + "`, got " + std::to_string(s.min) + ", " +
                std::to_string(s.max) + ", " + std::to_string(s.multiple_of));
  if (s.kind == Symbol::Kind::extent && s.max / s.multiple_of * s.multiple_of < s.min)
    scan.reject("expected a multiple of " + std::to_string(s.multiple_of) + " within the facts of `" + s.name +
                "`, got none in " + std::to_string(s.min) + " .. " + std::to_string(s.max));
  build.declare(s);
  program.symbols.push_back(std::move(s));
}

void TextReader::read_param(Direction d) {
  Parameter p;
  p.direction = d;
  int lanes = 1;
  p.loc = here();
  p.dtype = type(lanes);
  if (lanes != 1 || p.dtype == DType::index || p.dtype == DType::none) scan.reject("expected an element type of a tensor");
  in_params_ = true;
  if (scan.peek() == '[') p.extents = index_list();
  in_params_ = false;
  const std::string_view word = layout(p);
  p.name = word.empty() ? scan.word("a parameter's name") : word;
  if (!params_.emplace(p.name, count_of(program.params)).second)
    scan.reject("expected each parameter once, got `" + p.name + "` again");
  if (scan.peek() == '@') {
    location();
    p.loc = graph.loc();
  }
  program.params.push_back(std::move(p));
  if (const std::string taken = declare_strides(program); !taken.empty())
    scan.reject("expected no symbol `" + taken + "`, which is a stride");
}

// Reads the layout of a parameter. The caller gives strides of all axes except the last (`pitched`), of the first N (`pitched
// N`) or of all (`strided`). Returns the word if it is the parameter's name instead.
std::string_view TextReader::layout(Parameter& p) {
  const auto word = scan.peek_word();
  const bool pitched = word == "pitched";
  if (!pitched && word != "strided") return {};
  scan.accept_word(word);
  if (scan.at_line_end() || scan.peek() == '@') return word;
  const std::int64_t axes = std::ssize(p.extents);
  std::int64_t n = pitched ? axes - 1 : axes;
  if (pitched && scan.peek() >= '0' && scan.peek() <= '9')
    n = narrow<std::int64_t>(std::min<std::uint64_t>(scan.natural("a number of axes"), 1000));
  if (n < 1)
    scan.reject("expected " + std::string(pitched ? "two axes or more of a pitched" : "an axis or more of a strided") +
                    " parameter, got rank " + std::to_string(axes),
                "E-rank");
  if (n > axes) scan.reject("expected at most " + std::to_string(axes) + " strides, got " + std::to_string(n), "E-rank");
  p.free_strides = narrow<int>(n);
  return {};
}

void TextReader::read_check() {
  int slot = 0;
  const Parameter* p = find_param(check_parameter, slot);
  if (p == nullptr || p->direction != Direction::inout || p->dtype != DType::i32 || !p->extents.empty())
    scan.reject("expected `inout i32 [] " + std::string(check_parameter) + "` before a check");
  DataCheck c{scan.quoted("a quoted text"), {file_, scan.line(), 1}};
  if (scan.peek() == '@') {
    location();
    c.loc = graph.loc();
  }
  program.checks.push_back(std::move(c));
}

bool TextReader::symbol_or_param(std::string_view w) {
  if (w == "check") {
    scan.accept_word(w);
    read_check();
    scan.end_statement();
    return true;
  }
  if (w != "symbol" && w != "in" && w != "out" && w != "inout" && w != "state") return false;
  scan.accept_word(w);
  if (w == "symbol")
    read_symbol();
  else
    read_param(w == "in" ? Direction::in : w == "out" ? Direction::out : w == "state" ? Direction::state : Direction::inout);
  scan.end_statement();
  return true;
}

}  // namespace kiln::compiler
