// Gradients through the term of the logits by whole rows of scores.
#include "attention/backward/term_row_gradients.h"

#include <algorithm>
#include <cmath>

#include "attention/forward/kernel_rows.h"
#include "kernels/attention/score_tiles.h"

namespace sextant::attention_detail {
namespace {

// Rotates rows back and adds them, times `factor`, to sums.
void add_rotated_back(kernels::RotationRows rotation, double factor, std::int64_t count,
                      std::int64_t width, float* rows, double* sums) noexcept {
  rotation.inverse = true;
  if (rotation.cos != nullptr) kernels::rotate_rows(rows, width, count, rotation);
  for (std::int64_t n = 0; n < count * width; ++n) {
    sums[n] += factor * static_cast<double>(rows[n]);
  }
}

}  // namespace

TermRowGradients::Arrays TermRowGradients::divide(ScratchDivider<float>& arrays,
                                                  const AttentionCall& a, std::int64_t queries,
                                                  std::int64_t keys) {
  const std::int64_t n = a.head_dim;
  return {.dscores = arrays.take(queries * TermRows::stride_of(keys)),
          .of_kernel = arrays.take(queries * n),
          .dq = arrays.take(queries * n),
          .dk = arrays.take(keys * n)};
}

void TermRowGradients::begin(const TermRows& rows, const Arrays& arrays) {
  rows_ = &rows;
  arrays_ = arrays;
  std::fill_n(arrays.dscores, rows.queries() * rows.stride(), 0.0F);
}

void TermRowGradients::take(std::int64_t first_query, std::int64_t queries, std::int64_t first_key,
                            std::int64_t keys, const float* tile, std::int64_t row) noexcept {
  kernels::transpose_tile(
      tile, row, keys, queries,
      arrays_.dscores + first_query * rows_->stride() + (first_key - rows_->first_key()),
      rows_->stride());
}

void TermRowGradients::add(const HeadBiases& biases, const TermGradients& terms, Wanted wanted) {
  if (rows_->keys() == 0) return;
  const AttentionCall& a = biases.call;
  const std::int64_t n = a.head_dim, stride = rows_->stride();
  separate(kernels::rounded(a.numbers, 1));
  const bool whole = a.logit_term.needs.tiles == TermTiles::rows;
  rows_->for_each_tile(biases, terms.memory,
                       [&](const ScoreInputs<float>& inputs, std::int64_t i, std::int64_t j) {
                         ScoreGradient<float> tile{inputs};
                         if (whole) tile.scores = rows_->arrays().scores + i * stride + j;
                         tile.dscores = arrays_.dscores + i * stride + j;
                         tile.stride = stride;
                         if (a.logit_term.needs.q) tile.dq = terms.dq + i * n;
                         if (a.logit_term.needs.k) tile.dk = terms.dk + inputs.first_key * n;
                         tile.parameters = terms.logit_parameters;
                         a.logit_term.term->backward(tile);
                       });
  add_products(biases, terms, wanted);
}

// The kernel's gradients become those of the scores with the term, before the steps; the numbers of
// the term become what the kernel took for these.
void TermRowGradients::separate(const kernels::ScoreNumbers<float>& numbers) noexcept {
  const TermRows::Arrays& term = rows_->arrays();
  for (std::int64_t i = 0; i < rows_->queries(); ++i) {
    const std::int64_t row = i * rows_->stride();
    float* const ds = arrays_.dscores + row;
    float* const of_kernel = term.numbers + row;
    if (term.capped == nullptr) {
      std::copy_n(ds, rows_->keys(), of_kernel);
      continue;
    }
    for (std::int64_t j = 0; j < rows_->keys(); ++j) {
      const float capped = term.capped[row + j], without = capped - of_kernel[j];
      of_kernel[j] = ds[j] == 0 ? 0 : numbers.backward(ds[j], without);
      ds[j] = ds[j] == 0 ? 0 : numbers.backward(ds[j], capped);
    }
  }
}

// What the kernel has not added: the difference times the keys, and the queries.
void TermRowGradients::add_products(const HeadBiases& biases, const TermGradients& terms,
                                    Wanted wanted) {
  const AttentionCall& a = biases.call;
  const std::int64_t n = a.head_dim, stride = rows_->stride();
  const std::int64_t queries = rows_->queries(), keys = rows_->keys();
  for (std::int64_t i = 0; i < queries; ++i) {
    float* const ds = arrays_.dscores + i * stride;
    const float* const of_kernel = rows_->arrays().numbers + i * stride;
    for (std::int64_t j = 0; j < keys; ++j) ds[j] -= of_kernel[j];
  }
  const Sequence& at = biases.sequence;
  if (wanted.q) {
    kernels::matmul({queries, n, keys}, {arrays_.dscores, stride, 1}, rows_->k(),
                    {.c = arrays_.dq, .c_row = n}, 1);
    add_rotated_back(query_rotation(a, at, biases.head).from(rows_->first_query()), a.numbers.scale,
                     queries, n, arrays_.dq, terms.dq);
  }
  if (!wanted.k) return;
  const kernels::MatrixRef q{rows_->arrays().q, n, 1};  // times the scale
  kernels::matmul({keys, n, queries}, {arrays_.dscores, 1, stride}, q,
                  {.c = arrays_.dk, .c_row = n}, 1);
  add_rotated_back(key_rotation(a, at, a.key_head(biases.head)).from(rows_->first_key()), 1, keys,
                   n, arrays_.dk, terms.dk + rows_->first_key() * n);
}

bool TermRowGradients::write_queries(const HeadBiases& biases, const TermGradients& terms,
                                     const AnyOutput& to) noexcept {
  const Sequence& at = biases.sequence;
  const std::int64_t n = biases.call.head_dim;
  bool finite = true;
  for (std::int64_t i = 0; i < rows_->queries(); ++i) {
    float* const row = arrays_.of_kernel + i * n;
    for (std::int64_t c = 0; c < n; ++c) {
      row[c] = static_cast<float>(static_cast<double>(row[c]) + terms.dq[i * n + c]);
      finite = finite && std::isfinite(row[c]);
    }
    to.row(at.batch, biases.head, at.q_begin + rows_->first_query() + i).store(row);
  }
  return finite;
}

}  // namespace sextant::attention_detail
