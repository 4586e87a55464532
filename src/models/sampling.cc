// Filters a distribution over tokens, in float64, and draws from the rest.
#include "sextant/models/sampling.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "models/generation_fields.h"
#include "sextant/core/error.h"
#include "sextant/core/numbers.h"
#include "sextant/text/tokenizer.h"

namespace sextant {
namespace {

void check_logits(std::span<const float> logits) {
  if (logits.empty()) throw Error("sampling.logits", "must hold at least one token");
  bool any = false;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    if (std::isnan(logits[i]) || logits[i] == std::numeric_limits<float>::infinity()) {
      throw Error("sampling.logits", "must be finite or -inf, got " + shortest(logits[i]) +
                                         " for token " + std::to_string(i));
    }
    any = any || logits[i] > -std::numeric_limits<float>::infinity();
  }
  if (!any) throw Error("sampling.logits", "must have a finite number, got -inf for all");
}

// The logits of the tokens in `previous`, each changed once.
void penalize(std::vector<double>& values, double penalty, std::span<const std::int64_t> previous) {
  std::vector<bool> done(values.size());
  for (const std::int64_t token : previous) {
    if (token < 0 || token >= static_cast<std::int64_t>(values.size())) {
      throw Error("sampling.previous", "must be in 0 .. " + std::to_string(values.size() - 1) +
                                           ", got " + std::to_string(token));
    }
    const auto i = static_cast<std::size_t>(token);
    if (done[i]) continue;
    done[i] = true;
    values[i] = values[i] > 0 ? values[i] / penalty : values[i] * penalty;
  }
}

// Sets all but the first `kept` of `order` to zero.
void keep(std::vector<double>& values, std::span<const std::size_t> order, std::size_t kept) {
  for (const std::size_t i : order.subspan(kept)) values[i] = 0;
}

}  // namespace

void forbid(std::span<const std::int64_t> tokens, std::span<float> logits) noexcept {
  for (const std::int64_t token : tokens) {
    if (token < 0 || token >= std::ssize(logits)) continue;
    logits[static_cast<std::size_t>(token)] = -std::numeric_limits<float>::infinity();
  }
}

void check_sampling(const SamplingOptions& options) { check_fields("sampling", options); }

std::int64_t greedy_token(std::span<const float> logits) {
  check_logits(logits);
  return std::max_element(logits.begin(), logits.end()) - logits.begin();
}

std::vector<double> token_probabilities(std::span<const float> logits,
                                        const SamplingOptions& options,
                                        std::span<const std::int64_t> previous) {
  check_sampling(options);
  check_logits(logits);
  std::vector<double> values(logits.begin(), logits.end());
  penalize(values, options.repetition_penalty, previous);
  const auto top = std::max_element(values.begin(), values.end());
  if (options.temperature == 0) {
    const auto first = static_cast<std::size_t>(top - values.begin());
    std::fill(values.begin(), values.end(), 0.0);
    values[first] = 1;
    return values;
  }
  // The largest exponent is 0, so a tiny temperature gives -inf and never NaN.
  const double largest = *top;
  for (double& value : values) {
    value = value == largest ? 1 : std::exp((value - largest) / options.temperature);
  }

  const bool has_top_k =
      options.top_k > 0 && options.top_k < static_cast<std::int64_t>(values.size());
  if (has_top_k || options.top_p < 1) {
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    // All in order, or as many as top_k keeps: those after them become zero below.
    const auto sorted = has_top_k ? options.top_k : std::ssize(order);
    std::partial_sort(order.begin(), order.begin() + sorted, order.end(),
                      [&](std::size_t a, std::size_t b) {
                        return values[a] != values[b] ? values[a] > values[b] : a < b;
                      });
    if (has_top_k) keep(values, order, static_cast<std::size_t>(options.top_k));
    double wanted = 0;
    for (const std::size_t i : order) wanted += values[i];
    wanted *= options.top_p;
    std::size_t kept = 0;
    for (double sum = 0; options.top_p < 1 && kept < order.size() && sum < wanted; ++kept) {
      sum += values[order[kept]];
    }
    if (options.top_p < 1) keep(values, order, std::max(kept, std::size_t{1}));
  }

  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  for (double& value : values) value /= sum;
  return values;
}

std::int64_t sample_token(std::span<const float> logits, const SamplingOptions& options,
                          NumpyRandom& random, std::span<const std::int64_t> previous) {
  return token_at(token_probabilities(logits, options, previous),
                  options.temperature == 0 ? 0 : random.uniform());
}

std::int64_t token_at(std::span<const double> probabilities, double point) {
  double sum = 0;
  std::size_t last = 0;  // the last token that can come: rounding may leave the sum below the point
  for (std::size_t i = 0; i < probabilities.size(); ++i) {
    if (probabilities[i] == 0) continue;
    last = i;
    sum += probabilities[i];
    if (point < sum) break;
  }
  return static_cast<std::int64_t>(last);
}

}  // namespace sextant
