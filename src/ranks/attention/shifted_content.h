// A content term of a whole call, asked by a call on a part of its heads, queries or keys.
#pragma once

#include "sextant/tables/content_term.h"

namespace sextant::ranks {

class ShiftedContent final : public ContentTerm {
 public:
  // Where the part lies: its first head and its first query count in the sequence, the first of its
  // keys in the batch row.
  struct Place {
    std::int64_t head = 0, query = 0, begin = 0;
  };
  ShiftedContent(const ContentTerm& inner, Place place) : inner_(inner), place_(place) {}

  // The term has been asked about the whole call; what it says of a part does not count.
  void check(const CallExtents&) const override {}
  double default_scale(std::int64_t head_dim) const override {
    return inner_.default_scale(head_dim);
  }
  std::int64_t scratch_size(std::int64_t keys, std::int64_t head_dim) const noexcept override {
    return inner_.scratch_size(keys, head_dim);
  }
  void add(const Row& row, double* scores, double* scratch) const noexcept override {
    inner_.add(moved(row), scores, scratch);
  }
  bool has_tiles() const noexcept override { return inner_.has_tiles(); }
  std::int64_t tile_scratch_size(std::int64_t head_dim) const noexcept override {
    return inner_.tile_scratch_size(head_dim);
  }
  void add_tile(const Tile& tile, float* scores, std::int64_t stride,
                float* scratch) const noexcept override {
    inner_.add_tile(moved(tile), scores, stride, scratch);
  }
  std::int64_t gradient_size() const noexcept override { return inner_.gradient_size(); }
  void backward(const Row& row, const double* scores, double* ds, double* dq, double* dk,
                double* gradient, double* scratch) const noexcept override {
    inner_.backward(moved(row), scores, ds, dq, dk, gradient, scratch);
  }
  std::int64_t value_dim() const noexcept override { return inner_.value_dim(); }
  void add_values(const Row& row, const double* weights, double* out) const noexcept override {
    inner_.add_values(moved(row), weights, out);
  }
  void values_backward(const Row& row, const double* weights, const double* dout, double* dweights,
                       double* gradient) const noexcept override {
    inner_.values_backward(moved(row), weights, dout, dweights, gradient);
  }

 private:
  Row moved(Row row) const noexcept;
  Tile moved(Tile tile) const noexcept;

  const ContentTerm& inner_;
  Place place_;
};

}  // namespace sextant::ranks
