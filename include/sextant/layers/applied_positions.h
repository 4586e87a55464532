// What a scheme does to a model or to a call of attention, whichever scheme it is: the only place
// that looks at the kinds of tables.
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
  // Of layers that have others: the kinds 1, 2, ... of layers; those with `schemes` are of kind 0.
  // None of them adds rows to embeddings. PositionModule alone looks at them.
  std::vector<SchemeSpecs> other_kinds{};
  std::int64_t width = 0, heads = 1, head_dim = 0;
  std::int64_t length = 512;  // positions that a learned table has
  std::int64_t first = 0;     // the position of the first token

  // For one of the schemes; borrows the ids and the weights (null: where training starts).
  // Rotations turn channels in pairs: of an odd head_dim the last channel stays as it is.
  SchemeRequest request(const SchemeSpec& scheme, std::span<const std::int64_t> ids,
                        const SchemeWeights* weights = nullptr) const;
  // Its table of positions first .. first + count - 1. Throws Error for an unknown scheme, a bad
  // parameter, or a table that does not fit the width.
  SchemeTable table(const SchemeSpec& scheme, std::int64_t count,
                    const SchemeWeights* weights = nullptr) const;
};

// Owns the tables of one scheme or of several, rounded once. T: the type of the rows that are
// added; R: of rotations, float for those of the operator.
template <class T, class R = T>
struct AppliedPositions {
  std::optional<Tensor<T>> added;            // [length, width], onto the embeddings
  std::optional<RotationTable<R>> rotation;  // of q and k
  std::optional<DistanceBias> bias;          // onto the scores
  std::shared_ptr<const ScoreTerm> indexed;  // likewise
  std::shared_ptr<const ScoreTerm> content;  // likewise, before the softcap

  AppliedPositions() = default;
  explicit AppliedPositions(SchemeTable table);
  // Of several schemes, in any order. Rows add up, and biases by distance of the same heads. A
  // rotation is multiplied by tables that multiply all channels of a row by one number, as
  // temperature does. Throws Error for two rotations, two biases by query and key, two content
  // terms, and tables whose sizes differ.
  explicit AppliedPositions(std::vector<SchemeTable> tables);
  // The tables of positions first .. first + length - 1 of all schemes; `weights` are what each has
  // learned, in their order, null: where its training starts; empty: all null. Throws Error for an
  // unknown scheme, a bad parameter, and tables that do not fit.
  AppliedPositions(const PositionOptions& options, std::int64_t length,
                   std::span<const SchemeWeights* const> weights = {});

  // Rotation, biases and terms into the options of a call, which borrows them from here; what there
  // is none of stays as it was.
  template <class M>
  void set(AttentionOptionsOf<M>& options) const requires std::same_as<R, float> {
    if (rotation) options.rotation = &*rotation;
    set_terms(options);
  }
  // The same without the rotation, for q and k that are rotated already.
  template <class M>
  void set_terms(AttentionOptionsOf<M>& options) const {
    if (bias) options.bias = &*bias;
    for (const auto& term : {indexed, content}) {
      if (term) options.terms.push_back(term.get());
    }
  }

  void add_to(View<T> x) const;  // [length, width]
  // The rotations of queries and of keys; null: none.
  const RotationTable<R>* query_rotation() const noexcept {
    return rotation ? &*rotation : nullptr;
  }
  const RotationTable<R>* key_rotation() const noexcept {
    return rotation ? &rotation->for_keys() : nullptr;
  }
  // x [batch, heads, length, head_dim].
  void rotate_queries(View<R> x) const {
    if (rotation) rotate<R>(x, x, *rotation);
  }
  void rotate_keys(View<R> x) const {
    if (rotation) rotate<R>(x, x, rotation->for_keys());
  }
};

}  // namespace sextant
