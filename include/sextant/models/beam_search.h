// Searches with beams over any model that gives the next token's log-probabilities.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "sextant/core/tensor.h"

namespace sextant {

struct BeamSearchOptions {
  std::int64_t beams = 4;   // 1 .. 4096; 1 is greedy
  std::int64_t n_best = 1;  // 1 .. beams: the number of returned hypotheses
  // alpha >= 0 of Wu et al. 2016, equation 14: hypotheses Y are compared by
  // log P(Y) / ((5 + |Y|)^alpha / 6^alpha), where |Y| counts the end token.
  double length_penalty = 1;
  // The tokens that begin and end a hypothesis; -1: <bos> and <eos>, 1 and 2, and in translate()
  // those of the model's config.
  std::int64_t bos = -1;
  std::int64_t eos = -1;
};

struct Hypothesis {
  std::vector<std::int64_t> tokens;  // without bos and eos
  double log_probability = 0;        // of all tokens, with eos if it is finished
  double score = 0;                  // log_probability with the length penalty
  bool finished = false;             // ended by eos, not by the length
};

// Continues hypotheses: row i of the call is hypothesis parents[i] of the previous call (the caller
// reorders its states so), followed by tokens[i]. Returns [rows, vocabulary] log-probabilities of
// the next token; -inf is an impossible token. In the first call the rows are the sources, with
// parents[i] = i and bos. Rows of one source are adjacent, sources in ascending order; finished
// sources have no rows.
using BeamStep = std::function<Tensor<float>(std::span<const std::int64_t> parents,
                                             std::span<const std::int64_t> tokens)>;

// Returns the best hypotheses of each source, [sources][up to n_best], finished ones first, then in
// descending order of score. max_lengths[i] >= 1 is the number of steps for source i, with eos. A
// step takes the 2 x beams best continuations of a source: eos among the first `beams` of them ends
// a hypothesis, the best `beams` others continue; ties rank by the order of their hypotheses, then
// by the lower token. A source ends when `beams` hypotheses are finished, when no open one can
// become better than the n_best found, or when the steps are used up; then unfinished hypotheses
// fill n_best. One source's result does not depend on the others if its rows do not. Throws Error
// for options out of range, a table of another shape, NaN, or a log-probability above 1e-3 (smaller
// positive values are taken as rounding).
std::vector<std::vector<Hypothesis>> beam_search(std::span<const std::int64_t> max_lengths,
                                                 const BeamStep& step,
                                                 const BeamSearchOptions& options = {});

}  // namespace sextant
