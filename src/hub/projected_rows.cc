// Computes parameters that are products of a map of the file with rows of the file.
#include <algorithm>
#include <utility>

#include "hub/weight_table.h"
#include "layers/ops.h"
#include "sextant/core/tensor.h"

namespace sextant::hub {
void WeightTable::project(std::string_view ours, const ProjectedRows& of) {
  const auto load = [this](const StoredTensor& tensor) {
    auto numbers = Tensor<float>::uninitialized(tensor.shape);
    file_->read<float>(tensor, 0, numbers.span());
    return numbers;
  };
  const std::int64_t width = of.width;
  const StoredTensor* const rows = &take(of.rows, {of.count, width});
  const StoredTensor *gain = nullptr, *shift = nullptr;
  if (!of.norm.empty()) {
    gain = &take(of.norm + ".weight", {width});
    shift = &take(of.norm + ".bias", {width});
  }
  const StoredTensor* const weight = &take(of.map + ".weight", {width, width});
  const StoredTensor* const bias = &take(of.map + ".bias", {width});
  const auto make = [=, count = of.count, heads = of.heads,
                     epsilon = of.epsilon](std::span<float> to) {
    Tensor<float> from = load(*rows);
    if (gain != nullptr) {
      const Tensor<float> raw = std::move(from), factors = load(*gain), offsets = load(*shift);
      from = Tensor<float>::uninitialized(raw.shape());
      auto stats = Tensor<float>::uninitialized({2, count});
      ops::norm<float>(raw.view(), factors.data(), offsets.data(), epsilon, false, from.view(),
                       stats.view(), 0);
    }
    const Tensor<float> map = load(*weight), added = load(*bias);
    auto all = Tensor<float>::uninitialized({count, width});
    ops::linear<float>(View<const float>(from.view()), map.view(), added.data(), all.view(), 0);
    const std::int64_t size = width / heads;
    for (std::int64_t head = 0; head < heads; ++head) {
      for (std::int64_t row = 0; row < count; ++row) {
        std::copy_n(&all(row, head * size), size, to.data() + (head * count + row) * size);
      }
    }
  };
  put(ours, {.tensor = rows, .count = of.count * width, .make = make});
}

}  // namespace sextant::hub
