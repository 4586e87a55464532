// A positional scheme inside a model that learns: its tables for the lengths at hand, and the way
// of its gradients back to its weights.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "sextant/attention/attention.h"
#include "sextant/attention/backward.h"
#include "sextant/core/tensor.h"
#include "sextant/layers/parameters.h"
#include "sextant/layers/pass.h"
#include "sextant/schemes/scheme.h"

namespace sextant {

// Which scheme, and what it is asked for beside positions.
struct PositionOptions {
  std::string scheme = "none";                    // any name that schemes() lists
  std::map<std::string, std::string> parameters;  // of the scheme
  std::int64_t width = 0, heads = 1, head_dim = 0;
  std::int64_t length = 512;  // positions that a learned table has
};

// One scheme for all layers of a stack, as T5 shares its biases. Every sequence counts from 0. What
// a scheme learns is learned, but for the angles of rotary_mixed, which stay as they start. T:
// float or double; rotations and distance biases are of float32 in both.
template <class T>
class SchemePositions {
 public:
  // Weights start as the scheme says, or as in the file of its parameter `file`, which is not among
  // options() afterwards: a model is its weights, not a file beside it. Throws Error for an unknown
  // scheme, a bad parameter, a length below 1, a file of another length, and for a scheme whose
  // weights are made of the tokens (forgetting).
  explicit SchemePositions(PositionOptions options);
  ~SchemePositions();
  SchemePositions(SchemePositions&&) noexcept;
  SchemePositions& operator=(SchemePositions&&) noexcept;

  const PositionOptions& options() const noexcept { return options_; }
  SchemeKind kind() const noexcept;

  // Makes the tables of positions 0 .. length - 1, from the weights as they are now. Throws Error
  // where the scheme has no such positions (a learned table has an end).
  void prepare(std::int64_t length);

  // x [tokens, width] += the rows of added tables; segments [sequences + 1].
  void add_to(View<T> x, std::span<const std::int64_t> segments, const Pass& pass) const;
  // Row `position` of the added table alone, or nothing.
  void add_row(std::int64_t position, T* x) const;
  // Rotation, biases and terms into the options of a call.
  void set(AttentionOptions<T>& options) const;

  // Gradients go into another SchemePositions of the same options. dx [tokens, width] is that of
  // add_to(): sums are kept for added tables.
  void add_gradient(View<const T> dx, std::span<const std::int64_t> segments,
                    SchemePositions& gradient) const;
  // Which gradients an attention call is asked for, with memory of the pass; collect() adds what it
  // gave.
  void want(AttentionGradients<T>& gradients, Pass& pass) const;
  void collect(const AttentionGradients<T>& gradients, SchemePositions& gradient) const;
  // Takes the sums of all calls of the pass to the gradients of the weights, and forgets them.
  void finish(SchemePositions& gradient) const;

  // prefix + the names of the scheme's weights, which weight decay leaves alone.
  void list(Parameters<T>& to, const std::string& prefix);

 private:
  struct Tables;
  SchemeRequest request(std::span<const std::int64_t> ids, const SchemeWeights& weights) const;
  bool learns() const noexcept { return !weights_.empty(); }
  void start_with_weights();

  PositionOptions options_;
  std::map<std::string, Tensor<T>> weights_;
  std::unique_ptr<Tables> tables_;
  std::map<std::string, Tensor<double>> sums_;  // of gradients of tables: "added", "bias", ...
};

}  // namespace sextant
