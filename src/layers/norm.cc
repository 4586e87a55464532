// Norms: shapes and parameters around the row operations.
#include "sextant/layers/norm.h"

#include <algorithm>

#include "core/options/enum_names.h"
#include "layers/ops.h"
#include "sextant/core/numbers.h"

namespace sextant {

std::string_view name_of(NormKind kind) noexcept { return enum_name(kind, {"layer", "rms"}); }

template <class T>
Norm<T>::Norm(NormKind norm_kind, std::int64_t width, double norm_epsilon)
    : kind(norm_kind), epsilon(norm_epsilon) {
  if (width < 1) throw Error("norm.width", "must be at least 1, got " + std::to_string(width));
  if (!(epsilon > 0)) throw Error("norm.epsilon", "must be positive, got " + shortest(epsilon));
  gain = Tensor<T>({width});
  std::ranges::fill(gain.span(), T{1});
  if (kind == NormKind::layer) bias = Tensor<T>({width});
}

template <class T>
typename Norm<T>::Saved Norm<T>::forward(View<const T> x, View<T> y, Pass& pass) const {
  const View<T> stats = pass.memory.take<T>({2, x.size(0)});
  ops::norm<T>(x, gain.data(), bias.data(), epsilon, kind == NormKind::rms, y, stats, pass.threads);
  return {x, stats};
}

template <class T>
void Norm<T>::backward(const Saved& saved, View<const T> dy, View<T> dx, bool add, Norm& gradient,
                       Pass& pass) const {
  ops::norm_gradient<T>(saved.x, saved.stats, gain.data(), kind == NormKind::rms, dy, dx, add,
                        gradient.gain.data(), gradient.bias.data(), pass.threads);
}

template <class T>
void Norm<T>::append_parameters(Parameters<T>& to, const std::string& prefix) {
  to.push_back({prefix + "gain", &gain, false});
  if (bias.count() > 0) to.push_back({prefix + "bias", &bias, false});
}

template struct Norm<float>;
template struct Norm<double>;

}  // namespace sextant
