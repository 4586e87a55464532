// Parameters that must be given, whatever their type, and weights of the sizes that schemes say.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "schemes/descriptors.h"
#include "support/error_of.h"

namespace sextant {

struct Demanding {
  std::int64_t size = 0;
  std::vector<double> factors{};
  bool closed = false;
  std::string file{};
  double base = 2;
};
template <>
inline constexpr auto kFields<Demanding> =
    std::tuple{field(&Demanding::size, "size", IntegerRange{1, 9}, "how many").required(),
               field(&Demanding::factors, "factors", ListRange{kAboveZero}, "of each").required(),
               field(&Demanding::closed, "closed", "whether it is").required(),
               field(&Demanding::file, "file", TextRange{"a file"}, "where it is").required(),
               field(&Demanding::base, "base", kAboveZero, "has a default")};

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Scheme kDemanding = {.name = "demanding",
                           .kind = SchemeKind::none,
                           .idea = {},
                           .paper = {},
                           .parameters = descriptors::parameters_of<Demanding>,
                           .make = nullptr};

TEST(Parameters, WithoutDefaultMustBeGivenWhateverTheirType) {
  SchemeRequest request;
  const auto message = [&] {
    return error_of([&] { descriptors::Parameters(kDemanding, request).options<Demanding>(); });
  };
  EXPECT_EQ(message(), "[demanding.size] must be given: how many");
  request.parameters["size"] = "3";
  EXPECT_EQ(message(), "[demanding.factors] must be given: of each");
  request.parameters["factors"] = "1,2.5";
  EXPECT_EQ(message(), "[demanding.closed] must be given: whether it is");
  request.parameters["closed"] = "yes";
  EXPECT_EQ(message(), "[demanding.file] must be given: where it is");
  request.parameters["file"] = "a.npy";
  ASSERT_EQ(message(), "no error");
  const auto options = descriptors::Parameters(kDemanding, request).options<Demanding>();
  EXPECT_EQ(options.size, 3);
  EXPECT_THAT(options.factors, ElementsAre(1, 2.5));
  EXPECT_TRUE(options.closed);
  EXPECT_EQ(options.file, "a.npy");
  EXPECT_EQ(options.base, 2);
  request.parameters["size"] = "10";
  EXPECT_EQ(message(), "[demanding.size] must be 1 .. 9, got 10");
}

constexpr std::int64_t kRequestedIds[] = {0, 1, 2, 3};

SchemeRequest request_of_four() {
  SchemeRequest request{.width = 8, .heads = 2, .head_dim = 4, .positions = kRequestedIds};
  return request;
}

TEST(WeightSizes, AreThoseOfTheInitialWeights) {
  for (const Scheme* scheme : schemes()) {
    SCOPED_TRACE(scheme->name);
    EXPECT_EQ(scheme->weights.empty(), scheme->weight_sizes == nullptr);
    if (scheme->weights.empty()) continue;
    const WeightSizes sizes = scheme->weight_sizes(request_of_four());
    const SchemeWeights weights = scheme->initial_weights(request_of_four());
    EXPECT_EQ(sizes.size(), scheme->weights.size());
    EXPECT_EQ(weights.size(), scheme->weights.size());
    for (const SchemeWeight& weight : scheme->weights) {
      SCOPED_TRACE(weight.name);
      const auto expected = sizes.find(weight.name);
      ASSERT_NE(expected, sizes.end());
      const Shape& shape = weights.at(std::string(weight.name)).shape();
      ASSERT_EQ(shape.rank(), static_cast<int>(expected->second.size()));
      for (int axis = 0; axis < shape.rank(); ++axis) {
        const std::int64_t size = expected->second[static_cast<std::size_t>(axis)];
        EXPECT_TRUE(size == kAnySize || size == shape[axis]) << axis;
      }
    }
  }
}

TEST(WeightSizes, OfOneMoreNumberAreRefused) {
  for (const Scheme* scheme : schemes()) {
    for (const SchemeWeight& weight : scheme->weights) {
      if (scheme->name == "fourier") continue;  // learns of one of its forms only
      SCOPED_TRACE(std::string(scheme->name) + "." + std::string(weight.name));
      SchemeRequest request = request_of_four();
      SchemeWeights weights = scheme->initial_weights(request);
      Tensor<double>& changed = weights.at(std::string(weight.name));
      std::vector<std::int64_t> sizes(changed.shape().begin(), changed.shape().end());
      ++sizes.back();
      changed = Tensor<double>(Shape(sizes));
      request.weights = &weights;
      EXPECT_THAT(error_of([&] { scheme->make(request); }),
                  HasSubstr("." + std::string(weight.name) + "] must be "));
    }
  }
}

}  // namespace
}  // namespace sextant
