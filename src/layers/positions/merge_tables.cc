// Rows and biases add up; the table that multiplies queries by a number goes into a rotation.
#include <algorithm>
#include <string>
#include <utility>

#include "layers/positions/scheme_tables.h"
#include "sextant/core/error.h"

namespace sextant::layers {
namespace {

[[noreturn]] void throw_incompatible(const std::string& must) {
  throw Error("positions.scheme", must);
}

// Whether the rows of queries multiply all their channels by one number, and likewise of keys.
bool is_scale(const RotationTable<double>& table) {
  if (table.cos.rank() != 2) return false;
  const std::int64_t pairs = table.cos.size(1);
  for (std::int64_t i = 0; i < table.cos.count(); ++i) {
    const double first = table.cos.data()[i / pairs * pairs];
    if (table.sin.data()[i] != 0 || table.cos.data()[i] != first) return false;
  }
  return table.keys == nullptr || is_scale(*table.keys);
}

RotationTable<double> scaled(const RotationTable<double>& rotation,
                             const RotationTable<double>& scale) {
  const std::int64_t rows = scale.cos.size(0), pairs = scale.cos.size(1);
  RotationTable<double> to = rotation.with(rotation.cos.clone(), rotation.sin.clone());
  for (std::int64_t i = 0; i < to.cos.count(); ++i) {
    const double factor = scale.cos.data()[i / pairs % rows * pairs];
    to.cos.data()[i] *= factor;
    to.sin.data()[i] *= factor;
  }
  return to;
}

}  // namespace

void merge(Tensor<double>& rows, const Tensor<double>& more) {
  if (rows.shape() != more.shape()) {
    throw_incompatible("must add tables of one shape, got " + rows.shape().to_string() + " and " +
                       more.shape().to_string());
  }
  for (std::int64_t i = 0; i < rows.count(); ++i) rows.data()[i] += more.data()[i];
}

void merge(RotationTable<double>& rotation, const RotationTable<double>& more) {
  const bool more_scales = is_scale(more);
  if (!more_scales && !is_scale(rotation)) {
    throw_incompatible(
        "must have at most one rotation in addition to tables that multiply whole heads, got two");
  }
  const RotationTable<double>& angles = more_scales ? rotation : more;
  const RotationTable<double>& scale = more_scales ? more : rotation;
  const int axis = angles.cos.rank() - 2;
  if (angles.cos.size(axis) != scale.cos.size(0) ||
      angles.cos.size(axis + 1) != scale.cos.size(1) ||
      angles.first_channel != scale.first_channel) {
    throw_incompatible("must rotate and multiply the same positions and channels, got tables " +
                       angles.cos.shape().to_string() + " from channel " +
                       std::to_string(angles.first_channel) + " and " +
                       scale.cos.shape().to_string() + " from channel " +
                       std::to_string(scale.first_channel));
  }
  RotationTable<double> both = scaled(angles, scale);
  if (angles.keys || scale.keys) {
    both.keys =
        std::make_shared<RotationTable<double>>(scaled(angles.for_keys(), scale.for_keys()));
  }
  rotation = std::move(both);
}

void merge(DistanceBias& bias, const DistanceBias& more) {
  if (!more.slopes.empty() && !bias.slopes.empty() && more.slopes.size() != bias.slopes.size()) {
    throw_incompatible("must have slopes of the same heads, got " +
                       std::to_string(bias.slopes.size()) + " and " +
                       std::to_string(more.slopes.size()));
  }
  bias.slopes.resize(std::max(bias.slopes.size(), more.slopes.size()));
  for (std::size_t head = 0; head < more.slopes.size(); ++head) {
    bias.slopes[head] += more.slopes[head];
  }
  if (more.values.count() == 0) return;
  if (bias.values.count() == 0) {
    bias.values = more.values.clone();
    bias.origin = more.origin;
    return;
  }
  const std::int64_t heads = bias.values.size(0);
  if (more.values.size(0) != heads) {
    throw_incompatible("must have biases of the same heads, got " + std::to_string(heads) +
                       " and " + std::to_string(more.values.size(0)));
  }
  // The distances that both have.
  const std::int64_t before = std::min(bias.origin, more.origin);
  const std::int64_t after =
      std::min(bias.values.size(1) - bias.origin, more.values.size(1) - more.origin);
  if (before + after < 1)
    throw_incompatible("must have biases of the same distances, got none in common");
  Tensor<float> sum({heads, before + after});
  for (std::int64_t head = 0; head < heads; ++head) {
    for (std::int64_t i = -before; i < after; ++i) {
      sum(head, before + i) =
          bias.values(head, bias.origin + i) + more.values(head, more.origin + i);
    }
  }
  bias.values = std::move(sum);
  bias.origin = before;
}

}  // namespace sextant::layers
