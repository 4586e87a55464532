// Views of temporaries do not compile: these lines do, so the compiler refuses those.
#include "sextant/core/lifetime.h"

#include <gtest/gtest.h>

#include <concepts>
#include <utility>

#include "sextant/core/npy.h"
#include "sextant/core/tensor.h"

namespace sextant {
namespace {

template <class T>
concept GivesAView = requires(T&& tensor) {
  std::forward<T>(tensor).view();
};
template <class T>
concept GivesASpan = requires(T&& tensor) {
  std::forward<T>(tensor).span();
};
template <class T>
concept GivesElements = requires(T&& array) {
  std::forward<T>(array).template as<float>();
};

// What pictures and options are: aggregates with a view in them.
struct Picture {
  MemberView<const double> values;
};
template <class T>
concept FillsAPicture = requires(T&& tensor) {
  Picture{.values = std::forward<T>(tensor)};
};
struct Results {
  MemberView<double> values;
};
template <class T>
concept FillsResults = requires(T&& tensor) {
  Results{.values = std::forward<T>(tensor)};
};

using Doubles = Tensor<double>;

TEST(Lifetime, ViewsAreOfTensorsWithAName) {
  static_assert(GivesAView<Doubles&> && GivesAView<const Doubles&>);
  static_assert(GivesASpan<Doubles&> && GivesASpan<const Doubles&>);
  static_assert(GivesElements<Array&> && GivesElements<const Array&>);
  static_assert(FillsAPicture<Doubles&> && FillsAPicture<const Doubles&>);
  static_assert(FillsAPicture<View<double>> && FillsAPicture<View<const double>>);
  static_assert(FillsResults<Doubles&> && FillsResults<View<double>>);
}

TEST(Lifetime, TemporariesGiveNoView) {
  static_assert(!GivesAView<Doubles> && !GivesAView<const Doubles>);
  static_assert(!GivesASpan<Doubles> && !GivesASpan<const Doubles>);
  static_assert(!GivesElements<Array> && !GivesElements<const Array>);
  static_assert(!FillsAPicture<Doubles> && !FillsAPicture<const Doubles>);
  static_assert(!FillsResults<Doubles> && !FillsResults<const Doubles&>);
}

TEST(Lifetime, TemporariesAreArguments) {
  const auto count = [](View<const double> values) { return values.count(); };
  EXPECT_EQ(count(Tensor<double>({2, 3})), 6);
}

}  // namespace
}  // namespace sextant
