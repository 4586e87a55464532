// Implements the schemes of a model as a module: their weights, and the tables that they make for a
// pass.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "sextant/core/tensor.h"
#include "sextant/layers/applied_positions.h"
#include "sextant/layers/parameters.h"
#include "sextant/layers/position_tables.h"
#include "sextant/schemes/scheme.h"

namespace sextant {

// Has the same schemes for all layers of a stack, as T5 shares its biases, or for all of a kind, as
// Gemma 3 has two rotations. Every sequence counts from 0. Their weights are trained, except those
// of rotations (rotary_mixed, fope), which keep their initial values. T: float or double; rotations
// and distance biases are float32 in both. Any number of threads may use a const one.
//
// Some schemes depend on the length of the text (Scheme::length_class): a base, a list, a grid.
// Every sequence then has the tables of its own length, also if it is packed with others. For a
// scheme with weights, sequences up to options.length have the tables of options.length, for which
// the weights are made.
template <class T>
class PositionModule {
 public:
  // Weights start from a scheme's initial weights, or from the file of its parameter `file`, which
  // is not among options() afterwards: the model contains the weights. Throws Error for an unknown
  // scheme, a bad parameter, schemes that cannot be combined, a scheme that a kind of layers has
  // twice, one of another kind than 0 that adds rows, a length below 1, a file of another length,
  // and for a scheme whose weights depend on the tokens.
  explicit PositionModule(PositionOptions options);

  const PositionOptions& options() const noexcept { return options_; }
  bool has(SchemeKind kind) const noexcept;  // whether the schemes include this kind

  // Returns the tables for a sequence of this length, or for each sequence of a batch, with the
  // current weights. Tables of schemes without weights are cached until others are requested.
  // Throws Error if a sequence is longer than max_length().
  PositionTables<T> tables(std::int64_t length) const;
  PositionTables<T> tables(std::span<const std::int64_t> segments) const;

  // Returns the length of the longest sequence with tables; kAnyLength if no table ends. A learned
  // table ends after options().length positions, a window after its cells.
  std::int64_t max_length() const noexcept { return max_length_; }

  // Returns the key of a length. Lengths with one key have the same tables, and are consecutive.
  TableKey table_key(std::int64_t length) const;

  // Appends the scheme's weights as prefix + their names, without weight decay; of several schemes
  // as prefix + SCHEME + "." + the names, of kind 1 as prefix + "1." + SCHEME + "." + the names.
  void append_parameters(Parameters<T>& to, const std::string& prefix);

 private:
  friend class PositionTables<T>;
  struct Cache;
  struct TrainedScheme {
    const Scheme* scheme;
    SchemeSpec given;
    std::size_t kind;                            // kind of the layers
    std::map<std::string, Tensor<T>> weights{};  // the trained ones
    bool trainable() const noexcept { return !weights.empty(); }
  };
  using Tables = typename PositionTables<T>::Tables;

  void add_kind(SchemeSpecs& list, std::size_t kind);
  void start_with_weights(TrainedScheme& each);
  void start_with_file(TrainedScheme& each);
  bool trainable() const noexcept { return cache_ == nullptr; }
  // Whether these layers have a trainable scheme of this kind.
  bool trainable(SchemeKind kind, std::size_t layers) const noexcept;
  // Returns the class of the ids 0 .. length - 1, as the scheme defines it.
  std::int64_t class_of_ids(const TrainedScheme& each, std::int64_t length) const;
  Tables make(const TableKey& number, std::int64_t length) const;

  PositionOptions options_;
  std::vector<TrainedScheme> schemes_;  // schemes of all kinds, in the order of the options
  std::int64_t max_length_ = kAnyLength;
  std::shared_ptr<Cache> cache_;  // null if there are weights; copies of this share it
  // Gradients of tables, by key, kind of layers, and kind.
  std::map<std::tuple<TableKey, std::size_t, SchemeKind>, Tensor<double>> sums_;
};

}  // namespace sextant
