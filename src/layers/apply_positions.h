// What a scheme does to one attention call, whichever scheme it is: the only place of this floor
// that looks at the kinds of tables.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "sextant/attention/attention.h"
#include "sextant/core/tensor.h"
#include "sextant/schemes/rotated/rotary.h"
#include "sextant/schemes/scheme.h"
#include "sextant/tables/distance_bias.h"

namespace sextant {

// At most one of them is there.
struct AppliedPositions {
  std::optional<Tensor<double>> added;            // [length, width], onto the embeddings
  std::optional<RotationTable<double>> rotation;  // of q and k
  std::optional<DistanceBias> bias;               // onto the scores
  std::shared_ptr<const IndexedBias> indexed;     // likewise
  std::shared_ptr<const ContentTerm> content;     // likewise

  void add_to(View<double> x) const;  // [length, width]
  // Queries and keys, [batch, heads, length, head_dim]
  void rotate_heads(View<double> x) const;
  void rotate_keys(View<double> x) const;
  const RotationTable<double>* rotation_or_null() const noexcept {
    return rotation ? &*rotation : nullptr;
  }
  const RotationTable<double>* key_rotation_or_null() const noexcept {
    return rotation ? &rotation->for_keys() : nullptr;
  }
  // Everything but the rotation, for a call of the operator.
  void add_terms(AttentionOptions<double>& options) const {
    options.bias = bias_or_null();
    options.indexed = indexed.get();
    options.content = content.get();
  }
  const DistanceBias* bias_or_null() const noexcept { return bias ? &*bias : nullptr; }
};

// The tables of positions 0 .. length - 1 by a scheme's name; `weights` are what it has learned,
// null: where its training starts. Rotations turn channels in pairs: of an odd head_dim the last
// channel stays as it is. Throws Error for an unknown scheme, a bad parameter, or a table that does
// not fit.
AppliedPositions make_positions(const std::string& scheme,
                                const std::map<std::string, std::string>& parameters,
                                std::int64_t length, std::int64_t width, std::int64_t heads,
                                std::int64_t head_dim, const SchemeWeights* weights = nullptr);

}  // namespace sextant
