// Softmax regression on generated points: the smallest thing that can be trained.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "sextant/core/parallel.h"
#include "sextant/core/random.h"
#include "sextant/training/task.h"

namespace sextant {

class ToyTask final : public TrainingTask {
 public:
  static constexpr std::int64_t kClasses = 3, kFeatures = 8, kExamples = 24, kHeldOut = 200,
                                kHeldOutBatch = 30;

  // start: of the weights. The data is always the same.
  explicit ToyTask(std::uint32_t start, std::int64_t batches = 1) : batches_(batches) {
    NumpyRandom random(start);
    for (float& weight : weights_.span()) weight = static_cast<float>(0.1 * random.normal());
  }

  Parameters<float> parameters() override {
    return {{"weights", &weights_, true}, {"bias", &bias_, false}};
  }
  Parameters<float> gradients() override {
    return {{"weights", &weight_gradients_, true}, {"bias", &bias_gradients_, false}};
  }
  std::int64_t target_tokens(std::int64_t) override { return kExamples; }
  std::int64_t batches(std::int64_t) const override { return batches_; }

  LossSum accumulate(std::int64_t step, std::int64_t batch, double scale, Pass& pass) override {
    const std::vector<Point> points = draw(static_cast<std::uint32_t>(step), kExamples);
    const std::int64_t part = kExamples / batches_;
    LossSum sum;
    for (std::int64_t i = batch * part; i < (batch + 1) * part; ++i) {
      Point point = points[static_cast<std::size_t>(i)];
      NumpyRandom random(static_cast<std::uint32_t>(pass.random.seed) +
                         static_cast<std::uint32_t>(i));
      for (float& x : point.x) x = random.uniform() < pass.dropout ? 0 : x;
      std::array<double, kClasses> p = add_loss(point, sum);
      p[static_cast<std::size_t>(point.label)] -= 1;
      // Each element of a gradient is one chain over the examples.
      parallel_for(kClasses, pass.threads, [&](std::int64_t c) {
        const double slope = scale * p[static_cast<std::size_t>(c)];
        for (std::int64_t j = 0; j < kFeatures; ++j) {
          weight_gradients_(c, j) +=
              static_cast<float>(slope * point.x[static_cast<std::size_t>(j)]);
        }
        bias_gradients_(c) += static_cast<float>(slope);
      });
    }
    if (on_accumulate) on_accumulate(step, sum);
    return sum;
  }

  std::int64_t validation_batches() const override {
    return (held_out + kHeldOutBatch - 1) / kHeldOutBatch;
  }
  LossSum validate(std::int64_t batch, Pass&) override {
    const std::vector<Point> points = draw(~0U, held_out);
    LossSum sum;
    for (std::int64_t i = batch * kHeldOutBatch;
         i < std::min(held_out, (batch + 1) * kHeldOutBatch); ++i) {
      add_loss(points[static_cast<std::size_t>(i)], sum);
    }
    if (on_validate) on_validate(sum);
    return sum;
  }

  void save_model(const std::string& folder) override {
    save_parameters(folder + "/model.safetensors", parameters());
    if (on_save) on_save(folder);
  }

  std::int64_t held_out = kHeldOut;
  std::function<void(std::int64_t step, LossSum&)> on_accumulate;
  std::function<void(LossSum&)> on_validate;
  std::function<void(const std::string& folder)> on_save;

 private:
  struct Point {
    std::array<float, kFeatures> x;
    int label;
  };

  // The label is the first of three features to be the largest, with a little noise.
  static std::vector<Point> draw(std::uint32_t seed, std::int64_t count) {
    NumpyRandom random(seed);
    std::vector<Point> points(static_cast<std::size_t>(count));
    for (Point& point : points) {
      for (float& x : point.x) x = static_cast<float>(random.normal());
      point.label = 0;
      double most = -std::numeric_limits<double>::infinity();
      for (int c = 0; c < kClasses; ++c) {
        const double score = point.x[static_cast<std::size_t>(c)] + 0.1 * random.normal();
        if (score > most) point.label = c;
        most = std::max(most, score);
      }
    }
    return points;
  }

  std::array<double, kClasses> add_loss(const Point& point, LossSum& sum) const {
    std::array<double, kClasses> p{};
    double most = -std::numeric_limits<double>::infinity(), total = 0;
    int first = 0;
    for (int c = 0; c < kClasses; ++c) {
      double score = bias_(c);
      for (int j = 0; j < kFeatures; ++j) {
        score += weights_(c, j) * point.x[static_cast<std::size_t>(j)];
      }
      p[static_cast<std::size_t>(c)] = score;
      if (score > most) first = c;
      most = std::max(most, score);
    }
    for (double& score : p) total += score = std::exp(score - most);
    for (double& share : p) share /= total;
    const double loss = -std::log(p[static_cast<std::size_t>(point.label)]);
    sum.add({.loss = loss, .smoothed = loss, .tokens = 1, .correct = first == point.label ? 1 : 0});
    return p;
  }

  std::int64_t batches_;
  Tensor<float> weights_{Shape{kClasses, kFeatures}}, bias_{Shape{kClasses}};
  Tensor<float> weight_gradients_{Shape{kClasses, kFeatures}}, bias_gradients_{Shape{kClasses}};
};

inline std::vector<float> weights_of(TrainingTask& task) {
  std::vector<float> values;
  for (const auto& parameter : task.parameters()) {
    values.insert(values.end(), parameter.tensor->span().begin(), parameter.tensor->span().end());
  }
  return values;
}

}  // namespace sextant
