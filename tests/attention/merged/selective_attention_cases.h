// Selective attention by its definition in float64: the paper's listing, and the gradients through
// what tokens take from the scores of others.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "attention/merged/self_extend_cases.h"
#include "sextant/attention/selective_attention.h"

namespace sextant::self_extend_test {

constexpr std::int64_t kLength = 520;  // three blocks of queries, the last one not full

inline const RotationTable<float>& long_table() {
  static const RotationTable<float> made =
      rotary<float>({.head_dim = kDim, .base = kBase}, kLength);
  return made;
}

struct SelectiveCase {
  std::int64_t length = kLength;
  Tensor<float> q, k, v;
  SelectiveAttention selective{.selection_head = 2};
  AttentionOptions<float> options{.causal = Causal::top_left};

  explicit SelectiveCase(double size = 0.1, std::int64_t rows = kLength)
      : length(rows),
        q(random_array({2, 4, rows, kDim}, 1, size)),
        k(random_array({2, 2, rows, kDim}, 2)),
        v(random_array({2, 2, rows, kValueDim}, 3)) {}

  double scale() const { return options.scale.value_or(1 / std::sqrt(double{kDim})); }
};

// Rows rotated by their positions, or back.
inline Tensor<double> turned(const Tensor<double>& x, bool rotates, double direction = 1) {
  Tensor<double> y = x.clone();
  for (std::int64_t n = 0; rotates && n < x.count() / kDim; ++n) {
    for (std::int64_t c = 0; c < kDim / 2; ++c) {
      const auto [cos, sin] = turn(n % x.size(2), c);
      const double a = x.data()[n * kDim + c], b = x.data()[n * kDim + c + kDim / 2];
      y.data()[n * kDim + c] = a * cos - direction * b * sin;
      y.data()[n * kDim + c + kDim / 2] = direction * a * sin + b * cos;
    }
  }
  return y;
}

// The paper's listing: logits of one head, 0 where negative, for the first token, on the diagonal
// and above; moved by one row; summed over rows.
struct Definition {
  explicit Definition(const SelectiveCase& call)
      : rotates(call.options.rotation != nullptr),
        head(call.selective.selection_head),
        q(turned(wide(call.q), rotates)),
        k(turned(wide(call.k), rotates)),
        z({2, call.length, call.length}),
        f({2, call.length, call.length}) {
    for (std::int64_t b = 0; b < 2; ++b) {
      for (std::int64_t i = 0; i < call.length; ++i) {
        for (std::int64_t j = 0; j < i; ++j) {
          for (std::int64_t c = 0; c < kDim; ++c) {
            z(b, i, j) += call.scale() * q(b, head, i, c) * k(b, head / 2, j, c);
          }
          f(b, i, j) = f(b, i - 1, j) + (takes(b, i - 1, j) ? z(b, i - 1, j) : 0);
        }
      }
    }
    all = {.q = q.clone(), .k = k.clone(), .v = wide(call.v), .sees = {}, .added = {}, .kept = {}};
    all.scale = call.scale();
    all.softcap = call.options.softcap;
    all.sees = [](std::int64_t, std::int64_t, std::int64_t i, std::int64_t j) { return j <= i; };
    all.added = [this](std::int64_t b, std::int64_t, std::int64_t i, std::int64_t j) {
      return -f(b, i, j);
    };
  }
  Definition(const Definition&) = delete;
  Definition& operator=(const Definition&) = delete;

  bool takes(std::int64_t b, std::int64_t i, std::int64_t j) const {
    return j > 0 && j < i && z(b, i, j) > 0;
  }

  // Adds to the gradients of rotated rows what comes through F, from the gradient of what is added.
  // Or, if `absolute`, the sum of the magnitudes.
  void add_through_f(const Tensor<double>& added, bool absolute, double scale, Tensor<double>& dq,
                     Tensor<double>& dk) const {
    const auto of = [&](double x) { return absolute ? std::fabs(x) : x; };
    for (std::int64_t b = 0; b < 2; ++b) {
      for (std::int64_t j = 1; j < z.size(1); ++j) {
        double taken = 0;  // dL/dS_lj
        for (std::int64_t l = z.size(1) - 1; l > j; --l) {
          for (std::int64_t c = 0; takes(b, l, j) && c < kDim; ++c) {
            dq(b, head, l, c) += scale * taken * of(k(b, head / 2, j, c));
            dk(b, head / 2, j, c) += scale * taken * of(q(b, head, l, c));
          }
          for (std::int64_t h = 0; h < 4; ++h)
            taken += absolute ? of(added(b, h, l, j)) : -added(b, h, l, j);
        }
      }
    }
  }

  // What float32 may be off by, relative to sums of magnitudes: scores are sums of kDim products of
  // rows rotated with two roundings; F has the errors of the scores it sums, and is rounded;
  // weights move by twice the error of scores, and sums by a rounding per key.
  double relative_error(double scale) const {
    const auto norm = [](const Tensor<double>& x, std::int64_t b, std::int64_t h, std::int64_t i) {
      double sum = 0;
      for (std::int64_t c = 0; c < kDim; ++c) sum += x(b, h, i, c) * x(b, h, i, c);
      return std::sqrt(sum);
    };
    double most = 0;  // of the scores that F sums, and of one more
    for (std::int64_t b = 0; b < 2; ++b) {
      double norm_q = 0, norm_k = 0;
      for (std::int64_t n = 0; n < 4 * z.size(1); ++n) {
        norm_q = std::max(norm_q, norm(q, b, n % 4, n / 4));
        norm_k = std::max(norm_k, norm(k, b, n % 2, n / 4));
      }
      for (std::int64_t j = 0; j < z.size(1); ++j) {
        double sum = 0;
        for (std::int64_t l = j; l < z.size(1); ++l)
          sum += takes(b, l, j) ? norm(q, b, head, l) : 0;
        most = std::max(most, scale * (norm_q * norm_k + sum * norm(k, b, head / 2, j)));
      }
    }
    return 0x1p-24 * (2 * ((kDim + 4) * most + largest(f)) + static_cast<double>(z.size(1)) + 8);
  }

  bool rotates;
  std::int64_t head;
  Tensor<double> q, k;  // rotated
  Tensor<double> z, f;
  reference::Attention all{};
};

}  // namespace sextant::self_extend_test
