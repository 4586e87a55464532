// Schemes by name in a call of the attention operator.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "options/scheme_choice.h"
#include "sextant/attention/backward.h"
#include "sextant/layers/applied_positions.h"

namespace sextant::app {

class AttentionScheme {
 public:
  // Makes the tables for ids 0 .. positions - 1. Throws Error as the schemes do, and for those that
  // do not go together.
  AttentionScheme(const SchemeChoice& choice, std::int64_t positions, std::int64_t heads,
                  std::int64_t head_dim);
  AttentionScheme(const AttentionScheme&) = delete;
  AttentionScheme& operator=(const AttentionScheme&) = delete;

  // Borrows from here; a bias by distance takes over the slopes of the one it replaces.
  template <class M>
  void add_to(AttentionOptionsOf<M>& options);

  // Makes room for the results of attention_backward(), and returns the weights' gradients from
  // them. Throws Error for several schemes and for one without learned weights that the operator
  // uses.
  template <Floating T>
  void want(AttentionGradients<T>& gradients);
  SchemeWeights gradients() const;

 private:
  const Scheme* scheme_ = nullptr;  // of a single one, as the next two
  std::optional<SchemeWeights> weights_;
  SchemeRequest request_;
  std::vector<std::int64_t> ids_;
  AppliedPositions<float> positions_;
  Tensor<double> list_;  // [1, n] or [heads, distances]
  Tensor<float> narrow_;
};

// Gradients of a scheme's weights as a .safetensors file: in float32, or in float64 where the call
// is.
template <Floating T>
void write_scheme(const std::string& path, const SchemeWeights& gradients);

}  // namespace sextant::app
