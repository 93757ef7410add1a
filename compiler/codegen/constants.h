// The constants of a program description: rows of C structs of kiln/program.h, texts, arrays. Equal constants are one constant,
// so the variants of a program share equal data.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <vector>

#include <llvm/IR/Constants.h>
#include <llvm/IR/Module.h>

namespace kiln::compiler {

// A member of a C struct and its value. A number gets the member's width.
template <class Struct>
struct Member {
  template <class T>
  Member(T Struct::* at, llvm::Constant* v) : offset(offset_of(at)), value(v) {}
  template <std::integral T, class Number>
    requires std::integral<Number> || std::is_enum_v<Number>
  Member(T Struct::* at, Number n) : offset(offset_of(at)), bits(8 * sizeof(T)), number(static_cast<std::uint64_t>(n)) {}

  template <class T>
  static std::size_t offset_of(T Struct::* at) {
    static constexpr Struct any{};
    return static_cast<std::size_t>(reinterpret_cast<const char*>(&(any.*at)) - reinterpret_cast<const char*>(&any));
  }

  std::size_t offset;
  llvm::Constant* value = nullptr;  // null: a number
  unsigned bits = 0;
  std::uint64_t number = 0;
};

class Constants {
 public:
  explicit Constants(llvm::Module& module) : module_(module) {}

  // Throws std::logic_error unless all members are there, in the order of the C struct.
  template <class Struct>
  llvm::Constant* row(std::initializer_list<Member<Struct>> members) {
    std::vector<llvm::Constant*> values;
    std::vector<std::uint64_t> offsets;
    for (const Member<Struct>& m : members) {
      values.push_back(m.value != nullptr ? m.value : number(m.number, m.bits));
      offsets.push_back(m.offset);
    }
    return checked_row(values, offsets, sizeof(Struct));
  }

  llvm::Constant* null();
  // The address of a constant with this value.
  llvm::GlobalVariable* global(llvm::Constant* value);
  // The address of the first row; null if there is none.
  llvm::Constant* array(const std::vector<llvm::Constant*>& rows);
  llvm::Constant* text(const std::string& s);
  llvm::Constant* numbers(const std::vector<std::int32_t>& values);  // as array()
  llvm::Constant* code(std::vector<std::int64_t> words);             // an expression; `words` without the word `end`

  llvm::LLVMContext& context() { return module_.getContext(); }

 private:
  llvm::Constant* number(std::uint64_t n, unsigned bits);
  llvm::Constant* checked_row(const std::vector<llvm::Constant*>& values, const std::vector<std::uint64_t>& offsets,
                              std::size_t size);

  llvm::Module& module_;
  std::map<llvm::Constant*, llvm::GlobalVariable*> globals_;  // by value; LLVM has one object for equal values
};

}  // namespace kiln::compiler
