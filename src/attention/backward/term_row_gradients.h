// The gradients of scores that terms of whole rows pass on (TermRows): the kernel adds to the
// gradients of q and k as if a term's numbers were constants, and this adds the rest.
#pragma once

#include <cstdint>

#include "attention/backward/bias_gradients.h"
#include "attention/call/term_rows.h"

namespace sextant::attention_detail {

class TermRowGradients {
 public:
  struct Arrays {
    float* dscores;    // [queries, stride of TermRows]
    float* of_kernel;  // [queries, head_dim]: the gradients of q as the kernel leaves them
    float *dq, *dk;    // [queries, head_dim], [keys, head_dim]
  };
  static Arrays divide(ScratchDivider<float>& arrays, const AttentionCall& call,
                       std::int64_t queries, std::int64_t keys);

  // A block of queries whose numbers are `rows`, which are borrowed.
  void begin(const TermRows& rows, const Arrays& arrays);

  // Takes the gradients of a rectangle of scores from the kernel, tile[j * row + i] as
  // GradientTiles; queries count in the block.
  void take(std::int64_t first_query, std::int64_t queries, std::int64_t first_key,
            std::int64_t keys, const float* tile, std::int64_t row) noexcept;

  // Which gradients are wanted, besides those of the term.
  struct Wanted {
    bool q, k;
  };
  // Adds the gradients of the block to `terms`. The gradients that were taken and the numbers of
  // the term are overwritten.
  void add(const HeadBiases& biases, const TermGradients& terms, Wanted wanted);

  // Adds terms.dq to the rows that the kernel left, and writes them; returns whether all are
  // finite.
  bool write_queries(const HeadBiases& biases, const TermGradients& terms,
                     const AnyOutput& to) noexcept;

 private:
  void separate(const kernels::ScoreNumbers<float>& numbers) noexcept;
  void add_products(const HeadBiases& biases, const TermGradients& terms, Wanted wanted);

  const TermRows* rows_ = nullptr;
  Arrays arrays_{};
};

}  // namespace sextant::attention_detail
