// Tables that know the positions of their rows: with position ids, an id takes the row of its
// position.
#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "attention/same_bits.h"
#include "attention/strided.h"
#include "sextant/attention/backward.h"
#include "sextant/schemes/rotated/rotary.h"
#include "sextant/schemes/rotated/xpos.h"
#include "sextant/tables/rotation_table.h"
#include "support/error_of.h"

namespace sextant::rotation_rows_test {
namespace {

constexpr std::int64_t kBatch = 2, kHeads = 2, kLength = 12, kHeadDim = 8;
using Ids = std::vector<std::int64_t>;

class RotationRows : public testing::Test {
 protected:
  Tensor<std::int64_t> tensor(const Ids& ids) const {
    Tensor<std::int64_t> result(Shape{1, static_cast<std::int64_t>(ids.size())});
    std::ranges::copy(ids, result.data());
    return result;
  }
  // The ids of queries and keys by a table of those rows alone, beside arrays rotated before the
  // call: the same bits.
  void expect_rows(const RotationTable<float>& table, const RotationTable<float>& by_index,
                   const Ids& list) {
    const Tensor<std::int64_t> ids = tensor(list);
    AttentionOptions<float> options{.causal = Causal::top_left};
    options.rotation = &by_index;
    const auto expected = results(options);
    options.query_positions = options.key_positions = ids;
    options.rotation = &table;
    const auto got = results(options);
    for (std::size_t n = 0; n < got.size(); ++n) {
      EXPECT_TRUE(same_bits<float>(got[n], expected[n])) << n;
    }
  }
  std::vector<Tensor<float>> results(const AttentionOptions<float>& options) const {
    std::vector<Tensor<float>> made;
    for (int n = 0; n < 4; ++n) made.emplace_back(q.shape());
    attention<float>(q, k, v, made[0], options);
    const AttentionGradients<float> gradients{made[1].view(), made[2].view(), made[3].view()};
    attention_backward<float>(q, k, v, made[0], dout, gradients, options);
    return made;
  }
  std::string refusal_of(const RotationTable<float>& table, const Ids& queries, const Ids& keys,
                         std::span<const std::int64_t> key_lengths = {}) const {
    const Tensor<std::int64_t> query_ids = tensor(queries), key_ids = tensor(keys);
    AttentionOptions<float> options{.causal = Causal::top_left};
    options.query_positions = query_ids;
    options.key_positions = key_ids;
    options.key_lengths = key_lengths;
    options.rotation = &table;
    Tensor<float> out(q.shape());
    return error_of([&] { attention<float>(q, k, v, out.view(), options); });
  }

  NumpyRandom random{3};
  const Shape shape{kBatch, kHeads, kLength, kHeadDim};
  const Tensor<float> q = normal<float>(shape, random), k = normal<float>(shape, random),
                      v = normal<float>(shape, random), dout = normal<float>(shape, random);
  const Rotary rotation{.head_dim = kHeadDim};
};

Ids from(std::int64_t first, std::int64_t step = 1) {
  Ids ids(kLength);
  for (std::size_t n = 0; n < ids.size(); ++n) {
    ids[n] = first + step * static_cast<std::int64_t>(n);
  }
  return ids;
}

TEST_F(RotationRows, OfConsecutivePositionsAnywhere) {
  for (const std::int64_t first : {std::int64_t{1}, std::int64_t{1000000}, std::int64_t{-7},
                                   std::int64_t{1} << 52, -(std::int64_t{1} << 52)}) {
    SCOPED_TRACE(first);
    const auto table = rotary(rotation, from(first));
    EXPECT_EQ(table.first_position, first);
    EXPECT_TRUE(table.positions.empty());
    expect_rows(table, table, from(first));
  }
}

TEST_F(RotationRows, OfListsInAnyOrder) {
  const Ids ids{9, -4, 1000000, 3, 3, 77, 0, 12, -4, 5, 6, 7};
  expect_rows(rotary(rotation, ids), rotary(rotation, ids), ids);
  // Rows that no id asks for, and another order than that of the ids.
  Ids rows(ids.rbegin(), ids.rend());
  rows.insert(rows.begin() + 5, {400, 401});
  expect_rows(rotary(rotation, rows), rotary(rotation, ids), ids);
}

TEST_F(RotationRows, OfTablesForKeys) {
  const Xpos xpos_options{.head_dim = kHeadDim};
  const Ids ids = from(300, 5);
  Ids rows(ids.rbegin(), ids.rend());
  expect_rows(xpos(xpos_options, rows), xpos(xpos_options, ids), ids);
  const Rotary scaled{.head_dim = kHeadDim, .query_scale = {.attn_scale = 0.1, .floor_scale = 64}};
  expect_rows(rotary(scaled, rows), rotary(scaled, ids), ids);
}

TEST_F(RotationRows, AreTakenByIndexWithoutIds) {
  auto table = rotary(rotation, kLength);
  const auto expected = results({.causal = Causal::top_left, .rotation = &table});
  table.set_positions(from(50, 2));
  EXPECT_TRUE(
      same_bits<float>(results({.causal = Causal::top_left, .rotation = &table})[0], expected[0]));
}

TEST_F(RotationRows, MustHaveEveryPosition) {
  EXPECT_EQ(refusal_of(rotary(rotation, from(1000000)), from(1000000), from(999999)),
            "[attention.rotation] must have a row for each of the positions 999999 .. 1000011, got "
            "12 rows from position 1000000");
  EXPECT_EQ(refusal_of(rotary(rotation, from(-20, 2)), from(-20, 2), from(-19)),
            "[attention.rotation] must have a row for each position id, got none for -19 among 12 "
            "listed positions");
  auto table = rotary(rotation, from(-20, 2));
  table.positions.pop_back();
  EXPECT_EQ(refusal_of(table, from(-20, 2), from(-20, 2)),
            "[attention.rotation] must have one position for each of its 12 rows, got 11");
  // Keys that are padding need no row.
  const Ids lengths{8, 8};
  Ids keys = from(-20, 2);
  std::fill(keys.begin() + 8, keys.end(), 12345);
  EXPECT_EQ(refusal_of(rotary(rotation, from(-20, 2)), from(-20, 2), keys, lengths), "no error");
}

}  // namespace
}  // namespace sextant::rotation_rows_test
