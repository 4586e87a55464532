// AdamW with clipping and learning rates as PyTorch has them: tests/layers/golden/make_golden.py.
#include <gtest/gtest.h>

#include <string>

#include "layers/golden_case.h"
#include "sextant/training/adamw.h"
#include "sextant/training/schedule.h"

namespace sextant {
namespace {

constexpr double kUnit = 0x1p-24;  // half a unit in the last place of float32, relative

TEST(TrainingGolden, ThreeStepsOfAdamWWithClipping) {
  const GoldenCase golden("adamw");
  const auto& config = golden.config();
  auto weight = golden.as<float>("parameter.weight"), bias = golden.as<float>("parameter.bias");
  const Parameters<float> parameters{{"weight", &weight, true}, {"bias", &bias, false}};
  AdamW optimiser(parameters, {.beta1 = config["beta1"].get<double>(),
                               .beta2 = config["beta2"].get<double>(),
                               .epsilon = config["epsilon"].get<double>(),
                               .weight_decay = config["weight_decay"].get<double>(),
                               .clip_norm = config["clip"].get<double>()});
  // PyTorch divides by the norm + 1e-6; what it divides is longer than 1.
  const double clipping = 1e-6;
  for (std::size_t step = 0; step < config["learning_rates"].size(); ++step) {
    const std::string at = "step" + std::to_string(step) + ".";
    SCOPED_TRACE(at);
    auto d_weight = golden.as<float>(at + "gradient.weight"),
         d_bias = golden.as<float>(at + "gradient.bias");
    const double rate = config["learning_rates"][step].get<double>();
    const double norm =
        optimiser.step(parameters, {{"weight", &d_weight, true}, {"bias", &d_bias, false}}, rate);
    const double wanted = golden["norms"](static_cast<std::int64_t>(step));
    EXPECT_NEAR(norm, wanted, 16 * kUnit * wanted);
    // A moment has some three roundings per step, and may be a quarter of what it is the sum of;
    // squares have twice the error. The step's quotient has some ten roundings and is below 4.
    const auto steps = static_cast<double>(step + 1);
    const double moments = 2 * 4 * (3 * steps * kUnit + clipping);
    const double moved = steps * (2 * kUnit + 4 * rate * (10 * kUnit + clipping));
    for (const auto& p : parameters) {
      EXPECT_TRUE(is_near<float>(*p.tensor, golden[at + "parameter." + p.name], moved)) << p.name;
    }
    for (const auto& p : optimiser.state()) {
      const std::string kind = p.name[0] == 'm' ? "first_moment." : "second_moment.";
      EXPECT_TRUE(is_near<float>(*p.tensor, golden[at + kind + p.name.substr(2)], moments))
          << p.name;
    }
  }
}

TEST(TrainingGolden, LearningRates) {
  const GoldenCase golden("schedules");
  const std::int64_t steps = golden.config()["steps"].get<std::int64_t>(),
                     warmup = golden.config()["warmup"].get<std::int64_t>(),
                     width = golden.config()["width"].get<std::int64_t>();
  const Schedule root{
      .decay = Decay::inverse_square_root, .peak = vaswani_peak(width, warmup), .warmup = warmup};
  const Schedule cosine{.decay = Decay::cosine,
                        .peak = golden.config()["peak"].get<double>(),
                        .warmup = warmup,
                        .steps = steps};
  // A handful of roundings; near its end the cosine is a difference of ones.
  const double tolerance = 16 * 0x1p-53;
  for (std::int64_t step = 0; step < steps; ++step) {
    const double wanted = golden["inverse_square_root"](step);
    EXPECT_NEAR(learning_rate(root, step), wanted, tolerance * wanted) << step;
    // The file counts updates that are done: its first rate, 0, is that of none.
    EXPECT_NEAR(learning_rate(cosine, step), golden["cosine"](step + 1), tolerance * cosine.peak)
        << step;
  }
}

}  // namespace
}  // namespace sextant
