// Reverse mode by hand: the forward pass of attention.cc with sinks, then each line's adjoint.
#include "reference/attention_backward.h"

#include <cmath>
#include <limits>

namespace sextant::reference {

template <class Real>
GradientOf<KeptAs<Real>> attention_gradient(const Attention& call, const std::vector<double>& sinks,
                                            const Tensor<double>& dout,
                                            const Tensor<double>* stored) {
  using Kept = KeptAs<Real>;
  using std::exp, std::fmax, std::tanh;
  const std::int64_t batch = call.q.size(0), heads = call.q.size(1), queries = call.q.size(2);
  const std::int64_t keys = call.k.size(2), head_dim = call.q.size(3), v_dim = call.v.size(3);
  const std::int64_t group = heads / call.k.size(1);
  const auto real = [](double x) { return static_cast<Real>(x); };
  const Real hidden = real(-std::numeric_limits<double>::infinity()), zero = real(0), one = real(1);
  const Real scale = real(call.scale), cap = real(call.softcap);

  GradientOf<Kept> g{Tensor<Kept>(dout.shape()),
                     Tensor<Kept>(call.q.shape()),
                     Tensor<Kept>(call.k.shape()),
                     Tensor<Kept>(call.v.shape()),
                     Tensor<Kept>(Shape{batch, heads, queries, keys}),
                     Tensor<Kept>(Shape{batch, heads})};
  // Sums that belong to keys are kept in Real until all queries have added to them.
  Tensor<Real> dk(call.k.shape()), dv(call.v.shape());
  std::vector<Real> score(static_cast<std::size_t>(keys)), capped(score), p(score);
  std::vector<Real> output(static_cast<std::size_t>(v_dim)), dq(static_cast<std::size_t>(head_dim));

  for (std::int64_t b = 0; b < batch; ++b) {
    for (std::int64_t h = 0; h < heads; ++h) {
      Real sink_sum = zero;
      for (std::int64_t i = 0; i < queries; ++i) {
        const std::int64_t kh = h / group;
        // S = scale q k, C = cap tanh(S / cap), B = C + added, P = softmax(B), O = P V
        const Real sink = sinks.empty() ? hidden : real(sinks[static_cast<std::size_t>(h)]);
        Real most = sink;
        for (std::int64_t j = 0; j < keys; ++j) {
          const auto at = static_cast<std::size_t>(j);
          score[at] = hidden;
          if (call.sees && !call.sees(b, h, i, j)) continue;
          Real sum = zero;
          for (std::int64_t d = 0; d < head_dim; ++d) {
            sum += real(call.q(b, h, i, d)) * real(call.k(b, kh, j, d));
          }
          sum *= scale;
          capped[at] = cap == zero ? sum : cap * tanh(sum / cap);
          score[at] = capped[at] + real(call.added ? call.added(b, h, i, j) : 0);
          most = fmax(most, score[at]);
        }
        if (most == hidden) continue;
        const Real sink_weight = exp(sink - most);
        Real total = sink_weight;
        for (std::size_t j = 0; j < p.size(); ++j) total += p[j] = exp(score[j] - most);
        for (Real& weight : p) weight /= total;
        // D: 1 / (1 - rate) or 0
        const auto kept = [&](std::int64_t j) {
          return call.kept ? real(call.kept(b, h, i, j)) : one;
        };
        output.assign(output.size(), zero);
        Real delta = zero;
        for (std::int64_t c = 0; c < v_dim; ++c) {
          Real& o = output[static_cast<std::size_t>(c)];
          for (std::int64_t j = 0; j < keys; ++j) {
            o += p[static_cast<std::size_t>(j)] * kept(j) * real(call.v(b, kh, j, c));
          }
          g.output(b, h, i, c) = static_cast<Kept>(o);
          delta += (stored == nullptr ? o : real((*stored)(b, h, i, c))) * real(dout(b, h, i, c));
        }
        // dV = (D P)^T dO, dP = D dO V^T, dB = P (dP - delta), dS = dB (1 - tanh^2)
        dq.assign(dq.size(), zero);
        for (std::int64_t j = 0; j < keys; ++j) {
          const auto at = static_cast<std::size_t>(j);
          if (p[at] == zero) continue;
          Real dp = zero;
          for (std::int64_t c = 0; c < v_dim; ++c) {
            dp += real(dout(b, h, i, c)) * real(call.v(b, kh, j, c));
            dv(b, kh, j, c) += p[at] * kept(j) * real(dout(b, h, i, c));
          }
          dp *= kept(j);
          Real ds = p[at] * (dp - delta);
          g.added(b, h, i, j) = static_cast<Kept>(ds);
          if (cap != zero) ds *= one - (capped[at] / cap) * (capped[at] / cap);
          for (std::int64_t d = 0; d < head_dim; ++d) {
            dq[static_cast<std::size_t>(d)] += scale * ds * real(call.k(b, kh, j, d));
            dk(b, kh, j, d) += scale * ds * real(call.q(b, h, i, d));
          }
        }
        for (std::int64_t d = 0; d < head_dim; ++d) {
          g.q(b, h, i, d) = static_cast<Kept>(dq[static_cast<std::size_t>(d)]);
        }
        sink_sum -= sink_weight / total * delta;
      }
      g.sinks(b, h) = static_cast<Kept>(sink_sum);
    }
  }
  for (std::int64_t n = 0; n < dk.count(); ++n) g.k.data()[n] = static_cast<Kept>(dk.data()[n]);
  for (std::int64_t n = 0; n < dv.count(); ++n) g.v.data()[n] = static_cast<Kept>(dv.data()[n]);
  return g;
}

#define SEXTANT_INSTANTIATE(Real)                             \
  template GradientOf<KeptAs<Real>> attention_gradient<Real>( \
      const Attention&, const std::vector<double>&, const Tensor<double>&, const Tensor<double>*);
SEXTANT_INSTANTIATE(float)
SEXTANT_INSTANTIATE(double)
SEXTANT_INSTANTIATE(long double)
SEXTANT_INSTANTIATE(RoundingError)
#undef SEXTANT_INSTANTIATE

}  // namespace sextant::reference
