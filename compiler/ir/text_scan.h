// Splits the text form into tokens. A line is one statement; `#` starts a comment. Internal to the reader.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "compiler/ir/diagnostic.h"
#include "compiler/ir/dtype.h"

namespace kiln::compiler {

class Scanner {
 public:
  Scanner(std::string_view text, std::string_view file) : text_(text), file_(file) {}

  bool at_end() const { return pos_ >= text_.size(); }
  // Moves to the next line that is not empty; false at the end of the text.
  bool next_statement();
  void end_statement();  // fails unless the cursor is at the end of the line
  bool at_line_end();    // skips blanks

  char peek();  // next character after blanks; '\0' at the end of the line
  bool accept(char c);
  bool accept(std::string_view punctuation);
  void expect(char c);
  std::string_view peek_word();
  bool accept_word(std::string_view w);
  std::string_view word(std::string_view expected);  // identifier: letter or _, then letters, digits, _ and .
  std::int64_t integer(std::string_view expected);   // decimal, with sign
  std::uint64_t natural(std::string_view expected);  // decimal, at most 2^63 - 1
  std::uint64_t literal(DType d);                    // a constant of this type, as bits
  std::string quoted(std::string_view expected);     // "..." with \" \\ \n \t

  std::uint32_t line() const { return line_; }
  std::uint32_t column() const { return static_cast<std::uint32_t>(pos_ - line_begin_ + 1); }
  [[noreturn]] void fail(std::string_view expected);  // "expected ..., got" and the text at the cursor
  [[noreturn]] void reject(const std::string& text, const char* id = "E-text") const;

 private:
  void skip_blanks();

  std::string_view text_;
  std::string file_;
  std::size_t pos_ = 0, line_begin_ = 0;
  std::uint32_t line_ = 1;
};

}  // namespace kiln::compiler
