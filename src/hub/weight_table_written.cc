// Computes the contents of a file, so that reading it gives these parameters.
#include <algorithm>
#include <set>
#include <utility>

#include "hub/weight_table.h"
#include "sextant/core/error.h"

namespace sextant::hub {

// x = factor y + added, for the y of the file.
void WeightTable::write(const Part& part, std::span<const float> from, std::span<float> to) {
  const auto stored = [&part](float x) {
    if (part.factor == 1 && part.added == 0) return x;
    return static_cast<float>((static_cast<double>(x) - part.added) / part.factor);
  };
  const Shape& shape = part.tensor->shape;
  if (part.stored == Stored::columns) {
    const auto in = static_cast<std::size_t>(shape[0]), out = static_cast<std::size_t>(shape[1]);
    for (std::size_t i = 0; i < in; ++i) {
      for (std::size_t k = 0; k < out; ++k) to[i * out + k] = stored(from[k * in + i]);
    }
    return;
  }
  if (part.rows.empty()) {
    std::ranges::transform(from, to.begin(), stored);
    return;
  }
  const auto columns = static_cast<std::size_t>(shape.count() / shape[0]);
  for (const StoredRows& each : part.rows) {
    const std::size_t size = static_cast<std::size_t>(each.count) * columns;
    const std::size_t first = static_cast<std::size_t>(each.first) * columns;
    std::ranges::transform(from.first(size), to.subspan(first).begin(), stored);
    from = from.subspan(size);
  }
}

std::map<std::string, Tensor<float>> WeightTable::written(const Parameters<const float>& parameters,
                                                          bool has_head,
                                                          const std::string& where) const {
  std::map<const StoredTensor*, Tensor<float>> tensors;
  std::set<const StoredTensor*> of_head;
  for (const auto& [name, tensor, decays] : parameters) {
    const auto found = sources_.find(name);
    if (found == sources_.end()) throw Error(where, "must have no " + name);
    const Source& source = found->second;
    std::span<const float> rest = tensor->span();
    Tensor<float> unscaled;
    if (source.scaled_rows > 0) {
      unscaled = tensor->clone();
      Source back = source;
      back.factor = 1 / source.factor;
      finish(back, unscaled.count() / unscaled.size(0), {}, 0, unscaled.span());
      rest = unscaled.span();
    }
    for (const Part& part : source.parts) {
      const auto own = rest.first(static_cast<std::size_t>(part.count));
      rest = rest.subspan(own.size());
      if (part.make) {
        throw Error(where,
                    "must have no " + name + ", which is computed when this model type is read");
      }
      if (part.tensor == nullptr) {
        const auto value = static_cast<float>(part.added);
        if (std::ranges::all_of(own, [value](float x) { return x == value; })) continue;
        throw Error(where, "must have " + name + " = " + std::to_string(std::lround(part.added)) +
                               ", for which the model type has no tensor");
      }
      Tensor<float>& to = tensors.try_emplace(part.tensor, part.tensor->shape).first->second;
      write(part, own, to.span());
      if (name.starts_with("output.")) of_head.insert(part.tensor);
    }
    if (source.first_row != nullptr) tensors.try_emplace(source.first_row, source.first_row->shape);
  }
  std::map<std::string, Tensor<float>> named;
  for (auto& [stored, values] : tensors) {
    const bool prefixed = has_head && !of_head.contains(stored);
    named.emplace((prefixed ? std::string(rules_.prefix) : "") + stored->name, std::move(values));
  }
  return named;
}

}  // namespace sextant::hub
