// Computes the loss of the mixture and its gradients. Per sequence the attention to the source is
// small, so threads share the sequences.
#include <algorithm>
#include <cmath>
#include <vector>

#include "layers/copy_attention.h"
#include "layers/ops.h"
#include "layers/token_loss.h"
#include "sextant/core/error.h"
#include "sextant/core/parallel.h"
#include "sextant/layers/pointer.h"

namespace sextant {
namespace {

// A sequence: its rows [begin, end) of h and [key_begin, key_end) of the context, and the place of
// its attention.
struct Sequence {
  std::int64_t begin, end, key_begin, key_end, offset;

  std::int64_t rows() const noexcept { return end - begin; }
  std::int64_t keys() const noexcept { return key_end - key_begin; }
};

std::vector<Sequence> sequences_of(std::span<const std::int64_t> segments,
                                   std::span<const std::int64_t> context_segments) {
  if (segments.size() != context_segments.size()) {
    throw Error("pointer.context_segments", "must have as many sequences as segments");
  }
  std::vector<Sequence> sequences;
  std::int64_t offset = 0;
  for (std::size_t s = 0; s + 1 < segments.size(); ++s) {
    sequences.push_back(
        {segments[s], segments[s + 1], context_segments[s], context_segments[s + 1], offset});
    offset += sequences.back().rows() * sequences.back().keys();
  }
  return sequences;
}

// In lanes side by side, which the compiler makes vectors of.
template <class T>
T largest(const T* x, std::int64_t count) {
  constexpr std::int64_t kLanes = 16;
  T lanes[kLanes];
  std::fill_n(lanes, kLanes, x[0]);
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (std::int64_t n = 0; n < kLanes; ++n) lanes[n] = std::max(lanes[n], x[i + n]);
  }
  const T most = *std::max_element(lanes, lanes + kLanes);
  return i < count ? std::max(most, *std::max_element(x + i, x + count)) : most;
}

// The state of one row: its gate, the attention to the places of its target, and the gradient of
// that.
struct CopyState {
  double gate = 0, copied = 0, d_copied = 0;
};

template <class T>
class Mixture {
 public:
  Mixture(const Pointer<T>& pointer, const typename Pointer<T>::Input& input,
          const TokenLossOptions& options, Pass& pass)
      : pointer_(pointer),
        input_(input),
        options_(options),
        pass_(pass),
        sequences_(sequences_of(input.segments, input.context_segments)),
        q_(pass.memory.take<T>(input.h.shape())),
        k_(pass.memory.take<T>(input.context.shape())),
        dgates_(pass.memory.zeros<T>({input.h.size(0), 1})),
        rows_(static_cast<std::size_t>(input.h.size(0))),
        sequence_of_(rows_.size()) {
    const std::int64_t pairs =
        sequences_.empty()
            ? 0
            : sequences_.back().offset + sequences_.back().rows() * sequences_.back().keys();
    attention_ = pass.memory.take<T>({pairs});
    for (std::size_t s = 0; s < sequences_.size(); ++s) {
      std::fill(sequence_of_.begin() + sequences_[s].begin,
                sequence_of_.begin() + sequences_[s].end, s);
    }
  }

  // Computes gates, the attention of every row to its source, and the copied share of the target.
  void attend() {
    const View<T> gates = pass_.memory.take<T>(dgates_.shape());
    pointer_.to_q.forward(input_.h, q_, pass_);
    pointer_.to_k.forward(input_.context, k_, pass_);
    pointer_.gate.forward(input_.h, gates, pass_);
    each_sequence([&](const Sequence& p, View<T> a) {
      layers::copy_attention<T>(q_.narrow(0, p.begin, p.rows()),
                                k_.narrow(0, p.key_begin, p.keys()), a);
    });
    for (std::size_t row = 0; row < rows_.size(); ++row) {
      rows_[row].gate =
          layers::sigmoid(static_cast<double>(gates(static_cast<std::int64_t>(row), 0)));
      rows_[row].copied = copied(row, input_.targets[row]);
    }
  }

