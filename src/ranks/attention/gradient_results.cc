// Returns the summed gradients to the caller, with sums over ranks if they share a gradient.
#include <cmath>
#include <limits>
#include <type_traits>

#include "ranks/attention/block_gradients.h"
#include "ranks/rows.h"

namespace sextant::ranks {
namespace {

using attention_detail::is_given;

bool all_finite(View<const float> x) {
  if (x.rank() > 1) {
    for (std::int64_t i = 0; i < x.size(0); ++i) {
      if (!all_finite(x.select(0, i))) return false;
    }
    return true;
  }
  bool finite = true;
  for (std::int64_t i = 0; i < x.size(0); ++i) finite &= std::isfinite(x.data()[i * x.stride(0)]);
  return finite;
}

}  // namespace

template <class T>
bool BlockGradients<T>::is_finite() const {
  for (std::int64_t n = 0; n < b_.log_sum_exp.count(); ++n) {
    if (std::isnan(logs_.data()[n]) || logs_.data()[n] == std::numeric_limits<float>::infinity())
      return false;
  }
  return all_finite(q_.view()) && all_finite(k_.view()) && all_finite(v_.view()) &&
         all_finite(out_.view()) && all_finite(dout_.view());
}

template <class T>
bool BlockGradients<T>::results_are_finite() const {
  return all_finite(dq_.view()) && all_finite(dk_.view()) && all_finite(dv_.view());
}

template <class T>
void BlockGradients<T>::give() {
  const auto rows = [](const Tensor<float>& from, const View<T>& to) {
    if (!is_given(to)) return;
    Tensor<T> rounded = Tensor<T>::uninitialized(from.shape());
    std::transform(from.data(), from.data() + from.count(), rounded.data(),
                   [](float value) { return static_cast<T>(value); });
    copy_view<T>(std::as_const(rounded).view(), to);
  };
  rows(dq_, b_.wanted.q);
  rows(dk_, b_.wanted.k);
  rows(dv_, b_.wanted.v);
  const auto sum = [&](Tensor<double>& from, const auto& to, bool over_ranks) {
    if (!is_given(to)) return;
    using W = std::remove_cvref_t<decltype(*to.data())>;
    if (over_ranks) call_.comm.all_reduce(from.span());
    Tensor<W> rounded(from.shape());
    std::transform(from.data(), from.data() + from.count(), rounded.data(),
                   [](double value) { return static_cast<W>(value); });
    copy_view<W>(std::as_const(rounded).view(), to);
  };
  sum(bias_, b_.wanted.bias.values, true);
  sum(slopes_, b_.wanted.bias.slopes, true);
  for (std::size_t n = 0; n < terms_.size(); ++n) {
    sum(terms_[n], View<double>(b_.wanted.terms[n]), true);
  }
  sum(mask_, b_.wanted.mask, !call_.mask_by_row);
  if (!is_given(b_.wanted.sinks)) return;
  Tensor<double> sinks = sink_gradients();
  sum(sinks, b_.wanted.sinks, true);
}

// -sum over rows of p delta, with p = exp(sink - log-sum-exp), delta = <out, dout>.
template <class T>
Tensor<double> BlockGradients<T>::sink_gradients() const {
  Tensor<double> sums(Shape{call_.all.heads_q});
  const View<const float> out = out_.view(), dout = dout_.view();
  for (std::int64_t b = 0; b < out.size(0); ++b) {
    for (std::int64_t h = 0; h < out.size(1); ++h) {
      const double sink = call_.options.sinks[static_cast<std::size_t>(h)];
      if (std::isinf(sink)) continue;  // there is none
      for (std::int64_t i = 0; i < out.size(2); ++i) {
        double delta = 0;
        for (std::int64_t c = 0; c < out.size(3); ++c) {
          delta += static_cast<double>(out(b, h, i, c)) * static_cast<double>(dout(b, h, i, c));
        }
        sums(h) -= std::exp(sink - static_cast<double>(b_.log_sum_exp(b, h, i))) * delta;
      }
    }
  }
  return sums;
}

template class BlockGradients<float>;
template class BlockGradients<float16>;
template class BlockGradients<bfloat16>;

}  // namespace sextant::ranks
