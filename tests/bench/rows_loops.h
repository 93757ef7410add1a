#pragma once

#include <cstdint>

void softmax_by_hand(const float* x, float* y, std::int64_t rows, std::int64_t n);
void layer_norm_by_hand(const float* x, const float* scale, const float* shift, float* y, std::int64_t rows, std::int64_t n);
void argmax_by_hand(const float* x, std::int32_t* y, std::int64_t rows, std::int64_t n);
void product_by_hand(const float* a, const float* b, float* c, std::int64_t m, std::int64_t k, std::int64_t n);
void gelu_layer_by_hand(const float* a, const float* b, const float* bias, float* y, std::int64_t m, std::int64_t k,
                        std::int64_t n);
void attention_by_hand(const float* q, const float* k, const float* v, float* y, std::int64_t m, std::int64_t n,
                       std::int64_t d);
void blur_sobel_by_hand(const float* x, float* y, std::int64_t h, std::int64_t w);
