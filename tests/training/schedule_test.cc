// Learning rates against the papers' formulas.
#include "sextant/training/schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "sextant/core/error.h"

namespace sextant {
namespace {

using ::testing::ThrowsMessage;

// Each formula is a handful of roundings of 2^-53; both sides have them.
constexpr double kRelative = 16 * 0x1p-53;

constexpr Decay kDecays[] = {Decay::constant, Decay::inverse_square_root, Decay::cosine,
                             Decay::linear, Decay::wsd};

TEST(Schedule, IsTheTransformersOwn) {
  const std::int64_t width = 512, warmup = 4000;
  const Schedule schedule{
      .decay = Decay::inverse_square_root, .peak = vaswani_peak(width, warmup), .warmup = warmup};
  for (const std::int64_t n : {1, 2, 100, 3999, 4000, 4001, 10000, 100000}) {
    const auto x = static_cast<double>(n);
    const double wanted =
        std::pow(512.0, -0.5) * std::min(std::pow(x, -0.5), x * std::pow(4000.0, -1.5));
    EXPECT_NEAR(learning_rate(schedule, n - 1), wanted, kRelative * wanted) << n;
  }
  EXPECT_NEAR(vaswani_peak(width, warmup), 6.9877e-4, 1e-8);  // 1 / sqrt(2,048,000)
}

TEST(Schedule, RisesInALineAndReachesThePeakAtTheEndOfTheWarmUp) {
  for (const Decay decay : kDecays) {
    const Schedule schedule{.decay = decay, .peak = 0.5, .warmup = 4, .steps = 10};
    EXPECT_EQ(learning_rate(schedule, 0), 0.125);
    EXPECT_EQ(learning_rate(schedule, 1), 0.25);
    EXPECT_EQ(learning_rate(schedule, 3), 0.5);
  }
}

TEST(Schedule, MayStayAtThePeak) {
  EXPECT_EQ(learning_rate({.peak = 0.25}, 0), 0.25);
  EXPECT_EQ(learning_rate({.peak = 0.25, .warmup = 2}, 1000000), 0.25);
}

TEST(Schedule, FollowsHalfACosineToTheFloorAndStaysThere) {
  const Schedule schedule{
      .decay = Decay::cosine, .peak = 1.0, .warmup = 2, .steps = 10, .floor = 0.1};
  for (int n = 3; n <= 10; ++n) {
    const double angle = std::numbers::pi * (n - 2) / 8;
    const double wanted = 0.1 + 0.9 * (1 + std::cos(angle)) / 2;
    EXPECT_NEAR(learning_rate(schedule, n - 1), wanted, kRelative) << n;
  }
  EXPECT_NEAR(learning_rate(schedule, 5), 0.55, kRelative) << "half-way";
  EXPECT_EQ(learning_rate(schedule, 9), 0.1);
  EXPECT_EQ(learning_rate(schedule, 10), 0.1);
  EXPECT_EQ(learning_rate(schedule, std::numeric_limits<std::int64_t>::max()), 0.1);
}

TEST(Schedule, FollowsALineToTheFloorAndStaysThere) {
  const Schedule schedule{
      .decay = Decay::linear, .peak = 1.0, .warmup = 2, .steps = 10, .floor = 0.1};
  for (int n = 3; n <= 10; ++n) {
    EXPECT_NEAR(learning_rate(schedule, n - 1), 1 - 0.9 * (n - 2) / 8, kRelative) << n;
  }
  EXPECT_EQ(learning_rate(schedule, 9), 0.1);
  EXPECT_EQ(learning_rate(schedule, 1000), 0.1);
}

// Haegele et al. 2024, equation 1, with their linear cool-down: of 20 steps the last 5.
TEST(Schedule, OfWsdStaysAtThePeakAndFallsInALineAtTheEnd) {
  const Schedule schedule{.decay = Decay::wsd,
                          .peak = 0.3,
                          .warmup = 2,
                          .steps = 20,
                          .floor = 0.1,
                          .decay_share = 0.25};
  for (int n = 2; n <= 15; ++n) EXPECT_EQ(learning_rate(schedule, n - 1), 0.3) << n;
  for (int n = 16; n <= 20; ++n) {
    EXPECT_NEAR(learning_rate(schedule, n - 1), 0.1 + 0.2 * (20 - n) / 5, kRelative) << n;
  }
  EXPECT_EQ(learning_rate(schedule, 19), 0.1);
  EXPECT_EQ(learning_rate(schedule, 20), 0.1);
}

TEST(Schedule, OfWsdThatFallsFromTheWarmUpOnIsALine) {
  const Schedule line{.decay = Decay::linear, .warmup = 4, .steps = 10};
  for (const double share : {1.0, 0.6}) {
    Schedule wsd = line;
    wsd.decay = Decay::wsd;
    wsd.decay_share = share;
    for (int step = 0; step < 12; ++step) {
      EXPECT_EQ(learning_rate(wsd, step), learning_rate(line, step)) << share << " " << step;
    }
  }
}

TEST(Schedule, ReadsItsNames) {
  for (const Decay decay : kDecays) {
    EXPECT_EQ(parse_name<Decay>(name_of(decay), "x"), decay);
  }
  EXPECT_EQ(name_of(static_cast<Decay>(7)), "unknown");
  EXPECT_THAT([] { parse_name<Decay>("sqrt", "train.decay"); },
              ThrowsMessage<Error>("[train.decay] must be one of constant, inverse_square_root, "
                                   "cosine, linear, wsd, got 'sqrt'"));
}

TEST(Schedule, RefusesWhatIsOutOfRange) {
  const auto refuses = [](const Schedule& schedule, std::int64_t step, const char* message) {
    EXPECT_THAT([&] { learning_rate(schedule, step); }, ThrowsMessage<Error>(message));
  };
  refuses({.peak = 0}, 0, "[schedule.peak] must be finite and above 0, got 0");
  refuses({.peak = NAN}, 0, "[schedule.peak] must be finite and above 0, got nan");
  refuses({.peak = INFINITY}, 0, "[schedule.peak] must be finite and above 0, got inf");
  refuses({.warmup = -1}, 0, "[schedule.warmup] must be at least 0, got -1");
  refuses({.decay = Decay::inverse_square_root}, 0, "[schedule.warmup] must be at least 1, got 0");
  refuses({.decay = Decay::cosine, .warmup = 5, .steps = 5}, 0,
          "[schedule.steps] must be above the warm-up of 5 for cosine, got 5");
  refuses({.decay = Decay::linear, .warmup = 5, .steps = 4}, 0,
          "[schedule.steps] must be above the warm-up of 5 for linear, got 4");
  refuses({.decay = Decay::wsd}, 0,
          "[schedule.steps] must be above the warm-up of 0 for wsd, got 0");
  refuses({.decay_share = 0}, 0, "[schedule.decay_share] must be above 0 and at most 1, got 0");
  refuses({.decay = Decay::cosine, .peak = 0.5, .steps = 5, .floor = 0.75}, 0,
          "[schedule.floor] must be 0 .. the peak of 0.5, got 0.75");
  refuses({.decay = Decay::cosine, .peak = 0.5, .steps = 5, .floor = NAN}, 0,
          "[schedule.floor] must be finite and at least 0, got nan");
  refuses({.decay = static_cast<Decay>(7)}, 0,
          "[schedule.decay] must be one of the named values, got 7");
  refuses({}, -1, "[schedule.step] must be at least 0, got -1");
  EXPECT_THAT([] { vaswani_peak(0, 1); },
              ThrowsMessage<Error>("[schedule.width] must be at least 1, got 0"));
  EXPECT_THAT([] { vaswani_peak(1, 0); },
              ThrowsMessage<Error>("[schedule.warmup] must be at least 1, got 0"));
}

}  // namespace
}  // namespace sextant
