// Names are looked up and shapes compared while a table is filled; numbers are read at the end.
#include "hub/weight_table.h"

#include <algorithm>
#include <utility>

#include "sextant/core/error.h"

namespace sextant::hub {
namespace {

// Without the prefix, and as newer versions write it: norms of early BERTs have gamma and beta.
std::string usual_name(std::string_view name, std::string_view prefix) {
  if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
  std::string usual(name);
  for (const auto& [old, now] :
       {std::pair<std::string_view, std::string_view>{".gamma", ".weight"}, {".beta", ".bias"}}) {
    if (usual.ends_with(old)) usual.replace(usual.size() - old.size(), old.size(), now);
  }
  return usual;
}

}  // namespace

WeightTable::WeightTable(const TensorFile& file, const NameRules& rules)
    : file_(&file), rules_(rules) {
  for (const StoredTensor& tensor : file.tensors()) {
    const auto [place, fresh] = tensors_.emplace(usual_name(tensor.name, rules.prefix), &tensor);
    if (!fresh) fail(tensor, "must not hold both " + place->second->name + " and " + tensor.name);
  }
}

void WeightTable::enter(std::string ours, std::string theirs) {
  ours_ = std::move(ours);
  theirs_ = std::move(theirs);
}

void WeightTable::matrix(std::string_view ours, std::string_view theirs, std::int64_t rows,
                         std::int64_t columns, Stored stored) {
  const Shape shape = stored == Stored::rows ? Shape{rows, columns} : Shape{columns, rows};
  put(ours, {&take(theirs, shape), stored});
}

void WeightTable::add_first_row(std::string_view theirs, std::int64_t rows, std::int64_t columns,
                                float factor) {
  last_->first_row = &take(theirs, {rows, columns});
  last_->first_row_factor = factor;
}

void WeightTable::take_rows(std::string_view ours, std::string_view theirs, const Shape& shape,
                            std::vector<StoredRows> rows) {
  std::int64_t count = 0;
  for (const StoredRows& each : rows) count += each.count;
  put(ours, {.tensor = &take(theirs, shape),
             .rows = std::move(rows),
             .count = count * (shape.count() / shape[0])});
}

void WeightTable::constant(std::string_view ours, std::int64_t count, double value) {
  put(ours, {.tensor = nullptr, .added = value, .count = count});
}

void WeightTable::norm(std::string_view ours, std::string_view theirs, std::int64_t width,
                       NormKind kind, NormParts parts) {
  const std::string gain = std::string(ours) + ".gain", bias = std::string(ours) + ".bias";
  const std::string from(theirs);
  if (parts == NormParts::nothing) {
    constant(gain, width, 1);
  } else {
    const double added = parts == NormParts::gain_less_one ? 1 : 0;
    put(gain, {.tensor = &take(from + ".weight", {width}), .added = added});
  }
  if (kind != NormKind::layer) return;
  if (parts == NormParts::gain_and_bias) {
    put(bias, {.tensor = &take(from + ".bias", {width})});
  } else {
    constant(bias, width, 0);
  }
}

void WeightTable::linear(std::string_view ours, std::initializer_list<Map> theirs,
                         std::int64_t columns, bool bias, Stored stored) {
  const std::string to(ours);
  for (const auto& [name, rows] : theirs) {
    matrix(to + ".weight", std::string(name) + ".weight", rows, columns, stored);
  }
  if (!bias) return;
  for (const auto& [name, rows] : theirs) {
    put(to + ".bias", {.tensor = &take(std::string(name) + ".bias", {rows})});
  }
}

void WeightTable::scale_linear(std::string_view ours, double factor) {
  for (const char* end : {".weight", ".bias"}) {
    const auto found = sources_.find(ours_ + std::string(ours) + end);
    if (found == sources_.end()) continue;
    for (Part& part : found->second.parts) part.factor *= factor;
  }
}

void WeightTable::scale_rows(std::string_view ours, std::int64_t rows, double factor) {
  for (const char* end : {".weight", ".bias"}) {
    const auto found = sources_.find(ours_ + std::string(ours) + end);
    if (found == sources_.end()) continue;
    found->second.scaled_rows = rows;
    found->second.factor = factor;
  }
}

void WeightTable::head(std::string_view theirs, std::string_view embedding,
                       const TransformerConfig& config, std::string_view bias) {
  if (!config.logits) return;
  if (config.logits_bias) {
    put("output.bias", {.tensor = &take(bias, {config.vocabulary})});
  }
  if (!config.tied) return matrix("output.weight", theirs, config.vocabulary, config.width);
  copy(theirs, embedding, {config.vocabulary, config.width});
}

void WeightTable::copy(std::string_view theirs, std::string_view original, const Shape& shape) {
  if (file_ == nullptr) return;  // one of the two is enough
  if (find(theirs) != nullptr) check_equal(take(theirs, shape), *find(original));
}

void WeightTable::check_rest() const {
  for (const auto& each : tensors_) {
    const auto& name = each.first;
    const StoredTensor* const tensor = each.second;
    const auto matches = [&name](std::string_view skipped) {
      return skipped.ends_with('.') ? name.starts_with(skipped) : name.ends_with(skipped);
    };
    if (used_.contains(tensor) || std::ranges::any_of(rules_.skipped, matches)) continue;
    fail(*tensor,
         "must hold only tensors that a model of this config.json has, got " + tensor->name);
  }
}

void WeightTable::put(std::string_view ours, Part part) {
  if (part.count == 0) part.count = part.tensor->count();
  add(ours).parts.push_back(std::move(part));
}

bool WeightTable::has(std::string_view theirs) const {
  return find(theirs_ + std::string(theirs)) != nullptr;
}

const StoredTensor* WeightTable::find(std::string_view theirs) const {
  const auto found = tensors_.find(theirs);
  return found == tensors_.end() ? nullptr : found->second;
}

const StoredTensor& WeightTable::take(std::string_view theirs, const Shape& shape) {
  const std::string name = theirs_ + std::string(theirs);
  const StoredTensor* found = find(name);
  if (found == nullptr && file_ == nullptr) {
    planned_.push_back({.name = name, .shape = shape});
    found = tensors_.emplace(name, &planned_.back()).first->second;
  }
  if (found == nullptr) throw Error(file_->path(), "must hold the tensor " + name);
  if (found->shape != shape) {
    fail(*found, "must hold " + found->name + " of shape " + shape.to_string() +
                     ", as config.json says, got " + found->shape.to_string());
  }
  if (!is_float(found->dtype)) {
    fail(*found, "must hold floating-point numbers for " + found->name);
  }
  used_.insert(found);
  return *found;
}

WeightTable::Source& WeightTable::add(std::string_view ours) {
  last_ = &sources_[ours_ + std::string(ours)];
  return *last_;
}

// Versions of transformers treat a separate head differently if config.json ties it.
void WeightTable::check_equal(const StoredTensor& a, const StoredTensor& b) const {
  constexpr std::int64_t kAtOnce = 1 << 16;
  std::vector<float> left(kAtOnce), right(kAtOnce);
  for (std::int64_t first = 0; first < a.count(); first += kAtOnce) {
    const auto size = static_cast<std::size_t>(std::min(kAtOnce, a.count() - first));
    file_->read<float>(a, first, std::span(left).first(size));
    file_->read<float>(b, first, std::span(right).first(size));
    if (std::equal(left.begin(), left.begin() + static_cast<std::ptrdiff_t>(size), right.begin())) {
      continue;
    }
    fail(a, "must hold " + a.name + " equal to " + b.name +
                ", because config.json says tie_word_embeddings");
  }
}

void WeightTable::fail(const StoredTensor& tensor, const std::string& what) const {
  throw Error(file_->files()[tensor.file], what);
}

}  // namespace sextant::hub
