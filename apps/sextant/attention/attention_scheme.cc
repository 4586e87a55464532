// A scheme by name in a call of the attention operator.
#include "attention/attention_scheme.h"

#include <algorithm>
#include <numeric>
#include <type_traits>

#include "sextant/core/error.h"
#include "sextant/tables/content_term.h"

namespace sextant::app {
namespace {

Tensor<float> rounded(const Tensor<double>& table) {
  auto result = Tensor<float>::uninitialized(table.shape());
  std::transform(table.data(), table.data() + table.count(), result.data(),
                 [](double value) { return static_cast<float>(value); });
  return result;
}

RotationTable<float> rounded(const RotationTable<double>& table) {
  RotationTable<float> result{rounded(table.cos), rounded(table.sin), table.layout,
                              table.first_channel};
  if (table.keys) result.keys = std::make_shared<RotationTable<float>>(rounded(*table.keys));
  return result;
}

}  // namespace

AttentionScheme::AttentionScheme(const SchemeChoice& choice, std::int64_t positions,
                                 std::int64_t heads, std::int64_t head_dim)
    : scheme_(choice.descriptor()),
      ids_(static_cast<std::size_t>(positions)),
      weights_(choice.weights()) {
  std::iota(ids_.begin(), ids_.end(), std::int64_t{0});
  request_.width = heads * head_dim;
  request_.heads = heads;
  request_.head_dim = head_dim;
  request_.positions = ids_;
  request_.parameters = choice.parameters;
  if (weights_) request_.weights = &*weights_;
  SchemeTable made = scheme_.make(request_);
  if (auto* rotation = std::get_if<RotationTable<double>>(&made)) rotation_ = rounded(*rotation);
  if (auto* bias = std::get_if<DistanceBias>(&made)) bias_ = std::move(*bias);
  if (auto* bias = std::get_if<std::shared_ptr<const IndexedBias>>(&made)) indexed_ = *bias;
  if (auto* term = std::get_if<std::shared_ptr<const ContentTerm>>(&made)) content_ = *term;
}

template <Floating T>
void AttentionScheme::add_to(AttentionOptions<T>& options) {
  if (rotation_.cos.count() > 0) options.rotation = &rotation_;
  if (bias_.values.count() > 0) {
    if (options.bias != nullptr) bias_.slopes = options.bias->slopes;
    options.bias = &bias_;
  }
  if (indexed_) options.indexed = indexed_.get();
  if (content_) options.content = content_.get();
}

template <Floating T>
void AttentionScheme::want(AttentionGradients<T>& gradients) {
  const auto list = [this](std::int64_t count) {
    list_ = Tensor<double>({1, count});
    return View<double>(list_.data(), {count});
  };
  if (scheme_.backward != nullptr && bias_.values.count() > 0) {
    if constexpr (std::is_same_v<T, double>) {
      list_ = Tensor<double>(bias_.values.shape());
      gradients.bias.values = list_.view();
    } else {
      narrow_ = Tensor<float>(bias_.values.shape());
      gradients.bias.values = narrow_.view();
    }
  } else if (scheme_.backward != nullptr && indexed_) {
    gradients.indexed = list(indexed_->gradient_size());
  } else if (scheme_.backward != nullptr && content_) {
    gradients.content = list(content_->gradient_size());
  } else {
    throw Error("attention.dscheme",
                "must go with a bias or a content term that has weights, got the scheme '" +
                    std::string(scheme_.name) + "'");
  }
}

SchemeWeights AttentionScheme::gradients() const {
  if (narrow_.count() == 0) return scheme_.backward(request_, list_.view());
  Tensor<double> wide(narrow_.shape());
  std::copy_n(narrow_.data(), narrow_.count(), wide.data());
  return scheme_.backward(request_, std::as_const(wide).view());
}

#define SEXTANT_INSTANTIATE(T)                                 \
  template void AttentionScheme::add_to(AttentionOptions<T>&); \
  template void AttentionScheme::want(AttentionGradients<T>&);
SEXTANT_INSTANTIATE(float)
SEXTANT_INSTANTIATE(double)
SEXTANT_INSTANTIATE(bfloat16)
SEXTANT_INSTANTIATE(float16)
#undef SEXTANT_INSTANTIATE

}  // namespace sextant::app
