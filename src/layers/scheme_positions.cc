// Schemes in models: tables made when the lengths or the weights change.
#include "sextant/layers/scheme_positions.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "layers/scheme_tables.h"
#include "sextant/core/error.h"
#include "sextant/core/parallel.h"

namespace sextant {

using detail::converted;
using detail::first_positions;
using detail::widened;

namespace {

template <class T>
void add(const T* from, std::int64_t count, T* to) {
  for (std::int64_t i = 0; i < count; ++i) to[i] += from[i];
}

}  // namespace

template <class T>
SchemePositions<T>::SchemePositions(PositionOptions options)
    : options_(std::move(options)), scheme_(&find_scheme(options_.scheme)) {
  if (scheme_->initial_weights == nullptr || scheme_->kind == SchemeKind::rotated) return;
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
  if (scheme_->length_class == nullptr) return 0;
  const auto known = classes_.find(length);
  if (known != classes_.end()) return known->second;
  return class_of_ids(learns() ? std::max(length, options_.length) : length);
}

template <class T>
std::int64_t SchemePositions<T>::note_class(std::int64_t length) {
  const std::int64_t number = length_class(length);
  if (scheme_->length_class != nullptr) classes_.emplace(length, number);
  return number;
}

template <class T>
void SchemePositions<T>::prepare(std::int64_t length) {
  prepare_classes({{note_class(length), length}});
}

template <class T>
void SchemePositions<T>::prepare(std::span<const std::int64_t> segments) {
  std::map<std::int64_t, std::int64_t> longest;
  for (std::size_t s = 0; s + 1 < segments.size(); ++s) {
    const std::int64_t length = segments[s + 1] - segments[s];
    std::int64_t& most = longest[note_class(length)];
    most = std::max(most, length);
  }
  prepare_classes(longest);
}

// The tables of these classes, and no others: every length of a text may have its own.
template <class T>
void SchemePositions<T>::prepare_classes(const std::map<std::int64_t, std::int64_t>& longest) {
  std::map<std::int64_t, Tables> next;
  const SchemeWeights weights = widened(weights_);
  for (const auto& [number, length] : longest) {
    const auto old = tables_.find(number);
    if (old != tables_.end() && !learns() && old->second.length >= length) continue;
    const std::int64_t rows = rows_for(number, length);
    next.emplace(number, Tables{rows, {options_, rows, weights.empty() ? nullptr : &weights}});
  }
  for (const auto& [number, length] : longest) next.insert(tables_.extract(number));
  tables_ = std::move(next);
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
bool SchemePositions<T>::is_prepared(std::int64_t length) const {
  const auto found = tables_.find(length_class(length));
  return found != tables_.end() && found->second.length >= length;
}

template <class T>
const typename SchemePositions<T>::Tables& SchemePositions<T>::tables_of(
    std::int64_t length) const {
  const auto found = tables_.find(length_class(length));
  if (found == tables_.end() || found->second.length < length) {
    throw Error("positions.length",
                "must be prepared, got a sequence of " + std::to_string(length) + " tokens");
  }
  return found->second;
}

template <class T>
std::vector<typename SchemePositions<T>::Run> SchemePositions<T>::runs(
    std::span<const std::int64_t> segments, std::span<const std::int64_t> key_segments) const {
  std::vector<Run> runs;
  std::int64_t last = 0;  // class
  for (std::size_t s = 0; s + 1 < segments.size(); ++s) {
    const std::int64_t length =
        std::max(segments[s + 1] - segments[s], key_segments[s + 1] - key_segments[s]);
    const std::int64_t number = length_class(length);
    if (runs.empty() || number != last) {
      runs.push_back({s, s + 1, length});
    } else {
      runs.back().last = s + 1;
      runs.back().length = std::max(runs.back().length, length);
    }
    last = number;
  }
  return runs;
}

template <class T>
void SchemePositions<T>::add_row(std::int64_t position, std::int64_t length, T* x) const {
  if (scheme_->kind != SchemeKind::added) return;
  add(tables_of(length).applied.added->data() + position * options_.width, options_.width, x);
}

template <class T>
void SchemePositions<T>::add_to(View<T> x, std::span<const std::int64_t> segments,
                                const Pass& pass) const {
  if (scheme_->kind != SchemeKind::added) return;
  const auto sequences = static_cast<std::int64_t>(segments.size()) - 1;
  parallel_for(sequences, pass.threads, [&](std::int64_t s) {
    const std::int64_t begin = segments[static_cast<std::size_t>(s)],
                       end = segments[static_cast<std::size_t>(s) + 1];
    const T* rows = tables_of(end - begin).applied.added->data();
    add(rows, (end - begin) * options_.width, x.data() + begin * options_.width);
  });
}

template <class T>
void SchemePositions<T>::set(AttentionOptions<T>& options, std::int64_t length) const {
  tables_of(length).applied.set(options);
}

template <class T>
void SchemePositions<T>::append_parameters(Parameters<T>& to, const std::string& prefix) {
  for (auto& [name, tensor] : weights_) to.push_back({prefix + name, &tensor, false});
}

template class SchemePositions<float>;
template class SchemePositions<double>;

}  // namespace sextant
