// A positional scheme inside a trained model: its weights, and the tables that it makes for a pass.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "sextant/core/tensor.h"
#include "sextant/layers/applied_positions.h"
#include "sextant/layers/parameters.h"
#include "sextant/layers/position_tables.h"
#include "sextant/schemes/scheme.h"

namespace sextant {

// One scheme for all layers of a stack, as T5 shares its biases. Every sequence counts from 0. The
// scheme's weights are trained, except the angles of rotary_mixed, which keep their initial values.
// T: float or double; rotations and distance biases are of float32 in both. Any number of threads
// may use a const one.
//
// Some schemes take something from the length of the text (Scheme::length_class): a base, a list, a
// grid. Every sequence then has the tables of its own length, whatever it is packed with. For a
// scheme with weights, sequences up to options.length have the tables of options.length, for which
// the weights are made.
template <class T>
class SchemePositions {
 public:
  // Weights start from the scheme's initial weights, or from the file of its parameter `file`,
  // which is not among options() afterwards: the model contains the weights. Throws Error for an
  // unknown scheme, a bad parameter, a length below 1, a file of another length, and for a scheme
  // whose weights are made of the tokens (forgetting).
  explicit SchemePositions(PositionOptions options);

  const PositionOptions& options() const noexcept { return options_; }
  SchemeKind kind() const noexcept;

  // The tables of a sequence of this length, or of each sequence of a batch, of the weights as they
  // are now. Tables of a scheme without weights are kept until others are asked for. Throws Error
  // where the scheme has no such positions (a learned table has an end).
  PositionTables<T> tables(std::int64_t length) const;
  PositionTables<T> tables(std::span<const std::int64_t> segments) const;

  // Which tables a sequence of this length has: a number, the same for all where lengths do not
  // matter. Lengths of one number lie next to each other.
  std::int64_t length_class(std::int64_t length) const;

  // prefix + the names of the scheme's weights, which weight decay leaves alone.
  void append_parameters(Parameters<T>& to, const std::string& prefix);

 private:
  friend class PositionTables<T>;
  struct Cache;
  SchemeRequest request(std::span<const std::int64_t> ids, const SchemeWeights& weights) const;
  bool learns() const noexcept { return !weights_.empty(); }
  void start_with_weights();
  std::int64_t class_of_ids(std::int64_t length) const;
  std::int64_t rows_for(std::int64_t number, std::int64_t length) const;

  PositionOptions options_;
  const Scheme* scheme_;
  std::map<std::string, Tensor<T>> weights_;
  std::shared_ptr<Cache> cache_;  // null where there are weights; copies of this share it
  // Of gradients of tables, by class and "added", "bias", ...
  std::map<std::pair<std::int64_t, std::string>, Tensor<double>> sums_;
};

}  // namespace sextant
