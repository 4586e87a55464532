// Parameters that are what a map of the file makes of rows of the file.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "hub/weight_table.h"
#include "layers/ops.h"
#include "sextant/core/tensor.h"

namespace sextant::hub {
namespace {

// A layer norm of each row.
void norm_rows(Tensor<float>& rows, const Tensor<float>& gain, const Tensor<float>& bias,
               double epsilon) {
  const std::int64_t width = rows.size(1);
  for (std::int64_t i = 0; i < rows.size(0); ++i) {
    const std::span row(&rows(i, 0), static_cast<std::size_t>(width));
    const double mean = std::accumulate(row.begin(), row.end(), 0.0) / static_cast<double>(width);
    double square = 0;
    for (const float x : row) square += (x - mean) * (x - mean);
    const double scale = 1 / std::sqrt(square / static_cast<double>(width) + epsilon);
    for (std::int64_t j = 0; j < width; ++j) {
      float& x = rows(i, j);
      x = static_cast<float>((x - mean) * scale * gain(j) + bias(j));
    }
  }
}

}  // namespace

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
    if (gain != nullptr) norm_rows(from, load(*gain), load(*shift), epsilon);
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
