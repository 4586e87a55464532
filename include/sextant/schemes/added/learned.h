// Looks up learned absolute positions (Gehring et al. 2017, 1705.03122; BERT, GPT-2) in a table
// from a file, by position id.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sextant/core/tensor.h"

namespace sextant {

// A trained table [rows, width]. Position id p uses row p + offset (fairseq, RoBERTa, BART and OPT
// keep two rows: offset 2; with the ids of fairseq, which count from padding_idx + 1, offset 0).
// `clamp`: positions beyond the last row use the last row, as in Marian.
class LearnedPositions {
 public:
  // Loads a .npy file of any float type, [rows, width]. Throws Error for another shape, values that
  // are not finite, or offset < 0 or >= rows.
  static LearnedPositions load(const std::string& path, std::int64_t offset = 0,
                               bool clamp = false);
  explicit LearnedPositions(Tensor<float> table, std::int64_t offset = 0, bool clamp = false);

  std::int64_t length() const noexcept {
    return table_.size(0) - offset_;
  }  // returns the number of positions
  std::int64_t width() const noexcept { return table_.size(1); }
  const Tensor<float>& table() const noexcept { return table_; }
  // Returns [positions.size(), width]. Throws Error if a position is outside 0 .. length() - 1,
  // since the table has an end. With clamp, only positions below 0 are refused.
  Tensor<float> rows(std::span<const std::int64_t> positions) const;

 private:
  Tensor<float> table_;
  std::int64_t offset_;
  bool clamp_;
};

// Returns the rows that positions use in a table of `rows` rows; throws Error as
// LearnedPositions::rows().
std::vector<std::int64_t> learned_rows(std::span<const std::int64_t> positions, std::int64_t rows,
                                       std::int64_t offset = 0, bool clamp = false);

// Returns the gradient of a table [rows, width] from that of its rows at `positions`, `gradient`
// [positions.size(), width]: each row gets the sum over the positions that used it, in their order.
// Throws Error as LearnedPositions::rows() does.
Tensor<double> learned_backward(std::span<const std::int64_t> positions,
                                View<const double> gradient, std::int64_t rows,
                                std::int64_t offset = 0, bool clamp = false);

}  // namespace sextant
