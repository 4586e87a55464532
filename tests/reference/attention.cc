// The float64 oracle of attention: five passes over whole matrices, each one line of the formula.
#include "reference/attention.h"

#include <cmath>
#include <limits>

namespace sextant::reference {

AttentionResult attend(const Attention& call) {
  const std::int64_t batch = call.q.size(0), heads = call.q.size(1), queries = call.q.size(2);
  const std::int64_t keys = call.k.size(2), head_dim = call.q.size(3), v_dim = call.v.size(3);
  const std::int64_t group = heads / call.k.size(1);
  constexpr double kHidden = -std::numeric_limits<double>::infinity();

  const auto matrix = [&] { return Tensor<double>(Shape{batch, heads, queries, keys}); };
  AttentionResult result{matrix(), matrix(), matrix(), matrix(),
                         Tensor<double>(Shape{batch, heads, queries, v_dim})};
  const auto each_row = [&](auto&& visit) {
    for (std::int64_t b = 0; b < batch; ++b)
      for (std::int64_t h = 0; h < heads; ++h)
        for (std::int64_t i = 0; i < queries; ++i) visit(b, h, i);
  };
  const auto each_pair = [&](auto&& visit) {
    each_row([&](std::int64_t b, std::int64_t h, std::int64_t i) {
      for (std::int64_t j = 0; j < keys; ++j) visit(b, h, i, j);
    });
  };

  // S = scale Q K^T
  each_pair([&](auto b, auto h, auto i, auto j) {
    double magnitude = 0;
    for (std::int64_t d = 0; d < head_dim; ++d) {
      const double product = call.q(b, h, i, d) * call.k(b, h / group, j, d);
      result.scores(b, h, i, j) += product;
      magnitude += std::abs(product);
    }
    result.scores(b, h, i, j) *= call.scale;
    magnitude *= std::abs(call.scale);
    const double added = call.added ? call.added(b, h, i, j) : 0;
    if (std::isfinite(added)) magnitude += std::abs(added);
    result.largest_score = std::fmax(result.largest_score, magnitude);
  });

  // C = softcap tanh(S / softcap)
  each_pair([&](auto b, auto h, auto i, auto j) {
    const double score = result.scores(b, h, i, j);
    result.capped(b, h, i, j) =
        call.softcap == 0 ? score : call.softcap * std::tanh(score / call.softcap);
  });

  // B = C + biases, -infinity where hidden
  each_pair([&](auto b, auto h, auto i, auto j) {
    const double added = call.added ? call.added(b, h, i, j) : 0;
    const bool sees = !call.sees || call.sees(b, h, i, j);
    result.biased(b, h, i, j) = sees ? result.capped(b, h, i, j) + added : kHidden;
  });

  // P_ij = exp(B_ij) / sum_l exp(B_il), shifted by the maximum; a row of hidden keys is zeros
  each_row([&](auto b, auto h, auto i) {
    double most = kHidden, sum = 0;
    for (std::int64_t j = 0; j < keys; ++j) most = std::fmax(most, result.biased(b, h, i, j));
    if (most == kHidden) return;
    for (std::int64_t j = 0; j < keys; ++j) sum += std::exp(result.biased(b, h, i, j) - most);
    for (std::int64_t j = 0; j < keys; ++j)
      result.probabilities(b, h, i, j) = std::exp(result.biased(b, h, i, j) - most) / sum;
  });

  // O = P V
  each_row([&](auto b, auto h, auto i) {
    for (std::int64_t c = 0; c < v_dim; ++c)
      for (std::int64_t j = 0; j < keys; ++j)
        result.output(b, h, i, c) += result.probabilities(b, h, i, j) * call.v(b, h / group, j, c);
  });
  return result;
}

}  // namespace sextant::reference
