#include "generator/tools/npy.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <system_error>

#include "compiler/ir/diagnostic.h"
#include "generator/outputs.h"

namespace kiln::generator {
namespace {

using compiler::Array;
using compiler::Diagnostic;
using compiler::DType;

constexpr std::size_t max_header = 64 * 1024;
constexpr std::size_t max_rank = 32;

struct Name {
  DType dtype;
  std::string_view text;
};
constexpr Name names[] = {{DType::boolean, "|b1"}, {DType::i8, "|i1"},  {DType::u8, "|u1"},  {DType::i16, "<i2"},
                          {DType::u16, "<u2"},     {DType::i32, "<i4"}, {DType::u32, "<u4"}, {DType::i64, "<i8"},
                          {DType::u64, "<u8"},     {DType::f16, "<f2"}, {DType::f32, "<f4"}, {DType::f64, "<f8"},
                          {DType::bf16, "<u2"}};

// The header: a Python dict literal with the keys descr, fortran_order and shape.
class Header {
 public:
  Header(std::string_view text, const std::string& file) : s_(text), file_(file) {}

  Array parse() {
    Array a;
    bool descr = false, order = false, shape = false;
    expect('{');
    while (peek() != '}') {
      const std::string key = quoted();
      expect(':');
      if (key == "descr" && !descr) {
        a.dtype = dtype(quoted_descr());
        descr = true;
      } else if (key == "fortran_order" && !order) {
        if (word() != "False") fail("expected C order, got fortran_order True");
        order = true;
      } else if (key == "shape" && !shape) {
        a.extents = tuple();
        shape = true;
      } else {
        fail("expected the keys descr, fortran_order and shape once each, got '" + key + "'");
      }
      if (peek() != '}') expect(',');
    }
    expect('}');
    while (at_ < s_.size())
      if (!is_space(s_[at_++])) fail("text after the header's }");
    if (!descr || !order || !shape) fail("the header lacks descr, fortran_order or shape");
    return a;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { throw Diagnostic("E-npy", file_, what); }
  static bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t'; }

  char peek() {
    while (at_ < s_.size() && is_space(s_[at_])) ++at_;
    if (at_ == s_.size()) fail("the header ends early");
    return s_[at_];
  }
  void expect(char c) {
    if (peek() != c) fail(std::string("expected '") + c + "' in the header at byte " + std::to_string(at_));
    ++at_;
  }
  std::string quoted() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') fail("expected a string in the header at byte " + std::to_string(at_));
    const std::size_t end = s_.find(quote, at_ + 1);
    if (end == std::string_view::npos) fail("a string in the header does not end");
    std::string out(s_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return out;
  }
  std::string quoted_descr() {
    if (peek() == '[') fail("expected a plain dtype, got a record");
    return quoted();
  }
  std::string word() {
    peek();
    std::string out;
    while (at_ < s_.size() && std::isalpha(static_cast<unsigned char>(s_[at_])) != 0) out += s_[at_++];
    return out;
  }
  std::int64_t number() {
    if (peek() < '0' || peek() > '9') fail("expected an extent in the header at byte " + std::to_string(at_));
    std::int64_t v = 0;
    for (; at_ < s_.size() && s_[at_] >= '0' && s_[at_] <= '9'; ++at_)
      if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, s_[at_] - '0', &v))
        fail("an extent does not fit 64 bits");
    return v;
  }
  std::vector<std::int64_t> tuple() {
    std::vector<std::int64_t> out;
    expect('(');
    while (peek() != ')') {
      if (out.size() == max_rank) fail("expected at most 32 axes");
      out.push_back(number());
      if (peek() != ')') expect(',');
    }
    expect(')');
    return out;
  }
  DType dtype(const std::string& text) const {
    std::string t = text;
    if (t.size() == 3 && (t[0] == '=' || t[0] == '<') && t[2] == '1') t[0] = '|';
    if (t.size() == 3 && t[0] == '=') t[0] = '<';
    for (const Name& n : names)
      if (n.text == t) return n.dtype;
    if (!t.empty() && t[0] == '>') fail("expected little-endian elements, got '" + text + "'");
    if (t.find('O') != std::string::npos) fail("expected numbers, got pickled objects");
    fail("expected bool, integers or floats, got dtype '" + text + "'");
  }

