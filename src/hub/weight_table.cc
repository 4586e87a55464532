// Names are looked up and shapes compared while a table is filled; numbers are read at the end.
#include "hub/weight_table.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/arrays/large_pages.h"
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

void WeightTable::add_first_row(std::string_view theirs, std::int64_t rows, std::int64_t columns) {
  last_->first_row = &take(theirs, {rows, columns});
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

void WeightTable::scale(const Source& source, Tensor<float>& tensor) {
  const std::int64_t columns = tensor.count() / tensor.size(0);
  for (float& x : tensor.span().first(static_cast<std::size_t>(source.scaled_rows * columns))) {
    x = static_cast<float>(source.factor * static_cast<double>(x));
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

void WeightTable::read_into(const Parameters<float>& parameters) const {
  for (const auto& [name, tensor, decays] : parameters) {
    const auto found = sources_.find(name);
    std::int64_t count = 0;
    if (found != sources_.end()) {
      for (const Part& part : found->second.parts) count += part.count;
    }
    if (count != tensor->count()) {
      throw Error(file_->path(), "must hold all of " + name + ", got " + std::to_string(count) +
                                     " of " + std::to_string(tensor->count()) + " numbers");
    }
    std::span<float> rest = tensor->span();
    ask_for_large_pages(std::as_writable_bytes(rest).data(), rest.size_bytes());
    for (const Part& part : found->second.parts) {
      const auto size = static_cast<std::size_t>(part.count);
      read(part, rest.first(size));
      const auto finite = [](float x) { return std::isfinite(x); };
      if (part.tensor != nullptr && !std::ranges::all_of(rest.first(size), finite)) {
        fail(*part.tensor, "must hold finite numbers, got others in " + part.tensor->name);
      }
      rest = rest.subspan(size);
    }
    scale(found->second, *tensor);
    const StoredTensor* added = found->second.first_row;
    if (added == nullptr) continue;
    std::vector<float> row(static_cast<std::size_t>(added->shape[1]));
    file_->read<float>(*added, 0, row);
    float* to = tensor->data();
    for (std::int64_t i = 0; i < tensor->size(0); ++i) {
      for (const float x : row) *to++ += x;
    }
    if (!std::ranges::all_of(tensor->span(), [](float x) { return std::isfinite(x); })) {
      fail(*added, "must hold finite numbers, got others in " + added->name);
    }
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

void WeightTable::read(const Part& part, std::span<float> to) const {
  if (part.make) return part.make(to);
  if (part.tensor == nullptr) {
    std::ranges::fill(to, static_cast<float>(part.added));
    return;
  }
  const StoredTensor& from = *part.tensor;
  std::span<float> rest = to;
  for (const StoredRows& each : part.rows) {
    const std::int64_t columns = from.count() / from.shape[0];
    const auto size = static_cast<std::size_t>(each.count * columns);
    file_->read<float>(from, each.first * columns, rest.first(size));
    rest = rest.subspan(size);
  }
  if (part.rows.empty() && part.stored == Stored::rows) file_->read<float>(from, 0, to);
  if (part.stored == Stored::columns) read_columns(from, to);
  if (part.factor == 1 && part.added == 0) return;
  for (float& x : to) {
    x = static_cast<float>(part.factor * static_cast<double>(x) + part.added);
  }
}

void WeightTable::read_columns(const StoredTensor& from, std::span<float> to) const {
  constexpr std::int64_t kRows = 16;  // a line of the cache of each row of the result
  const std::int64_t in = from.shape[0], out = from.shape[1];
  std::vector<float> rows(static_cast<std::size_t>(std::min(kRows, in) * out));
  for (std::int64_t first = 0; first < in; first += kRows) {
    const std::int64_t count = std::min(kRows, in - first);
    file_->read<float>(from, first * out,
                       std::span(rows).first(static_cast<std::size_t>(count * out)));
    for (std::int64_t column = 0; column < out; ++column) {
      float* const line = to.data() + column * in + first;
      for (std::int64_t i = 0; i < count; ++i)
        line[i] = rows[static_cast<std::size_t>(i * out + column)];
    }
  }
}

void WeightTable::fail(const StoredTensor& tensor, const std::string& what) const {
  throw Error(file_->files()[tensor.file], what);
}

}  // namespace sextant::hub
