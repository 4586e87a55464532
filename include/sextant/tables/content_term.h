// Terms of the logits that depend on the contents of queries and keys: vectors by distance, gates.
#pragma once

#include <cmath>
#include <cstdint>

#include "sextant/core/dtype.h"
#include "sextant/tables/call_extents.h"

namespace sextant {

// A term of each score, inside the logits: scale <q, k> + term, then softcap, biases and softmax.
// It may add a vector per pair to the values as well. The operator calls it for one row or one tile
// at a time, from several threads at once; there is never an array of q_len x k_len.
class ContentTerm {
 public:
  // Rows of one head of one sequence, of any floating type and strides.
  struct Rows {
    const void* data = nullptr;
    std::int64_t row_stride = 0, channel_stride = 1;
    DType type = DType::float64;

    void load(std::int64_t row, std::int64_t channels, double* to) const noexcept;
  };

  // One query with the keys [first_key, last_key) that causal, window and lengths leave visible.
  // Indices of queries and keys count from the start of their sequence.
  struct Row {
    std::int64_t batch = 0, begin = 0;  // the batch row, and where the sequence's keys begin in it
    std::int64_t head = 0, query = 0;
    std::int64_t diagonal_key = 0;  // the query's position among the keys
    std::int64_t first_key = 0, last_key = 0;
    std::int64_t head_dim = 0;
    double scale = 1;
    const double* q = nullptr;  // [head_dim], before any rotation
    Rows k{};                   // likewise; row j is key j
  };

  // Queries [first_query, first_query + queries) of one head and keys likewise, at most 64 and 128,
  // for the float32 path. Row n of q is that of query first_query + n and begins at q + n *
  // q_stride, before any rotation; likewise k.
  struct Tile {
    std::int64_t batch = 0, begin = 0;
    std::int64_t head = 0, first_query = 0, queries = 0;
    std::int64_t first_diagonal_key = 0;  // of the first query
    std::int64_t first_key = 0, keys = 0;
    std::int64_t head_dim = 0;
    double scale = 1;
    const float* q = nullptr;
    std::int64_t q_stride = 0;
    const float* k = nullptr;
    std::int64_t k_stride = 0;
  };

  virtual ~ContentTerm() = default;

  // Throws Error for a call that the term does not support: one with other sizes, or with positions
  // that it has no numbers for. Called before anything is computed; no function below is asked for
  // a query or key outside what it was told.
  virtual void check(const CallExtents& call) const = 0;
  // The scale where a call gives none.
  virtual double default_scale(std::int64_t head_dim) const {
    return 1 / std::sqrt(static_cast<double>(head_dim));
  }

  // How many doubles of scratch the functions below need for a row with that many keys.
  virtual std::int64_t scratch_size(std::int64_t keys, std::int64_t head_dim) const noexcept;

  // scores[j], for the keys of the row: scale <q, k_j>, or -infinity for hidden keys. Adds the term
  // to them; results for hidden keys are ignored.
  virtual void add(const Row& row, double* scores, double* scratch) const noexcept = 0;

  // A term whose value for a pair depends on that pair alone may also support tiles: then float32
  // and 16-bit calls without softcap and without value vectors take the fast path. add_tile() adds
  // the term to scores[i * stride + j] except where that is -infinity. The value for a pair is the
  // same in every tile. Rows of hidden pairs may hold anything; their results are ignored.
  virtual bool has_tiles() const noexcept { return false; }
  virtual std::int64_t tile_scratch_size(std::int64_t head_dim) const noexcept;  // floats
  virtual void add_tile(const Tile& tile, float* scores, std::int64_t stride,
                        float* scratch) const noexcept;

  // The number of learned parameters; the term defines their order.
  virtual std::int64_t gradient_size() const noexcept { return 0; }

  // The gradients of add(): `scores` as add() got them; ds[j] is the gradient of the loss with
  // respect to the score with the term, 0 where hidden. Adds to dq [head_dim], to dk[j * head_dim]
  // of the row's keys and to `gradient` [gradient_size], and to ds where the term depends on the
  // scores it is added to.
  virtual void backward(const Row& row, const double* scores, double* ds, double* dq, double* dk,
                        double* gradient, double* scratch) const noexcept = 0;

  // The channels of the vectors that the term adds to values; 0: none.
  virtual std::int64_t value_dim() const noexcept { return 0; }
  // out[c] += sum over the row's keys of weights[j] times the pair's vector.
  virtual void add_values(const Row& row, const double* weights, double* out) const noexcept;
  // dweights[j] += <dout, vector> for keys whose weight is not 0; adds the vectors' gradients to
  // `gradient`.
  virtual void values_backward(const Row& row, const double* weights, const double* dout,
                               double* dweights, double* gradient) const noexcept;

 protected:
  ContentTerm() = default;
  ContentTerm(const ContentTerm&) = default;
  ContentTerm& operator=(const ContentTerm&) = default;
};

}  // namespace sextant
