// The Forgetting Transformer's decay: differences of prefix sums.
#include "sextant/schemes/content/forgetting.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "schemes/content/relative_vectors.h"
#include "schemes/definition.h"
#include "sextant/core/error.h"

namespace sextant {
namespace {

struct ForgettingWeights {
  Tensor<double> log_gates{};
};

}  // namespace

template <>
inline constexpr auto kWeights<ForgettingWeights> =
    std::tuple{weight(&ForgettingWeights::log_gates, "log_gates", "[batch or 1, heads, length]",
                      "log of each token's forget gate, <= 0, computed by the model; initially log "
                      "sigmoid of normal numbers with mean 2")};

namespace {

class ForgettingTerm final : public ScoreTerm {
 public:
  explicit ForgettingTerm(Tensor<double> sums) : f_(std::move(sums)) {}

  void check(const CallExtents& call) const override {
    std::int64_t tokens = 0;  // with gates
    for (const SequenceExtents& at : call.sequences) {
      const std::int64_t used = std::max(at.k_len, at.diagonal_keys.last + 1);
      tokens = std::max(tokens, at.first_key + used);
      // The gate there is that of another sequence.
      if (call.packed && used > at.k_len) {
        throw Error("forgetting",
                    "must have a key for every query's gate in packed sequences, got one of " +
                        std::to_string(at.k_len) + " keys with a query at position " +
                        std::to_string(at.diagonal_keys.last));
      }
    }
    if ((f_.size(0) != 1 && f_.size(0) != call.batch) || f_.size(1) != call.heads ||
        tokens > f_.size(2)) {
      throw Error("forgetting.log_gates", "must be [1 or " + std::to_string(call.batch) + ", " +
                                              std::to_string(call.heads) + ", at least " +
                                              std::to_string(tokens) + "], got " +
                                              f_.shape().to_string());
    }
    if (call.sees_future_keys) {
      throw Error("forgetting", "must be used with causal attention: gates forget earlier tokens");
    }
  }

  TermNeeds needs() const override { return {.before_softcap = true, .parameters = f_.count()}; }
  void add(const ScoreTile<float>& tile) const noexcept override { add_decay(tile); }
  void add(const ScoreTile<double>& tile) const noexcept override { add_decay(tile); }

  void backward(const ScoreGradient<double>& tile) const noexcept override {
    double* df = tile.parameters + begin_of(tile);
    for (std::int64_t i = 0; i < tile.queries; ++i) {
      const double* ds = tile.dscores + i * tile.stride;
      for (std::int64_t j = 0; j < tile.keys; ++j) {
        if (ds[j] == 0) continue;
        df[tile.diagonal_key(i)] += ds[j];
        df[tile.first_key + j] -= ds[j];
      }
    }
  }

 private:
  std::int64_t begin_of(const ScoreRect& rect) const noexcept {
    const std::int64_t batch = f_.size(0) == 1 ? 0 : rect.batch;
    return (batch * f_.size(1) + rect.head) * f_.size(2) + rect.key_begin;
  }
  template <class Real>
  void add_decay(const ScoreTile<Real>& tile) const noexcept {
    const double* f = f_.data() + begin_of(tile);
    for (std::int64_t i = 0; i < tile.queries; ++i) {
      const std::int64_t diagonal = tile.diagonal_key(i);
      if (diagonal < 0) continue;  // no visible keys
      Real* scores = tile.scores + i * tile.stride;
      const double from = f[diagonal];
      const double* of_keys = f + tile.first_key;
      // Finite, so that hidden scores stay -infinity.
      for (std::int64_t j = 0; j < tile.keys; ++j) {
        scores[j] += static_cast<Real>(from - of_keys[j]);
      }
    }
  }

  Tensor<double> f_;  // [batch or 1, heads, length]
};

}  // namespace

std::shared_ptr<const ScoreTerm> forgetting(View<const double> log_gates) {
  if (log_gates.rank() != 3) {
    throw Error("forgetting.log_gates",
                "must be [batch or 1, heads, length], got " + log_gates.shape().to_string());
  }
  Tensor<double> sums = Tensor<double>::uninitialized(log_gates.shape());
  for (std::int64_t b = 0; b < sums.size(0); ++b) {
    for (std::int64_t h = 0; h < sums.size(1); ++h) {
      double sum = 0;
      for (std::int64_t t = 0; t < sums.size(2); ++t) {
        const double gate = log_gates(b, h, t);
        if (!std::isfinite(gate) || gate > 0) {
          throw Error("forgetting.log_gates", "must be finite and <= 0");
        }
        sums(b, h, t) = sum += gate;
      }
    }
  }
  return std::make_shared<const ForgettingTerm>(std::move(sums));
}

Tensor<double> forgetting_backward(const Shape& log_gates, View<const double> gradient) {
  std::int64_t at = 0;
  Tensor<double> sums = schemes_detail::take_gradient("forgetting", gradient, at, log_gates);
  for (std::int64_t b = 0; b < sums.size(0); ++b) {
    for (std::int64_t h = 0; h < sums.size(1); ++h) {
      for (std::int64_t t = sums.size(2) - 1; t-- > 0;) sums(b, h, t) += sums(b, h, t + 1);
    }
  }
  return sums;
}

namespace descriptors {
namespace {

constexpr Definition<ForgettingWeights> kDefinition = {
    .name = "forgetting",
    .title = "forgetting",
    .kind = SchemeKind::content,
    .idea = "Every token's gate forgets a part of the tokens before it: a learned decay of scores.",
    .paper = "Lin et al. 2025, 2503.02130",
    // How many batch rows there are is for the maker of the gates to say.
    .sizes = [](const auto& of) -> WeightSizes {
      return {{"log_gates", {kAnySize, of.request.heads, of.request.rows()}}};
    },
    .initial =
        [](const auto&, InitialWeights& to) {
          to.normal("log_gates", 1);
          for (double& x : to.at("log_gates").span()) x = -std::log1p(std::exp(-(2 + x)));
        },
    .make = [](const auto&, const auto& weights) -> SchemeTable {
      return forgetting(weights.log_gates);
    },
    .backward = [](const auto&, const auto& weights, auto gradient) -> ForgettingWeights {
      return {forgetting_backward(weights.log_gates.shape(), gradient)};
    },
    .weights_of_tokens = true,
};

}  // namespace

constinit const Scheme kForgetting = scheme_of<kForgetting, kDefinition>();

}  // namespace descriptors
}  // namespace sextant
