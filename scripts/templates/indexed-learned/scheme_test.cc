// Learned numbers of the first keys: every pair, the gradient, and what is refused.
#include "sextant/schemes/indexed/new_scheme.h"

#include <gmock/gmock.h>

#include "schemes/indexed/indexed_checks.h"

namespace sextant {
namespace {

using ::testing::HasSubstr;
using List = std::vector<std::int64_t>;

double number_of(const Tensor<double>& table, std::int64_t id, std::int64_t head) {
  return id >= 0 && id < table.size(0) ? table(id, head) : 0;
}

TEST(NewScheme, AddsTheNumberOfTheKey) {
  const NewSchemeWeights weights{testing::drawn({4, 2}, 1)};
  const List ids{-1, 0, 1, 2, 3, 4, 0, 1, 2, 7, 6};
  const auto bias = new_scheme({.keys = 4}, weights, ids);
  testing::expect_pairs(*bias, 2, static_cast<std::int64_t>(ids.size()),
                        [&](std::int64_t head, std::int64_t, std::int64_t key) {
                          return number_of(weights.table, ids[static_cast<std::size_t>(key)], head);
                        });
}

TEST(NewScheme, GoesByTheIdsThatACallGives) {
  const NewSchemeWeights weights{testing::drawn({8, 1}, 1)};
  testing::expect_ids_of_tiles(*new_scheme({.keys = 8}, weights, List{0}),
                               *new_scheme({.keys = 8}, weights, testing::kOddIds),
                               testing::kOddIds);
}

TEST(NewScheme, LearnsItsTable) {
  testing::Asked asked(List{0, 1, 2, 3, 5, 1, -4}, 2, {{"keys", "3"}});
  SchemeWeights weights;
  weights.emplace("table", testing::drawn({3, 2}, 3));
  const List ids(asked.request.positions.begin(), asked.request.positions.end());
  testing::expect_pair_gradients(
      "new_scheme", asked.request, weights,
      [&](const SchemeWeights& given, std::int64_t head, std::int64_t, std::int64_t key) {
        return number_of(given.at("table"), ids[static_cast<std::size_t>(key)], head);
      });
}

TEST(NewScheme, NamesTheArgumentAtFault) {
  EXPECT_EQ(testing::refusal("new_scheme", {{"keys", "0"}}),
            "[new_scheme.keys] must be 1 .. 2^20, got 0");
  EXPECT_THAT(testing::refusal("new_scheme", {{"seed", "-1"}}), HasSubstr("[new_scheme.seed]"));
  EXPECT_THAT(testing::refusal("new_scheme", {}, 0), HasSubstr("[new_scheme.heads]"));
  NewSchemeWeights weights{Tensor<double>({3, 1})};
  EXPECT_EQ(error_of([&] { new_scheme({}, weights, List{0}); }),
            "[new_scheme.table] must be [4, heads], got [3, 1]");
  EXPECT_THAT(error_of([&] {
                new_scheme_backward({.keys = 3}, weights, Tensor<double>({1, 4}));
              }),
              HasSubstr("[new_scheme.gradient] must be [1, 3]"));
  weights.table(2, 0) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(error_of([&] { new_scheme({.keys = 3}, weights, List{0}); }),
            "[new_scheme.table] must be finite");
}

}  // namespace
}  // namespace sextant
