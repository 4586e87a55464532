// Schemes by name in a call of the attention operator.
#include "attention/attention_scheme.h"

#include <algorithm>
#include <numeric>
#include <type_traits>
#include <utility>

#include "sextant/core/error.h"
#include "sextant/core/npy.h"
#include "sextant/core/safetensors.h"
#include "sextant/tables/score_term.h"

namespace sextant::app {

AttentionScheme::AttentionScheme(const SchemeChoice& choice, std::int64_t positions,
                                 std::int64_t heads, std::int64_t head_dim)
    : weights_(choice.weights()), ids_(static_cast<std::size_t>(positions)) {
  std::iota(ids_.begin(), ids_.end(), std::int64_t{0});
  std::vector<SchemeTable> tables;
  for (const auto& [name, parameters] : choice.positions()) {
    scheme_ = &find_scheme(name);
    request_ =
        figures::NamedScheme{name, parameters, weights_ ? &*weights_ : nullptr}.request(ids_);
    request_.width = heads * head_dim;
    request_.heads = heads;
    request_.head_dim = head_dim;
    tables.push_back(scheme_->make(request_));
  }
  if (tables.size() > 1) scheme_ = nullptr;
  positions_ = AppliedPositions<float>(std::move(tables));
}

template <class M>
void AttentionScheme::add_to(AttentionOptionsOf<M>& options) {
  if (options.bias != nullptr && positions_.bias) positions_.bias->slopes = options.bias->slopes;
  positions_.set(options);
}

template <Floating T>
void AttentionScheme::want(AttentionGradients<T>& gradients) {
  const auto list = [this](std::int64_t count) {
    list_ = Tensor<double>({1, count});
    return View<double>(list_.data(), {count});
  };
  const bool learns = scheme_ != nullptr && scheme_->backward != nullptr;
  if (learns && positions_.bias) {
    if constexpr (std::is_same_v<T, double>) {
      list_ = Tensor<double>(positions_.bias->values.shape());
      gradients.bias.values = list_.view();
    } else {
      narrow_ = Tensor<float>(positions_.bias->values.shape());
      gradients.bias.values = narrow_.view();
    }
  } else if (const auto& term = positions_.indexed ? positions_.indexed : positions_.content;
             learns && term) {
    gradients.terms = {list(term->needs().parameters)};
  } else {
    throw Error("attention.dscheme",
                "must be given with a bias or a content term that has weights, got " +
                    (scheme_ == nullptr ? "several schemes"
                                        : "the scheme '" + std::string(scheme_->name) + "'"));
  }
}

SchemeWeights AttentionScheme::gradients() const {
  if (narrow_.count() == 0) return scheme_->backward(request_, list_.view());
  Tensor<double> wide(narrow_.shape());
  std::copy_n(narrow_.data(), narrow_.count(), wide.data());
  return scheme_->backward(request_, std::as_const(wide).view());
}

template <Floating T>
void write_scheme(const std::string& path, const SchemeWeights& gradients) {
  using Wide = std::conditional_t<std::is_same_v<T, double>, double, float>;
  std::map<std::string, Array> arrays;
  for (const auto& [name, values] : gradients) {
    Array& array = arrays[name];
    array.dtype = dtype_of<Wide>;
    array.shape = values.shape();
    const auto bytes = static_cast<std::int64_t>(sizeof(Wide)) * values.count();
    array.bytes = Tensor<std::byte>({bytes});
    auto* out = reinterpret_cast<Wide*>(array.bytes.data());
    std::transform(values.data(), values.data() + values.count(), out,
                   [](double value) { return static_cast<Wide>(value); });
  }
  save_safetensors(path, arrays);
}

template void AttentionScheme::add_to(AttentionOptionsOf<float>&);
template void AttentionScheme::add_to(AttentionOptionsOf<double>&);

#define SEXTANT_INSTANTIATE(T)                                 \
  template void AttentionScheme::want(AttentionGradients<T>&); \
  template void write_scheme<T>(const std::string&, const SchemeWeights&);
SEXTANT_INSTANTIATE(float)
SEXTANT_INSTANTIATE(double)
SEXTANT_INSTANTIATE(bfloat16)
SEXTANT_INSTANTIATE(float16)
#undef SEXTANT_INSTANTIATE

}  // namespace sextant::app
