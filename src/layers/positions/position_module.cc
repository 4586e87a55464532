// Schemes in models: makes the tables of a pass from their weights.
#include "sextant/layers/position_module.h"

#include <algorithm>
#include <mutex>
#include <utility>
#include <variant>

#include "layers/positions/scheme_tables.h"
#include "sextant/core/error.h"

namespace sextant {

using layers::first_positions;
using layers::widened;

// The tables that were asked for last.
template <class T>
struct PositionModule<T>::Cache {
  using TablesByKey = typename PositionTables<T>::TablesByKey;

  TablesByKey get() {
    const std::lock_guard lock(mutex);
    return tables;
  }
  void set(const TablesByKey& last) {
    const std::lock_guard lock(mutex);
    tables = last;
  }

  std::mutex mutex;
  TablesByKey tables;
};

template <class T>
PositionModule<T>::PositionModule(PositionOptions options) : options_(std::move(options)) {
  add_kind(options_.schemes, 0);
  for (std::size_t kind = 1; kind <= options_.other_kinds.size(); ++kind) {
    add_kind(options_.other_kinds[kind - 1], kind);
  }
  const auto ids = first_positions(std::max<std::int64_t>(options_.length, 1));
  for (const TrainedScheme& each : schemes_) {
    const auto end = each.scheme->max_length;
    if (end == nullptr) continue;
    max_length_ = std::min(max_length_, end(options_.request(each.given, ids)));
  }
  if (std::ranges::none_of(schemes_, &TrainedScheme::trainable)) cache_ = std::make_shared<Cache>();
  // Throws for schemes that do not go together. At position 0 a rotation is none.
  if (schemes_.size() > 1) (void)tables(std::min<std::int64_t>(options_.length, 2));
}

// Files are taken out of the list, as the weights are here then.
template <class T>
void PositionModule<T>::add_kind(SchemeSpecs& list, std::size_t kind) {
  for (SchemeSpec& given : list) {
    TrainedScheme each{&find_scheme(given.scheme), given, kind};
    if (std::ranges::count(list, given.scheme, &SchemeSpec::scheme) > 1) {
      throw Error("positions.scheme", "must not occur twice, got " + names_of(list));
    }
    if (kind > 0 && each.scheme->kind == SchemeKind::added) {
      throw Error("positions.scheme",
                  "must be one that works in attention for some of the layers, "
                  "got " +
                      given.scheme + ", whose rows are added before all");
    }
    start_with_weights(each);
    given = each.given;
    schemes_.push_back(std::move(each));
  }
}

template <class T>
void PositionModule<T>::start_with_weights(TrainedScheme& each) {
  const Scheme* scheme = each.scheme;
  if (scheme->initial_weights == nullptr || scheme->kind == SchemeKind::rotated) return;
  if (options_.length < 1) {
    throw Error("positions.length", "must be at least 1, got " + std::to_string(options_.length));
  }
  if (scheme->weights_of_tokens) {
    throw Error("positions.scheme",
                "must be one whose weights do not depend on the tokens, got " + each.given.scheme);
  }
  const auto ids = first_positions(options_.length);
  for (const auto& [name, tensor] : scheme->initial_weights(options_.request(each.given, ids))) {
    each.weights.emplace(name, converted<T>(tensor));
  }
  start_with_file(each);
}

template <class T>
void PositionModule<T>::start_with_file(TrainedScheme& each) {
  const auto file = each.given.parameters.extract("file");
  if (file.empty()) return;
  const auto ids = first_positions(options_.length);
  for (const auto& [name, tensor] :
       each.scheme->initial_weights(options_.request(each.given, ids))) {
    const Shape& found = each.weights.at(name).shape();
    if (found == tensor.shape()) continue;
    throw Error("positions.length", "must be the positions of " + file.mapped() + ", whose " +
                                        name + " is " + found.to_string() + ", got " +
                                        std::to_string(options_.length) + ", which makes it " +
                                        tensor.shape().to_string());
  }
}

template <class T>
bool PositionModule<T>::has(SchemeKind kind) const noexcept {
  return std::ranges::any_of(
      schemes_, [kind](const TrainedScheme& each) { return each.scheme->kind == kind; });
}

template <class T>
bool PositionModule<T>::trainable(SchemeKind kind, std::size_t layers) const noexcept {
  return std::ranges::any_of(schemes_, [kind, layers](const TrainedScheme& each) {
    return each.scheme->kind == kind && each.kind == layers && each.trainable();
  });
}

template <class T>
std::int64_t PositionModule<T>::class_of_ids(const TrainedScheme& each, std::int64_t length) const {
  const auto number = each.scheme->length_class;
  return number == nullptr ? 0 : number(options_.request(each.given, {}), length);
}

template <class T>
TableKey PositionModule<T>::table_key(std::int64_t length) const {
  TableKey key;
  for (const TrainedScheme& each : schemes_) {
    if (each.scheme->length_class == nullptr) continue;
    const bool trainable = each.trainable();
    key.push_back(class_of_ids(each, trainable ? std::max(length, options_.length) : length));
  }
  return key;
}

// Makes the tables of a key, with the rows that serve this length.
template <class T>
typename PositionModule<T>::Tables PositionModule<T>::make(const TableKey& key,
                                                           std::int64_t length) const {
  length = std::max<std::int64_t>(length, 1);
  if (!trainable()) {
    // A little more than asked for, so that batches of growing length do not make a table each.
    const std::int64_t more = std::min((length + 63) / 64 * 64, max_length_);
    if (more > length && table_key(more) == key) length = more;
  }
  Tables made{.length = length, .applied = {}, .sources = {}};
  std::vector<std::vector<SchemeTable>> tables(1 + options_.other_kinds.size());
  auto its_class = key.begin();
  for (const TrainedScheme& each : schemes_) {
    std::int64_t rows = length;
    if (each.scheme->length_class != nullptr) {
      const bool is_shorter = each.trainable() && class_of_ids(each, rows) != *its_class;
      if (is_shorter) rows = std::max(rows, options_.length);  // for which its weights are made
      ++its_class;
    }
    const SchemeWeights weights = widened(each.weights);
    const SchemeTable& table = tables[each.kind].emplace_back(
        options_.table(each.given, rows, weights.empty() ? nullptr : &weights));
    typename PositionTables<T>::Source source{rows};
    if (const auto* bias = std::get_if<DistanceBias>(&table); bias && bias->has_table()) {
      source.columns = bias->values.size(1);
      source.origin = bias->origin;
    }
    made.sources.push_back(source);
  }
  // A single scheme's table may serve more.
  if (made.sources.size() == 1) made.length = made.sources[0].length;
  for (auto& of_kind : tables) made.applied.emplace_back(std::move(of_kind));
  return made;
}

template <class T>
PositionTables<T> PositionModule<T>::tables(std::int64_t length) const {
  const std::int64_t segments[] = {0, length};
  return tables(segments);
}

template <class T>
PositionTables<T> PositionModule<T>::tables(std::span<const std::int64_t> segments) const {
  PositionTables<T> result(*this);
  std::map<TableKey, std::int64_t> longest;
  for (std::size_t s = 0; s + 1 < segments.size(); ++s) {
    const std::int64_t length = segments[s + 1] - segments[s];
    auto known = result.keys_.find(length);
    if (known == result.keys_.end()) {
      known = result.keys_.emplace(length, table_key(length)).first;
    }
    std::int64_t& most = longest[known->second];
    most = std::max(most, length);
  }
  if (cache_) result.tables_ = cache_->get();
  // The tables of these keys, and no others: every length of a text may have its own.
  std::erase_if(result.tables_, [&longest](const auto& old) {
    const auto wanted = longest.find(old.first);
    return wanted == longest.end() || old.second->length < wanted->second;
  });
  for (const auto& [key, length] : longest) {
    auto& tables = result.tables_[key];
    if (!tables) tables = std::make_shared<const Tables>(make(key, length));
  }
  if (cache_) cache_->set(result.tables_);
  return result;
}

template <class T>
void PositionModule<T>::append_parameters(Parameters<T>& to, const std::string& prefix) {
  for (TrainedScheme& each : schemes_) {
    const std::string its_kind = each.kind == 0 ? prefix : prefix + std::to_string(each.kind) + ".";
    const bool alone = each.kind == 0 && options_.schemes.size() == 1;
    const std::string own = alone ? prefix : its_kind + each.given.scheme + ".";
    for (auto& [name, tensor] : each.weights) to.push_back({own + name, &tensor, false});
  }
}

template class PositionModule<float>;
template class PositionModule<double>;

}  // namespace sextant
