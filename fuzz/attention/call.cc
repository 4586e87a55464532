// Makes a valid call from the fuzzer's bytes (see call.h).
#include "call.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sextant::fuzz {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kHidden = -kInfinity;

// A shape that broadcasts to `scores`: some axes dropped at the front, some of size 1.
Shape broadcastable(const Shape& scores, Choices& choices) {
  std::vector<std::int64_t> sizes;
  for (int axis = static_cast<int>(choices.integer(0, 3)); axis < 4; ++axis) {
    sizes.push_back(choices.one_in(3) ? 1 : scores[axis]);
  }
  return Shape(sizes);
}

template <class M>
M broadcast_at(const Tensor<M>& mask, const std::int64_t (&pair)[4]) {
  std::int64_t n = 0;
  for (int axis = 0; axis < mask.rank(); ++axis) {
    n = n * mask.size(axis) + (mask.size(axis) == 1 ? 0 : pair[4 - mask.rank() + axis]);
  }
  return mask.data()[n];
}

// How large the numbers of an array are.
double magnitude(Choices& choices) {
  constexpr double kMagnitudes[] = {1, 1, 1, 0.01, 40, 1e4, 1e-40, 0};
  return kMagnitudes[choices.integer(0, 7)];
}

template <class T>
void put(const Strided<T>& array, std::int64_t b, std::int64_t h, std::int64_t i, double value) {
  for (std::int64_t d = 0; d < array.view.size(3); ++d) {
    array.view(b, h, i, d) = static_cast<T>(value);
  }
}

// Whether changing an element changes no other.
template <class T>
bool is_injective(const Strided<T>& array) {
  for (int axis = 0; axis < 4; ++axis) {
    if (array.view.stride(axis) == 0 && array.view.size(axis) > 1) return false;
  }
  return true;
}

// Which of the sequences between such boundaries holds a place.
std::size_t sequence_at(const std::vector<std::int64_t>& boundaries, std::int64_t place) {
  const auto after = std::upper_bound(boundaries.begin(), boundaries.end(), place);
  return static_cast<std::size_t>(after - boundaries.begin()) - 1;
}

}  // namespace

double Checkered::at(std::int64_t head, std::int64_t query, std::int64_t key) const noexcept {
  const std::int64_t n = 3 * query + 5 * key + 7 * head;
  return n % 7 == 0 && key % 3 != 0 ? kHidden : static_cast<double>(n % 32) / 8 - 2;
}

void Checkered::add(const ScoreTile<float>& tile) const noexcept {
  for (std::int64_t i = 0; i < tile.queries; ++i)
    for (std::int64_t j = 0; j < tile.keys; ++j)
      tile.add(i, j, static_cast<float>(at(tile.head, tile.first_query + i, tile.first_key + j)));
}

template <class T>
Call<T>::Call(Choices& choices) {
  choose_shapes(choices);
  NumpyRandom random = choices.random();
  const auto array = [&](std::int64_t heads, std::int64_t length, std::int64_t width) {
    const double size = magnitude(choices);
    const bool alike = choices.one_in(8);  // all numbers the same: equal scores
    return strided<T>(Shape{batch, heads, length, width}, random, true,
                      [&] { return alike ? size : size * random.normal(); });
  };
  q = array(heads_q, q_len, head_dim);
  k = array(kv_heads, k_len, head_dim);
  v = array(kv_heads, k_len, v_dim);
  out = strided<T>(Shape{batch, heads_q, q_len, v_dim}, random, false, [] { return 7; });
  choose_places(choices);
  choose_masks(choices, random);
  choose_biases(choices, random);
  choose_rotation(choices, random);
  choose_poison(choices, random);
  constexpr double kScales[] = {1, 0.125, -0.5, 0, 10, 1e-6};
  if (choices.one_in(2)) options.scale = kScales[choices.integer(0, 5)];
  constexpr double kCaps[] = {30, 1, 0.01, 1000};
  if (choices.one_in(4)) options.softcap = kCaps[choices.integer(0, 3)];
  if (choices.one_in(2)) {
    log_sum_exp = strided<float>(Shape{batch, heads_q, q_len}, random, false, [] { return 7; });
  }
  if (choices.one_in(4)) options.matmul_precision = MatmulPrecision::bfloat16;
}

