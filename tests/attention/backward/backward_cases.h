// Random calls of attention_backward() with everything their options borrow, and the oracle's
// description of the same.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "attention/strided.h"
#include "core/arrays/converted.h"
#include "reference/attention_backward.h"
#include "sextant/attention/backward.h"

namespace sextant {

// How large a random call gets, and how much it may hold.
struct CaseSizes {
  std::int64_t most_batch = 3, most_heads_k = 2, most_group = 3;
  std::int64_t least_length = 0, most_length = 7, most_head_dim = 9, most_v_dim = 6;
  double magnitude = 1;        // of q, k, v and dout
  double chance_of_one = 0.3;  // of slopes, of sinks: few numbers each
};

// Own key and sequence of every position, for the oracle.
struct Places {
  std::vector<std::int64_t> offsets;   // [batch]
  std::vector<std::int64_t> segments;  // or empty
  std::int64_t begin(std::int64_t position) const {
    std::int64_t result = 0;
    for (const std::int64_t s : segments) {
      if (s <= position) result = s;
    }
    return result;
  }
  // Distance from the query's own key, both positions in the batch row.
  std::int64_t distance(std::int64_t b, std::int64_t query, std::int64_t key) const {
    return key - query - (offsets.empty() ? 0 : offsets[static_cast<std::size_t>(b)]);
  }
};

template <class T>
struct BackwardCase {
  using Wide = typename AttentionGradients<T>::Wide;
  Strided<T> q, k, v, dout;
  Strided<T> out;  // filled by attention()
  Strided<Wide> float_mask;
  Strided<bool> bool_mask;
  std::vector<std::int64_t> offsets, key_lengths, segments;
  std::vector<double> sinks;
  DistanceBias bias;
  RotationTable<float> rotation;
  AttentionOptions<T> options;
  Places places;
  reference::Attention expected;  // of q and k that are rotated already

