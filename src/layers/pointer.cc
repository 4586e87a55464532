// The copy mechanism: the attention of every row to its own source, the mixture, and their
// gradients. Per sequence these are small, so sequences are what threads share.
#include "sextant/layers/pointer.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "layers/ops.h"
#include "layers/token_loss.h"
#include "sextant/core/error.h"
#include "sextant/core/parallel.h"

namespace sextant {
namespace {

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// Softmax of scores q k^T / sqrt(width), [rows, keys].
template <class T>
void copy_attention(View<const T> q, View<const T> k, View<T> weights) {
  ops::linear<T>(q, k, nullptr, weights, 1);
  const double scale = 1 / std::sqrt(static_cast<double>(q.size(1)));
  for (std::int64_t i = 0; i < weights.size(0); ++i) {
    double most = -INFINITY, total = 0;
    for (std::int64_t j = 0; j < weights.size(1); ++j) {
      most = std::max(most, static_cast<double>(weights(i, j)));
    }
    for (std::int64_t j = 0; j < weights.size(1); ++j) {
      total += std::exp(scale * (static_cast<double>(weights(i, j)) - most));
    }
    for (std::int64_t j = 0; j < weights.size(1); ++j) {
      const double part = std::exp(scale * (static_cast<double>(weights(i, j)) - most));
      weights(i, j) = static_cast<T>(part / total);
    }
  }
}

// Sequences of a call: rows [begin, end) of h and [key_begin, key_end) of the context, and where
// their weights stand.
struct Piece {
  std::int64_t begin, end, key_begin, key_end, offset;
};
std::vector<Piece> pieces_of(std::span<const std::int64_t> segments,
                             std::span<const std::int64_t> context_segments) {
  std::vector<Piece> pieces;
  std::int64_t offset = 0;
  for (std::size_t s = 0; s + 1 < segments.size(); ++s) {
    pieces.push_back(
        {segments[s], segments[s + 1], context_segments[s], context_segments[s + 1], offset});
    offset += (pieces.back().end - pieces.back().begin) *
              (pieces.back().key_end - pieces.back().key_begin);
  }
  return pieces;
}

}  // namespace

template <class T>
Pointer<T>::Pointer(std::int64_t width, NumpyRandom& random)
    : to_q(Linear<T>::glorot(width, width, random, false)),
      to_k(Linear<T>::glorot(width, width, random, false)),
      gate(Linear<T>::glorot(width, 1, random)) {}

template <class T>
LossSum Pointer<T>::loss(const Input& input, View<const T> weight, const TokenLossOptions& options,
                         View<T> dh, View<T> dcontext, View<T> dweight, Pointer* gradient,
                         Pass& pass) const {
  detail::check_token_loss(input.h.shape(), weight.shape(), input.targets, options);
  if (input.segments.size() != input.context_segments.size()) {
    throw Error("pointer.context_segments", "must have as many sequences as segments");
  }
  const std::int64_t rows = input.h.size(0), width = input.h.size(1), vocabulary = weight.size(0);
  const bool want_gradient = dh.count() > 0;
  const auto mark = pass.memory.mark();
  const std::vector<Piece> pieces = pieces_of(input.segments, input.context_segments);
  const auto sequences = static_cast<std::int64_t>(pieces.size());
  const std::int64_t pairs =
      pieces.empty() ? 0
                     : pieces.back().offset + (pieces.back().end - pieces.back().begin) *
                                                  (pieces.back().key_end - pieces.back().key_begin);
  const View<T> q = pass.memory.take<T>({rows, width});
  const View<T> k = pass.memory.take<T>({input.context.size(0), width});
  const View<T> gates = pass.memory.take<T>({rows, 1});
  const View<T> attention = pass.memory.take<T>({pairs});
  // Of each row: the copied probability of its target, the share of the vocabulary in its
  // likelihood, and the gradients of the gate's logit and of the copied probability.
  const View<double> copied = pass.memory.zeros<double>({rows});
  const View<double> share = pass.memory.zeros<double>({rows});
  const View<double> dcopied = pass.memory.zeros<double>({rows});
  const View<T> dgates = pass.memory.zeros<T>({rows, 1});
  to_q.forward(input.h, q, pass);
  to_k.forward(input.context, k, pass);
  gate.forward(input.h, gates, pass);
  const auto weights_of = [&](const Piece& p) {
    return View<T>(attention.data() + p.offset, {p.end - p.begin, p.key_end - p.key_begin});
  };
  const auto target_of = [&](std::int64_t row) {
    return input.targets[static_cast<std::size_t>(row)];
  };
  parallel_for(sequences, pass.threads, [&](std::int64_t s) {
    const Piece& p = pieces[static_cast<std::size_t>(s)];
    const View<T> a = weights_of(p);
    if (a.count() == 0) return;
    copy_attention<T>(q.narrow(0, p.begin, a.size(0)), k.narrow(0, p.key_begin, a.size(1)), a);
    for (std::int64_t i = 0; i < a.size(0); ++i) {
      for (std::int64_t j = 0; j < a.size(1); ++j) {
        if (input.source[static_cast<std::size_t>(p.key_begin + j)] == target_of(p.begin + i)) {
          copied(p.begin + i) += static_cast<double>(a(i, j));
        }
      }
    }
  });

  const std::int64_t block = std::min(rows, detail::logit_rows(vocabulary));
  const View<T> logits = pass.memory.take<T>({block, vocabulary});
  std::vector<LossSum> sums(static_cast<std::size_t>(rows));
  for (std::int64_t first = 0; first < rows; first += block) {
    const std::int64_t count = std::min(block, rows - first);
    const View<const T> x = input.h.narrow(0, first, count);
    const View<T> part = logits.narrow(0, 0, count);
    ops::linear<T>(x, weight, nullptr, part, pass.threads);
    parallel_for(count, pass.threads, [&](std::int64_t i) {
      const std::int64_t row = first + i, target = target_of(row);
      T* line = part.data() + i * vocabulary;
      if (target < 0) {
        if (want_gradient) std::fill_n(line, vocabulary, T{0});
        return;
      }
      const auto own = ops::cross_entropy<T>(part.narrow(0, i, 1), &target, options.smoothing, 1,
                                             want_gradient, 1);
      const double g = sigmoid(static_cast<double>(gates(row, 0)));
      const double p = std::exp(-own.loss);
      const double mixed = std::max(g * p + (1 - g) * copied(row), 1e-300);
      const double loss = -std::log(mixed);
      sums[static_cast<std::size_t>(row)] = {
          loss, own.smoothed + (1 - options.smoothing) * (loss - own.loss), 1,
          mixed > 0.5 || (own.correct == 1 && g > 0.5) ? 1 : 0};
      if (!want_gradient) return;
      const double scale = options.scale, main = scale * (1 - options.smoothing);
      share(row) = g * p / mixed;
      dcopied(row) = -main * (1 - g) / mixed;
      dgates(row, 0) = static_cast<T>(-main * (p - copied(row)) / mixed * g * (1 - g));
      // cross_entropy left softmax - ((1 - smoothing) target + smoothing / vocabulary); the part of
      // the target counts by its share in the mixture alone.
      const double smooth = options.smoothing / static_cast<double>(vocabulary);
      for (std::int64_t w = 0; w < vocabulary; ++w) {
        const double wanted = smooth + (w == target ? 1 - options.smoothing : 0);
        const double softmax = static_cast<double>(line[w]) + wanted;
        const double target_part = softmax - (w == target ? 1 : 0);
        line[w] = static_cast<T>(main * share(row) * target_part +
                                 scale * (options.smoothing * softmax - smooth));
      }
    });
    if (!want_gradient) continue;
    ops::linear_input_gradient<T>(View<const T>(part), weight, dh.narrow(0, first, count), false,
                                  pass.threads);
    ops::linear_weight_gradient<T>(x, View<const T>(part), dweight, nullptr, pass.threads);
  }
  LossSum sum;
  for (const LossSum& one : sums) sum.add(one);

  if (want_gradient) {
    const View<T> dq = pass.memory.zeros<T>(q.shape()), dk = pass.memory.zeros<T>(k.shape());
    parallel_for(sequences, pass.threads, [&](std::int64_t s) {
      const Piece& p = pieces[static_cast<std::size_t>(s)];
      const View<T> a = weights_of(p);
      if (a.count() == 0) return;
      // Scores' gradients a_j (da_j - sum a da), da_j = dcopied where the source holds the target.
      const double factor = 1 / std::sqrt(static_cast<double>(width));
      for (std::int64_t i = 0; i < a.size(0); ++i) {
        const std::int64_t row = p.begin + i;
        for (std::int64_t j = 0; j < a.size(1); ++j) {
          const bool holds =
              input.source[static_cast<std::size_t>(p.key_begin + j)] == target_of(row);
          const double da = (holds ? 1 : 0) - copied(row);
          a(i, j) = static_cast<T>(factor * dcopied(row) * da * static_cast<double>(a(i, j)));
        }
      }
      const View<T> q_rows = q.narrow(0, p.begin, a.size(0));
      const View<T> k_rows = k.narrow(0, p.key_begin, a.size(1));
      ops::linear_input_gradient<T>(View<const T>(a), View<const T>(k_rows),
                                    dq.narrow(0, p.begin, a.size(0)), false, 1);
      ops::linear_weight_gradient<T>(View<const T>(q_rows), View<const T>(a),
                                     dk.narrow(0, p.key_begin, a.size(1)), nullptr, 1);
    });
    ops::linear_weight_gradient<T>(input.h, View<const T>(dq), gradient->to_q.weight.view(),
                                   nullptr, pass.threads);
    ops::linear_input_gradient<T>(View<const T>(dq), View<const T>(to_q.weight.view()), dh, true,
                                  pass.threads);
    ops::linear_weight_gradient<T>(input.context, View<const T>(dk), gradient->to_k.weight.view(),
                                   nullptr, pass.threads);
    ops::linear_input_gradient<T>(View<const T>(dk), View<const T>(to_k.weight.view()), dcontext,
                                  true, pass.threads);
    ops::linear_weight_gradient<T>(input.h, View<const T>(dgates), gradient->gate.weight.view(),
                                   gradient->gate.bias.data(), pass.threads);
    ops::linear_input_gradient<T>(View<const T>(dgates), View<const T>(gate.weight.view()), dh,
                                  true, pass.threads);
  }
  pass.memory.release(mark);
  return sum;
}

template <class T>
void Pointer<T>::mix(View<const T> h, View<const T> keys, std::span<const std::int64_t> source,
                     View<T> logits, View<T> copied, Pass& pass) const {
  const std::int64_t rows = h.size(0), vocabulary = logits.size(1);
  const auto mark = pass.memory.mark();
  const View<T> q = pass.memory.take<T>({rows, h.size(1)});
  const View<T> gates = pass.memory.take<T>({rows, 1});
  const View<T> a = pass.memory.take<T>({rows, keys.size(0)});
  to_q.forward(h, q, pass);
  gate.forward(h, gates, pass);
  copy_attention<T>(q, keys, a);
  for (std::int64_t i = 0; i < rows; ++i) {
    T* line = logits.data() + i * vocabulary;
    const double g = sigmoid(static_cast<double>(gates(i, 0)));
    const double most = static_cast<double>(*std::max_element(line, line + vocabulary));
    double total = 0;
    for (std::int64_t w = 0; w < vocabulary; ++w) {
      total += std::exp(static_cast<double>(line[w]) - most);
    }
    for (std::int64_t w = 0; w < vocabulary; ++w) {
      line[w] = static_cast<T>(g * std::exp(static_cast<double>(line[w]) - most) / total);
    }
    for (std::int64_t j = 0; j < a.size(1); ++j) {
      const double part = (1 - g) * static_cast<double>(a(i, j));
      T& to = line[source[static_cast<std::size_t>(j)]];
      to = static_cast<T>(static_cast<double>(to) + part);
      if (copied.count() > 0) copied(i, j) = static_cast<T>(part);
    }
    for (std::int64_t w = 0; w < vocabulary; ++w) {
      line[w] = static_cast<T>(std::log(std::max(static_cast<double>(line[w]), 1e-300)));
    }
  }
  pass.memory.release(mark);
}

template <class T>
void Pointer<T>::list(Parameters<T>& to, const std::string& prefix) {
  to_q.list(to, prefix + "to_q.");
  to_k.list(to, prefix + "to_k.");
  gate.list(to, prefix + "gate.");
}

template struct Pointer<float>;
template struct Pointer<double>;

}  // namespace sextant
