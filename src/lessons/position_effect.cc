// Determines the effect of a sentence's position tables.
#include "sextant/lessons/position_effect.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "sextant/core/numbers.h"

namespace sextant {
namespace {

// Whether row n of the last two axes is row 0, for every n.
bool rows_alike(View<const double> table) {
  const Tensor<double> dense = copy_of(table);
  const std::int64_t rows = table.size(table.rank() - 2), width = table.size(table.rank() - 1);
  const std::int64_t heads = rows * width == 0 ? 0 : dense.count() / (rows * width);
  for (std::int64_t head = 0; head < heads; ++head) {
    const double* first = dense.data() + head * rows * width;
    for (std::int64_t row = 1; row < rows; ++row) {
      if (!std::equal(first, first + width, first + row * width)) return false;
    }
  }
  return true;
}

// Biases that are all 0 say nothing; -infinity hides.
PositionEffect effect_of(std::span<const float> biases) {
  PositionEffect effect = PositionEffect::alike;
  for (const float bias : biases) {
    if (bias == -HUGE_VALF) {
      effect = PositionEffect::mask;
    } else if (bias != 0) {
      return PositionEffect::order;
    }
  }
  return effect;
}

PositionEffect effect_of(const DistanceBias& bias) {
  for (const double slope : bias.slopes) {
    if (slope != 0) return PositionEffect::order;
  }
  return bias.has_table() ? effect_of(bias.values.span()) : PositionEffect::alike;
}

PositionEffect effect_of(const ScoreTerm& term, std::int64_t length) {
  std::vector<float> values(static_cast<std::size_t>(length * length));
  write_term(term, {.queries = length, .keys = length}, values.data());
  return effect_of(values);
}

PositionEffect effect_of(const RotationTable<double>& table) {
  return rows_alike(table.cos) && rows_alike(table.sin) ? PositionEffect::alike
                                                        : PositionEffect::order;
}

// Returns the part of the last token's weight outside the one word that each head attends to most.
double rest_of(View<const double> weights) {
  const std::int64_t last = weights.size(1) - 1;
  double rest = 0;
  for (std::int64_t head = 0; head < weights.size(0); ++head) {
    double largest = 0, sum = 0;
    for (std::int64_t key = 0; key < weights.size(2); ++key) {
      sum += weights(head, last, key);
      largest = std::max(largest, weights(head, last, key));
    }
    rest = std::max(rest, sum - largest);
  }
  return rest;
}

}  // namespace

PositionEffect position_effect(const AppliedPositions<double>& positions, std::int64_t length) {
  PositionEffect effect = PositionEffect::none;
  const auto with = [&effect](PositionEffect one) { effect = std::max(effect, one); };
  if (positions.added) {
    with(rows_alike(*positions.added) ? PositionEffect::alike : PositionEffect::order);
  }
  for (const auto* rotation : {positions.query_rotation(), positions.key_rotation()}) {
    if (rotation != nullptr) with(effect_of(*rotation));
  }
  if (positions.bias) with(effect_of(*positions.bias));
  if (positions.indexed) with(effect_of(*positions.indexed, length));
  if (positions.content) with(PositionEffect::order);
  return effect;
}

std::string why_same(PositionEffect effect, View<const double> weights) {
  switch (effect) {
    case PositionEffect::none:
      return "";
    case PositionEffect::alike:
      return "with these parameters, at this width and length, the table is the same at every "
             "position";
    case PositionEffect::mask:
      return "a mask hides words, and says nothing of the order of those that it leaves";
    case PositionEffect::order:
      break;
  }
  constexpr double kSaturated = 1e-9;
  const double rest = rest_of(weights);
  if (weights.size(2) < 2 || rest > kSaturated) return "";
  return "the softmax is saturated: the last token gives one word all but " + significant(rest, 2) +
         " of its weight";
}

}  // namespace sextant
