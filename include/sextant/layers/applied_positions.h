// Applies a scheme to a model or to a call of attention. Only this class distinguishes the kinds of
// tables.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "sextant/attention/attention.h"
#include "sextant/core/tensor.h"
#include "sextant/layers/scheme_spec.h"
#include "sextant/schemes/scheme.h"
#include "sextant/tables/distance_bias.h"
#include "sextant/tables/rotation_table.h"

namespace sextant {

// The schemes of a model and their other arguments.
struct PositionOptions {
  SchemeSpecs schemes;  // empty: none
  // The schemes of layers that have others: the kinds 1, 2, ... of layers; layers with `schemes`
  // are of kind 0. None of them adds rows to embeddings. Only PositionModule uses them.
  std::vector<SchemeSpecs> other_kinds{};
  std::int64_t width = 0, heads = 1, head_dim = 0;
  std::int64_t length = 512;  // positions of a learned table
  std::int64_t first = 0;     // the position of the first token

  // Returns the request for one of the schemes; borrows the ids and the weights (null: the initial
  // weights of training). Rotations turn channels in pairs: the last channel of an odd head_dim is
  // unchanged.
  SchemeRequest request(const SchemeSpec& scheme, std::span<const std::int64_t> ids,
                        const SchemeWeights* weights = nullptr) const;
  // Makes its table of positions first .. first + count - 1. Throws Error for an unknown scheme, a
  // bad parameter, or a table that does not fit the width.
  SchemeTable table(const SchemeSpec& scheme, std::int64_t count,
                    const SchemeWeights* weights = nullptr) const;
};

// Owns the tables of one scheme or of several, rounded once. T: the type of the added rows; R: of
// rotations, float for those of the operator.
template <class T, class R = T>
struct AppliedPositions {
  std::optional<Tensor<T>> added;            // [length, width], added to the embeddings
  std::optional<RotationTable<R>> rotation;  // rotation of q and k
  std::optional<DistanceBias> bias;          // added to the scores
  std::shared_ptr<const ScoreTerm> indexed;  // added to the scores
  std::shared_ptr<const ScoreTerm> content;  // added to the scores before the softcap

  AppliedPositions() = default;
  explicit AppliedPositions(SchemeTable table);
  // Combines the tables of several schemes, in any order. Rows add up, and so do biases by distance
  // of the same heads. A rotation is multiplied by tables that multiply all channels of a row by
  // one number, as temperature does. Throws Error for two rotations, two biases by query and key,
  // two content terms, and tables whose sizes differ.
  explicit AppliedPositions(std::vector<SchemeTable> tables);
  // Makes the tables of positions first .. first + length - 1 of all schemes; `weights` are those
  // that each has learned, in their order; null: its initial weights; empty: all null. Throws Error
  // for an unknown scheme, a bad parameter, and tables that do not fit.
  AppliedPositions(const PositionOptions& options, std::int64_t length,
                   std::span<const SchemeWeights* const> weights = {});

  // Puts rotation, biases and terms into the options of a call, which borrows them from here;
  // options without a table are unchanged.
  template <class M>
  void set(AttentionOptionsOf<M>& options) const requires std::same_as<R, float> {
    if (rotation) options.rotation = &*rotation;
    set_terms(options);
  }
  // The same without the rotation, for q and k that are already rotated.
  template <class M>
  void set_terms(AttentionOptionsOf<M>& options) const {
    if (bias) options.bias = &*bias;
    for (const auto& term : {indexed, content}) {
      if (term) options.terms.push_back(term.get());
    }
  }

  void add_to(View<T> x) const;  // [length, width]
  // Return the rotations of queries and of keys; null: none.
  const RotationTable<R>* query_rotation() const noexcept {
    return rotation ? &*rotation : nullptr;
  }
  const RotationTable<R>* key_rotation() const noexcept {
    return rotation ? &rotation->for_keys() : nullptr;
  }
  // Rotates x [batch, heads, length, head_dim].
  void rotate_queries(View<R> x) const {
    if (rotation) rotate<R>(x, x, *rotation);
  }
  void rotate_keys(View<R> x) const {
    if (rotation) rotate<R>(x, x, rotation->for_keys());
  }
};

}  // namespace sextant
