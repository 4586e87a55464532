// Learned absolute positions (Gehring et al. 2017, 1705.03122; BERT, GPT-2): a table from a file,
// looked up by position id.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "sextant/core/tensor.h"

namespace sextant {

// A trained table [rows, width]. Position id p uses row p + offset (fairseq, RoBERTa, BART and OPT
// keep two rows: offset 2).
class LearnedPositions {
 public:
  // From a .npy file of any float type, [rows, width]. Throws Error for another shape, values that
  // are not finite, or offset < 0 or >= rows.
  static LearnedPositions load(const std::string& path, std::int64_t offset = 0);
  explicit LearnedPositions(Tensor<float> table, std::int64_t offset = 0);

  std::int64_t length() const noexcept {
    return table_.size(0) - offset_;
  }  // how many positions there are
  std::int64_t width() const noexcept { return table_.size(1); }
  const Tensor<float>& table() const noexcept { return table_; }
  // [positions.size(), width]; throws Error when a position is outside 0 .. length() - 1: there is
  // nothing beyond the table.
  Tensor<float> rows(std::span<const std::int64_t> positions) const;

 private:
  Tensor<float> table_;
  std::int64_t offset_;
};

}  // namespace sextant
