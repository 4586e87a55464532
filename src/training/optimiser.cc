// What a step of all optimisers has: checks, the norm of the gradients, clipping.
#include "sextant/training/optimiser.h"

#include <cmath>

#include "core/options/enum_names.h"
#include "kernels/layers/rows.h"
#include "sextant/core/error.h"
#include "sextant/training/muon.h"
#include "training/training_fields.h"

namespace sextant {

std::string_view name_of(OptimiserMethod method) noexcept {
  return enum_name(method, {"adamw", "muon"});
}

Optimiser::Optimiser(OptimiserMethod method, const Parameters<float>& parameters,
                     const OptimiserOptions& options)
    : options_(options) {
  options_.method = method;
  check_fields(name_of(method), options);
  for (const auto& [name, tensor, decays] : parameters) known_.push_back({name, tensor->shape()});
}

void Optimiser::check(const char* what, const Parameters<float>& list) const {
  const std::string where = std::string(name_of(options_.method)) + "." + what;
  if (list.size() != known_.size()) {
    throw Error(where, "must be the " + std::to_string(known_.size()) +
                           " tensors it was made for, got " + std::to_string(list.size()));
  }
  for (std::size_t i = 0; i < list.size(); ++i) {
    const auto& [name, shape] = known_[i];
    const Tensor<float>& tensor = *list[i].tensor;
    if (list[i].name != name || tensor.shape() != shape) {
      throw Error(where, "must have " + name + " " + shape.to_string() + " at place " +
                             std::to_string(i) + ", got " + list[i].name + " " +
                             tensor.shape().to_string());
    }
  }
}

double Optimiser::step(const Parameters<float>& parameters, const Parameters<float>& gradients,
                       double learning_rate, int threads) {
  check("parameters", parameters);
  check("gradients", gradients);
  check_range(kNotNegative, std::string(name_of(options_.method)) + ".learning_rate",
              learning_rate);
  double squares = 0;
  for (const auto& [name, tensor, decays] : gradients) {
    squares += kernels::sum_of_squares(tensor->data(), tensor->count(), threads);
  }
  const double norm = std::sqrt(squares);
  if (!std::isfinite(norm)) return norm;
  const double limit = options_.clip_norm;
  update(parameters, gradients,
         {.number = steps_ + 1,
          .rate = learning_rate,
          .factor = limit > 0 && norm > limit ? limit / norm : 1,
          .threads = threads});
  ++steps_;
  return norm;
}

void Optimiser::set_steps(std::int64_t steps) {
  if (steps < 0) {
    throw Error(std::string(name_of(options_.method)) + ".steps",
                "must be at least 0, got " + std::to_string(steps));
  }
  steps_ = steps;
}

std::unique_ptr<Optimiser> make_optimiser(const Parameters<float>& parameters,
                                          const OptimiserOptions& options) {
  check_named("optimiser.method", options.method);
  if (options.method == OptimiserMethod::muon) return std::make_unique<Muon>(parameters, options);
  return std::make_unique<AdamW>(parameters, options);
}

}  // namespace sextant
