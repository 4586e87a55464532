// Transformer-XL's relative positions against section 3.3 written out.
#include "sextant/schemes/content/transformer_xl.h"

#include <gmock/gmock.h>

#include "schemes/content/content_checks.h"

namespace sextant::transformer_xl_test {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kIds[] = {5, 6, 7, 9, 10, 14, 15, 16};

// R of the released code: sines of all frequencies, then cosines.
double sinusoid(std::int64_t distance, std::int64_t w, std::int64_t width) {
  const std::int64_t k = w % (width / 2);
  const double angle =
      static_cast<double>(distance) *
      std::pow(10000.0, -2.0 * static_cast<double>(k) / static_cast<double>(width));
  return w < width / 2 ? std::sin(angle) : std::cos(angle);
}

TEST(TransformerXl, AddsWhatThePapersEquationSays) {
  for (const std::int64_t clamp : {0, 3}) {
    for (const bool causal : {false, true}) {
      testing::ContentCall call(3, causal);
      const SchemeRequest request =
          testing::content_request(kIds, {{"clamp_len", std::to_string(clamp)}});
      const SchemeWeights weights = find_scheme("transformer_xl").initial_weights(request);
      const auto term = testing::term_of("transformer_xl", request);
      const double scale = 1 / std::sqrt(3.0);
      testing::expect_forward(
          call, *term, scale, [&](const testing::ContentCall& c, const testing::Pair& p) {
            std::int64_t distance = kIds[p.own] - kIds[p.key];
            if (clamp > 0) distance = std::clamp(distance, -clamp, clamp);
            double sum = 0;
            for (std::int64_t d = 0; d < 3; ++d) {
              double r = 0;
              for (std::int64_t w = 0; w < 6; ++w) {
                r += weights.at("w_r")(p.head, d, w) * sinusoid(distance, w, 6);
              }
              sum += (c.q(p.batch, p.head, p.query, d) + weights.at("v")(p.head, d)) * r;
              sum += weights.at("u")(p.head, d) * c.k(p.batch, p.key_head, p.key, d);
            }
            return scale * sum;
          });
    }
  }
}

TEST(TransformerXl, HasTheGradientsOfItsWeights) {
  testing::ContentCall call(4, false);
  const SchemeRequest request = testing::content_request(kIds, {{"clamp_len", "4"}});
  testing::expect_gradients("transformer_xl", request,
                            find_scheme("transformer_xl").initial_weights(request), call);
}

TEST(TransformerXl, NamesTheArgumentAtFault) {
  const auto error = [](std::map<std::string, std::string> parameters,
                        std::span<const std::int64_t> ids = {}) {
    return error_of(
        [&] { testing::term_of("transformer_xl", testing::content_request(ids, parameters)); });
  };
  EXPECT_EQ(error({{"width", "5"}}), "[transformer_xl.width] must be even and 2 .. 2^20, got 5");
  EXPECT_THAT(error({{"clamp_len", "-1"}}), HasSubstr("[transformer_xl.clamp_len]"));
  EXPECT_THAT(error({{"base", "0"}}), HasSubstr("base"));
  constexpr std::int64_t kFar[] = {0, std::int64_t{1} << 40};
  EXPECT_THAT(error({}, kFar), HasSubstr("must be at most 2^22 apart without clamp_len"));
  testing::ContentCall call(5, false);
  const TransformerXl options{.max_distance = 2};
  const auto term = transformer_xl(
      options, {Tensor<double>({4, 3}), Tensor<double>({4, 3}), Tensor<double>({4, 3, 4})});
  EXPECT_EQ(testing::refusal_of(*term, call),
            "[transformer_xl] must be made for distances up to 6, got 2");
  EXPECT_EQ(error_of([&] {
              transformer_xl(options, {Tensor<double>({4, 3}), Tensor<double>({4, 2}),
                                       Tensor<double>({4, 3, 4})});
            }),
            "[transformer_xl.v] must be [4, 3], got [4, 2]");
  EXPECT_EQ(error_of([&] {
              transformer_xl(options, {Tensor<double>({4, 3}), Tensor<double>({4, 3}),
                                       Tensor<double>({4, 3, 5})});
            }),
            "[transformer_xl.width] must be even and 2 .. 2^20, got 5");
}

}  // namespace
}  // namespace sextant::transformer_xl_test