// Small shapes as a rule, large ones with few heads and channels: the oracle takes its time.
template <class T>
void Call<T>::choose_shapes(Choices& choices) {
  batch = choices.integer(1, 2);
  kv_heads = choices.integer(1, 2);
  heads_q = kv_heads * choices.integer(1, 2);
  std::int64_t widest = 40;
  switch (choices.integer(0, 7)) {
    case 0:
    case 1:  // decoding
      q_len = choices.integer(1, 3);
      k_len = choices.integer(1, 300);
      break;
    case 2:  // several tiles
      batch = kv_heads = heads_q = 1;
      q_len = choices.integer(40, 80);
      k_len = choices.integer(100, 300);
      widest = 8;
      break;
    case 3:
      q_len = k_len = choices.integer(0, 80);
      widest = 16;
      break;
    default:  // about one tile
      q_len = choices.integer(0, 20);
      k_len = choices.one_in(2) ? q_len : choices.integer(0, 20);
  }
  head_dim = choices.integer(1, widest);
  v_dim = choices.integer(0, widest);
}

template <class T>
void Call<T>::choose_places(Choices& choices) {
  if (choices.one_in(2)) options.window.left = choices.integer(0, 100);
  if (choices.one_in(3)) options.window.right = choices.integer(0, 100);
  if (choices.one_in(3)) {
    segments = {0};
    while (segments.back() < q_len) {
      segments.push_back(std::min(q_len, segments.back() + choices.integer(0, 40) + 1));
      if (choices.one_in(5)) segments.push_back(segments.back());  // one of no length
    }
    if (segments.size() == 1) segments.push_back(0);
    key_segments = segments;
    options.segments = segments;
    if (q_len != k_len || choices.one_in(2)) {
      key_segments = {0};
      while (key_segments.size() < segments.size()) {
        key_segments.push_back(std::min(k_len, key_segments.back() + choices.integer(0, 40)));
      }
      key_segments.back() = k_len;
      options.key_segments = key_segments;
      options.causal = Causal::none;  // by name, as lengths differ
    }
    if (!choices.one_in(3)) options.causal = static_cast<Causal>(choices.integer(0, 2));
    return;
  }
  if (choices.one_in(3)) {
    for (std::int64_t b = 0; b < batch; ++b) {
      const std::int64_t least = choices.one_in(3) ? -20 : 0;
      offsets.push_back(choices.integer(least, std::max(least, k_len - q_len + 10)));
    }
    options.query_offsets = offsets;
    options.causal = choices.one_in(2) ? Causal::at_offsets : Causal::none;
  } else {
    options.causal = static_cast<Causal>(choices.integer(0, 2));
  }
  if (choices.one_in(3)) {
    for (std::int64_t b = 0; b < batch; ++b) key_lengths.push_back(choices.integer(0, k_len));
    options.key_lengths = key_lengths;
    if (offsets.empty() && choices.one_in(3)) options.causal = Causal::at_lengths;
  }
}

template <class T>
void Call<T>::choose_masks(Choices& choices, NumpyRandom& random) {
  const std::int64_t kind = choices.integer(0, 3);
  const Shape shape = broadcastable(Shape{batch, heads_q, q_len, k_len}, choices);
  const double hidden = static_cast<double>(choices.integer(0, 4)) / 4;
  if (kind == 1) {
    bool_mask = strided<bool>(shape, random, true, [&] { return random.uniform() >= hidden; });
    options.mask = bool_mask.view;
  } else if (kind == 2) {
    const double size = magnitude(choices);
    // Some frameworks hide by the lowest finite number: rows of nothing else are means.
    const double lowest = choices.one_in(3) ? -std::numeric_limits<float>::max() : kHidden;
    float_mask = strided<Wide>(shape, random, true, [&] {
      return random.uniform() < hidden ? lowest : size * random.normal();
    });
    options.mask = float_mask.view;
  }
}

