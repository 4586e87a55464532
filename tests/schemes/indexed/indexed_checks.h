// What tests of indexed biases share: all pairs at once, the same in random tiles, and a formula to
// hold them against.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <random>
#include <string_view>
#include <variant>
#include <vector>

#include "schemes/difference_checks.h"
#include "schemes/distance/distance_checks.h"
#include "sextant/schemes/scheme.h"
#include "sextant/tables/score_term.h"

namespace sextant::testing {

inline std::shared_ptr<const ScoreTerm> indexed_bias_of(std::string_view scheme,
                                                        const SchemeRequest& request) {
  return std::get<std::shared_ptr<const ScoreTerm>>(find_scheme(scheme).make(request));
}

// [tokens, tokens] of one head, in one tile.
inline Tensor<float> pairs_of(const ScoreTerm& bias, std::int64_t head, std::int64_t tokens) {
  Tensor<float> values({tokens, tokens});
  write_term(bias, {.head = head, .queries = tokens, .keys = tokens}, values.data());
  return values;
}

// A pair's number by the paper, of token numbers; -infinity where hidden.
using PairFormula = std::function<double(std::int64_t head, std::int64_t query, std::int64_t key)>;

// What a bias says of the tile of these queries and keys, without an offset.
inline TermEffect effect_of(const ScoreTerm& bias, std::int64_t query, std::int64_t queries,
                            std::int64_t key, std::int64_t keys) {
  return bias.effect({.first_query = query, .queries = queries, .first_key = key, .keys = keys});
}

// Every pair of `tokens` tokens has the formula's number, rounded to float32 once; `tolerance` is
// for what float64 may differ by. Tiles of any size and offset have the same bits, write nothing
// beside their pairs, hide tokens that do not exist, and have the effect that the bias says.
inline void expect_pairs(const ScoreTerm& bias, std::int64_t heads, std::int64_t tokens,
                         const PairFormula& formula, double tolerance = 0) {
  constexpr float kUntouched = 12345;
  constexpr float kNothing = -std::numeric_limits<float>::infinity();
  std::mt19937 random(3);
  const auto up_to = [&](std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(0, most)(random);
  };
  for (std::int64_t head = 0; head < heads; ++head) {
    const Tensor<float> whole = pairs_of(bias, head, tokens);
    for (std::int64_t query = 0; query < tokens; ++query) {
      for (std::int64_t key = 0; key < tokens; ++key) {
        const double expected = formula(head, query, key);
        if (std::isinf(expected)) {
          ASSERT_EQ(whole(query, key), kNothing) << query << ", " << key;
        } else {
          ASSERT_NEAR(whole(query, key), expected, std::abs(expected) * 0x1p-24 + tolerance)
              << "head " << head << ", query " << query << ", key " << key;
        }
      }
    }
    for (int repeat = 0; repeat < 200; ++repeat) {
      // Some reach beyond the tokens on either side.
      const std::int64_t offset = up_to(tokens) - tokens / 2;
      ScoreTile<float> tile{};
      tile.sequence = up_to(3);
      tile.head = head;
      tile.first_query = up_to(tokens);
      tile.queries = up_to(9) + 1;
      tile.first_key = up_to(tokens + 2);
      tile.keys = up_to(tokens + 2) + 1;
      tile.offset = offset;
      const std::int64_t stride = tile.keys + up_to(2);
      std::vector<float> values(static_cast<std::size_t>(tile.queries * stride), kUntouched);
      for (std::int64_t i = 0; i < tile.queries; ++i) {
        std::fill_n(values.data() + i * stride, tile.keys, 0.0F);
      }
      tile.scores = values.data();
      tile.stride = stride;
      const TermEffect effect = bias.effect(tile);
      bias.add(tile);
      for (std::int64_t i = 0; i < tile.queries * stride; ++i) {
        const std::int64_t query = tile.first_query + i / stride + offset;
        const std::int64_t key = tile.first_key + i % stride;
        const bool exists = query >= 0 && query < tokens && key < tokens;
        const float expected = i % stride >= tile.keys ? kUntouched
                               : exists                ? whole(query, key)
                                                       : kNothing;
        ASSERT_EQ(values[static_cast<std::size_t>(i)], expected) << query << ", " << key;
        if (i % stride >= tile.keys) continue;
        if (effect == TermEffect::none) {
          ASSERT_EQ(expected, 0);
        } else if (effect == TermEffect::hides) {
          ASSERT_EQ(expected, kNothing);
        }
      }
    }
  }
}

// backward() over random tiles that cover each pair once, of numbers g drawn at random: the flat
// gradient.
inline std::vector<double> accumulated(const ScoreTerm& bias, const Tensor<double>& g) {
  const std::int64_t heads = g.size(0), tokens = g.size(1);
  std::vector<double> gradient(static_cast<std::size_t>(bias.needs().parameters));
  std::mt19937 random(5);
  for (std::int64_t head = 0; head < heads; ++head) {
    for (std::int64_t query = 0; query < tokens;) {
      const std::int64_t queries =
          std::min(tokens - query, std::uniform_int_distribution<std::int64_t>(1, 5)(random));
      for (std::int64_t key = 0; key < tokens;) {
        const std::int64_t keys =
            std::min(tokens - key, std::uniform_int_distribution<std::int64_t>(1, 11)(random));
        const std::int64_t stride = keys + 3, offset = query;
        constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
        std::vector<double> dscores(static_cast<std::size_t>(queries * stride), kNaN);
        for (std::int64_t i = 0; i < queries; ++i) {
          for (std::int64_t j = 0; j < keys; ++j) {
            dscores[static_cast<std::size_t>(i * stride + j)] = g(head, query + i, key + j);
          }
        }
        ScoreGradient<double> tile{};
        tile.head = head;
        tile.queries = queries;
        tile.first_key = key;
        tile.keys = keys;
        tile.offset = offset;
        tile.dscores = dscores.data();
        tile.stride = stride;
        tile.parameters = gradient.data();
        bias.backward(tile);
        key += keys;
      }
      query += queries;
    }
  }
  return gradient;
}

// The descriptor's gradients are the slopes of sum(g x formula): see expect_gradients() for the
// tolerance. formula(weights, head, query, key), of token numbers.
using WeightedPairFormula = std::function<double(const SchemeWeights&, std::int64_t head,
                                                 std::int64_t query, std::int64_t key)>;
inline void expect_pair_gradients(std::string_view scheme, SchemeRequest request,
                                  const SchemeWeights& weights, const WeightedPairFormula& formula,
                                  double tolerance = 1e-6) {
  request.weights = &weights;
  const Scheme& described = find_scheme(scheme);
  const auto bias = indexed_bias_of(scheme, request);
  Tensor<double> g({request.heads, request.rows(), request.rows()});
  std::mt19937 random(9);
  for (double& value : g.span()) {
    value = static_cast<double>(std::uniform_int_distribution<>(-4, 4)(random));
  }
  const std::vector<double> flat = accumulated(*bias, g);
  const SchemeWeights gradients = described.backward(
      request, View<const double>(flat.data(), {1, static_cast<std::int64_t>(flat.size())}));
  ASSERT_EQ(gradients.size(), described.weights.size());
  SchemeWeights moved;
  for (const auto& [name, values] : weights) moved.emplace(name, values.clone());
  const auto loss = [&] {
    double sum = 0;
    for (std::int64_t head = 0; head < g.size(0); ++head) {
      for (std::int64_t query = 0; query < g.size(1); ++query) {
        for (std::int64_t key = 0; key < g.size(2); ++key) {
          sum += g(head, query, key) * formula(moved, head, query, key);
        }
      }
    }
    return sum;
  };
  expect_central_differences(moved, gradients, loss, tolerance);
}

// Ids that the tile brings along stand in for the list's: a bias made for others, told these ids,
// has the numbers of one made for them. `made_for_ids` holds one token per id.
inline void expect_ids_of_tiles(const ScoreTerm& bias, const ScoreTerm& made_for_ids,
                                const std::vector<std::int64_t>& ids) {
  const auto tokens = static_cast<std::int64_t>(ids.size());
  const Tensor<float> expected = pairs_of(made_for_ids, 0, tokens);
  for (std::int64_t first = 0; first < tokens; ++first) {
    const std::int64_t keys = tokens - first;
    Tensor<float> values({tokens, keys});
    write_term(bias,
               {.queries = tokens,
                .first_key = first,
                .keys = keys,
                .query_positions = ids.data(),
                .key_positions = ids.data() + first},
               values.data());
    for (std::int64_t query = 0; query < tokens; ++query) {
      for (std::int64_t key = 0; key < keys; ++key) {
        ASSERT_EQ(values(query, key), expected(query, first + key)) << query << ", " << key;
      }
    }
  }
}

// Ids that are no count from 0: padding to the left, two packed texts, and a gap.
inline const std::vector<std::int64_t> kOddIds = {0, 0, 0, 1, 2, 3, 4, 0, 1, 2, 30, 31, 32, 7, 5};

}  // namespace sextant::testing
