// AdamW in fixed blocks: which thread takes a block changes nothing.
#include "sextant/training/optimiser.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "sextant/core/error.h"
#include "sextant/core/numbers.h"
#include "sextant/core/parallel.h"
#include "training/adamw_rows.h"

namespace sextant {
namespace {

constexpr std::int64_t kBlock = 16384;   // elements: four arrays of 64 KiB
constexpr double kLeastEpsilon = 1e-30;  // above 0 in float32, so that 0 / epsilon is 0

void check_option(const char* where, bool right, const char* wanted, double got) {
  if (!right) throw Error(where, std::string("must be ") + wanted + ", got " + shortest(got));
}

}  // namespace

AdamW::AdamW(const Parameters<float>& parameters, const AdamWOptions& options) : options_(options) {
  const auto is_share = [](double x) { return x >= 0 && x < 1; };
  const auto is_size = [](double x) { return x >= 0 && std::isfinite(x); };
  check_option("adamw.beta1", is_share(options.beta1), "at least 0 and below 1", options.beta1);
  check_option("adamw.beta2", is_share(options.beta2), "at least 0 and below 1", options.beta2);
  check_option("adamw.epsilon", options.epsilon >= kLeastEpsilon && is_size(options.epsilon),
               "at least 1e-30 and finite", options.epsilon);
  check_option("adamw.weight_decay", is_size(options.weight_decay), "at least 0 and finite",
               options.weight_decay);
  check_option("adamw.clip_norm", is_size(options.clip_norm), "at least 0 and finite",
               options.clip_norm);
  for (const auto& [name, tensor, decays] : parameters) {
    const std::size_t slot = slots_.size();
    slots_.push_back({name, Tensor<float>(tensor->shape()), Tensor<float>(tensor->shape())});
    for (std::int64_t begin = 0; begin < tensor->count(); begin += kBlock) {
      blocks_.push_back({slot, begin, std::min(begin + kBlock, tensor->count())});
    }
  }
  sums_.resize(blocks_.size());
}

void AdamW::check(const char* what, const Parameters<float>& list) const {
  const std::string where = std::string("adamw.") + what;
  if (list.size() != slots_.size()) {
    throw Error(where, "must be the " + std::to_string(slots_.size()) +
                           " tensors it was made for, got " + std::to_string(list.size()));
  }
  for (std::size_t i = 0; i < list.size(); ++i) {
    const Slot& slot = slots_[i];
    const Tensor<float>& tensor = *list[i].tensor;
    if (list[i].name != slot.name || tensor.shape() != slot.m.shape()) {
      throw Error(where, "must have " + slot.name + " " + slot.m.shape().to_string() +
                             " at place " + std::to_string(i) + ", got " + list[i].name + " " +
                             tensor.shape().to_string());
    }
  }
}

double AdamW::step(const Parameters<float>& parameters, const Parameters<float>& gradients,
                   double learning_rate, int threads) {
  check("parameters", parameters);
  check("gradients", gradients);
  check_option("adamw.learning_rate", learning_rate >= 0 && std::isfinite(learning_rate),
               "at least 0 and finite", learning_rate);
  const auto blocks = static_cast<std::int64_t>(blocks_.size());
  parallel_for(blocks, threads, [&](std::int64_t i) {
    const auto& [slot, begin, end] = blocks_[static_cast<std::size_t>(i)];
    sums_[static_cast<std::size_t>(i)] =
        sum_of_squares(gradients[slot].tensor->data() + begin, end - begin);
  });
  double squares = 0;
  for (const double sum : sums_) squares += sum;
  const double norm = std::sqrt(squares);
  if (!std::isfinite(norm)) return norm;

  const auto t = static_cast<double>(steps_ + 1);
  AdamWFactors factors;
  factors.gradient = static_cast<float>(
      options_.clip_norm > 0 && norm > options_.clip_norm ? options_.clip_norm / norm : 1.0);
  factors.mean = static_cast<float>(1 - options_.beta1);
  factors.kept_square = static_cast<float>(options_.beta2);
  factors.square = static_cast<float>(1 - options_.beta2);
  factors.root = static_cast<float>(1 / std::sqrt(1 - std::pow(options_.beta2, t)));
  factors.epsilon = static_cast<float>(options_.epsilon);
  factors.step = static_cast<float>(learning_rate / (1 - std::pow(options_.beta1, t)));
  const auto decayed = static_cast<float>(1 - learning_rate * options_.weight_decay);
  parallel_for(blocks, threads, [&](std::int64_t i) {
    const auto& [slot, begin, end] = blocks_[static_cast<std::size_t>(i)];
    AdamWFactors mine = factors;
    mine.kept = parameters[slot].decays ? decayed : 1.0F;
    adamw_rows(mine, end - begin, gradients[slot].tensor->data() + begin,
               parameters[slot].tensor->data() + begin, slots_[slot].m.data() + begin,
               slots_[slot].v.data() + begin);
  });
  ++steps_;
  return norm;
}

void AdamW::set_steps(std::int64_t steps) {
  if (steps < 0) throw Error("adamw.steps", "must be at least 0, got " + std::to_string(steps));
  steps_ = steps;
}

Parameters<float> AdamW::state() {
  Parameters<float> list;
  for (Slot& slot : slots_) list.push_back({"m." + slot.name, &slot.m, false});
  for (Slot& slot : slots_) list.push_back({"v." + slot.name, &slot.v, false});
  return list;
}

}  // namespace sextant
