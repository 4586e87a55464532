// Defines terms of the scores, which are added to scale <q, k> pair by pair and generated on
// demand: biases by position, masks, gates, products of queries and keys with learned vectors.
#pragma once

#include <cstdint>
#include <limits>

#include "sextant/tables/call_extents.h"

namespace sextant {

// A rectangle of scores of one head. Queries and keys count from the start of their sequence: the
// batch row, or the segment.
struct ScoreRect {
  std::int64_t batch = 0;      // the batch row
  std::int64_t sequence = 0;   // the same, or with segments the segment's number among all segments
  std::int64_t key_begin = 0;  // the first key of the sequence in the batch row
  std::int64_t head = 0;       // head of the queries
  std::int64_t first_query = 0, queries = 0;
  std::int64_t first_key = 0, keys = 0;
  std::int64_t offset = 0;  // query i has position i + offset among the keys
  // The position ids of these queries and keys if the call gives any; else null.
  const std::int64_t* query_positions = nullptr;
  const std::int64_t* key_positions = nullptr;

  // Returns the position of the i-th query among the keys: its diagonal key.
  std::int64_t diagonal_key(std::int64_t i) const noexcept { return first_query + i + offset; }
  // Return the position ids of the i-th query and the j-th key, also if the call gives none.
  std::int64_t query_position(std::int64_t i) const noexcept {
    return query_positions != nullptr ? query_positions[i] : diagonal_key(i);
  }
  std::int64_t key_position(std::int64_t j) const noexcept {
    return key_positions != nullptr ? key_positions[j] : first_key + j;
  }
};

// The data of a rectangle that a term may read: rows of q and k before any rotation, [queries,
// head_dim] and [keys, head_dim], if it needs them.
template <class Real>
struct ScoreInputs : ScoreRect {
  std::int64_t head_dim = 0;
  double scale = 1;
  const Real* q = nullptr;
  std::int64_t q_stride = 0;
  const Real* k = nullptr;
  std::int64_t k_stride = 0;
  Real* scratch = nullptr;  // numbers of any value, as many as TermNeeds says
};

// Scores that a term adds to, float or double.
template <class Real>
struct ScoreTile : ScoreInputs<Real> {
  Real* scores = nullptr;  // scores[i * stride + j]; -infinity: hidden
  std::int64_t stride = 0;

  // Adds to the score of the i-th query and the j-th key; a hidden pair stays hidden.
  void add(std::int64_t i, std::int64_t j, Real value) const noexcept {
    constexpr Real kHidden = -std::numeric_limits<Real>::infinity();
    Real& score = scores[i * stride + j];
    score = score == kHidden || value == kHidden ? kHidden : score + value;
  }
};

// The gradient of a loss for a rectangle of scores, float or double, and the arrays for the
// gradients of a term.
template <class Real>
struct ScoreGradient : ScoreInputs<Real> {
  const Real* scores = nullptr;  // scores[i * stride + j] as add() got them: for whole rows only
  Real* dscores = nullptr;       // dscores[i * stride + j]; 0 where hidden
  std::int64_t stride = 0;
  double* dq = nullptr;          // [queries, head_dim], for terms that read queries
  double* dk = nullptr;          // [keys, head_dim], for terms that read keys
  double* parameters = nullptr;  // [TermNeeds::parameters]
};

// The tiles that a term supports.
enum class TermTiles {
  any,      // float or double, of up to 64 queries and 128 keys, or of one query and any keys
  float64,  // only double: the calls are computed row by row
  rows,     // all keys that causal, window and lengths leave, of up to 64 queries in float, of one
            // in double
};

// What a term does to the pairs of a rectangle.
enum class TermEffect {
  some,   // anything
  none,   // it adds 0 to all pairs
  hides,  // it hides all pairs
};

// Vectors that a term adds to values, where they depend on the distance key - query of indices
// alone. A term that gives them is computed by the float32 kernels.
struct ValueVectors {
  const float* vectors = nullptr;  // [count, value_dim]; null: only add_values() computes them
  std::int64_t count = 0;
  // Distance d in [-largest, largest] has vector number_of[d + largest]; larger ones have that of
  // the largest.
  const std::int32_t* number_of = nullptr;
  std::int64_t largest = 0;
  std::int64_t parameters = 0;  // where their gradient begins in that of the term
};

// Describes the needs of a term.
struct TermNeeds {
  // True: part of the logits, added before the softcap; false: a bias, added after it.
  bool before_softcap = false;
  bool q = false, k = false;  // it reads rows of queries, of keys; not of keys in whole rows
  // Whether a term before the softcap depends on which key is on a query's diagonal, so that a call
  // with q_len != k_len has to say which.
  bool diagonal = true;
  TermTiles tiles = TermTiles::any;
  std::int64_t scratch = 0, scratch_per_key = 0;  // numbers in a tile; the second only in rows
  std::int64_t parameters = 0;                    // learned numbers; the term defines their order
  std::int64_t value_dim = 0;  // channels of the vectors that it adds to values; 0: none
  double products = 1;         // the default scale is 1 / sqrt(products head_dim)

