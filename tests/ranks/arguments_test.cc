// Calls that do not fit, or differ from rank to rank: one Error on all ranks, never a hang.
#include <gtest/gtest.h>

#include "ranks/results.h"
#include "sextant/ranks/agreement.h"

namespace sextant::ranks {
namespace {

// The text of the Error of a call, which must be the same on all ranks.
template <class Change>
std::string error_of(const Change& change) {
  const Whole<float> whole({.name = "slopes", .causal = Causal::top_left, .slopes = true});
  Part<float> part(whole, Division::contiguous);
  Options ranks{.form = Form::ring};
  change(part, ranks);
  std::string text;
  try {
    on_ranks(part, ranks);
  } catch (const Error& error) {
    text = error.what();
  }
  const auto all = world().all_gather(std::as_bytes(std::span(text)));
  for (const auto& other : all) EXPECT_EQ(other, all[0]) << text;
  return text;
}

TEST(RanksArguments, ThatDifferAreAnErrorOnAllRanks) {
  if (world().size() == 1) return;
  const bool last = world().rank() == world().size() - 1;
  const std::string where = " on rank 0 and 2.5 on rank " + std::to_string(world().size() - 1);
  EXPECT_EQ(error_of([&](auto& part, auto&) { part.options.softcap = last ? 2.5 : 2; }),
            "[ranks.attention.softcap] must be the same on all ranks, got 2" + where);
  EXPECT_NE(error_of([&](auto&, auto& ranks) {
              ranks.division = last ? Division::zigzag : Division::contiguous;
            }).find("[ranks.attention.division] must be the same on all ranks, got contiguous"),
            std::string::npos);
  EXPECT_NE(error_of([&](auto& part, auto&) {
              if (last) part.k = Tensor<float>({kBatch, 1, part.k.size(2), kDim});
            }).find("[ranks.attention.k] must be the same on all ranks"),
            std::string::npos);
  EXPECT_NE(error_of([&](auto& part, auto&) {
              if (last) part.k = Tensor<float>({kBatch, 2, part.k.size(2) + 1, kDim});
            }).find("[ranks.attention.v] must have the positions of k"),
            std::string::npos);
  const std::vector<double> sinks(kHeads, last ? 1.0 : 0.0);
  EXPECT_NE(error_of([&](auto& part, auto&) {
              part.options.sinks = sinks;
            }).find("[ranks.attention.sinks] must be the same on all ranks, got other values"),
            std::string::npos);
}

TEST(RanksArguments, ThatTheOperatorRefusesAreItsErrors) {
  EXPECT_EQ(error_of([](auto& part, auto&) { part.options.softcap = -1; }),
            "[ranks.attention.softcap] must be finite and >= 0, got -1");
  EXPECT_EQ(error_of([](auto&, auto& ranks) { ranks.slice_bytes = -1; }),
            "[ranks.attention.slice_bytes] must be 0 or more, got -1");
  EXPECT_EQ(error_of([](auto&, auto& ranks) { ranks.reproducible = true; }),
            "[ranks.attention.form] must be gather or ulysses with reproducible");
  const PlacedTerm term;
  EXPECT_EQ(error_of([&](auto& part, auto&) { part.options.content = &term; }),
            "[ranks.attention.form] must be gather or ulysses with a content term");
}

}  // namespace
}  // namespace sextant::ranks