  // The loss of one row; with gradients, its logits become those of the smoothed loss.
  LossSum row(std::size_t at, View<T> logits, bool want_gradient) {
    const std::int64_t target = input_.targets[at];
    const std::int64_t vocabulary = logits.size(1);
    T* line = logits.data();
    if (target < 0) {
      if (want_gradient) std::fill_n(line, vocabulary, T{0});
      return {};
    }
    CopyState& mixture = rows_[at];
    const double g = mixture.gate, logit = static_cast<double>(line[target]);
    const SourceLogits others = logits_of(at, logits);
    const auto own =
        ops::cross_entropy<T>(logits, &target, options_.label_smoothing, 1, want_gradient, 1);
    const double p = std::exp(-own.loss);
    const double mixed = std::max(g * p + (1 - g) * mixture.copied, kLeast);
    const double loss = -std::log(mixed);
    const LossSum sum{loss, own.smoothed + (1 - options_.label_smoothing) * (loss - own.loss), 1,
                      is_best(at, mixed, own.loss + logit, others) ? 1 : 0};
    if (!want_gradient) return sum;
    const double main = options_.scale * (1 - options_.label_smoothing);
    mixture.d_copied = -main * (1 - g) / mixed;
    dgates_(static_cast<std::int64_t>(at), 0) =
        static_cast<T>(-main * (p - mixture.copied) / mixed * g * (1 - g));
    // cross_entropy() left softmax - (1 - smoothing) target - smoothing / vocabulary; the part of
    // the target counts by the vocabulary's share in the mixture alone.
    const double share = g * p / mixed;
    const double smooth = options_.label_smoothing / static_cast<double>(vocabulary);
    const double of_main = main * share;
    const auto gradient = [&](T value, double hit) {
      const double softmax =
          static_cast<double>(value) + smooth + hit * (1 - options_.label_smoothing);
      return static_cast<T>(of_main * (softmax - hit) +
                            options_.scale * (options_.label_smoothing * softmax - smooth));
    };
    const T of_target = gradient(line[target], 1);
    for (std::int64_t w = 0; w < vocabulary; ++w) line[w] = gradient(line[w], 0);
    line[target] = of_target;
    return sum;
  }

  // From the rows' gradients to those of the maps, of h and of the context.
  void backward(View<T> dh, View<T> dcontext, Pointer<T>& gradient) {
    const View<T> dq = pass_.memory.zeros<T>(q_.shape()), dk = pass_.memory.zeros<T>(k_.shape());
    each_sequence([&](const Sequence& p, View<T> a) {
      // Scores' gradients are a_j (da_j - sum a da), with da_j = d_copied where j holds the target.
      const double scale = 1 / std::sqrt(static_cast<double>(q_.size(1)));
      for (std::int64_t i = 0; i < p.rows(); ++i) {
        const auto at = static_cast<std::size_t>(p.begin + i);
        for (std::int64_t j = 0; j < p.keys(); ++j) {
          const double holds = source(p, j) == input_.targets[at] ? 1 : 0;
          a(i, j) = static_cast<T>(scale * rows_[at].d_copied * (holds - rows_[at].copied) *
                                   static_cast<double>(a(i, j)));
        }
      }
      const View<const T> da = a;
      ops::linear_input_gradient<T>(da, View<const T>(k_.narrow(0, p.key_begin, p.keys())),
                                    dq.narrow(0, p.begin, p.rows()), false, 1);
      ops::linear_weight_gradient<T>(View<const T>(q_.narrow(0, p.begin, p.rows())), da,
                                     dk.narrow(0, p.key_begin, p.keys()), nullptr, 1);
    });
    add_map(pointer_.to_q, input_.h, dq, dh, gradient.to_q);
    add_map(pointer_.to_k, input_.context, dk, dcontext, gradient.to_k);
    add_map(pointer_.gate, input_.h, dgates_, dh, gradient.gate);
  }

 private:
  static constexpr double kLeast = 1e-300;  // of a probability whose logarithm is taken

  template <class Body>
  void each_sequence(const Body& body) {
    parallel_for(static_cast<std::int64_t>(sequences_.size()), pass_.threads, [&](std::int64_t s) {
      const Sequence& p = sequences_[static_cast<std::size_t>(s)];
      if (p.rows() > 0 && p.keys() > 0) body(p, attention_of(p));
    });
  }
  View<T> attention_of(const Sequence& p) const {
    return View<T>(attention_.data() + p.offset, {p.rows(), p.keys()});
  }
  std::int64_t source(const Sequence& p, std::int64_t key) const {
    return input_.source[static_cast<std::size_t>(p.key_begin + key)];
  }

  // The attention of a row to the places that hold a token.
  double copied(std::size_t at, std::int64_t token) const {
    const Sequence& p = sequences_[sequence_of_[at]];
    const View<T> a = attention_of(p);
    double sum = 0;
    for (std::int64_t j = 0; j < p.keys(); ++j) {
      if (source(p, j) == token) {
        sum += static_cast<double>(a(static_cast<std::int64_t>(at) - p.begin, j));
      }
    }
    return sum;
  }