  std::int64_t batch() const { return q.view.size(0); }
  std::int64_t heads() const { return q.view.size(1); }
};

// Of 16-bit numbers too.
template <class T>
Tensor<double> widened(View<const T> view) {
  return converted<double>(copy_of(view));
}

// The element of a dense mask that belongs to a pair, by the broadcasting rule.
template <class M>
std::int64_t mask_index(const Tensor<M>& mask, std::array<std::int64_t, 4> pair) {
  std::int64_t n = 0;
  for (int axis = 0; axis < mask.rank(); ++axis) {
    const std::int64_t i = pair[static_cast<std::size_t>(4 - mask.rank() + axis)];
    n = n * mask.size(axis) + (mask.size(axis) == 1 ? 0 : i);
  }
  return n;
}

// Turns rows of x [batch, heads, length, head_dim] to their positions, or back. Number: double, or
// RoundingError.
template <class Number, class Position>
void rotate_rows_of(Tensor<Number>& x, const RotationTable<float>& table, bool back,
                    Position&& position) {
  const std::int64_t pairs = table.cos.size(1);
  each_index(Shape{x.size(0), x.size(1), x.size(2), pairs}, [&](const auto& i, std::int64_t) {
    const bool adjacent = table.layout == RotaryLayout::interleaved;
    Number& first = x(i[0], i[1], i[2], table.first_channel + (adjacent ? 2 * i[3] : i[3]));
    Number& second =
        x(i[0], i[1], i[2], table.first_channel + (adjacent ? 2 * i[3] + 1 : i[3] + pairs));
    const std::int64_t row = position(i[0], i[2]);
    const auto cos = static_cast<Number>(static_cast<double>(table.cos(row, i[3])));
    const auto sin =
        static_cast<Number>(static_cast<double>(table.sin(row, i[3])) * (back ? -1 : 1));
    const Number rotated = first * cos - second * sin;
    second = first * sin + second * cos;
    first = rotated;
  });
}

template <class T, class Number>
void rotate_case(const BackwardCase<T>& call, Tensor<Number>& q, Tensor<Number>& k, bool back) {
  if (call.options.rotation == nullptr) return;
  const Places& places = call.places;
  rotate_rows_of(q, call.rotation, back, [&](std::int64_t b, std::int64_t i) {
    return -places.distance(b, i, places.begin(i));
  });
  rotate_rows_of(k, call.rotation, back,
                 [&](std::int64_t, std::int64_t j) { return j - places.begin(j); });
}

// Draws a call; options that exclude one another are drawn apart.
template <class T>
void random_case(BackwardCase<T>& call, NumpyRandom& random, const CaseSizes& sizes) {
  const std::int64_t batch = pick(random, 1, sizes.most_batch),
                     kv_heads = pick(random, 1, sizes.most_heads_k),
                     heads = kv_heads * pick(random, 1, sizes.most_group);
  const bool packed = chance(random, 0.25);
  const auto length = [&] { return pick(random, sizes.least_length, sizes.most_length); };
  const std::int64_t q_len = length(), k_len = packed || chance(random, 0.3) ? q_len : length(),
                     head_dim = pick(random, 1, sizes.most_head_dim),
                     v_dim = chance(random, 0.3) ? head_dim : pick(random, 0, sizes.most_v_dim);
  const auto value = [&] { return sizes.magnitude * random.normal(); };
  call.q = strided<T>(Shape{batch, heads, q_len, head_dim}, random, true, value);
  call.k = strided<T>(Shape{batch, kv_heads, k_len, head_dim}, random, true, value);
  call.v = strided<T>(Shape{batch, kv_heads, k_len, v_dim}, random, true, value);
  call.dout = strided<T>(Shape{batch, heads, q_len, v_dim}, random, true, value);
  call.out = strided<T>(Shape{batch, heads, q_len, v_dim}, random, false, [] { return 0; });

  auto& options = call.options;
  if (chance(random, 0.3)) options.softcap = 0.5 + 20 * random.uniform();
  if (chance(random, 0.4)) options.scale = random.normal();
  if (chance(random, 0.4)) options.window.left = pick(random, 0, sizes.most_length);
  if (chance(random, 0.4)) options.window.right = pick(random, 0, sizes.most_length);
  options.causal = static_cast<Causal>(pick(random, 0, packed ? 2 : 3));
  if (packed) {
    call.segments.push_back(0);
    while (call.segments.back() < q_len) {
      call.segments.push_back(pick(random, call.segments.back(), q_len));
    }
    if (call.segments.size() == 1) call.segments.push_back(0);
    options.segments = call.segments;
    call.places.segments = call.segments;
  } else {
    std::int64_t offset = 0;
    if (options.causal == Causal::at_offsets ||
        (options.causal == Causal::none && chance(random, 0.3))) {
      // A rotation needs positions from 0 on.
      for (std::int64_t b = 0; b < batch; ++b) call.offsets.push_back(pick(random, 0, k_len));
      options.query_offsets = call.offsets;
      call.places.offsets = call.offsets;
    } else {
      if (options.causal == Causal::bottom_right) offset = k_len - q_len;
      call.places.offsets.assign(static_cast<std::size_t>(batch), offset);
    }
    if (chance(random, 0.3)) {
      for (std::int64_t b = 0; b < batch; ++b) call.key_lengths.push_back(pick(random, 0, k_len));
      options.key_lengths = call.key_lengths;
      if (call.offsets.empty() && k_len >= q_len && chance(random, 0.5)) {
        options.causal = Causal::at_lengths;
        for (std::size_t b = 0; b < call.key_lengths.size(); ++b) {
          call.key_lengths[b] = pick(random, q_len, k_len);  // as above
          call.places.offsets[b] = call.key_lengths[b] - q_len;
        }
      }
    }
  }

  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const Shape scores{batch, heads, q_len, k_len};
  std::vector<std::int64_t> mask_sizes;
  for (int axis = static_cast<int>(pick(random, 0, 3)); axis < 4; ++axis) {
    mask_sizes.push_back(chance(random, 0.4) ? 1 : scores[axis]);
  }
  const std::int64_t mask_kind = pick(random, 0, 2);
  if (mask_kind == 1) {
    call.bool_mask =
        strided<bool>(Shape(mask_sizes), random, true, [&] { return chance(random, 0.8); });
    options.mask = call.bool_mask.view;
  } else if (mask_kind == 2) {
    call.float_mask = strided<typename BackwardCase<T>::Wide>(Shape(mask_sizes), random, true, [&] {
      return chance(random, 0.15) ? -kInfinity : random.normal();
    });
    options.mask = call.float_mask.view;
  }
  const std::int64_t reach = 2 * sizes.most_length;
  if (chance(random, 0.5)) {
    call.bias.values = Tensor<float>(Shape{chance(random, 0.5) ? 1 : heads, 2 * reach + 1});
    call.bias.origin = reach;
    for (float& bias : call.bias.values.span()) {
      bias = static_cast<float>(chance(random, 0.05) ? -kInfinity : random.normal());
    }
    options.bias = &call.bias;
  }
  if (chance(random, sizes.chance_of_one)) {
    for (std::int64_t h = 0; h < heads; ++h) call.bias.slopes.push_back(random.uniform() - 0.2);
    options.bias = &call.bias;
  }
  if (chance(random, sizes.chance_of_one)) {
    for (std::int64_t h = 0; h < heads; ++h) {
      call.sinks.push_back(chance(random, 0.2) ? -kInfinity : random.normal());
    }
    options.sinks = call.sinks;
  }
  const bool has_positions =
      options.causal != Causal::bottom_right || k_len >= q_len || !call.offsets.empty();
  if (head_dim >= 2 && has_positions && chance(random, 0.3)) {
    const std::int64_t pairs = pick(random, 1, head_dim / 2);
    call.rotation.cos = Tensor<float>(Shape{2 * sizes.most_length + 1, pairs});
    call.rotation.sin = Tensor<float>(call.rotation.cos.shape());
    for (std::int64_t n = 0; n < call.rotation.cos.count(); ++n) {
      const double angle = 3 * random.normal();
      call.rotation.cos.data()[n] = static_cast<float>(std::cos(angle));
      call.rotation.sin.data()[n] = static_cast<float>(std::sin(angle));
    }
    call.rotation.layout =
        chance(random, 0.5) ? RotaryLayout::interleaved : RotaryLayout::half_split;
    call.rotation.first_channel = pick(random, 0, head_dim - 2 * pairs);
    options.rotation = &call.rotation;
  }

  if (chance(random, 0.3)) {
    options.dropout = 0.4 * random.uniform();
    options.dropout_seed = static_cast<std::uint64_t>(pick(random, 0, 1 << 30)) << 20 | 5;
    call.expected.kept = [&call](auto b, auto h, auto i, auto j) {
      const auto& segments = call.segments;
      const std::int64_t begin = call.places.begin(i);
      std::int64_t sequence = b;
      if (!segments.empty()) {
        const auto next = std::upper_bound(segments.begin(), segments.end(), i);
        sequence =
            b * static_cast<std::int64_t>(segments.size() - 1) + (next - segments.begin()) - 1;
      }
      return reference::kept_weight(call.options.dropout, call.options.dropout_seed,
                                    sequence * call.heads() + h, i - begin, j - begin);
    };
  }

  call.expected.q = widened<T>(call.q.dense);
  call.expected.k = widened<T>(call.k.dense);
  call.expected.v = widened<T>(call.v.dense);
  rotate_case(call, call.expected.q, call.expected.k, false);
  call.expected.softcap = options.softcap;
  call.expected.scale =
      options.scale ? *options.scale : 1 / std::sqrt(static_cast<double>(head_dim));
  call.expected.added = [&call](auto b, auto h, auto i, auto j) -> double {
    double sum = 0;
    if (call.float_mask.dense.rank() > 0 && call.options.mask.index() == 2) {
      sum += static_cast<double>(
          call.float_mask.dense.data()[mask_index(call.float_mask.dense, {b, h, i, j})]);
    }
    const std::int64_t distance = call.places.distance(b, i, j);
    if (call.bias.values.count() > 0) {
      const std::int64_t column = distance + call.bias.origin;
      if (column >= 0 && column < call.bias.values.size(1)) {  // others are hidden
        sum += static_cast<double>(call.bias.values(call.bias.values.size(0) == 1 ? 0 : h, column));
      }
    }
    if (!call.bias.slopes.empty()) {
      sum -=
          call.bias.slopes[static_cast<std::size_t>(h)] * std::abs(static_cast<double>(distance));
    }
    return sum;
  };
  call.expected.sees = [&call](auto b, auto h, auto i, auto j) {
    const auto& o = call.options;
    const std::int64_t distance = call.places.distance(b, i, j);
    if (call.places.begin(i) != call.places.begin(j)) return false;
    if (*o.causal != Causal::none && distance > 0) return false;
    if (o.window.left != -1 && -distance > o.window.left) return false;
    if (o.window.right != -1 && distance > o.window.right) return false;
    if (!call.key_lengths.empty() && j >= call.key_lengths[static_cast<std::size_t>(b)])
      return false;
    return o.mask.index() != 1 ||
           call.bool_mask.dense.data()[mask_index(call.bool_mask.dense, {b, h, i, j})];
  };
}

// The gradients of a case, each in memory of its own layout, all wanted that the options allow.
template <class T>
struct CaseGradients {
  using Wide = typename AttentionGradients<T>::Wide;
  Strided<T> q, k, v;
  Strided<Wide> bias, slopes, mask, sinks;
  AttentionGradients<T> views;

