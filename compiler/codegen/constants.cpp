#include "compiler/codegen/constants.h"

#include <stdexcept>

#include "kiln/program.h"

namespace kiln::compiler {

using llvm::Constant;

Constant* Constants::number(std::uint64_t n, unsigned bits) {
  return llvm::ConstantInt::get(context(), llvm::APInt(64, n).zextOrTrunc(bits));
}

Constant* Constants::checked_row(const std::vector<Constant*>& values, const std::vector<std::uint64_t>& offsets,
                                 std::size_t size) {
  auto* out = llvm::cast<llvm::ConstantStruct>(llvm::ConstantStruct::getAnon(context(), values));
  const llvm::StructLayout& layout = *module_.getDataLayout().getStructLayout(out->getType());
  bool equal = layout.getSizeInBytes() == size;
  for (unsigned i = 0; i < offsets.size(); ++i) equal = equal && layout.getElementOffset(i) == offsets[i];
  if (!equal) throw std::logic_error("codegen: a description differs from its C struct");
  return out;
}

Constant* Constants::null() { return llvm::ConstantPointerNull::get(llvm::PointerType::getUnqual(context())); }

llvm::GlobalVariable* Constants::global(Constant* value) {
  llvm::GlobalVariable*& v = globals_[value];
  if (v != nullptr) return v;
  v = new llvm::GlobalVariable(module_, value->getType(), true, llvm::GlobalValue::PrivateLinkage, value, "kiln.desc");
  v->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
  return v;
}

Constant* Constants::array(const std::vector<Constant*>& rows) {
  if (rows.empty()) return null();
  return global(llvm::ConstantArray::get(llvm::ArrayType::get(rows[0]->getType(), rows.size()), rows));
}

Constant* Constants::text(const std::string& s) { return global(llvm::ConstantDataArray::getString(context(), s)); }

Constant* Constants::numbers(const std::vector<std::int32_t>& values) {
  return values.empty() ? null() : global(llvm::ConstantDataArray::get(context(), llvm::ArrayRef<std::int32_t>(values)));
}

Constant* Constants::code(std::vector<std::int64_t> words) {
  words.push_back(KILN_EXPR_END);
  return global(llvm::ConstantDataArray::get(context(), llvm::ArrayRef<std::int64_t>(words)));
}

}  // namespace kiln::compiler