template <class T>
void Call<T>::choose_biases(Choices& choices, NumpyRandom& random) {
  if (choices.one_in(4)) {
    constexpr std::int64_t kFarthest = 500;  // more than any pair of these shapes
    bias.values = Tensor<float>(Shape{choices.one_in(2) ? 1 : heads_q, 2 * kFarthest + 1});
    bias.origin = kFarthest;
    const bool hides = choices.one_in(2);
    for (float& value : bias.values.span()) {
      value = static_cast<float>(hides && random.uniform() < 0.1 ? kHidden : random.normal());
    }
    options.bias = &bias;
  }
  if (choices.one_in(4)) {
    for (std::int64_t h = 0; h < heads_q; ++h) {
      bias.slopes.push_back(static_cast<double>(choices.integer(-8, 64)) / 32);
    }
    options.bias = &bias;
  }
  if (choices.one_in(5)) options.terms = {&indexed};
  if (choices.one_in(4)) {
    constexpr double kSinks[] = {0, 1, -3, 50, -1e4, 1e4, kHidden};
    for (std::int64_t h = 0; h < heads_q; ++h) sinks.push_back(kSinks[choices.integer(0, 6)]);
    options.sinks = sinks;
  }
}

// A table with the positions that come up and no more.
template <class T>
void Call<T>::choose_rotation(Choices& choices, NumpyRandom& random) {
  if (!choices.one_in(4) || head_dim < 2) return;
  std::int64_t last = -1;
  for (std::int64_t b = 0; b < batch; ++b) {
    const std::int64_t keys =
        key_lengths.empty() ? k_len : key_lengths[static_cast<std::size_t>(b)];
    for (std::int64_t j = 0; j < keys; ++j) last = std::max(last, j - key_begin(j));
    for (std::int64_t i = 0; i < q_len; ++i) {
      if (diagonal_key(b, i) < 0) return;  // has no row
      last = std::max(last, diagonal_key(b, i));
    }
  }
  const std::int64_t pairs = choices.integer(0, head_dim / 2);
  rotation = {Tensor<float>(Shape{last + 1, pairs}), Tensor<float>(Shape{last + 1, pairs})};
  rotation.layout = choices.one_in(2) ? RotaryLayout::interleaved : RotaryLayout::half_split;
  rotation.first_channel = choices.integer(0, head_dim - 2 * pairs);
  for (std::int64_t n = 0; n < rotation.cos.count(); ++n) {
    const double angle = 6.3 * random.uniform();
    rotation.cos.data()[n] = static_cast<float>(std::cos(angle));
    rotation.sin.data()[n] = static_cast<float>(std::sin(angle));
  }
  options.rotation = &rotation;
}

// Puts NaN or infinity into some keys, values and queries.
template <class T>
void Call<T>::choose_poison(Choices& choices, NumpyRandom& random) {
  bad_k = Tensor<Poison>(Shape{batch, kv_heads, k_len});
  bad_v = Tensor<Poison>(Shape{batch, kv_heads, k_len});
  bad_q = Tensor<Poison>(Shape{batch, heads_q, q_len});
  const double share = static_cast<double>(choices.integer(0, 3)) / 12;
  if (share == 0) return;
  const auto spoil = [&](Tensor<Poison>& bad, const Strided<T>& array) {
    if (!is_injective(array) || array.view.count() == 0 || choices.one_in(2)) return;
    for (std::int64_t b = 0; b < bad.size(0); ++b)
      for (std::int64_t h = 0; h < bad.size(1); ++h)
        for (std::int64_t i = 0; i < bad.size(2); ++i) {
          if (random.uniform() >= share) continue;
          const bool nan = random.uniform() < 0.5;
          bad(b, h, i) = nan ? Poison::nan : Poison::infinity;
          put(array, b, h, i, nan ? std::numeric_limits<double>::quiet_NaN() : kInfinity);
        }
  };
  spoil(bad_k, k);
  spoil(bad_v, v);
  spoil(bad_q, q);
}