  CaseGradients(const BackwardCase<T>& call, NumpyRandom& random) {
    const auto seven = [] { return 7; };
    const auto make = [&](auto& gradient, auto& view, const Shape& shape) {
      using Element = std::remove_reference_t<decltype(*gradient.view.data())>;
      gradient = strided<Element>(shape, random, false, seven);
      view = gradient.view;
    };
    make(q, views.q, call.q.view.shape());
    make(k, views.k, call.k.view.shape());
    make(v, views.v, call.v.view.shape());
    const Shape heads{call.heads()};
    if (call.bias.values.count() > 0) make(bias, views.bias.values, call.bias.values.shape());
    if (!call.bias.slopes.empty()) make(slopes, views.bias.slopes, heads);
    if (call.options.mask.index() == 2) make(mask, views.mask, call.float_mask.view.shape());
    if (!call.sinks.empty()) make(sinks, views.sinks, heads);
  }
};

// The same from the oracle's, which knows no options: sums of what each pair adds.
template <class Number>
struct ExpectedGradients {
  Tensor<Number> q, k, v, bias, slopes, mask, sinks;

  template <class T>
  ExpectedGradients(const BackwardCase<T>& call, reference::GradientOf<Number> gradient)
      : q(std::move(gradient.q)), k(std::move(gradient.k)), v(std::move(gradient.v)) {
    rotate_case(call, q, k, true);
    const Shape heads{call.heads()};
    if (call.bias.values.count() > 0) bias = Tensor<Number>(call.bias.values.shape());
    if (!call.bias.slopes.empty()) slopes = Tensor<Number>(heads);
    if (call.options.mask.index() == 2) mask = Tensor<Number>(call.float_mask.dense.shape());
    if (!call.sinks.empty()) sinks = Tensor<Number>(heads);
    each_index(gradient.added.shape(), [&](const auto& i, std::int64_t n) {
      const Number ds = gradient.added.data()[n];
      if (!call.expected.sees(i[0], i[1], i[2], i[3])) return;
      const std::int64_t distance = call.places.distance(i[0], i[2], i[3]);
      if (bias.count() > 0) {
        bias(bias.size(0) == 1 ? 0 : i[1], distance + call.bias.origin) += ds;
      }
      if (slopes.count() > 0)
        slopes(i[1]) -= static_cast<Number>(std::abs(static_cast<double>(distance))) * ds;
      if (mask.count() > 0) {
        mask.data()[mask_index(mask, {i[0], i[1], i[2], i[3]})] += ds;
      }
    });
    if (sinks.count() > 0) {
      each_index(gradient.sinks.shape(),
                 [&](const auto& i, std::int64_t n) { sinks(i[1]) += gradient.sinks.data()[n]; });
    }
  }
};

// A case's gradients in the arithmetic Real.
template <class Real, class T>
ExpectedGradients<reference::KeptAs<Real>> gradients_in(const BackwardCase<T>& call) {
  // Of 16 bits, so that what is left of the output is its largest error.
  const auto stored = widened<T>(call.out.view);
  return {call, reference::attention_gradient<Real>(call.expected, call.sinks,
                                                    widened<T>(call.dout.dense),
                                                    sizeof(T) == 2 ? &stored : nullptr)};
}

// Runs attention() for out, then attention_backward() into `gradients`.
template <class T>
void run_backward(BackwardCase<T>& call, CaseGradients<T>& gradients, bool with_log_sum_exp) {
  Tensor<float> log_sum_exp(Shape{call.batch(), call.heads(), call.q.view.size(2)});
  attention<T>(call.q.view, call.k.view, call.v.view, call.out.view, call.options, log_sum_exp);
  attention_backward<T>(call.q.view, call.k.view, call.v.view, call.out.view, call.dout.view,
                        gradients.views, call.options,
                        with_log_sum_exp ? View<const float>(log_sum_exp) : View<const float>());
}

}  // namespace sextant
