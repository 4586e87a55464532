// Contextual positions against the paper's equations written out.
#include "sextant/schemes/content/cope.h"

#include <gmock/gmock.h>

#include "schemes/content/content_checks.h"

namespace sextant {
namespace {

using ::testing::HasSubstr;

// p_ij before the clamp: the gates of key j and of all visible ones up to the query.
double position(const testing::ContentCall& call, testing::Pair p, double scale) {
  double sum = 0;
  for (; p.key <= p.own && p.key < call.k.size(2); ++p.key) {
    if (call.sees(p)) sum += 1 / (1 + std::exp(-scale * call.dot(p)));
  }
  return sum;
}

TEST(Cope, AddsWhatThePapersEquationsSay) {
  for (const std::int64_t npos : {1, 3, 64}) {
    for (const bool scaled : {true, false}) {
      SCOPED_TRACE(std::to_string(npos) + (scaled ? " scaled" : " added after"));
      testing::ContentCall call(3, true);
      const SchemeRequest request = testing::content_request(
          {}, {{"npos", std::to_string(npos)}, {"scaled", scaled ? "yes" : "no"}});
      const SchemeWeights weights = find_scheme("cope").initial_weights(request);
      const auto term = testing::term_of("cope", request);
      const double scale = 1 / std::sqrt(3.0);
      testing::expect_forward(
          call, *term, scale, [&](const testing::ContentCall& c, const testing::Pair& p) {
            const double at = std::min(position(c, p, scale), static_cast<double>(npos - 1));
            const auto z = [&](double n) {
              double sum = 0;
              for (std::int64_t d = 0; d < 3; ++d) {
                sum += c.q(p.batch, p.head, p.query, d) *
                       weights.at("table")(static_cast<std::int64_t>(n), d);
              }
              return sum;
            };
            const double fraction = at - std::floor(at);
            const double sum = (1 - fraction) * z(std::floor(at)) + fraction * z(std::ceil(at));
            return scaled ? scale * sum : sum;
          });
    }
  }
}

// The clamp and the edges between neighbours have corners, which differences must not step over:
// the seed is one whose positions are further than 1e-3 from whole numbers.
TEST(Cope, HasTheGradientsOfItsTable) {
  for (const char* npos : {"3", "16"}) {
    for (const char* scaled : {"yes", "no"}) {
      testing::ContentCall call(4, true);
      const SchemeRequest request =
          testing::content_request({}, {{"npos", npos}, {"scaled", scaled}});
      testing::expect_gradients("cope", request, find_scheme("cope").initial_weights(request),
                                call);
    }
  }
}

// With q = 0 every gate is a half, so the scores are z at (i - j + 1) / 2: here, with a table of
// steps, that number itself - but q = 0 makes z 0 as well, so the gates are closed by the keys.
TEST(Cope, WithGateLogitsOfZeroCountsHalvesOfDistance) {
  Tensor<double> q({1, 1, 1, 2}), k({1, 1, 5, 2}), table({4, 2});
  q(0, 0, 0, 0) = 1;  // <q, k> = 0: k has channel 1 only
  for (std::int64_t j = 0; j < 5; ++j) k(0, 0, j, 1) = 1;
  for (std::int64_t n = 0; n < 4; ++n) table(n, 0) = static_cast<double>(n);  // z(p) = p
  const auto term = cope({.scaled = false}, {std::move(table)});
  AttentionOptions<double> options{.causal = Causal::bottom_right, .terms = {term.get()}};
  const auto scores = attention_weights<double>(q, k, options, {.stage = Stage::biased});
  for (std::int64_t j = 0; j < 5; ++j) {
    EXPECT_EQ(scores(0, 0, 0, j), std::min(0.5 * static_cast<double>(4 - j + 1), 3.0));
  }
}

TEST(Cope, RefusesQueriesThatLookAhead) {
  testing::ContentCall call(5, false);
  const auto term = cope({}, {Tensor<double>({4, 3})});
  EXPECT_EQ(testing::refusal_of(*term, call),
            "[cope] must be used with causal attention: positions count back from the query");
  call.options.window.right = 0;
  EXPECT_EQ(testing::refusal_of(*term, call), "no error");
}

TEST(Cope, NamesTheArgumentAtFault) {
  const auto error = [](std::map<std::string, std::string> parameters) {
    return error_of([&] { testing::term_of("cope", testing::content_request({}, parameters)); });
  };
  EXPECT_EQ(error({{"npos", "0"}}), "[cope.npos] must be 1 .. 2^20, got 0");
  EXPECT_THAT(error({{"scaled", "1"}}), HasSubstr("[cope.scaled] must be yes or no"));
  EXPECT_EQ(error_of([] {
              cope({}, {Tensor<double>({0, 3})});
            }),
            "[cope.table] must be [npos, head_dim] with at least one of each, got [0, 3]");
  testing::ContentCall call(6, true);
  EXPECT_EQ(testing::refusal_of(*cope({}, {Tensor<double>({4, 2})}), call),
            "[cope.table] must have the call's head_dim, 3, got 2");
}

}  // namespace
}  // namespace sextant
