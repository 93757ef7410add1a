#include "compiler/ir/text_scan.h"

#include <charconv>

#include "compiler/ir/literal.h"
#include "compiler/ir/nth.h"

namespace kiln::compiler {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

void Scanner::skip_blanks() {
  while (pos_ < text_.size() && (text_[pos_] == ' ' || text_[pos_] == '\t' || text_[pos_] == '\r')) ++pos_;
}

bool Scanner::at_line_end() {
  skip_blanks();
  return at_end() || text_[pos_] == '\n' || text_[pos_] == '#';
}

bool Scanner::next_statement() {
  while (at_line_end()) {
    while (!at_end() && text_[pos_] != '\n') ++pos_;
    if (at_end()) return false;
    line_begin_ = ++pos_;
    ++line_;
  }
  return true;
}

void Scanner::end_statement() {
  if (!at_line_end()) fail("the end of the line");
}

char Scanner::peek() { return at_line_end() ? '\0' : text_[pos_]; }

bool Scanner::accept(char c) {
  if (peek() != c) return false;
  ++pos_;
  return true;
}

bool Scanner::accept(std::string_view punctuation) {
  if (at_line_end() || !text_.substr(pos_).starts_with(punctuation)) return false;
  pos_ += punctuation.size();
  return true;
}

void Scanner::expect(char c) {
  if (!accept(c)) fail("`" + std::string(1, c) + "`");
}

std::string_view Scanner::peek_word() {
  if (at_line_end() || !is_letter(text_[pos_])) return {};
  std::size_t end = pos_;
  while (end < text_.size() && (is_letter(text_[end]) || is_digit(text_[end]) || text_[end] == '.')) ++end;
  return text_.substr(pos_, end - pos_);
}

bool Scanner::accept_word(std::string_view w) {
  if (peek_word() != w) return false;
  pos_ += w.size();
  return true;
}

std::string_view Scanner::word(std::string_view expected) {
  const auto w = peek_word();
  if (w.empty()) fail(expected);
  pos_ += w.size();
  return w;
}

std::uint64_t Scanner::natural(std::string_view expected) {
  if (at_line_end() || !is_digit(text_[pos_])) fail(expected);
  std::int64_t v = 0;
  const auto r = std::from_chars(text_.data() + pos_, text_.data() + text_.size(), v);
  if (r.ec != std::errc{}) fail(std::string(expected) + " below 2^63");
  pos_ = index_at(text_, r.ptr);
  return static_cast<std::uint64_t>(v);
}

std::int64_t Scanner::integer(std::string_view expected) {
  if (at_line_end() || (text_[pos_] != '-' && !is_digit(text_[pos_]))) fail(expected);
  std::int64_t v = 0;
  const auto r = std::from_chars(text_.data() + pos_, text_.data() + text_.size(), v);
  if (r.ec != std::errc{}) fail(std::string(expected) + " of 64 bits");
  pos_ = index_at(text_, r.ptr);
  return v;
}

std::uint64_t Scanner::literal(DType d) {
  const std::string expected = "a constant of type " + std::string(name(d));
  if (at_line_end()) fail(expected);
  std::size_t end = pos_;
  while (end < text_.size() && (is_letter(text_[end]) || is_digit(text_[end]) || text_[end] == '.' || text_[end] == '-' ||
                                text_[end] == '+' || text_[end] == '(' || text_[end] == ')'))
    ++end;
  const auto bits = literal_bits(d, text_.substr(pos_, end - pos_));
  if (!bits) fail(expected + " in its range");
  pos_ = end;
  return *bits;
}

std::string Scanner::quoted(std::string_view expected) {
  if (at_line_end() || text_[pos_] != '"') fail(expected);
  std::string out;
  for (++pos_; pos_ < text_.size() && text_[pos_] != '"' && text_[pos_] != '\n'; ++pos_) {
    char c = text_[pos_];
    if (c == '\\') {
      if (++pos_ >= text_.size()) break;
      c = text_[pos_];
      if (c != '"' && c != '\\' && c != 'n' && c != 't') fail("one of \\\" \\\\ \\n \\t");
      c = c == 'n' ? '\n' : c == 't' ? '\t' : c;
    }
    out += c;
  }
  if (at_end() || text_[pos_] != '"') fail("a closing quote");
  ++pos_;
  return out;
}

void Scanner::fail(std::string_view expected) {
  std::string got = "the end of the line";
  if (!at_line_end()) {
    std::size_t end = pos_;
    while (end < text_.size() && text_[end] != '\n' && end - pos_ < 24) ++end;
    got = "`";
    for (char c : text_.substr(pos_, end - pos_)) got += c >= ' ' && c <= '~' ? c : '?';
    got += "`";
  } else if (at_end()) {
    got = "the end of the text";
  }
  reject("expected " + std::string(expected) + ", got " + got);
}

void Scanner::reject(const std::string& text, const char* id) const {
  throw Diagnostic(id, file_ + ":" + std::to_string(line_) + ":" + std::to_string(column()), text);
}

}  // namespace kiln::compiler
