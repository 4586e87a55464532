// The tables of one pass through a model: what its layers read, and where their gradients go.
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
// the text (Scheme::length_class), and so the same for all lengths where none does.
using TableKey = std::vector<std::int64_t>;

// The tables of the lengths that PositionModule::tables() was asked for. Borrows the
// PositionModule, whose weights stay as they are until the pass is over. Any number of threads may
// use it. The functions throw Error for lengths whose tables are not here.
template <class T>
class PositionTables {
 public:
  bool has(std::int64_t length) const;

  // Sequences [first, last) of a batch that have the same tables, and the longest of them: the
  // longer of its queries and keys.
  struct Run {
    std::size_t first, last;
    std::int64_t length;
  };
  std::vector<Run> runs(std::span<const std::int64_t> segments,
                        std::span<const std::int64_t> key_segments) const;

  // x [tokens, width] += the rows of added tables; segments [sequences + 1]. `rows`: which of the
  // tokens x has, one range after the other; empty: all.
  void add_to(View<T> x, std::span<const std::int64_t> segments, std::span<const RowRange> rows,
              const Pass& pass) const;
  // Row `position` of the added table of a sequence of this length alone, or nothing.
  void add_row(std::int64_t position, std::int64_t length, T* x) const;
  // Rotation, biases and terms of a kind of layers for sequences of up to this length, with its
  // key, into the options of a call.
  void set(AttentionOptions<T>& options, std::int64_t length, std::size_t kind = 0) const;

  // Gradients go into another PositionModule of the same options. dx [tokens, width] is that of
  // add_to(): sums are kept for added tables.
  void add_gradient(View<const T> dx, std::span<const std::int64_t> segments,
                    std::span<const RowRange> rows, PositionModule<T>& gradient) const;
  // Which gradients an attention call with the tables of this length and kind is asked for, with
  // memory of the pass; accumulate() adds what it gave.
  void request_gradients(AttentionGradients<T>& gradients, std::int64_t length, std::size_t kind,
                         Pass& pass) const;
  void accumulate(const AttentionGradients<T>& gradients, std::int64_t length, std::size_t kind,
                  PositionModule<T>& gradient) const;
  // Turns the sums of all calls of the pass into gradients of the weights, and clears them.
  void backward(PositionModule<T>& gradient) const;

 private:
  friend class PositionModule<T>;
  // What a scheme made, before the tables of several became one.
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
  std::map<std::int64_t, TableKey> keys_;  // of the lengths that were asked for
  TablesByKey tables_;
};

}  // namespace sextant
