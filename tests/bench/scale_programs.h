// Programs of a given size for the benchmark of the generator, as graph texts.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace kiln::compiler::testing {

struct ScaleFamily {
  std::string_view name;
  std::string (*text)(std::size_t nodes);  // of about so many nodes
};

std::span<const ScaleFamily> scale_families();

// Layers of a transformer, 100 nodes each; all weights are in tensors with one axis for the layers.
std::string transformer_text(std::size_t layers);

}  // namespace kiln::compiler::testing
