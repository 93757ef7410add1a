// Programs of a given size for the generator's benchmark, as graph texts.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace kiln::compiler::testing {

struct ScaleFamily {
  std::string_view name;
  std::string (*text)(std::size_t nodes);  // about this many nodes
  std::size_t most = 100000;               // nodes; larger programs are beyond a limit of the language (E-limit)
};

std::span<const ScaleFamily> scale_families();

// Layers of a transformer with 100 nodes each. All weights are in tensors with one axis for the layers.
std::string transformer_text(std::size_t layers);

}  // namespace kiln::compiler::testing
