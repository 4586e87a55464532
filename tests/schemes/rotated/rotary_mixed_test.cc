// Mixed rotary positions: true sums of angles, where training starts, and gradients against finite
// differences.
#include "sextant/schemes/rotated/rotary_mixed.h"

#include <random>
#include <variant>

#include "schemes/rotated/rotation_checks.h"
#include "sextant/schemes/scheme.h"

namespace sextant {
namespace {

using checks::Real;

Tensor<double> random_frequencies(std::int64_t heads, std::int64_t axes, std::int64_t pairs) {
  std::mt19937_64 random(3);
  Tensor<double> f({heads, axes, pairs});
  for (double& value : f.span()) value = std::uniform_real_distribution<>(-1, 1)(random);
  return f;
}

Real true_angle(const Tensor<double>& f, const Tensor<std::int64_t>& ids, std::int64_t head,
                std::int64_t row, std::int64_t k) {
  Real angle;
  for (std::int64_t a = 0; a < ids.size(1); ++a) {
    angle = angle + Real(static_cast<double>(ids(row, a))) * f(head, a, k);
  }
  return angle;
}

double worst_of(const RotationTable<float>& table, const Tensor<double>& f,
                const Tensor<std::int64_t>& ids) {
  double worst = 0;
  for (std::int64_t h = 0; h < f.size(0); ++h) {
    for (std::int64_t row = 0; row < ids.size(0); ++row) {
      for (std::int64_t k = 0; k < f.size(2); ++k) {
        const Real angle = true_angle(f, ids, h, row, k);
        worst = std::max({worst, sin(angle).ulps_off(table.sin(h, row, k)),
                          cos(angle).ulps_off(table.cos(h, row, k))});
      }
    }
  }
  return worst;
}

TEST(RotaryMixed, TablesOfGridsAreTrue) {
  Tensor<double> f = random_frequencies(2, 2, 5);
  f(0, 1, 2) = -f(0, 0, 2);  // cancels on the diagonal
  f(1, 0, 3) = f(1, 1, 3) = 0;
  Tensor<std::int64_t> ids({200, 2});
  for (std::int64_t row = 0; row < 200; ++row) {
    ids(row, 0) = row % 20;
    ids(row, 1) = row / 20;
  }
  EXPECT_LE(worst_of(rotary_mixed<float>({.head_dim = 10}, f.view(), ids.view()), f, ids), 0.5001);
}

TEST(RotaryMixed, TablesOfIdsFarApartAreTrue) {
  const Tensor<double> f = random_frequencies(2, 2, 4);
  std::mt19937_64 random(4);
  Tensor<std::int64_t> ids({40, 2});
  for (std::int64_t& id : ids.span()) id = static_cast<std::int64_t>(random() >> 33) - (1 << 20);
  ids(0, 0) = ids(0, 1) = 0;
  EXPECT_LE(worst_of(rotary_mixed<float>({.head_dim = 8}, f.view(), ids.view()), f, ids), 0.5001);
}

TEST(RotaryMixed, ARowHasTheSameBitsInAnyTable) {
  const Tensor<double> frequencies = rotary_mixed_frequencies({.head_dim = 16}, 1, 2);
  Tensor<std::int64_t> many({40000, 2}), one({1, 2});
  for (std::int64_t row = 0; row < many.size(0); ++row) {
    many(row, 0) = row * 37 % 211 - 100;
    many(row, 1) = row / 300 * 1000 - 5;
  }
  const RotationTable<float> table =
      rotary_mixed<float>({.head_dim = 16}, frequencies.view(), many.view());
  const RotationTable<double> wide =
      rotary_mixed<double>({.head_dim = 16}, frequencies.view(), many.view());
  for (const std::int64_t row : {0, 1, 63, 64, 16383, 16384, 39999}) {
    for (const std::int64_t axis : {0, 1}) one(0, axis) = many(row, axis);
    const RotationTable<float> alone =
        rotary_mixed<float>({.head_dim = 16}, frequencies.view(), one.view());
    const RotationTable<double> wide_alone =
        rotary_mixed<double>({.head_dim = 16}, frequencies.view(), one.view());
    for (std::int64_t k = 0; k < 8; ++k) {
      EXPECT_EQ(alone.cos(0, 0, k), table.cos(0, row, k));
      EXPECT_EQ(alone.sin(0, 0, k), table.sin(0, row, k));
      EXPECT_EQ(wide_alone.sin(0, 0, k), wide.sin(0, row, k));
    }
  }
}

TEST(RotaryMixed, EveryHeadMayHaveALadderOfItsOwn) {
  const Tensor<double> f = random_frequencies(3, 1, 4);
  Tensor<std::int64_t> ids({13, 1});
  const auto positions = checks::some_positions();
  std::copy(positions.begin(), positions.end(), ids.data());
  EXPECT_LE(worst_of(rotary_mixed<float>({.head_dim = 8}, f.view(), ids.view()), f, ids), 0.5001);
}

TEST(RotaryMixed, Float64AndNarrowTablesAgreeWithFloat32) {
  const Tensor<double> f = random_frequencies(2, 2, 5);
  Tensor<std::int64_t> ids({90, 2});
  for (std::int64_t i = 0; i < 180; ++i) ids.data()[i] = i * 7 % 30;
  const auto wide = rotary_mixed<double>({.head_dim = 10}, f.view(), ids.view());
  const auto middle = rotary_mixed<float>({.head_dim = 10}, f.view(), ids.view());
  const auto narrow = rotary_mixed<bfloat16>({.head_dim = 10}, f.view(), ids.view());
  for (std::int64_t i = 0; i < wide.cos.count(); ++i) {
    // Half a unit in the last place of numbers up to 1.
    EXPECT_NEAR(middle.cos.data()[i], wide.cos.data()[i], 0x1.01p-25);
    EXPECT_NEAR(middle.sin.data()[i], wide.sin.data()[i], 0x1.01p-25);
    EXPECT_NEAR(static_cast<double>(narrow.cos.data()[i]), wide.cos.data()[i], 0x1.01p-9);
    EXPECT_EQ(middle.sin.data()[i], static_cast<float>(wide.sin.data()[i]));
  }
}

TEST(RotaryMixed, FrameworkPrecisionRoundsTheAngleToFloat32) {
  const Tensor<double> f = random_frequencies(1, 2, 2);
  Tensor<std::int64_t> ids({1, 2});
  ids(0, 0) = 3;
  ids(0, 1) = 7;
  const auto table =
      rotary_mixed<float>({.head_dim = 4, .precision = Precision::framework}, f.view(), ids.view());
  const float angle = 3 * static_cast<float>(f(0, 0, 1)) + 7 * static_cast<float>(f(0, 1, 1));
  EXPECT_EQ(table.sin(0, 0, 1), static_cast<float>(std::sin(static_cast<double>(angle))));
}

TEST(RotaryMixed, TrainingStartsWithDirectionsAtRightAngles) {
  const Tensor<double> f = rotary_mixed_frequencies({.head_dim = 16}, 3, 2, 5);
  ASSERT_EQ(f.shape(), Shape({3, 2, 8}));
  for (std::int64_t h = 0; h < 3; ++h) {
    for (std::int64_t k = 0; k < 4; ++k) {
      const double magnitude = std::pow(10, -static_cast<double>(k) / 4);
      EXPECT_NEAR(std::hypot(f(h, 0, k), f(h, 1, k)), magnitude, 0x1p-51);
      EXPECT_NEAR(f(h, 0, k) * f(h, 0, k + 4) + f(h, 1, k) * f(h, 1, k + 4), 0, 0x1p-51);
      EXPECT_NEAR(f(h, 0, k) * f(h, 1, 0) - f(h, 1, k) * f(h, 0, 0), 0, 0x1p-51);  // one direction
    }
  }
  EXPECT_NE(f(0, 0, 0), f(1, 0, 0));
  const Tensor<double> line = rotary_mixed_frequencies({.head_dim = 8, .base = 10000}, 2, 1);
  EXPECT_NEAR(line(1, 0, 3), 0.001, 0x1p-60);
}

// The gradient of sum(weights * rotate(x)) against central differences.
TEST(RotaryMixed, GradientsAreThoseOfFiniteDifferences) {
  for (const RotaryLayout layout : {RotaryLayout::interleaved, RotaryLayout::half_split}) {
    const RotaryMixed options{
        .head_dim = 6, .rotary_dim = 4, .layout = layout, .span = RotarySpan::last};
    Tensor<double> f = random_frequencies(2, 2, 2);
    Tensor<std::int64_t> ids({3, 2});
    for (std::int64_t i = 0; i < 6; ++i) ids.data()[i] = i * i % 5;
    Tensor<double> x({2, 2, 3, 6});
    Tensor<double> weights(x.shape());
    for (std::int64_t i = 0; i < x.count(); ++i) {
      x.data()[i] = std::sin(static_cast<double>(i));
      weights.data()[i] = std::cos(static_cast<double>(3 * i));
    }
    // Turned one head at a time, by a table of that head.
    const auto of_head = [&](const RotationTable<double>& table, std::int64_t h) {
      RotationTable<double> one{Tensor<double>({3, 2}), Tensor<double>({3, 2}), table.layout,
                                table.first_channel};
      std::copy_n(table.cos.data() + h * 6, 6, one.cos.data());
      std::copy_n(table.sin.data() + h * 6, 6, one.sin.data());
      return one;
    };
    const auto loss = [&] {
      const auto table = rotary_mixed<double>(options, f.view(), ids.view());
      Tensor<double> y(x.shape());
      double sum = 0;
      for (std::int64_t h = 0; h < 2; ++h) {
        rotate<double>(std::as_const(x).view().narrow(1, h, 1), y.view().narrow(1, h, 1),
                       of_head(table, h));
      }
      for (std::int64_t i = 0; i < y.count(); ++i) sum += weights.data()[i] * y.data()[i];
      return sum;
    };
    const auto table = rotary_mixed<double>(options, f.view(), ids.view());
    Tensor<double> dx(x.shape());
    for (std::int64_t h = 0; h < 2; ++h) {
      rotate_back<double>(std::as_const(weights).view().narrow(1, h, 1), dx.view().narrow(1, h, 1),
                          of_head(table, h));
    }
    const Tensor<double> angles = rotary_mixed_angle_gradient<double>(options, x.view(), dx.view());
    const Tensor<double> gradient = rotary_mixed_backward(options, angles.view(), ids.view());
    ASSERT_EQ(gradient.shape(), f.shape());
    constexpr double kStep = 0x1p-17;
    for (std::int64_t i = 0; i < f.count(); ++i) {
      const double here = f.data()[i];
      f.data()[i] = here + kStep;
      const double above = loss();
      f.data()[i] = here - kStep;
      const double below = loss();
      f.data()[i] = here;
      // The third derivative is at most 4^3 for ids up to 4, times 24 terms; roundings of the loss.
      EXPECT_NEAR(gradient.data()[i], (above - below) / (2 * kStep),
                  64 * 24 * kStep * kStep / 6 + 24 * 8 * 0x1p-53 / kStep);
    }
  }
}

TEST(RotaryMixed, TheSchemeLearnsItsFrequencies) {
  const Scheme& scheme = find_scheme("rotary_mixed");
  Tensor<std::int64_t> ids({12, 2});
  for (std::int64_t i = 0; i < 12; ++i) {
    ids(i, 0) = i % 4;
    ids(i, 1) = i / 4;
  }
  SchemeRequest asked{.heads = 3, .head_dim = 8, .positions = std::as_const(ids).span(), .axes = 2};
  const SchemeTable made = scheme.make(asked);
  const auto& table = std::get<RotationTable<double>>(made);
  ASSERT_EQ(table.cos.shape(), Shape({3, 12, 4}));
  EXPECT_EQ(table.cos(2, 0, 3), 1);
  const SchemeWeights weights = scheme.initial_weights(asked);
  EXPECT_NEAR(
      table.sin(1, 11, 2),
      std::sin(3 * weights.at("frequencies")(1, 0, 2) + 2 * weights.at("frequencies")(1, 1, 2)),
      8 * 0x1p-53);
  Tensor<double> waves({2, 3, 12, 4});  // the gradient -sin, cos: 1 for every angle
  for (std::int64_t i = 0; i < table.cos.count(); ++i) {
    waves.data()[i] = -table.sin.data()[i];
    waves.data()[table.cos.count() + i] = table.cos.data()[i];
  }
  const SchemeWeights gradient = scheme.backward(asked, std::as_const(waves).view());
  EXPECT_EQ(gradient.at("frequencies").shape(), Shape({3, 2, 4}));
  // 3 x (0 + 1 + 2 + 3), each times cos^2 + sin^2, which is off by a few roundings.
  EXPECT_NEAR(gradient.at("frequencies")(0, 0, 0), 18, 18 * 8 * 0x1p-53);
  expect_error("rotary_mixed.gradient", [&] {
    scheme.backward(asked, Tensor<double>({3, 12, 4}));
  });
}

TEST(RotaryMixed, NamesTheArgumentAtFault) {
  const Tensor<std::int64_t> ids({4, 2});
  const Tensor<double> f = random_frequencies(2, 2, 4);
  const auto wrong = [&](const char* name, const Tensor<double>& frequencies,
                         const Tensor<std::int64_t>& at) {
    expect_error(std::string("rotary_mixed.") + name,
                 [&] { rotary_mixed<float>({.head_dim = 8}, frequencies.view(), at.view()); });
  };
  wrong("frequencies", random_frequencies(2, 3, 4), ids);
  wrong("frequencies", random_frequencies(2, 2, 3), ids);
  wrong("positions", random_frequencies(2, 1, 4), ids);
  wrong("positions", f, Tensor<std::int64_t>({4}));
  Tensor<double> bad = f.clone();
  bad(1, 1, 1) = NAN;
  wrong("frequencies", bad, ids);
  expect_error("rotary_mixed.heads", [] { rotary_mixed_frequencies({.head_dim = 8}, 0); });
  expect_error("rotary_mixed.positions", [] { rotary_mixed_frequencies({.head_dim = 8}, 1, 3); });
  const Tensor<double> x({1, 2, 4, 8});
  const Tensor<double> narrow({1, 2, 4, 6});
  expect_error("rotary_mixed.x", [&] {
    rotary_mixed_angle_gradient<double>({.head_dim = 8}, narrow.view(), narrow.view());
  });
  expect_error("rotary_mixed.dx", [&] {
    rotary_mixed_angle_gradient<double>({.head_dim = 8}, x.view(), narrow.view());
  });
  expect_error("rotary_mixed.angle_gradient", [&] {
    rotary_mixed_backward({.head_dim = 8}, Tensor<double>({2, 4, 3}), ids.view());
  });
}

}  // namespace
}  // namespace sextant
