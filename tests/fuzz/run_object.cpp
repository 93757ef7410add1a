#include "tests/fuzz/run_object.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>

#include "kiln/pool.h"
#include "tests/run/compiled.h"
#include "tests/run/layouts.h"

namespace kiln::compiler::testing {
namespace {

constexpr std::size_t guard = 256;
constexpr std::byte unwritten{0xa5};
const std::int64_t much_work[] = {KILN_PUSH_CONST, 1'000'000'000, KILN_EXPR_END};

struct Free {
  void operator()(std::byte* p) const { std::free(p); }
};

// A page that no access survives: the memory of empty tensors.
std::byte* no_memory() {
  static std::byte* const page = [] {
    void* p = mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) throw std::bad_alloc();
    return static_cast<std::byte*>(p);
  }();
  return page;
}

// Bytes that begin `past` bytes behind a multiple of 64, between two guards.
class Guarded {
 public:
  explicit Guarded(std::size_t n, std::size_t past = 0)
      : size_(n), past_(past), memory_(static_cast<std::byte*>(std::aligned_alloc(64, (n + past + 2 * guard + 63) / 64 * 64))) {
    std::memset(memory_.get(), static_cast<int>(unwritten), n + past + 2 * guard);
  }
  std::byte* data() const { return (size_ == 0 ? no_memory() : memory_.get()) + guard + past_; }
  bool intact() const {
    for (std::size_t i = 0; i < guard; ++i)
      if (memory_.get()[past_ + i] != unwritten || memory_.get()[past_ + guard + size_ + i] != unwritten) return false;
    return true;
  }

 private:
  std::size_t size_, past_;
  std::unique_ptr<std::byte, Free> memory_;
};

// Fills memory with bits that are NaN as f64, f32, f16 and bf16, some of them signaling: an element that is read before it is
// written makes a NaN, also where it is multiplied by 0.
void fill_with_nans(const Guarded& memory, std::size_t n) {
  constexpr std::uint64_t nans = 0x7ff5'ffa5'7fa5'7fa5;
  for (std::size_t i = 0; i < n; ++i) memory.data()[i] = static_cast<std::byte>(nans >> 8 * (i % 8));
}

// The contents of a guarded buffer.
Array dense(const Array& like, const Guarded& memory) {
  Array a{like.dtype, like.extents, {}};
  a.data.assign(memory.data(), memory.data() + like.data.size());
  return a;
}

std::string message(const kiln_program_desc& d, const kiln_status& s) {
  char text[300];
  kiln_status_message(&d, s, text, sizeof text);
  return text;
}

// An order of the kernels: always the last kernel whose dependencies have run.
std::vector<kiln_kernel_desc> latest_first(const std::vector<kiln_kernel_desc>& kernels) {
  std::vector<kiln_kernel_desc> out;
  std::vector<bool> done(kernels.size(), false);
  while (out.size() < kernels.size()) {
    std::size_t k = kernels.size();
    const auto ready = [&] {
      if (done[k]) return false;
      const std::span needs(kernels[k].depends_on, static_cast<std::size_t>(kernels[k].n_depends_on));
      return std::ranges::all_of(needs, [&](std::int32_t n) { return done[static_cast<std::size_t>(n)]; });
    };
    do {
      if (k-- == 0) throw std::runtime_error("kernels depend on each other");
    } while (!ready());
    done[k] = true;
    out.push_back(kernels[k]);
  }
  return out;
}

void chunks_backwards(kiln_executor* /*self*/, std::int64_t n, std::int64_t alignment, std::int32_t max_chunks,
                      void (*task)(void*, std::int64_t, std::int64_t), void* data) {
  const std::int64_t least = (n + max_chunks - 1) / max_chunks, size = (least + alignment - 1) / alignment * alignment;
  for (std::int64_t begin = (n - 1) / size * size; begin >= 0; begin -= size) task(data, begin, std::min(begin + size, n));
}

kiln_executor* executor(Execution how) {
  static pool two(2), three(3);
  static kiln_executor backwards{chunks_backwards, 64};
  kiln_executor* const executors[] = {nullptr, two.executor(), three.executor(), &backwards};
  return executors[static_cast<int>(how)];
}

}  // namespace

RunnableObject::RunnableObject(const std::string& object, const Program& p) : program_(p), object_(object) {
  description_ = reinterpret_cast<const kiln_program_desc* (*)()>(object_.symbol(p.name + "_desc"))();
  in_order_.assign(description_->kernels, description_->kernels + description_->n_kernels);
  for (kiln_kernel_desc& k : in_order_) k.work = much_work;
  backwards_ = description_->n_loops > 0 ? in_order_ : latest_first(in_order_);  // loops run kernels by number
}

std::string RunnableObject::compare(std::span<const Array> arguments, std::span<const Array> expected, Execution how) const {
  const bool in_order = how == Execution::one_thread;
  kiln_program_desc description = *description_;
  description.kernels = (in_order ? in_order_ : backwards_).data();
  std::vector<Guarded> memory;
  std::vector<kiln_tensor> tensors;
  std::vector<std::optional<LaidOut>> apart(arguments.size());
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Array& a = arguments[i];
    memory.emplace_back(a.data.size(), (24 * i + (in_order ? 16 : 0)) % 64);  // kernels align their stores themselves
    if (program_.params[i].direction != Direction::out && !a.data.empty())
      std::memcpy(memory.back().data(), a.data.data(), a.data.size());
    tensors.push_back({memory.back().data(), a.extents.data(), nullptr, static_cast<std::int32_t>(a.dtype),
                       static_cast<std::int32_t>(a.extents.size())});
    if (program_.params[i].free_strides > 0) {
      apart[i].emplace(program_.params[i], dense(a, memory.back()), 100 * ++calls_ + i);
      tensors[i].data = apart[i]->data();
      tensors[i].strides = apart[i]->strides();
      continue;
    }
    for (std::size_t j = 0; !in_order && j < i; ++j)
      if (both_inputs(i, j) && !apart[j] && a.dtype == arguments[j].dtype && a.data == arguments[j].data)
        tensors[i].data = tensors[j].data;
  }
  const auto n = static_cast<std::int32_t>(tensors.size());
  std::int64_t need = 0;
  if (const kiln_status s = kiln_workspace_bytes(&description, tensors.data(), n, &need); s.code != KILN_OK)
    return "workspace: " + message(description, s);
  const Guarded workspace(static_cast<std::size_t>(need));
  fill_with_nans(workspace, static_cast<std::size_t>(need));
  const kiln_context context{executor(how), workspace.data(), need, nullptr, nullptr, nullptr};
  if (const kiln_status s = kiln_call(&description, tensors.data(), n, &context); s.code != KILN_OK)
    return "call: " + message(description, s);
  if (!workspace.intact()) return "bytes outside the workspace were written";
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (!memory[i].intact()) return "bytes outside " + program_.params[i].name + " were written";
    const bool input = program_.params[i].direction == Direction::in;
    Array got = dense(arguments[i], memory[i]);
    if (apart[i] && !apart[i]->take_back(got)) return "bytes between elements of " + program_.params[i].name + " were written";
    if (input ? got.data != arguments[i].data : false) return "input " + program_.params[i].name + " was written";
    const std::string text = input ? "" : difference(expected[i], got);
    if (!text.empty()) return program_.params[i].name + ' ' + text;
  }
  return {};
}

}  // namespace kiln::compiler::testing
