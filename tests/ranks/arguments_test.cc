// Calls that do not fit, or differ from rank to rank: one Error on all ranks, never a hang.
#include <gtest/gtest.h>

#include "ranks/error_on_ranks.h"
#include "ranks/results.h"
#include "sextant/ranks/agreement.h"

namespace sextant::ranks::arguments_test {
namespace {

// The text of the Error of a call, which must be the same on all ranks.
template <class Change>
std::string refusal_of(const Change& change) {
  const Whole<float> whole({.name = "slopes", .causal = Causal::top_left, .slopes = true});
  Part<float> part(whole, Sharding::contiguous);
  Options ranks{.algorithm = Algorithm::ring};
  change(part, ranks);
  return error_on_ranks([&] { on_ranks(part, ranks); });
}

TEST(RanksArguments, ThatDifferAreAnErrorOnAllRanks) {
  if (world().size() == 1) return;
  const bool last = world().rank() == world().size() - 1;
  const std::string where = " on rank 0 and 2.5 on rank " + std::to_string(world().size() - 1);
  EXPECT_EQ(refusal_of([&](auto& part, auto&) { part.options.softcap = last ? 2.5 : 2; }),
            "[ranks.attention.softcap] must be the same on all ranks, got 2" + where);
  EXPECT_NE(refusal_of([&](auto&, auto& ranks) {
              ranks.sharding = last ? Sharding::zigzag : Sharding::contiguous;
            }).find("[ranks.attention.sharding] must be the same on all ranks, got contiguous"),
            std::string::npos);
  EXPECT_NE(refusal_of([&](auto& part, auto&) {
              if (last) part.k = Tensor<float>({kBatch, 1, part.k.size(2), kDim});
            }).find("[ranks.attention.k] must be the same on all ranks"),
            std::string::npos);
  EXPECT_NE(refusal_of([&](auto& part, auto&) {
              if (last) part.k = Tensor<float>({kBatch, 2, part.k.size(2) + 1, kDim});
            }).find("[ranks.attention.v] must have the positions of k"),
            std::string::npos);
  const std::vector<double> sinks(kHeads, last ? 1.0 : 0.0);
  EXPECT_NE(refusal_of([&](auto& part, auto&) {
              part.options.sinks = sinks;
            }).find("[ranks.attention.sinks] must be the same on all ranks, got other values"),
            std::string::npos);
}

TEST(RanksArguments, OfRotationsMustHaveOneLayout) {
  if (world().size() == 1) return;
  RotationTable<float> rotation = rotary({.head_dim = kDim}, 600);
  if (world().rank() == 0) rotation.layout = RotaryLayout::interleaved;
  EXPECT_EQ(refusal_of([&](auto& part, auto&) {
              part.options.rotation = &rotation;
            }).find("[ranks.attention.rotation] must be the same on all ranks"),
            0U);
}

TEST(RanksArguments, OfMasksHaveRowsForOwnQueriesOrOneOnAllRanks) {
  const bool last = world().rank() == world().size() - 1;
  const Tensor<bool> one({1, 200}), three({3, 200});
  EXPECT_EQ(refusal_of([&](auto& part, auto&) {
              part.options.mask = BoolMask(last ? three.view() : one.view());
            })
                .find("[ranks.attention.mask] must have a row for each of the own queries, or 1 on "
                      "all ranks, got 3 for "),
            0U);
}

TEST(RanksArguments, ForResultsAreCheckedOnAllRanks) {
  const Whole<float> whole({.name = "plain"});
  const Part<float> part(whole, Sharding::contiguous);
  const bool last = world().rank() == world().size() - 1;
  Tensor<float> out(last ? Shape{1, 1, 1, 1} : part.out_shape());
  const std::string where = "[ranks.attention.out] must be " + part.out_shape().to_string();
  try {
    ranks::attention<float>(world(), part.q, part.k, part.v, out.view(), part.options, {});
    FAIL() << "took an array of another shape";
  } catch (const Error& error) {
    const std::string text = error.what();
    EXPECT_EQ(text.find(last ? where : "[ranks.attention.out] must be ["), 0U) << text;
    EXPECT_NE(text.find("got [1, 1, 1, 1]"), std::string::npos) << text;
  }
}

TEST(RanksBackwardArguments, AreCheckedOnAllRanks) {
  const Whole<float> whole({.name = "slopes", .causal = Causal::top_left, .slopes = true});
  const Part<float> part(whole, Sharding::contiguous);
  const Result<float> forward = on_ranks(part, {});
  const bool last = world().rank() == world().size() - 1;
  const auto text_of = [&](const AttentionGradients<float>& wanted) -> std::string {
    return error_of([&] {
      ranks::attention_backward<float>(world(), part.q, part.k, part.v, forward.out, forward.out,
                                       wanted, part.options, {}, forward.logs);
    });
  };
  Tensor<float> dq(part.q.shape()), dk(part.k.shape()), sinks({kHeads}), wrong({3});
  EXPECT_EQ(text_of({.q = dq, .bias = {}}), "no error");
  const std::string where = "[ranks.attention_backward.gradients";
  EXPECT_EQ(text_of({.q = dq, .bias = {}, .sinks = sinks}),
            where + ".sinks] must be given with options.sinks");
  AttentionGradients<float> wanted{.q = dq, .bias = {}};
  if (last) wanted.bias.slopes = wrong;
  EXPECT_EQ(text_of(wanted).find(where + ".bias.slopes] must be [4], got [3]"), 0U);
  wanted = {.q = dq, .bias = {}};
  if (last) wanted.k = dk;
  EXPECT_EQ(text_of(wanted).find(where + "] must be the same on all ranks"),
            world().size() == 1 ? std::string::npos : 0U);
}

TEST(RanksArguments, StripedTakeWholeHeads) {
  const Whole<float> whole({.name = "plain"});
  const Part<float> part(whole, Sharding::striped);
  for (const Algorithm algorithm : {Algorithm::ring, Algorithm::gather}) {
    EXPECT_THROW(on_ranks(part, {.algorithm = algorithm, .sharding = Sharding::striped}), Error);
  }
}

TEST(RanksArguments, ThatTheOperatorRefusesAreItsErrors) {
  EXPECT_EQ(refusal_of([](auto& part, auto&) { part.options.softcap = -1; }),
            "[ranks.attention.softcap] must be 0 or 1e-30 .. 1e30, got -1");
  EXPECT_EQ(refusal_of([](auto&, auto& ranks) { ranks.slice_bytes = -1; }),
            "[ranks.attention.slice_bytes] must be 0 or more, got -1");
  EXPECT_EQ(refusal_of([](auto&, auto& ranks) { ranks.reproducible = true; }),
            "[ranks.attention.algorithm] must be gather or ulysses with reproducible");
  const PlacedTerm term;
  EXPECT_EQ(refusal_of([&](auto& part, auto&) { part.options.terms = {&term}; }),
            "[ranks.attention.algorithm] must be gather or ulysses with a term before the softcap");
}

}  // namespace
}  // namespace sextant::ranks::arguments_test
