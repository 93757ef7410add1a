#include "tests/run/loaded_object.h"

#include <llvm/ExecutionEngine/RuntimeDyld.h>
#include <llvm/ExecutionEngine/SectionMemoryManager.h>
#include <llvm/Object/ObjectFile.h>

#include <stdexcept>

#include "kiln/kiln.h"

namespace kiln::compiler::testing {
namespace {

// Resolves the external symbols of an object.
struct Memory final : llvm::SectionMemoryManager {
  std::uint64_t getSymbolAddress(const std::string& name) override {
    if (name == "kiln_call") return reinterpret_cast<std::uint64_t>(&kiln_call);
    return name == "kiln_selected_variant" ? reinterpret_cast<std::uint64_t>(&kiln_selected_variant) : 0;
  }
};

}  // namespace

struct LoadedObject::Parts {
  std::string bytes;  // the bytes that `file` reads
  Memory memory;
  llvm::RuntimeDyld linker{memory, memory};
  std::unique_ptr<llvm::object::ObjectFile> file;
};

LoadedObject::LoadedObject(std::string object) : parts_(std::make_unique<Parts>()) {
  parts_->bytes = std::move(object);
  auto file = llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(parts_->bytes, "object"));
  if (!file) throw std::runtime_error(llvm::toString(file.takeError()));
  parts_->file = std::move(*file);
  parts_->linker.loadObject(*parts_->file);
  parts_->linker.resolveRelocations();
  std::string error;
  if (parts_->linker.hasError()) throw std::runtime_error(parts_->linker.getErrorString().str());
  if (parts_->memory.finalizeMemory(&error)) throw std::runtime_error(error);
}

LoadedObject::~LoadedObject() = default;

void* LoadedObject::symbol(const std::string& name) const {
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(parts_->linker.getSymbol(name).getAddress()));
}

std::vector<std::string> LoadedObject::globals(bool undefined) const {
  using llvm::object::SymbolRef;
  std::vector<std::string> names;
  for (const SymbolRef& s : parts_->file->symbols()) {
    const std::uint32_t flags = llvm::cantFail(s.getFlags());
    if ((flags & SymbolRef::SF_Global) != 0 && ((flags & SymbolRef::SF_Undefined) != 0) == undefined)
      names.push_back(llvm::cantFail(s.getName()).str());
  }
  return names;
}

std::vector<std::string> LoadedObject::defined() const { return globals(false); }
std::vector<std::string> LoadedObject::undefined() const { return globals(true); }

}  // namespace kiln::compiler::testing
