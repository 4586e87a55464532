// The arrays and tables of a case: whole, the same on every rank, and a rank's part of them.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "ranks/case.h"
#include "ranks/terms.h"
#include "ranks/world.h"
#include "sextant/core/random.h"
#include "sextant/ranks/sharding.h"
#include "sextant/schemes/rotated/rotary.h"

namespace sextant::ranks {

inline constexpr std::int64_t kBatch = 2, kHeads = 4, kDim = 16, kValueDim = 24;

template <class T>
Tensor<T> random_array(const Shape& shape, std::uint32_t seed, double size = 1) {
  NumpyRandom random(seed);
  Tensor<T> x(shape);
  for (T& value : x.span()) value = static_cast<T>(static_cast<float>(size * random.normal()));
  return x;
}

// The arrays and tables of a case.
template <class T>
struct Whole {
  using Mask = std::conditional_t<std::is_same_v<T, double>, double, float>;

  explicit Whole(const Case& from) : of(from) {
    q = random_array<T>({kBatch, kHeads, of.q_len, kDim}, 1, of.size);
    k = random_array<T>({kBatch, of.kv_heads, of.k_len, kDim}, 2);
    v = random_array<T>({kBatch, of.kv_heads, of.k_len, kValueDim}, 3);
    const std::int64_t longest = std::max(of.q_len, of.k_len);
    if (of.offsets) offsets = {of.k_len - of.q_len, 55};
    if (of.lengths) lengths = {of.k_len - 111, of.k_len};
    if (of.segments) segments = {0, 5, 5, 77, 140, of.q_len};
    if (of.key_segments) key_segments = {0, 4, 20, 20, 150, of.k_len};
    if (of.table) {
      bias.values = random_array<float>({of.one_row ? 1 : kHeads, 2 * longest + 1}, 4);
      bias.origin = longest;
    }
    if (of.slopes) bias.slopes = {0.5, 0.25, 0.125, 0.01};
    if (of.rotation) rotation = rotary({.head_dim = kDim}, 2 * longest + 20);
    if (!of.ids) rotation.first_position = 700;  // rows are taken by index then
    if (of.ids) {
      query_ids = Tensor<std::int64_t>({kBatch, of.q_len});
      key_ids = Tensor<std::int64_t>({kBatch, of.k_len});
      for (std::int64_t b = 0; b < kBatch; ++b) {
        for (std::int64_t i = 0; i < of.q_len; ++i) query_ids(b, i) = i / 2 + 9 * b;
        for (std::int64_t i = 0; i < of.k_len; ++i) key_ids(b, i) = i / 2 + 9 * b;
      }
    }
    if (of.sinks) sinks = {0.5, -std::numeric_limits<double>::infinity(), 3, -1};
    if (!of.content.empty()) {
      content = content_term(of.content, kBatch, kHeads, kDim, kValueDim, of.k_len);
    }
    const auto masks = random_array<float>({kHeads, of.q_len, of.k_len}, 6);
    if (of.bool_mask) {
      bools = Tensor<bool>(masks.shape());
      for (std::int64_t n = 0; n < bools.count(); ++n) bools.data()[n] = masks.data()[n] > -0.5F;
    }
    if (of.float_mask) {
      floats = Tensor<Mask>(masks.shape());
      for (std::int64_t n = 0; n < floats.count(); ++n) {
        const float value = masks.data()[n];
        floats.data()[n] = value < -2 ? -std::numeric_limits<Mask>::infinity() : Mask(value);
      }
    }
    if (of.key_mask) {
      bools = Tensor<bool>(Shape{kBatch, 1, 1, of.k_len});
      for (std::int64_t n = 0; n < bools.count(); ++n) bools.data()[n] = n % 3 != 1;
    }
  }

  AttentionOptions<T> options() const {
    AttentionOptions<T> o{.causal = of.causal, .window = of.window, .softcap = of.softcap};
    o.query_offsets = offsets;
    o.key_lengths = lengths;
    o.segments = segments;
    o.key_segments = key_segments;
    o.sinks = sinks;
    if (of.table || of.slopes) o.bias = &bias;
    if (of.rotation) o.rotation = &rotation;
    if (of.indexed) o.terms.push_back(&indexed);
    if (content != nullptr) o.terms.push_back(content.get());
    if (of.ids) {
      o.query_positions = query_ids;
      o.key_positions = key_ids;
    }
    if (of.bool_mask || of.key_mask) o.mask = BoolMask(bools.view());
    if (of.float_mask) o.mask = FloatMask<T>(floats.view());
    return o;
  }
  Shape out_shape() const { return {kBatch, kHeads, of.q_len, kValueDim}; }

  Case of;
  Tensor<T> q, k, v;
  std::vector<std::int64_t> offsets, lengths, segments, key_segments;
  DistanceBias bias;
  RotationTable<float> rotation;
  Tensor<std::int64_t> query_ids, key_ids;
  WavyBias indexed;
  std::shared_ptr<const ScoreTerm> content;
  std::vector<double> sinks;
  Tensor<bool> bools;
  Tensor<Mask> floats;
};

// A rank's part of it.
template <class T>
struct Part {
  Part(const Whole<T>& whole, Sharding sharding)
      : q_layout(sharding, whole.of.q_len, world().size()),
        k_layout(sharding, whole.of.k_len, world().size()),
        options(whole.options()) {
    const int me = world().rank();
    q = shard_of<T>(whole.q, q_layout, me);
    k = shard_of<T>(whole.k, k_layout, me);
    v = shard_of<T>(whole.v, k_layout, me);
    if (whole.of.ids) {
      query_ids = shard_of<std::int64_t>(whole.query_ids, q_layout, me, 1);
      key_ids = shard_of<std::int64_t>(whole.key_ids, k_layout, me, 1);
      options.query_positions = query_ids;
      options.key_positions = key_ids;
    }
    if (whole.of.bool_mask) {
      bools = shard_of<bool>(whole.bools, q_layout, me, 1);
      options.mask = BoolMask(std::as_const(bools).view());
    }
    if (whole.of.float_mask) {
      floats = shard_of<typename Whole<T>::Mask>(whole.floats, q_layout, me, 1);
      options.mask = FloatMask<T>(std::as_const(floats).view());
    }
  }
  Shape out_shape() const { return {kBatch, kHeads, q.size(2), kValueDim}; }
  Shape log_shape() const { return {kBatch, kHeads, q.size(2)}; }

  ShardLayout q_layout, k_layout;
  AttentionOptions<T> options;
  Tensor<T> q, k, v;
  Tensor<std::int64_t> query_ids, key_ids;
  Tensor<bool> bools;
  Tensor<typename Whole<T>::Mask> floats;
};

}  // namespace sextant::ranks
