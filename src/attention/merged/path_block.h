// A block of tokens of PaTH attention: the product of its Householder matrices in compact WY form,
// and what it does to keys and queries.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/matmul/matmul.h"
#include "sextant/core/tensor.h"

namespace sextant::attention_detail {

inline constexpr std::int64_t kPathRows = 64;  // tokens of a block, but for the last one

// A matrix of float32 that another array owns.
struct PathMatrix {
  const float* data;
  std::int64_t rows, columns;
  std::ptrdiff_t row_stride, column_stride = 1;

  PathMatrix transposed() const noexcept {
    return {data, columns, rows, column_stride, row_stride};
  }
};

// Computes a b into `result`, on the thread that calls.
void multiply(const PathMatrix& a, const PathMatrix& b, const kernels::MatmulResult& result);

// The tokens of a block in one key head: w, keys [rows, head_dim], beta [rows].
struct PathTokens {
  PathMatrix w, k;
  const float* beta;
};

// With W the rows w, B = diag(beta), N = (I + the part of B W W^T below the diagonal)^-1 and
// T = -N B, the Householder matrices of the first a tokens of a block make
//   H_1 .. H_a = I + sum over tokens b <= a of r_b w_b^T,   R = T W.
// A key j of the block is moved by those after it: H_last .. H_{j+1} k_j = k_j + sum_a U_aj w_a,
// where U = T M and M = the part of W K^T below the diagonal.
class PathBlock {
 public:
  explicit PathBlock(const PathTokens& tokens);

  // Queries after the block become x + (x W^T) R before it, and see these keys in it.
  const Tensor<float>& reflected() const noexcept { return r_; }  // R, [rows, head_dim]
  const Tensor<float>& moved() const noexcept { return moved_; }  // [rows, head_dim]

  // The first token whose products with those before it are beyond float32, or their number. Rows
  // of queries from it on mean nothing.
  std::int64_t end() const noexcept { return end_; }

  // Computes scale times the scores of the block's own queries, [rows, rows] with rows kPathRows
  // apart, those above the diagonal mean nothing; and these queries before the block, `carried`
  // [rows, head_dim], contiguous.
  void attend(const PathMatrix& q, double scale, float* scores, float* carried) const;

 private:
  friend class PathBlockGradients;

  PathTokens tokens_;
  std::int64_t end_;
  Tensor<float> products_, n_, t_, m_, u_, r_, moved_;  // W W^T first
};

// The gradients of a block, from those of what it computes.
class PathBlockGradients {
 public:
  // The gradients of moved() and reflected(), [rows, head_dim], are taken.
  PathBlockGradients(const PathBlock& block, Tensor<float> dmoved, Tensor<float> dreflected);

  // Of the queries of one head: from those of attend()'s scores (before the scale), zero above the
  // diagonal and rows kPathRows apart, and of what it carries, to theirs, `dq` [rows, head_dim].
  void add_queries(const PathMatrix& q, const PathMatrix& dscores, const PathMatrix& dcarried,
                   Tensor<float>& dq);
  // After all heads. dw, which begins with the gradients of w elsewhere, is added to.
  void finish(Tensor<float>& dk, Tensor<float>& dw, Tensor<float>& dbeta);

 private:
  const PathBlock& block_;
  Tensor<float> dmoved_, dr_, du_, dk_, dw_;
};

}  // namespace sextant::attention_detail
