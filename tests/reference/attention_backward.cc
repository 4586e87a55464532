// Reverse mode by hand: the forward pass of attention.cc with sinks, then each line's adjoint.
#include "reference/attention_backward.h"

#include <cmath>
#include <limits>

namespace sextant::reference {

template <class Real>
AttentionGradient attention_gradient(const Attention& call, const std::vector<double>& sinks,
                                     const Tensor<double>& dout) {
  const std::int64_t batch = call.q.size(0), heads = call.q.size(1), queries = call.q.size(2);
  const std::int64_t keys = call.k.size(2), head_dim = call.q.size(3), v_dim = call.v.size(3);
  const std::int64_t group = heads / call.k.size(1);
  constexpr Real kHidden = -std::numeric_limits<Real>::infinity();
  const auto real = [](double x) { return static_cast<Real>(x); };
  const Real scale = real(call.scale), cap = real(call.softcap);

  AttentionGradient g{Tensor<double>(dout.shape()),
                      Tensor<double>(call.q.shape()),
                      Tensor<double>(call.k.shape()),
                      Tensor<double>(call.v.shape()),
                      Tensor<double>(Shape{batch, heads, queries, keys}),
                      Tensor<double>(Shape{batch, heads})};
  // Sums that belong to keys are kept in Real until all queries have added to them.
  Tensor<Real> dk(call.k.shape()), dv(call.v.shape());
  std::vector<Real> score(static_cast<std::size_t>(keys)), capped(score), p(score);
  std::vector<Real> output(static_cast<std::size_t>(v_dim)), dq(static_cast<std::size_t>(head_dim));

  for (std::int64_t b = 0; b < batch; ++b) {
    for (std::int64_t h = 0; h < heads; ++h) {
      Real sink_sum = 0;
      for (std::int64_t i = 0; i < queries; ++i) {
        const std::int64_t kh = h / group;
        // S = scale q k, C = cap tanh(S / cap), B = C + added, P = softmax(B), O = P V
        const Real sink = sinks.empty() ? kHidden : real(sinks[static_cast<std::size_t>(h)]);
        Real most = sink;
        for (std::int64_t j = 0; j < keys; ++j) {
          const auto at = static_cast<std::size_t>(j);
          Real sum = 0;
          for (std::int64_t d = 0; d < head_dim; ++d) {
            sum += real(call.q(b, h, i, d)) * real(call.k(b, kh, j, d));
          }
          sum *= scale;
          capped[at] = cap == 0 ? sum : cap * std::tanh(sum / cap);
          const bool sees = !call.sees || call.sees(b, h, i, j);
          score[at] = sees ? capped[at] + real(call.added ? call.added(b, h, i, j) : 0) : kHidden;
          most = std::fmax(most, score[at]);
        }
        if (most == kHidden) continue;
        const Real sink_weight = std::exp(sink - most);
        Real total = sink_weight;
        for (std::size_t j = 0; j < p.size(); ++j) total += p[j] = std::exp(score[j] - most);
        for (Real& weight : p) weight /= total;
        output.assign(output.size(), 0);
        Real delta = 0;
        for (std::int64_t c = 0; c < v_dim; ++c) {
          Real& o = output[static_cast<std::size_t>(c)];
          for (std::int64_t j = 0; j < keys; ++j) {
            o += p[static_cast<std::size_t>(j)] * real(call.v(b, kh, j, c));
          }
          g.output(b, h, i, c) = static_cast<double>(o);
          delta += o * real(dout(b, h, i, c));
        }
        // dV = P^T dO, dP = dO V^T, dB = P (dP - delta), dS = dB (1 - tanh^2)
        dq.assign(dq.size(), 0);
        for (std::int64_t j = 0; j < keys; ++j) {
          const auto at = static_cast<std::size_t>(j);
          Real dp = 0;
          for (std::int64_t c = 0; c < v_dim; ++c) {
            dp += real(dout(b, h, i, c)) * real(call.v(b, kh, j, c));
            dv(b, kh, j, c) += p[at] * real(dout(b, h, i, c));
          }
          Real ds = p[at] * (dp - delta);
          g.added(b, h, i, j) = static_cast<double>(ds);
          if (cap != 0) ds *= 1 - (capped[at] / cap) * (capped[at] / cap);
          for (std::int64_t d = 0; d < head_dim; ++d) {
            dq[static_cast<std::size_t>(d)] += scale * ds * real(call.k(b, kh, j, d));
            dk(b, kh, j, d) += scale * ds * real(call.q(b, h, i, d));
          }
        }
        for (std::int64_t d = 0; d < head_dim; ++d) {
          g.q(b, h, i, d) = static_cast<double>(dq[static_cast<std::size_t>(d)]);
        }
        sink_sum -= sink_weight / total * delta;
      }
      g.sinks(b, h) = static_cast<double>(sink_sum);
    }
  }
  for (std::int64_t n = 0; n < dk.count(); ++n) g.k.data()[n] = static_cast<double>(dk.data()[n]);
  for (std::int64_t n = 0; n < dv.count(); ++n) g.v.data()[n] = static_cast<double>(dv.data()[n]);
  return g;
}

template AttentionGradient attention_gradient<float>(const Attention&, const std::vector<double>&,
                                                     const Tensor<double>&);
template AttentionGradient attention_gradient<double>(const Attention&, const std::vector<double>&,
                                                      const Tensor<double>&);
template AttentionGradient attention_gradient<long double>(const Attention&,
                                                           const std::vector<double>&,
                                                           const Tensor<double>&);

}  // namespace sextant::reference
