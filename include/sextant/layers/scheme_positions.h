// A positional scheme inside a trained model: its tables for the lengths in use, and the gradients
// of its weights.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sextant/attention/backward.h"
#include "sextant/core/tensor.h"
#include "sextant/layers/applied_positions.h"
#include "sextant/layers/parameters.h"
#include "sextant/layers/pass.h"
#include "sextant/schemes/scheme.h"

namespace sextant {

// One scheme for all layers of a stack, as T5 shares its biases. Every sequence counts from 0. The
// scheme's weights are trained, except the angles of rotary_mixed, which keep their initial values.
// T: float or double; rotations and distance biases are of float32 in both.
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

  // Makes the tables of a sequence of this length, or of each sequence of a batch, from the weights
  // as they are now; earlier tables that still apply are kept. Throws Error where the scheme has no
  // such positions (a learned table has an end).
  void prepare(std::int64_t length);
  void prepare(std::span<const std::int64_t> segments);
  bool is_prepared(std::int64_t length) const;

  // Which tables a sequence of this length has: a number, the same for all where lengths do not
  // matter. Lengths of one number lie next to each other.
  std::int64_t length_class(std::int64_t length) const;
  // Sequences [first, last) of a batch that have the same tables, and the longest of them: the
  // longer of its queries and keys.
  struct Run {
    std::size_t first, last;
    std::int64_t length;
  };
  std::vector<Run> runs(std::span<const std::int64_t> segments,
                        std::span<const std::int64_t> key_segments) const;

  // The functions below throw Error for lengths that are not prepared.

  // x [tokens, width] += the rows of added tables; segments [sequences + 1].
  void add_to(View<T> x, std::span<const std::int64_t> segments, const Pass& pass) const;
  // Row `position` of the added table of a sequence of this length alone, or nothing.
  void add_row(std::int64_t position, std::int64_t length, T* x) const;
  // Rotation, biases and terms for sequences of up to this length, of its class, into the options
  // of a call.
  void set(AttentionOptions<T>& options, std::int64_t length) const;

  // Gradients go into another SchemePositions of the same options. dx [tokens, width] is that of
  // add_to(): sums are kept for added tables.
  void add_gradient(View<const T> dx, std::span<const std::int64_t> segments,
                    SchemePositions& gradient) const;
  // Which gradients an attention call with the tables of this length is asked for, with memory of
  // the pass; collect() adds what it gave.
  void want(AttentionGradients<T>& gradients, std::int64_t length, Pass& pass) const;
  void collect(const AttentionGradients<T>& gradients, std::int64_t length,
               SchemePositions& gradient) const;
  // Turns the sums of all calls of the pass into gradients of the weights, and clears them.
  void finish(SchemePositions& gradient) const;

  // prefix + the names of the scheme's weights, which weight decay leaves alone.
  void append_parameters(Parameters<T>& to, const std::string& prefix);

 private:
  struct Tables {
    std::int64_t length;
    AppliedPositions<T, float> applied;
  };
  SchemeRequest request(std::span<const std::int64_t> ids, const SchemeWeights& weights) const;
  bool learns() const noexcept { return !weights_.empty(); }
  void start_with_weights();
  std::int64_t class_of_ids(std::int64_t length) const;
  std::int64_t note_class(std::int64_t length);
  void prepare_classes(const std::map<std::int64_t, std::int64_t>& longest);
  std::int64_t rows_for(std::int64_t number, std::int64_t length) const;
  const Tables& tables_of(std::int64_t length) const;

  PositionOptions options_;
  const Scheme* scheme_;
  std::map<std::string, Tensor<T>> weights_;
  std::map<std::int64_t, std::int64_t> classes_;  // of lengths that were asked for
  std::map<std::int64_t, Tables> tables_;         // by class
  // Of gradients of tables, by class and "added", "bias", ...
  std::map<std::pair<std::int64_t, std::string>, Tensor<double>> sums_;
};

}  // namespace sextant
