#include "tests/fuzz/text_mutation.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

namespace kiln::test {
namespace {

std::size_t below(Random& random, std::size_t n) { return n == 0 ? 0 : static_cast<std::size_t>(random.next() % n); }

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    out.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

// Words, signed numbers, node names and other single characters. Blanks belong to the next token.
std::vector<std::string> tokens_of(const std::string& line) {
  std::vector<std::string> out;
  const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.'; };
  for (std::size_t at = 0; at < line.size();) {
    std::size_t end = at;
    while (end < line.size() && line[end] == ' ') ++end;
    const bool leads = end + 1 < line.size() && (line[end] == '%' || line[end] == '-') && is_word(line[end + 1]);
    if (end < line.size()) ++end;
    if (leads || is_word(line[end - 1]))
      while (end < line.size() && is_word(line[end])) ++end;
    out.push_back(line.substr(at, end - at));
    at = end;
  }
  return out;
}

std::string bare(const std::string& token) {
  const std::size_t at = token.find_first_not_of(' ');
  return at == std::string::npos ? std::string() : token.substr(at);
}
bool is_node(const std::string& word) { return word.size() > 1 && word[0] == '%'; }
bool is_number(const std::string& word) {
  const std::size_t from = !word.empty() && word[0] == '-' ? 1 : 0;
  return word.size() > from && std::all_of(word.begin() + static_cast<std::ptrdiff_t>(from), word.end(),
                                           [](unsigned char c) { return std::isdigit(c) != 0; });
}

constexpr std::array numbers{"-1",
                             "0",
                             "1",
                             "2",
                             "3",
                             "4",
                             "5",
                             "7",
                             "8",
                             "16",
                             "31",
                             "32",
                             "33",
                             "64",
                             "255",
                             "256",
                             "65535",
                             "65536",
                             "1000000",
                             "2147483647",
                             "-2147483648",
                             "4294967296",
                             "1099511627776",
                             "4611686018427387904",
                             "9223372036854775807",
                             "-9223372036854775808"};
constexpr std::array words{
    "add",          "sub",        "mul",         "fdiv",         "floordiv",   "floormod",     "cdiv",
    "min",          "max",        "and",         "or",           "lt",         "eq",           "where",
    "fma",          "cast",       "bitcast",     "neg",          "not",        "sqrt",         "exp",
    "const",        "sym",        "param",       "range",        "reduce",     "stage",        "index",
    "load",         "store",      "end",         "sink",         "kernel",     "for",          "carry",
    "get",          "local",      "update",      "atomic",       "old",        "entry",        "broadcast",
    "ramp",         "lane",       "shuffle",     "buffer",       "invalid",    "gather",       "concat",
    "pad",          "slice",      "reshape",     "expand",       "permute",    "iota",         "bool",
    "i8",           "i32",        "i64",         "u8",           "u64",        "f16",          "f32",
    "f64",          "none",       "loop",        "vector",       "thread",     "unroll",       "workgroup",
    "sequential",   "striped",    "sum",         "prod",         "argmax",     "exchange",     "i64x8",
    "f32x8",        "boolx8",     "size",        "offset",       "tile",       "tile_storage", "whole",
    "after",        "among",      "count",       "counter",      "explicit",   "at_entry",     "segment",
    "in",           "out",        "inout",       "state",        "while",      "serial",       "parallel",
    "symbol",       "workspace",  "memory_plan", "kernel_split", "host_loops", "lower",        "range_assignment",
    "dependencies", "fold_stages"};

// The type after `%n = operation`. Nodes of one type are exchanged for each other.
std::string type_of(const std::string& line) {
  const auto tokens = tokens_of(line);
  return tokens.size() > 3 && is_node(bare(tokens[0])) ? bare(tokens[3]) : std::string();
}

class Mutation {
 public:
  Mutation(Random& random, const std::string& text, const std::string& other)
      : random_(random), lines_(lines_of(text)), other_(lines_of(other)) {}

