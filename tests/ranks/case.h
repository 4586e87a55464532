// Calls of the operator with every option, whole on every rank, so that parts can be compared with
// what one process computes.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "ranks/world.h"
#include "sextant/attention/attention.h"
#include "sextant/core/random.h"
#include "sextant/ranks/attention.h"
#include "sextant/schemes/rotated/rotary.h"

namespace sextant::ranks {

// Biases that depend on the head, the sequence and both positions, with two parameters.
class WavyBias final : public IndexedBias {
 public:
  void fill(const Tile& t, float* values, std::int64_t stride) const noexcept override {
    for (std::int64_t i = 0; i < t.queries; ++i) {
      for (std::int64_t j = 0; j < t.keys; ++j) {
        values[i * stride + j] = value(t, i, j, 0.5) + value(t, i, j, 0.25);
      }
    }
  }
  std::int64_t gradient_size() const noexcept override { return 2; }
  void accumulate(const Tile& t, const float* ds, std::int64_t stride,
                  double* gradient) const noexcept override {
    for (std::int64_t i = 0; i < t.queries; ++i) {
      for (std::int64_t j = 0; j < t.keys; ++j) {
        gradient[0] += static_cast<double>(ds[i * stride + j] * value(t, i, j, 0.5));
        gradient[1] += static_cast<double>(ds[i * stride + j] * value(t, i, j, 0.25));
      }
    }
  }

 private:
  static float value(const Tile& t, std::int64_t i, std::int64_t j, double step) noexcept {
    const auto place = static_cast<double>(3 * t.query_position(i) + 2 * t.key_position(j) +
                                           5 * t.head + 7 * t.sequence + t.first_query + i);
    return static_cast<float>(std::sin(step * place));
  }
};

// What a case may ask for; see AttentionOptions.
struct Case {
  std::string name;
  std::int64_t q_len = 200, k_len = 200;
  std::optional<Causal> causal{};
  Window window{};
  bool offsets = false, lengths = false, segments = false, key_segments = false;
  bool table = false, one_row = false, slopes = false, rotation = false, ids = false;
  bool indexed = false, sinks = false, bool_mask = false, float_mask = false, key_mask = false;
  double softcap = 0;
  double size = 1;  // of q
  std::int64_t kv_heads = 2;
};

inline void PrintTo(const Case& of, std::ostream* to) { *to << of.name; }

inline std::vector<Case> cases() {
  const auto left = Causal::top_left;
  return {
      {.name = "plain"},
      {.name = "causal", .causal = left},
      {.name = "cross", .q_len = 100, .k_len = 271},
      {.name = "bottom_right", .q_len = 130, .k_len = 233, .causal = Causal::bottom_right},
      {.name = "window", .causal = left, .window = {40, -1}},
      {.name = "narrow_window", .window = {7, 5}},
      {.name = "offsets",
       .q_len = 90,
       .k_len = 300,
       .causal = Causal::at_offsets,
       .window = {100, -1},
       .offsets = true},
      {.name = "lengths", .lengths = true},
      {.name = "at_lengths", .causal = Causal::at_lengths, .lengths = true, .slopes = true},
      {.name = "segments", .causal = left, .segments = true, .rotation = true},
      {.name = "key_segments",
       .q_len = 200,
       .k_len = 250,
       .causal = Causal::bottom_right,
       .segments = true,
       .key_segments = true,
       .table = true},
      {.name = "table", .causal = left, .table = true},
      {.name = "one_row", .table = true, .one_row = true},
      {.name = "slopes", .causal = left, .slopes = true},
      {.name = "rotation", .causal = left, .rotation = true},
      {.name = "rotation_table", .causal = left, .table = true, .rotation = true},
      {.name = "ids", .causal = left, .slopes = true, .rotation = true, .ids = true},
      {.name = "indexed", .causal = left, .segments = true, .indexed = true},
      {.name = "indexed_ids", .ids = true, .indexed = true},
      {.name = "sinks", .causal = left, .window = {30, -1}, .sinks = true},
      {.name = "softcap", .slopes = true, .softcap = 2},
      {.name = "bool_mask", .bool_mask = true},
      {.name = "float_mask", .causal = left, .float_mask = true},
      {.name = "key_mask", .key_mask = true},
      {.name = "one_head", .causal = left, .kv_heads = 1},
      {.name = "large_scores", .causal = left, .size = 60},
      {.name = "short", .q_len = 3, .k_len = 3, .causal = left},
      {.name = "no_keys", .q_len = 50, .k_len = 0},
      {.name = "all",
       .causal = left,
       .window = {120, -1},
       .table = true,
       .slopes = true,
       .rotation = true,
       .indexed = true,
       .sinks = true,
       .float_mask = true,
       .softcap = 5},
  };
}

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
    if (of.ids) {
      query_ids = Tensor<std::int64_t>({kBatch, of.q_len});
      key_ids = Tensor<std::int64_t>({kBatch, of.k_len});
      for (std::int64_t b = 0; b < kBatch; ++b) {
        for (std::int64_t i = 0; i < of.q_len; ++i) query_ids(b, i) = i / 2 + 9 * b;
        for (std::int64_t i = 0; i < of.k_len; ++i) key_ids(b, i) = i / 2 + 9 * b;
      }
    }
    if (of.sinks) sinks = {0.5, -std::numeric_limits<double>::infinity(), 3, -1};
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
    if (of.indexed) o.indexed = &indexed;
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
  std::vector<double> sinks;
  Tensor<bool> bools;
  Tensor<Mask> floats;
};

