// Terms of the scores that tell where they are asked: a rank that asks in the wrong place shows.
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>

#include "sextant/tables/content_term.h"
#include "sextant/tables/indexed_bias.h"

namespace sextant::ranks {

// Biases that depend on the head, the sequence and both positions, with two parameters.
class WavyBias final : public IndexedBias {
 public:
  void check(const CallExtents&) const override {}
  void fill(const Tile& t, float* values, std::int64_t stride) const noexcept override {
    for (std::int64_t i = 0; i < t.queries; ++i) {
      for (std::int64_t j = 0; j < t.keys; ++j) {
        values[i * stride + j] = value(t, i, j, 0.5) + value(t, i, j, 0.25);
      }
    }
  }
  std::int64_t gradient_size() const noexcept override { return 2; }
  void accumulate(const Tile& t, const float* ds, std::int64_t stride,
                  double* gradient) const noexcept override {
    for (std::int64_t i = 0; i < t.queries; ++i) {
      for (std::int64_t j = 0; j < t.keys; ++j) {
        gradient[0] += static_cast<double>(ds[i * stride + j] * value(t, i, j, 0.5));
        gradient[1] += static_cast<double>(ds[i * stride + j] * value(t, i, j, 0.25));
      }
    }
  }

 private:
  static float value(const Tile& t, std::int64_t i, std::int64_t j, double step) noexcept {
    const auto place = static_cast<double>(3 * t.query_position(i) + 2 * t.key_position(j) +
                                           5 * t.head + 7 * t.sequence + t.first_query + i);
    return static_cast<float>(std::sin(step * place));
  }
};

// A content term that depends on the batch row, the head, both positions, the begin of the segment
// and the contents, with one parameter.
class PlacedTerm final : public ContentTerm {
 public:
  void check(const CallExtents&) const override {}
  void add(const Row& row, double* scores, double* scratch) const noexcept override;
  bool has_tiles() const noexcept override { return true; }
  void add_tile(const Tile& tile, float* scores, std::int64_t stride,
                float* scratch) const noexcept override;
  std::int64_t gradient_size() const noexcept override { return 1; }
  void backward(const Row& row, const double* scores, double* ds, double* dq, double* dk,
                double* gradient, double* scratch) const noexcept override;
};

// The term of a name: "placed", or a scheme's with random weights ("shaw" with vectors for values,
// "shaw_keys" without).
std::shared_ptr<const ContentTerm> content_term(const std::string& name, std::int64_t batch,
                                                std::int64_t heads, std::int64_t head_dim,
                                                std::int64_t v_dim, std::int64_t k_len);

}  // namespace sextant::ranks
