// What transformers computes of the tiny models, and how far a result may be from it.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "hub/golden_model.h"
#include "sextant/models/transformer_config.h"

namespace sextant {

inline double largest(std::span<const double> values) {
  double most = 0;
  for (const double x : values) most = std::max(most, std::abs(x));
  return most;
}

// As many roundings as the longest chain has, each of half a unit of the largest number.
inline double bound_of(const TransformerConfig& c, double most, std::int64_t tokens = 12) {
  const std::int64_t attention = c.width + c.head_dim + 2 * tokens + c.heads * c.head_dim;
  const std::int64_t cross = c.encoder_layers > 0 ? attention + 2 * c.width : 0;
  const std::int64_t roundings =
      (c.layers + c.encoder_layers) * (attention + c.width + c.ffn_width + 4 * c.width) +
      c.layers * cross + c.width;
  return static_cast<double>(roundings) * 0x1p-24 * most;
}

inline void expect_near(std::span<const float> got, std::span<const double> wanted,
                        const TransformerConfig& config) {
  ASSERT_EQ(got.size(), wanted.size());
  const double bound = bound_of(config, largest(wanted));
  for (std::size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], wanted[i], bound) << i;
}

struct Expected {
  explicit Expected(const std::string& name)
      : file(load_safetensors(golden_folder(name) + "/expected.safetensors")) {}
  bool has(const char* name) const { return file.tensors.contains(name); }
  std::vector<std::int64_t> integers(const char* name) const {
    const auto all = file.tensors.at(name).to<std::int64_t>();
    return {all.span().begin(), all.span().end()};
  }
  Tensor<double> numbers(const char* name) const { return file.tensors.at(name).to<double>(); }
  SafetensorsFile file;
};

}  // namespace sextant
