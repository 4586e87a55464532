// Schemes in models: weights, classes of lengths, and the tables of a pass.
#include "sextant/layers/scheme_positions.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "layers/scheme_tables.h"
#include "sextant/core/error.h"

namespace sextant {

using layers::converted;
using layers::first_positions;
using layers::widened;

// The tables that were asked for last.
template <class T>
struct SchemePositions<T>::Cache {
  using Tables = typename PositionTables<T>::TablesByClass;

  Tables get() {
    const std::lock_guard lock(mutex);
    return tables;
  }
  void set(const Tables& last) {
    const std::lock_guard lock(mutex);
    tables = last;
  }

  std::mutex mutex;
  Tables tables;
};

template <class T>
SchemePositions<T>::SchemePositions(PositionOptions options)
    : options_(std::move(options)), scheme_(&find_scheme(options_.scheme)) {
  if (scheme_->initial_weights == nullptr || scheme_->kind == SchemeKind::rotated) {
    cache_ = std::make_shared<Cache>();
    return;
  }
  if (options_.length < 1) {
    throw Error("positions.length", "must be at least 1, got " + std::to_string(options_.length));
  }
  const auto ids = first_positions(options_.length), one = first_positions(1);
  const SchemeWeights of_one = scheme_->initial_weights(request(one, {}));
  for (const auto& [name, tensor] : scheme_->initial_weights(request(ids, {}))) {
    if (scheme_->kind == SchemeKind::content && tensor.shape() != of_one.at(name).shape()) {
      throw Error("positions.scheme", "must not be " + options_.scheme + ", whose " + name +
                                          " are computed from the tokens");
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
SchemeKind SchemePositions<T>::kind() const noexcept {
  return scheme_->kind;
}

template <class T>
SchemeRequest SchemePositions<T>::request(std::span<const std::int64_t> ids,
                                          const SchemeWeights& weights) const {
  return options_.request(ids, weights.empty() ? nullptr : &weights);
}

// Of the ids 0 .. length - 1, as the scheme has it.
template <class T>
std::int64_t SchemePositions<T>::class_of_ids(std::int64_t length) const {
  return scheme_->length_class == nullptr ? 0 : scheme_->length_class(request({}, {}), length);
}

template <class T>
std::int64_t SchemePositions<T>::length_class(std::int64_t length) const {
  return class_of_ids(learns() ? std::max(length, options_.length) : length);
}

// How many rows the tables of a class get, to serve this length.
template <class T>
std::int64_t SchemePositions<T>::rows_for(std::int64_t number, std::int64_t length) const {
  length = std::max<std::int64_t>(length, 1);
  if (learns()) return class_of_ids(length) == number ? length : std::max(length, options_.length);
  // A little more than asked for, so that batches of growing length do not make a table each.
  const std::int64_t more = (length + 63) / 64 * 64;
  return class_of_ids(more) == number ? more : length;
}

template <class T>
PositionTables<T> SchemePositions<T>::tables(std::int64_t length) const {
  const std::int64_t segments[] = {0, length};
  return tables(segments);
}

template <class T>
PositionTables<T> SchemePositions<T>::tables(std::span<const std::int64_t> segments) const {
  using Tables = typename PositionTables<T>::Tables;
  PositionTables<T> result(*this);
  std::map<std::int64_t, std::int64_t> longest;  // of each class
  for (std::size_t s = 0; s + 1 < segments.size(); ++s) {
    const std::int64_t length = segments[s + 1] - segments[s];
    std::int64_t number = 0;
    if (scheme_->length_class != nullptr) {
      const auto known = result.classes_.find(length);
      number = known != result.classes_.end() ? known->second : length_class(length);
      result.classes_.emplace(length, number);
    }
    std::int64_t& most = longest[number];
    most = std::max(most, length);
  }
  if (cache_) result.tables_ = cache_->get();
  // The tables of these classes, and no others: every length of a text may have its own.
  std::erase_if(result.tables_, [&longest](const auto& old) {
    const auto wanted = longest.find(old.first);
    return wanted == longest.end() || old.second->length < wanted->second;
  });
  const SchemeWeights weights = widened(weights_);
  for (const auto& [number, length] : longest) {
    auto& tables = result.tables_[number];
    if (tables) continue;
    const std::int64_t rows = rows_for(number, length);
    tables = std::make_shared<const Tables>(
        Tables{rows, {options_, rows, weights.empty() ? nullptr : &weights}});
  }
  if (cache_) cache_->set(result.tables_);
  return result;
}

template <class T>
void SchemePositions<T>::append_parameters(Parameters<T>& to, const std::string& prefix) {
  for (auto& [name, tensor] : weights_) to.push_back({prefix + name, &tensor, false});
}

template class SchemePositions<float>;
template class SchemePositions<double>;

}  // namespace sextant