  // Whether it depends on q or k: scores of whole rows do.
  bool reads_rows() const noexcept { return q || k || tiles == TermTiles::rows; }
};

// A term of the scores. The operator calls it tile by tile, from several threads at once; there is
// never an array of q_len x k_len. A tile has at least one visible pair, and numbers added to other
// pairs are ignored. The functions must not throw and must give the same number for a pair in every
// tile. They may call this library, also the operator, but must not wait for a pool of threads that
// runs the operator's bodies (see Executor). Denormal numbers may count as 0 while they run.
class ScoreTerm {
 public:
  virtual ~ScoreTerm() = default;

  virtual TermNeeds needs() const { return {}; }

  // Throws Error for a call with heads, channels, queries or keys for which the term has no
  // numbers. It is called before anything is computed; the functions below are only called for
  // pairs within `call`.
  virtual void check(const CallExtents& call) const = 0;

  // Returns what a bias does to all pairs of a tile, where that takes less time than add(): tiles
  // that are hidden are not computed, and tiles without effect cost as much as without the term.
  virtual TermEffect effect(const ScoreRect&) const noexcept { return TermEffect::some; }

  // Adds the term to each score: to the logits, or to the sum of the biases, which begins with 0.
  // A term of whole rows defines both functions.
  virtual void add(const ScoreTile<float>& tile) const noexcept = 0;
  // Adds the term in float64 calls; by default the numbers of the other function, from rows rounded
  // to float.
  virtual void add(const ScoreTile<double>& tile) const noexcept;

  // Adds the gradients of the data that the term reads and of its parameters. A term of whole rows
  // may change dscores if it depends on the scores that it is added to.
  virtual void backward(const ScoreGradient<double>& tile) const noexcept;
  // Adds them in float32 calls, whose terms come in float; by default those of the other function,
  // from numbers widened to double.
  virtual void backward(const ScoreGradient<float>& tile) const noexcept;

  // Returns the vectors of a head that the term adds to values, rounded to float.
  virtual ValueVectors value_vectors(std::int64_t /*head*/) const noexcept { return {}; }
  // out[c] += sum over the keys of a row (one query) of weights[j] times the pair's vector.
  virtual void add_values(const ScoreRect& row, const double* weights, double* out) const noexcept;
  // dweights[j] += <dout, vector> for keys whose weight is not 0; adds the gradients of the vectors
  // to `parameters`.
  virtual void values_backward(const ScoreRect& row, const double* weights, const double* dout,
                               double* dweights, double* parameters) const noexcept;

 protected:
  ScoreTerm() = default;
  ScoreTerm(const ScoreTerm&) = default;
  ScoreTerm& operator=(const ScoreTerm&) = default;
};

// Computes the numbers of a term that reads no rows, [rect.queries, rect.keys], for plots and
// tables of a single term: to[i * rect.keys + j].
void write_term(const ScoreTerm& term, const ScoreRect& rect, float* to);

}  // namespace sextant