template <class T>
std::int64_t Call<T>::query_begin(std::int64_t i) const noexcept {
  return segments.empty() ? 0 : segments[sequence_at(segments, i)];
}

template <class T>
std::int64_t Call<T>::key_begin(std::int64_t j) const noexcept {
  return segments.empty() ? 0 : key_segments[sequence_at(key_segments, j)];
}

template <class T>
bool Call<T>::are_apart(std::int64_t i, std::int64_t j) const noexcept {
  return !segments.empty() && sequence_at(segments, i) != sequence_at(key_segments, j);
}

template <class T>
std::int64_t Call<T>::diagonal_key(std::int64_t b, std::int64_t i) const noexcept {
  if (!offsets.empty()) return i + offsets[static_cast<std::size_t>(b)];
  if (options.causal == Causal::at_lengths) {
    return i + key_lengths[static_cast<std::size_t>(b)] - q_len;
  }
  if (options.causal != Causal::bottom_right) return i - query_begin(i);
  if (segments.empty()) return i + k_len - q_len;
  const std::size_t n = sequence_at(segments, i);
  return i - segments[n + 1] + key_segments[n + 1] - key_segments[n];
}

template <class T>
bool Call<T>::sees(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) const noexcept {
  const std::int64_t distance = j - key_begin(j) - diagonal_key(b, i);
  const bool causal = options.causal.value_or(Causal::none) != Causal::none;
  if (are_apart(i, j)) return false;
  if (!key_lengths.empty() && j >= key_lengths[static_cast<std::size_t>(b)]) return false;
  if (causal && distance > 0) return false;
  if (options.window.left >= 0 && distance < -options.window.left) return false;
  if (options.window.right >= 0 && distance > options.window.right) return false;
  return !std::holds_alternative<BoolMask>(options.mask) ||
         broadcast_at(bool_mask.dense, {b, h, i, j});
}

// Calls visit(x) for each number that is added to the score of a visible pair.
template <class T>
template <class Visit>
void Call<T>::each_bias(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j,
                        Visit&& visit) const {
  const std::int64_t key = j - key_begin(j), distance = key - diagonal_key(b, i);
  if (std::holds_alternative<FloatMask<T>>(options.mask)) {
    visit(static_cast<double>(broadcast_at(float_mask.dense, {b, h, i, j})));
  }
  if (options.bias != nullptr && bias.has_table()) {
    const std::int64_t row = bias.values.size(0) == 1 ? 0 : h;
    visit(static_cast<double>(bias.values(row, distance + bias.origin)));
  }
  if (!bias.slopes.empty()) {
    visit(-bias.slopes[static_cast<std::size_t>(h)] * std::abs(static_cast<double>(distance)));
  }
  if (!options.terms.empty()) visit(indexed.at(h, i - query_begin(i), key));
}

template <class T>
double Call<T>::added(std::int64_t b, std::int64_t h, std::int64_t i,
                      std::int64_t j) const noexcept {
  if (!sees(b, h, i, j)) return kHidden;
  double sum = 0;
  each_bias(b, h, i, j, [&](double x) { sum += x; });
  return sum;
}

template <class T>
double Call<T>::weight_of_added(std::int64_t b, std::int64_t h, std::int64_t i,
                                std::int64_t j) const noexcept {
  double sum = 0;
  each_bias(b, h, i, j, [&](double x) { sum += std::abs(x); });
  return sum;
}

template struct Call<float>;
template struct Call<double>;
template struct Call<float16>;
template struct Call<bfloat16>;

}  // namespace sextant::fuzz
