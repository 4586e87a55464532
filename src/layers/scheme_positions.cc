// Schemes in models: tables made when the length or the weights change, gradients summed until the
// pass ends.
#include "sextant/layers/scheme_positions.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "layers/apply_positions.h"
#include "sextant/core/error.h"
#include "sextant/core/parallel.h"

namespace sextant {
namespace {

template <class To, class From>
Tensor<To> converted(const Tensor<From>& from) {
  auto to = Tensor<To>::uninitialized(from.shape());
  std::ranges::transform(from.span(), to.data(), [](From x) { return static_cast<To>(x); });
  return to;
}

RotationTable<float> rounded(const RotationTable<double>& table) {
  RotationTable<float> to{converted<float>(table.cos), converted<float>(table.sin), table.layout,
                          table.first_channel};
  if (table.keys) to.keys = std::make_shared<RotationTable<float>>(rounded(*table.keys));
  return to;
}

std::vector<std::int64_t> first_positions(std::int64_t length) {
  std::vector<std::int64_t> ids(static_cast<std::size_t>(length));
  std::iota(ids.begin(), ids.end(), std::int64_t{0});
  return ids;
}

template <class T>
SchemeWeights widened(const std::map<std::string, Tensor<T>>& weights) {
  SchemeWeights wide;
  for (const auto& [name, tensor] : weights) wide.emplace(name, converted<double>(tensor));
  return wide;
}

}  // namespace

template <class T>
struct SchemePositions<T>::Tables {
  std::int64_t length = -1;
  Tensor<T> added;
  std::optional<RotationTable<float>> rotation;
  std::optional<DistanceBias> bias;
  std::shared_ptr<const IndexedBias> indexed;
  std::shared_ptr<const ContentTerm> content;
};

template <class T>
SchemePositions<T>::SchemePositions(PositionOptions options)
    : options_(std::move(options)), tables_(std::make_unique<Tables>()) {
  const Scheme& scheme = find_scheme(options_.scheme);
  if (scheme.initial_weights == nullptr || scheme.kind == SchemeKind::rotated) return;
  if (options_.length < 1) {
    throw Error("positions.length", "must be at least 1, got " + std::to_string(options_.length));
  }
  const auto ids = first_positions(options_.length), one = first_positions(1);
  const SchemeWeights of_one = scheme.initial_weights(request(one, {}));
  for (const auto& [name, tensor] : scheme.initial_weights(request(ids, {}))) {
    if (scheme.kind == SchemeKind::content && tensor.shape() != of_one.at(name).shape()) {
      throw Error("positions.scheme", "must not be " + options_.scheme + ", whose " + name +
                                          " have to be made of the tokens");
    }
    weights_.emplace(name, converted<T>(tensor));
  }
  start_with_weights();
}

template <class T>
void SchemePositions<T>::start_with_weights() {
  const auto file = options_.parameters.extract("file");
  if (file.empty()) return;
  const auto ids = first_positions(options_.length);
  for (const auto& [name, tensor] :
       find_scheme(options_.scheme).initial_weights(request(ids, {}))) {
    const Shape& found = weights_.at(name).shape();
    if (found == tensor.shape()) continue;
    throw Error("positions.length", "must be the positions of " + file.mapped() + ", whose " +
                                        name + " is " + found.to_string() + ", got " +
                                        std::to_string(options_.length) + ", which makes it " +
                                        tensor.shape().to_string());
  }
}

template <class T>
SchemePositions<T>::~SchemePositions() = default;
template <class T>
SchemePositions<T>::SchemePositions(SchemePositions&&) noexcept = default;
template <class T>
SchemePositions<T>& SchemePositions<T>::operator=(SchemePositions&&) noexcept = default;

template <class T>
SchemeKind SchemePositions<T>::kind() const noexcept {
  return find_scheme(options_.scheme).kind;
}

template <class T>
SchemeRequest SchemePositions<T>::request(std::span<const std::int64_t> ids,
                                          const SchemeWeights& weights) const {
  SchemeRequest request;
  request.width = options_.width;
  request.heads = options_.heads;
  request.head_dim = options_.head_dim;
  request.positions = ids;
  request.parameters = options_.parameters;
  request.weights = weights.empty() ? nullptr : &weights;
  return request;
}

template <class T>
void SchemePositions<T>::prepare(std::int64_t length) {
  if (length <= tables_->length && !learns()) return;
  // A little more than asked for, so that batches of growing length do not make a table each.
  if (!learns()) length = (length + 63) / 64 * 64;
  const SchemeWeights weights = widened(weights_);
  AppliedPositions made =
      make_positions(options_.scheme, options_.parameters, length, options_.width, options_.heads,
                     options_.head_dim, weights.empty() ? nullptr : &weights);
  *tables_ = {};
  tables_->length = length;
  if (made.added) tables_->added = converted<T>(*made.added);
  if (made.rotation) tables_->rotation = rounded(*made.rotation);
  tables_->bias = std::move(made.bias);
  tables_->indexed = std::move(made.indexed);
  tables_->content = std::move(made.content);
}

template <class T>
void SchemePositions<T>::add_row(std::int64_t position, T* x) const {
  if (tables_->added.count() == 0) return;
  const T* row = tables_->added.data() + position * options_.width;
  for (std::int64_t column = 0; column < options_.width; ++column) x[column] += row[column];
}

template <class T>
void SchemePositions<T>::add_to(View<T> x, std::span<const std::int64_t> segments,
                                const Pass& pass) const {
  if (tables_->added.count() == 0) return;
  const auto sequences = static_cast<std::int64_t>(segments.size()) - 1;
  parallel_for(sequences, pass.threads, [&](std::int64_t s) {
    const std::int64_t begin = segments[static_cast<std::size_t>(s)];
    for (std::int64_t i = begin; i < segments[static_cast<std::size_t>(s) + 1]; ++i) {
      add_row(i - begin, x.data() + i * options_.width);
    }
  });
}

template <class T>
void SchemePositions<T>::set(AttentionOptions<T>& options) const {
  options.rotation = tables_->rotation ? &*tables_->rotation : nullptr;
  options.bias = tables_->bias ? &*tables_->bias : nullptr;
  options.indexed = tables_->indexed.get();
  options.content = tables_->content.get();
}

template <class T>
void SchemePositions<T>::add_gradient(View<const T> dx, std::span<const std::int64_t> segments,
                                      SchemePositions& gradient) const {
  if (!learns() || tables_->added.count() == 0) return;
  Tensor<double>& sum = gradient.sums_["added"];
  if (sum.shape() != tables_->added.shape()) sum = Tensor<double>(tables_->added.shape());
  for (std::size_t s = 0; s + 1 < segments.size(); ++s) {
    const T* from = dx.data() + segments[s] * options_.width;
    const std::int64_t count = (segments[s + 1] - segments[s]) * options_.width;
    for (std::int64_t i = 0; i < count; ++i) sum.data()[i] += static_cast<double>(from[i]);
  }
}

template <class T>
void SchemePositions<T>::want(AttentionGradients<T>& gradients, Pass& pass) const {
  using Wide = typename AttentionGradients<T>::Wide;
  if (!learns()) return;
  if (tables_->bias) gradients.bias = pass.memory.take<Wide>(tables_->bias->values.shape());
  if (tables_->indexed && tables_->indexed->gradient_size() > 0) {
    gradients.indexed = pass.memory.take<double>({tables_->indexed->gradient_size()});
  }
  if (tables_->content && tables_->content->gradient_size() > 0) {
    gradients.content = pass.memory.take<double>({tables_->content->gradient_size()});
  }
}

template <class T>
void SchemePositions<T>::collect(const AttentionGradients<T>& gradients,
                                 SchemePositions& gradient) const {
  const auto sum_up = [&gradient](const char* name, const auto& view, const Shape& shape) {
    if (view.count() == 0) return;
    Tensor<double>& sum = gradient.sums_[name];
    if (sum.shape() != shape) sum = Tensor<double>(shape);
    for (std::int64_t i = 0; i < view.count(); ++i) {
      sum.data()[i] += static_cast<double>(view.data()[i]);
    }
  };
  sum_up("bias", gradients.bias, gradients.bias.shape());
  sum_up("indexed", gradients.indexed, {1, gradients.indexed.count()});
  sum_up("content", gradients.content, {1, gradients.content.count()});
}

template <class T>
void SchemePositions<T>::finish(SchemePositions& gradient) const {
  if (gradient.sums_.empty()) return;
  const auto ids = first_positions(tables_->length);
  const SchemeWeights weights = widened(weights_);
  for (const auto& [name, sum] : gradient.sums_) {
    for (const auto& [weight, slope] :
         find_scheme(options_.scheme).backward(request(ids, weights), sum.view())) {
      Tensor<T>& to = gradient.weights_.at(weight);
      for (std::int64_t i = 0; i < slope.count(); ++i) {
        to.data()[i] += static_cast<T>(slope.data()[i]);
      }
    }
  }
  gradient.sums_.clear();
}

template <class T>
void SchemePositions<T>::list(Parameters<T>& to, const std::string& prefix) {
  for (auto& [name, tensor] : weights_) to.push_back({prefix + name, &tensor, false});
}

template class SchemePositions<float>;
template class SchemePositions<double>;

}  // namespace sextant
