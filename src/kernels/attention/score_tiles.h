// What attention_weights() does with the tiles of scores and weights [keys][kQueryBlock queries].
#pragma once

#include <cstdint>

#include "kernels/attention/geometry.h"

namespace sextant::kernels {

// to[column * to_stride + row] = from[row * from_stride + column]: tiles from rows and back.
void transpose_tile(const float* from, std::int64_t from_stride, std::int64_t rows,
                    std::int64_t columns, float* to, std::int64_t to_stride) noexcept;

// mass[j] += sum over all lanes of tile[j][lane].
void add_tile(const float* tile, std::int64_t keys, double* mass) noexcept;

// The keys with the largest weights of each lane so far, largest first, ties by the lower key.
struct TopKeys {
  std::int64_t top = 0;
  std::int64_t* keys = nullptr;  // [queries][top]; -1: none
  float* weights = nullptr;      // [queries][top]; 0 there
  // A key is listed if its weight is larger; 0 at first.
  alignas(64) float threshold[kQueryBlock] = {};

  // Keys of a lane come in ascending order.
  void add(std::int64_t lane, std::int64_t key, float weight) noexcept {
    if (!(weight > threshold[lane])) return;
    std::int64_t* to_keys = keys + lane * top;
    float* to_weights = weights + lane * top;
    std::int64_t index = top - 1;
    for (; index > 0 && to_weights[index - 1] < weight; --index) {
      to_weights[index] = to_weights[index - 1];
      to_keys[index] = to_keys[index - 1];
    }
    to_weights[index] = weight;
    to_keys[index] = key;
    threshold[lane] = to_weights[top - 1];
  }
};
void keep_top_keys(const float* tile, std::int64_t first_key, std::int64_t keys,
                   TopKeys& top_keys) noexcept;

}  // namespace sextant::kernels
