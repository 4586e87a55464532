// The float64 oracle of attention: five passes over whole matrices, each one line of the formula.
#include "reference/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sextant::reference {

double kept_weight(double rate, std::uint64_t seed, std::int64_t sequence_head, std::int64_t query,
                   std::int64_t key) {
  // Philox 4x32-10 (Salmon et al. 2011, section 4.2).
  constexpr std::uint64_t kLow = 0xffffffff;
  std::uint64_t c[4] = {static_cast<std::uint64_t>(key) / 4, static_cast<std::uint64_t>(query),
                        static_cast<std::uint64_t>(sequence_head) & kLow,
                        static_cast<std::uint64_t>(sequence_head) >> 32};
  std::uint64_t k[2] = {seed & kLow, seed >> 32};
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t m0 = 0xD2511F53 * c[0], m1 = 0xCD9E8D57 * c[2];
    const std::uint64_t mixed[4] = {(m1 >> 32) ^ c[1] ^ k[0], m1 & kLow, (m0 >> 32) ^ c[3] ^ k[1],
                                    m0 & kLow};
    std::copy_n(mixed, 4, c);
    k[0] = (k[0] + 0x9E3779B9) & kLow;
    k[1] = (k[1] + 0xBB67AE85) & kLow;
  }
  const auto number = static_cast<double>(c[key % 4]);
  return number < std::floor(rate * 0x1p32) ? 0 : 1 / (1 - rate);
}

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

  // O = D P V
  each_row([&](auto b, auto h, auto i) {
    for (std::int64_t c = 0; c < v_dim; ++c)
      for (std::int64_t j = 0; j < keys; ++j)
        result.output(b, h, i, c) += result.probabilities(b, h, i, j) *
                                     (call.kept ? call.kept(b, h, i, j) : 1) *
                                     call.v(b, h / group, j, c);
  });
  return result;
}

}  // namespace sextant::reference