  std::string run() {
    const auto times = random_.pick(1, 3);
    for (std::int64_t i = 0; i < times && !lines_.empty(); ++i) once();
    std::string out;
    for (const std::string& l : lines_) out += l + '\n';
    if (random_.one_in(200)) out.resize(below(random_, out.size()));
    return out;
  }

 private:
  std::size_t line() { return below(random_, lines_.size()); }

  void once() {
    const std::int64_t kind = random_.pick(0, 99);
    if (kind < 60) return change(line(), is_node);
    if (kind < 84) return change(line(), is_number);
    if (kind < 91) return change(line(), [](const std::string& w) { return !is_node(w) && !is_number(w); });
    if (kind < 92) return erase_token(line());
    if (kind < 93) return void(lines_.erase(lines_.begin() + static_cast<std::ptrdiff_t>(line())));
    if (kind < 95) return swap();
    if (kind < 97) return copy(lines_[line()]);
    if (kind < 98) return copy(other_.empty() ? std::string() : other_[below(random_, other_.size())]);
    change(0, [](const std::string&) { return true; });
  }

  // Replaces a word that `fits` by another word of its kind.
  template <class F>
  void change(std::size_t at, F fits) {
    auto tokens = tokens_of(lines_[at]);
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < tokens.size(); ++i)
      if (fits(bare(tokens[i]))) found.push_back(i);
    if (found.empty()) return;
    const std::size_t i = found[below(random_, found.size())];
    const std::string word = bare(tokens[i]), blanks = tokens[i].substr(0, tokens[i].size() - word.size());
    tokens[i] = blanks + (is_node(word) ? other_node(at, word) : is_number(word) ? other_number(word) : other_word());
    lines_[at].clear();
    for (const std::string& t : tokens) lines_[at] += t;
  }

  std::string other_node(std::size_t at, const std::string& now) {
    std::string type;
    for (const std::string& l : lines_)
      if (l.starts_with(now + " ")) type = type_of(l);
    const bool same_type = !random_.one_in(4);
    std::vector<std::string> found;
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      if (lines_[i].empty() || lines_[i][0] != '%' || (i >= at && !random_.one_in(20))) continue;
      if (!same_type || type_of(lines_[i]) == type) found.push_back(lines_[i].substr(0, lines_[i].find(' ')));
    }
    return found.empty() ? now : found[below(random_, found.size())];
  }

  std::string other_number(const std::string& now) {
    if (random_.one_in(2)) return numbers[below(random_, numbers.size())];
    if (now.size() > 15) return "17";
    return std::to_string(std::stoll(now) + random_.pick(-2, 2));
  }

  std::string other_word() {
    if (random_.one_in(2)) return words[below(random_, words.size())];
    const auto tokens = tokens_of(lines_[line()]);
    return tokens.empty() ? std::string() : bare(tokens[below(random_, tokens.size())]);
  }

  void erase_token(std::size_t at) {
    auto tokens = tokens_of(lines_[at]);
    if (tokens.empty()) return;
    tokens.erase(tokens.begin() + static_cast<std::ptrdiff_t>(below(random_, tokens.size())));
    lines_[at].clear();
    for (const std::string& t : tokens) lines_[at] += t;
  }

  void swap() {
    const std::size_t a = line();
    std::swap(lines_[a], lines_[line()]);
  }

  // Copies a node under a new name, with the same operands.
  void copy(std::string text) {
    if (text.starts_with("%"))
      text = "%" + std::to_string(10'000'000 + random_.pick(0, 1'000'000)) + text.substr(std::min(text.find(' '), text.size()));
    lines_.insert(lines_.begin() + static_cast<std::ptrdiff_t>(line()), std::move(text));
  }

  Random& random_;
  std::vector<std::string> lines_, other_;
};

}  // namespace

std::string mutated_text(Random& random, const std::string& text, const std::string& other) {
  return Mutation(random, text, other).run();
}

}  // namespace kiln::test