// A rank's part of it.
template <class T>
struct Part {
  Part(const Whole<T>& whole, Division division)
      : q_layout(division, whole.of.q_len, world().size()),
        k_layout(division, whole.of.k_len, world().size()),
        options(whole.options()) {
    const int me = world().rank();
    q = part_of<T>(whole.q, q_layout, me);
    k = part_of<T>(whole.k, k_layout, me);
    v = part_of<T>(whole.v, k_layout, me);
    if (whole.of.ids) {
      query_ids = part_of<std::int64_t>(whole.query_ids, q_layout, me, 1);
      key_ids = part_of<std::int64_t>(whole.key_ids, k_layout, me, 1);
      options.query_positions = query_ids;
      options.key_positions = key_ids;
    }
    if (whole.of.bool_mask) {
      bools = part_of<bool>(whole.bools, q_layout, me, 1);
      options.mask = BoolMask(std::as_const(bools).view());
    }
    if (whole.of.float_mask) {
      floats = part_of<typename Whole<T>::Mask>(whole.floats, q_layout, me, 1);
      options.mask = FloatMask<T>(std::as_const(floats).view());
    }
  }
  Shape out_shape() const { return {kBatch, kHeads, q.size(2), kValueDim}; }
  Shape log_shape() const { return {kBatch, kHeads, q.size(2)}; }

  Layout q_layout, k_layout;
  AttentionOptions<T> options;
  Tensor<T> q, k, v;
  Tensor<std::int64_t> query_ids, key_ids;
  Tensor<bool> bools;
  Tensor<typename Whole<T>::Mask> floats;
};

// What a call gives.
template <class T>
struct Result {
  Tensor<T> out;
  Tensor<float> logs;
};

template <class T>
Result<T> in_one_process(const Whole<T>& whole) {
  Result<T> result{Tensor<T>(whole.out_shape()), Tensor<float>({kBatch, kHeads, whole.of.q_len})};
  sextant::attention<T>(whole.q, whole.k, whole.v, result.out.view(), whole.options(),
                        result.logs.view());
  return result;
}

template <class T>
Result<T> on_ranks(const Part<T>& part, const Options& ranks, int threads = 0) {
  Result<T> result{Tensor<T>(part.out_shape()), Tensor<float>(part.log_shape())};
  AttentionOptions<T> options = part.options;
  options.threads = threads;
  ranks::attention<T>(world(), part.q, part.k, part.v, result.out.view(), options, ranks,
                      result.logs.view());
  return result;
}

template <class T>
bool same_bits(const Tensor<T>& a, const Tensor<T>& b) {
  return a.shape() == b.shape() &&
         std::equal(reinterpret_cast<const unsigned char*>(a.data()),
                    reinterpret_cast<const unsigned char*>(a.data() + a.count()),
                    reinterpret_cast<const unsigned char*>(b.data()));
}

// Root of the mean square of the difference; infinite where the shapes differ, and where one is
// finite and the other not.
template <class A, class B>
double distance(const Tensor<A>& a, const Tensor<B>& b) {
  if (!(a.shape() == b.shape())) return std::numeric_limits<double>::infinity();
  double sum = 0;
  for (std::int64_t n = 0; n < a.count(); ++n) {
    const auto x = static_cast<double>(a.data()[n]), y = static_cast<double>(b.data()[n]);
    if (x == y) continue;
    sum += (x - y) * (x - y);
  }
  if (std::isnan(sum)) return std::numeric_limits<double>::infinity();
  return std::sqrt(sum / static_cast<double>(std::max<std::int64_t>(1, a.count())));
}

template <class A>
double size_of(const Tensor<A>& a) {
  return distance(a, Tensor<A>(a.shape()));
}

}  // namespace sextant::ranks
