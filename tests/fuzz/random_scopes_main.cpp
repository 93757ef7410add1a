// random_scopes [--count N] [--seed S] [--jobs J]: random programs of integers with kernels, workgroups and barriers, loops,
// conditions, breaks, variables, local arrays, elements, atomics and whole tensors. Each computes, bit for bit, the same as
// plain C compiled by cc -O0 -fwrapv: in the interpreter, and compiled at two vector widths, with 1 and 3 threads and chunks
// backwards. A failure of compiled code is shrunk; a failure of the interpreter is printed with the C.
#include <memory>

#include "tests/fuzz/c_library.h"
#include "tests/fuzz/campaign.h"
#include "tests/fuzz/captured_campaign.h"
#include "tests/fuzz/random_scopes.h"
#include "tests/fuzz/scopes_as_c.h"

namespace kiln::test {
namespace {

using namespace compiler;
using namespace compiler::testing;

std::string name_of(std::uint64_t seed) { return "scopes_" + std::to_string(seed); }

std::string c_of_seed(std::uint64_t seed) { return scopes_as_c(random_scopes(seed).get(), name_of(seed)); }

// The C of several seeds, compiled together.
class References {
 public:
  std::vector<Array> operator()(std::uint64_t seed, const SymbolValues& symbols, std::vector<Array> arguments) {
    load(seed / campaign_batch);
    std::vector<void*> params;
    for (Array& a : arguments) {
      a.data.resize(std::max<std::size_t>(a.data.size(), 1));
      params.push_back(a.data.data());
    }
    const auto function = reinterpret_cast<void (*)(std::int64_t, void**)>(library_->symbol(name_of(seed)));
    function(symbols.at("N"), params.data());
    for (Array& a : arguments) a.data.resize(a.elements() * static_cast<std::size_t>(bytes(a.dtype)));
    return arguments;
  }

 private:
  void load(std::uint64_t batch) {
    if (library_ && batch_ == batch) return;
    std::string source = c_prelude();
    for (std::uint64_t i = 0; i < campaign_batch; ++i) source += c_of_seed(batch * campaign_batch + i);
    library_ = std::make_unique<CLibrary>(source);
    batch_ = batch;
  }

  std::unique_ptr<CLibrary> library_;
  std::uint64_t batch_ = 0;
};

bool has_host_loop(const dsl::record::program& p) {
  bool in_kernel = false;
  for (int i = 0; i < p.n_nodes; ++i) {
    in_kernel = p.nodes[i].o == dsl::record::op::kernel || (in_kernel && p.nodes[i].o != dsl::record::op::kernel_end);
    if (!in_kernel && p.nodes[i].o == dsl::record::op::loop) return true;
  }
  return false;
}

}  // namespace
}  // namespace kiln::test

int main(int argc, char** argv) {
  using namespace kiln::test;
  References references;
  const auto options = [&](std::uint64_t seed) {
    return CheckOptions{.reference = [&references, seed](const SymbolValues& symbols, const std::vector<Array>& arguments) {
      return references(seed, symbols, arguments);
    }};
  };
  return captured_campaign(argc, argv,
                           {.about = "Random programs with scopes against the same as plain C",
                            .make = random_scopes,
                            .is_counted = has_host_loop,
                            .counted_as = "with loops outside of kernels",
                            .options = options,
                            .reference = [](std::uint64_t seed) { return c_prelude() + c_of_seed(seed); }});
}