  // The logits of a row's source, and the largest of all, before they become gradients.
  struct SourceLogits {
    std::vector<double> of_source;
    double most;
  };
  SourceLogits logits_of(std::size_t at, View<T> logits) const {
    const Sequence& p = sequences_[sequence_of_[at]];
    SourceLogits others{{}, static_cast<double>(largest(logits.data(), logits.count()))};
    for (std::int64_t j = 0; j < p.keys(); ++j) {
      others.of_source.push_back(static_cast<double>(logits.data()[source(p, j)]));
    }
    return others;
  }
  // Whether no token has a larger mixed probability: outside the source it is gate * softmax.
  bool is_best(std::size_t at, double mixed, double log_total, const SourceLogits& others) const {
    const Sequence& p = sequences_[sequence_of_[at]];
    const double g = rows_[at].gate;
    mixed *= 1 + 1e-12;  // the largest rounding error of the logarithms
    bool best = mixed >= g * std::exp(others.most - log_total);
    for (std::int64_t j = 0; j < p.keys() && best; ++j) {
      const double logit = others.of_source[static_cast<std::size_t>(j)];
      best = mixed >= g * std::exp(logit - log_total) + (1 - g) * copied(at, source(p, j));
    }
    return best;
  }

  void add_map(const Linear<T>& map, View<const T> x, View<const T> dy, View<T> dx,
               Linear<T>& gradient) {
    ops::linear_weight_gradient<T>(x, dy, gradient.weight.view(), gradient.bias.data(),
                                   pass_.threads);
    ops::linear_input_gradient<T>(dy, View<const T>(map.weight.view()), dx, true, pass_.threads);
  }

  const Pointer<T>& pointer_;
  const typename Pointer<T>::Input& input_;
  const TokenLossOptions& options_;
  Pass& pass_;
  std::vector<Sequence> sequences_;
  View<T> q_, k_, attention_, dgates_;
  std::vector<CopyState> rows_;
  std::vector<std::size_t> sequence_of_;
};

}  // namespace

template <class T>
LossSum Pointer<T>::loss(const Input& input, const WeightView<T>& weight,
                         const TokenLossOptions& options, View<T> dh, View<T> dcontext,
                         View<T> dweight, Pointer* gradient, Pass& pass) const {
  layers::check_token_loss(input.h.shape(), weight.shape(), input.targets, options);
  const std::int64_t rows = input.h.size(0), vocabulary = weight.size(0);
  const bool want_gradient = dh.count() > 0;
  const Workspace::Scope scope(pass.memory);
  Mixture<T> mixture(*this, input, options, pass);
  mixture.attend();
  const std::int64_t block = std::min(rows, layers::logit_rows(vocabulary));
  const View<T> logits = pass.memory.take<T>({block, vocabulary});
  std::vector<LossSum> sums(static_cast<std::size_t>(rows));
  for (std::int64_t first = 0; first < rows; first += block) {
    const std::int64_t count = std::min(block, rows - first);
    const View<const T> x = input.h.narrow(0, first, count);
    const View<T> part = logits.narrow(0, 0, count);
    ops::linear<T>(x, weight, nullptr, part, pass.threads);
    parallel_for(count, pass.threads, [&](std::int64_t i) {
      const auto at = static_cast<std::size_t>(first + i);
      sums[at] = mixture.row(at, part.narrow(0, i, 1), want_gradient);
    });
    if (!want_gradient) continue;
    ops::linear_input_gradient<T>(View<const T>(part), weight.wide(), dh.narrow(0, first, count),
                                  false, pass.threads);
    ops::linear_weight_gradient<T>(x, View<const T>(part), dweight, nullptr, pass.threads);
  }
  if (want_gradient) mixture.backward(dh, dcontext, *gradient);
  LossSum sum;
  for (const LossSum& one : sums) sum.add(one);
  return sum;
}

template LossSum Pointer<float>::loss(const Input&, const WeightView<float>&,
                                      const TokenLossOptions&, View<float>, View<float>,
                                      View<float>, Pointer*, Pass&) const;
template LossSum Pointer<double>::loss(const Input&, const WeightView<double>&,
                                       const TokenLossOptions&, View<double>, View<double>,
                                       View<double>, Pointer*, Pass&) const;

}  // namespace sextant