  std::string_view s_;
  const std::string& file_;
  std::size_t at_ = 0;
};

std::size_t little_endian(std::string_view s) {
  std::size_t v = 0;
  for (std::size_t i = s.size(); i-- > 0;) v = v << 8 | static_cast<unsigned char>(s[i]);
  return v;
}

}  // namespace

Array parse_npy(std::string_view s, const std::string& file) {
  const auto fail = [&](const std::string& what) { throw Diagnostic("E-npy", file, what); };
  if (s.size() < 10 || s.substr(0, 6) != "\x93NUMPY") fail("not a .npy file");
  const int version = static_cast<unsigned char>(s[6]);
  if (version < 1 || version > 3) fail("expected format version 1, 2 or 3, got " + std::to_string(version));
  const std::size_t start = version == 1 ? 10 : 12;
  if (s.size() < start) fail("the file ends in its header");
  const std::size_t length = little_endian(s.substr(8, start - 8));
  if (length > max_header) fail("expected a header of at most 65536 bytes, got " + std::to_string(length));
  if (length > s.size() - start) fail("the file ends in its header");
  Array a = Header(s.substr(start, length), file).parse();

  // An extent of 0 is no excuse for the other extents: their product must still fit a size.
  const std::string_view data = s.substr(start + length);
  std::int64_t need = bytes(a.dtype), fits = 0;
  for (std::int64_t e : a.extents)
    if (__builtin_mul_overflow(need, std::max<std::int64_t>(e, 1), &need)) fail("the shape's size does not fit 64 bits");
  fits = std::ranges::find(a.extents, 0) != a.extents.end() ? 0 : need;
  if (static_cast<std::uint64_t>(fits) != data.size())
    fail("expected " + std::to_string(fits) + " bytes of elements, got " + std::to_string(data.size()));
  a.data.resize(data.size());
  if (!data.empty()) std::memcpy(a.data.data(), data.data(), data.size());
  if (a.dtype == DType::boolean)
    for (std::byte& b : a.data)
      if (b > std::byte{1}) fail("a bool element is neither 0 nor 1");
  return a;
}

Array read_npy(const std::string& file) { return parse_npy(read_file(file), file); }

std::string format_npy(const Array& a) {
  std::string shape;
  for (std::int64_t e : a.extents) shape += std::to_string(e) + (a.extents.size() == 1 ? "," : ", ");
  if (a.extents.size() > 1) shape.resize(shape.size() - 2);
  std::string_view descr;
  for (const Name& n : names)
    if (n.dtype == a.dtype) descr = n.text;
  std::string header = "{'descr': '" + std::string(descr) + "', 'fortran_order': False, 'shape': (" + shape + "), }";
  header.append(63 - (10 + header.size()) % 64, ' ');
  header += '\n';
  std::string out("\x93NUMPY\x01\x00", 8);
  out += static_cast<char>(header.size() & 0xff);
  out += static_cast<char>(header.size() >> 8 & 0xff);
  out += header;
  out.append(reinterpret_cast<const char*>(a.data.data()), a.data.size());
  return out;
}

void write_npy(const std::string& file, const Array& a) { write_file(file, format_npy(a)); }

Array as_dtype(Array a, DType d, const std::string& where) {
  if (d == DType::bf16 && (a.dtype == DType::u16 || a.dtype == DType::i16)) a.dtype = d;
  if (a.dtype != d)
    throw Diagnostic("E-argument", where,
                     "expected dtype " + std::string(name(d)) + (d == DType::bf16 ? " (as u16 bits)" : "") + ", got " +
                         std::string(name(a.dtype)));
  return a;
}

void write_file(const std::string& file, std::string_view bytes) {
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.close();
  if (!out) throw Diagnostic("E-file", file, "cannot be written: " + std::generic_category().message(errno));
}

}  // namespace kiln::generator
