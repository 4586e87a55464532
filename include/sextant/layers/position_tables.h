// Holds the tables of one pass through a model, which its layers read, and collects their
// gradients.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "sextant/attention/backward.h"
#include "sextant/core/tensor.h"
#include "sextant/layers/applied_positions.h"
#include "sextant/layers/pass.h"

namespace sextant {

template <class T>
class PositionModule;

// Names the tables of a sequence: a number from each scheme whose tables depend on the length of
// the text (Scheme::length_class); it is the same for all lengths if no table does.
using TableKey = std::vector<std::int64_t>;

// The tables for the lengths given to PositionModule::tables(). Borrows the PositionModule, whose
// weights must not change until the pass is over. Any number of threads may use it. The functions
// throw Error for lengths without tables.
template <class T>
class PositionTables {
 public:
  bool has(std::int64_t length) const;

  // Sequences [first, last) of a batch with the same tables, and the length of the longest: the
  // longer of its queries and keys.
  struct Run {
    std::size_t first, last;
    std::int64_t length;
  };
  std::vector<Run> runs(std::span<const std::int64_t> segments,
                        std::span<const std::int64_t> key_segments) const;

  // Adds the rows of added tables to x [tokens, width]; segments [sequences + 1]. `rows`: the
  // tokens that x has, one range after the other; empty: all.
  void add_to(View<T> x, std::span<const std::int64_t> segments, std::span<const RowRange> rows,
              const Pass& pass) const;
  // Adds row `position` of the added table for a sequence of this length, if there is one.
  void add_row(std::int64_t position, std::int64_t length, T* x) const;
  // Puts rotation, biases and terms of a kind of layers into the options of a call, for sequences
  // of up to this length, with its key.
  void set(AttentionOptions<T>& options, std::int64_t length, std::size_t kind = 0) const;

  // Adds the gradient of add_to(), dx [tokens, width]; sums are kept for added tables. Gradients
  // belong to another PositionModule of the same options.
  void add_gradient(View<const T> dx, std::span<const std::int64_t> segments,
                    std::span<const RowRange> rows, PositionModule<T>& gradient) const;
  // Selects the gradients for an attention call with the tables of this length and kind, with
  // memory of the pass; accumulate() adds the results.
  void request_gradients(AttentionGradients<T>& gradients, std::int64_t length, std::size_t kind,
                         Pass& pass) const;
  void accumulate(const AttentionGradients<T>& gradients, std::int64_t length, std::size_t kind,
                  PositionModule<T>& gradient) const;
  // Turns the sums of all calls of the pass into gradients of the weights, and clears them.
  void backward(PositionModule<T>& gradient) const;

 private:
  friend class PositionModule<T>;
  // The table of one scheme, before the tables of several were combined.
  struct Source {
    std::int64_t length;
    std::int64_t columns = 0, origin = 0;  // of a DistanceBias
  };
  struct Tables {
    std::int64_t length;
    std::vector<AppliedPositions<T, float>> applied;  // of each kind of layers
    std::vector<Source> sources;                      // of each scheme
  };
  using TablesByKey = std::map<TableKey, std::shared_ptr<const Tables>>;

  explicit PositionTables(const PositionModule<T>& positions) : positions_(&positions) {}
  TableKey table_key(std::int64_t length) const;
  const Tables& tables_of(std::int64_t length) const;

  const PositionModule<T>* positions_;
  std::map<std::int64_t, TableKey> keys_;  // keys of the lengths with tables
  TablesByKey tables_;
};

}  // namespace sextant
