// Programs that should become few kernels: graph texts over the symbols M, N, K, and the same with numbers.
#pragma once

#include <map>
#include <string>

namespace kiln::compiler::testing {

using Sizes = std::map<std::string, long>;

// The program with its symbols replaced by extents.
std::string with_sizes(const std::string& text, const Sizes& sizes);

std::string elementwise_chain_text();
std::string softmax_text();
std::string layer_norm_text();
std::string argmax_text();
std::string cross_entropy_text();
std::string two_products_text();
std::string gelu_layer_text();
std::string running_sum_text();
std::string blur_sobel_text(const std::string& pad_mode);
std::string attention_text();
std::string heads_text(bool with_gradients = false);

}  // namespace kiln::compiler::testing
