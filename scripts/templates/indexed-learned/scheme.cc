// A learned number per head for each of the first keys, and the sums that become its gradient.
#include "sextant/schemes/indexed/new_scheme.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "schemes/definition.h"
#include "schemes/indexed/position_runs.h"
#include "sextant/core/error.h"

namespace sextant {

template <>
inline constexpr auto kFields<NewScheme> = std::tuple{
    field(&NewScheme::keys, "keys", IntegerRange{1, 1 << 20}, "keys with a number of their own")};
template <>
inline constexpr auto kWeights<NewSchemeWeights> =
    std::tuple{weight(&NewSchemeWeights::table, "table", "[keys, heads]",
                      "by key; initially normal, deviation 0.02")};

namespace {

class NewSchemeBias final : public ScoreTerm {
 public:
  NewSchemeBias(const Tensor<double>& table, schemes_detail::PositionRuns ids)
      : keys_(table.size(0)), heads_(table.size(1)), ids_(std::move(ids)) {
    for (std::int64_t head = 0; head < heads_; ++head) {
      for (std::int64_t key = 0; key < keys_; ++key) {
        table_.push_back(schemes_detail::rounded_bias(table(key, head)));
      }
    }
  }

  void check(const CallExtents& call) const override {
    ids_.check_heads(call, heads_);
    ids_.check(call);
  }
  TermNeeds needs() const override { return {.parameters = heads_ * keys_}; }
  void add(const ScoreTile<float>& tile) const noexcept override {
    const auto hide = [&](std::int64_t at, std::int64_t keys) {
      std::fill_n(tile.scores + at, keys, schemes_detail::kHiddenScore);
    };
    schemes_detail::for_each_run(
        ids_, tile, tile.stride,
        [&](std::int64_t, std::int64_t key_id, std::int64_t at, std::int64_t keys) {
          for (std::int64_t j = 0; j < keys; ++j) {
            const std::int64_t id = key_id + j;
            if (has_number(id)) tile.scores[at + j] += table_[place(tile.head, id)];
          }
        },
        hide);
  }

  void backward(const ScoreGradient<double>& tile) const noexcept override {
    schemes_detail::for_each_run(
        ids_, tile, tile.stride,
        [&](std::int64_t, std::int64_t key_id, std::int64_t at, std::int64_t keys) {
          for (std::int64_t j = 0; j < keys; ++j) {
            const std::int64_t id = key_id + j;
            if (has_number(id)) tile.parameters[place(tile.head, id)] += tile.dscores[at + j];
          }
        },
        [](std::int64_t, std::int64_t) {});
  }

 private:
  bool has_number(std::int64_t id) const noexcept { return id >= 0 && id < keys_; }
  std::size_t place(std::int64_t head, std::int64_t id) const noexcept {
    return static_cast<std::size_t>(head * keys_ + id);
  }

  std::int64_t keys_, heads_;
  schemes_detail::PositionRuns ids_;
  std::vector<float> table_;  // [heads, keys]
};

void check(const NewScheme& options, const Tensor<double>& table) {
  check_fields("new_scheme", options);
  schemes_detail::check_weight("new_scheme", "table", table, {options.keys, "heads"});
}

}  // namespace

std::shared_ptr<const ScoreTerm> new_scheme(const NewScheme& options,
                                            const NewSchemeWeights& weights,
                                            std::span<const std::int64_t> positions) {
  check(options, weights.table);
  return std::make_shared<NewSchemeBias>(weights.table,
                                         schemes_detail::PositionRuns("new_scheme", positions));
}

NewSchemeWeights new_scheme_backward(const NewScheme& options, const NewSchemeWeights& weights,
                                     View<const double> gradient) {
  check(options, weights.table);
  if (gradient.shape() != Shape({1, weights.table.count()})) {
    throw Error("new_scheme.gradient", "must be [1, " + std::to_string(weights.table.count()) +
                                           "], as attention_backward() makes it, got " +
                                           gradient.shape().to_string());
  }
  NewSchemeWeights sums{Tensor<double>(weights.table.shape())};
  for (std::int64_t head = 0; head < weights.table.size(1); ++head) {
    for (std::int64_t key = 0; key < options.keys; ++key) {
      sums.table(key, head) = gradient(std::int64_t{0}, head * options.keys + key);
    }
  }
  return sums;
}

namespace descriptors {
namespace {

constexpr Definition<NewSchemeWeights, NewScheme> kDefinition = {
    .name = "new_scheme",
    .title = "title",
    .kind = SchemeKind::indexed_bias,
    .idea = "idea",
    .paper = "paper",
    .sizes = [](const auto& of) -> WeightSizes {
      return {{"table", {of.keys, of.request.heads}}};
    },
    .initial = [](const auto&, InitialWeights& to) { to.normal("table", 0.02); },
    .make = [](const auto& of, const auto& weights) -> SchemeTable {
      return new_scheme(of, weights, of.ids());
    },
    .backward = [](const auto& of, const auto& weights,
                   auto gradient) { return new_scheme_backward(of, weights, gradient); },
};

}  // namespace

constinit const Scheme kNewScheme = scheme_of<kNewScheme, kDefinition>();

}  // namespace descriptors
}  // namespace sextant
