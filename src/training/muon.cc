// Muon: the update of a hidden matrix is made nearly orthogonal; AdamW has all other tensors.
#include "sextant/training/muon.h"

#include <algorithm>
#include <cmath>

#include "kernels/layers/rows.h"
#include "kernels/matmul/matmul.h"
#include "kernels/simd/processor_state.h"

namespace sextant {
namespace {

constexpr int kIterations = 5;
constexpr double kEpsilon = 1e-7;
constexpr float kA = 3.4445F, kB = -4.7750F, kC = 2.0315F;  // of the polynomial
constexpr double kRootMeanSquare = 0.2;                     // of an update

Parameters<float> others_of(const Parameters<float>& list) {
  Parameters<float> others;
  for (const auto& each : list) {
    if (!Muon::is_hidden_matrix(each)) others.push_back(each);
  }
  return others;
}

}  // namespace

Muon::Muon(const Parameters<float>& parameters, const OptimiserOptions& options)
    : Optimiser(OptimiserMethod::muon, parameters, options),
      others_(others_of(parameters), options) {
  for (const auto& each : parameters) {
    if (is_hidden_matrix(each)) slots_.push_back({each.name, Tensor<float>(each.tensor->shape())});
  }
}

bool Muon::is_hidden_matrix(const Parameter<float>& parameter) noexcept {
  const Shape& shape = parameter.tensor->shape();
  return parameter.decays && shape.rank() == 2 && std::min(shape[0], shape[1]) > 1 &&
         parameter.name != "output.weight";
}

Parameters<float> Muon::state() {
  Parameters<float> list;
  for (Slot& slot : slots_) list.push_back({"m." + slot.name, &slot.m, false});
  for (const auto& each : others_.state()) list.push_back(each);
  return list;
}

void Muon::update(const Parameters<float>& parameters, const Parameters<float>& gradients,
                  const Step& step) {
  Parameters<float> others, of_others;
  auto slot = slots_.begin();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (slot != slots_.end() && slot->name == parameters[i].name) {
      update_matrix(parameters[i], *gradients[i].tensor, slot->m, step);
      ++slot;
    } else {
      others.push_back(parameters[i]);
      of_others.push_back(gradients[i]);
    }
  }
  others_.update(others, of_others, step);
}

// x_ is [side, length], transposed where the matrix has more rows than columns: the products are
// then the smallest.
void Muon::update_matrix(const Parameter<float>& parameter, Tensor<float>& gradient,
                         Tensor<float>& m, const Step& step) {
  const kernels::DenormalsOff denormals_off;
  const std::int64_t rows = m.size(0), columns = m.size(1), count = m.count();
  const std::int64_t side = std::min(rows, columns), length = std::max(rows, columns);
  // Element (row, column) of the matrix is x_[row * row_step + column * column_step].
  const std::int64_t row_step = rows > columns ? 1 : columns;
  const std::int64_t column_step = rows > columns ? rows : 1;
  x_.resize(static_cast<std::size_t>(count));
  next_.resize(x_.size());
  a_.resize(static_cast<std::size_t>(side * side));
  b_.resize(a_.size());

  const auto factor = static_cast<float>(step.factor);
  const auto keep = static_cast<float>(options().momentum);
  const auto take = static_cast<float>(1 - options().momentum);
  for (std::int64_t row = 0, i = 0; row < rows; ++row) {
    for (std::int64_t column = 0; column < columns; ++column, ++i) {
      const float g = gradient.data()[i] * factor;
      float& mean = m.data()[i];
      mean = keep * mean + take * g;
      const float ahead = keep * mean + take * g;  // as Nesterov's momentum
      x_[static_cast<std::size_t>(row * row_step + column * column_step)] = ahead;
    }
  }
  std::ranges::fill(gradient.span(), 0.0F);

  const double norm = std::sqrt(kernels::sum_of_squares(x_.data(), count, step.threads));
  const auto scale = static_cast<float>(1 / (norm + kEpsilon));
  for (float& value : x_) value *= scale;
  for (int iteration = 0; iteration < kIterations; ++iteration) {
    kernels::matmul({side, side, length}, {x_.data(), length, 1}, {x_.data(), 1, length},
                    {a_.data(), side}, step.threads);
    kernels::matmul({side, side, side}, {a_.data(), side, 1}, {a_.data(), side, 1},
                    {b_.data(), side}, step.threads);
    for (std::size_t i = 0; i < b_.size(); ++i) b_[i] = kB * a_[i] + kC * b_[i];
    for (std::size_t i = 0; i < b_.size(); i += static_cast<std::size_t>(side) + 1) b_[i] += kA;
    kernels::matmul({side, length, side}, {b_.data(), side, 1}, {x_.data(), length, 1},
                    {next_.data(), length}, step.threads);
    std::swap(x_, next_);
  }

  const auto kept = static_cast<float>(1 - step.rate * decay_of(parameter));
  const auto move =
      static_cast<float>(step.rate * kRootMeanSquare * std::sqrt(static_cast<double>(length)));
  float* p = parameter.tensor->data();
  for (std::int64_t row = 0, i = 0; row < rows; ++row) {
    for (std::int64_t column = 0; column < columns; ++column, ++i) {
      p[i] =
          kept * p[i] - move * x_[static_cast<std::size_t>(row * row_step + column * column_step)];
    }
  }
}

}  // namespace sextant
