// A model's row with its own positions, then one for each scheme in their place.
#include "sextant/experiments/exchange_positions.h"

#include <string>
#include <utility>

#include "experiments/extrapolation_fields.h"
#include "experiments/extrapolation_plan.h"
#include "sextant/core/error.h"

namespace sextant {
namespace {

// Takes the model's own positions, and gives them back.
class OwnPositions {
 public:
  explicit OwnPositions(LanguageModel<float>& model)
      : model_(model),
        config_(model.config),
        kinds_(model.stack.options.kinds),
        positions_(std::move(model.positions)) {}
  OwnPositions(const OwnPositions&) = delete;
  OwnPositions& operator=(const OwnPositions&) = delete;
  ~OwnPositions() {
    model_.config = std::move(config_);
    model_.stack.options.kinds = std::move(kinds_);
    model_.positions = std::move(positions_);
  }

 private:
  LanguageModel<float>& model_;
  TransformerConfig config_;
  decltype(StackOptions::kinds) kinds_;
  PositionModule<float> positions_;
};

void check(const ExtrapolationOptions& options) {
  check_fields("extrapolation", options);
  check_lengths(options,
                [](std::string_view name) { return "extrapolation." + std::string(name); });
  for (const ExtrapolationScheme& each : options.schemes) {
    check_replacement(each.schemes, "extrapolation.schemes");
  }
}

}  // namespace

ExtrapolationResult exchange_positions(LanguageModel<float>& model,
                                       std::span<const std::int64_t> tokens,
                                       const ExtrapolationOptions& options,
                                       const ExtrapolationObserver& observer) {
  check(options);
  ExtrapolationResult result;
  ExtrapolationTable& table = result.table;
  table = {.train_length = model.config.length,
           .steps = 0,
           .stride = options.stride,
           .scored = scored_tokens(std::ssize(tokens), options.test_lengths.back(), options.scored),
           .lengths = options.test_lengths};
  const auto score = [&](std::string label, std::size_t scheme) {
    ExtrapolationRow row{.label = std::move(label), .schemes = model.config.schemes};
    const ScoringOptions scoring{.threads = options.threads};
    for (const std::int64_t length : options.test_lengths) {
      for (const bool slides : {false, true}) {
        if (options.should_stop && options.should_stop()) return false;
        if (observer) observer({.scheme = scheme, .doing = "scoring", .length = length});
        (slides ? row.sliding : row.segments)
            .push_back(slides ? sliding_perplexity(model, tokens, table.scored, length,
                                                   options.stride, scoring)
                              : segment_perplexity(model, tokens, table.scored, length, scoring));
      }
    }
    table.rows.push_back(std::move(row));
    return true;
  };
  result.stopped = !score(label_of(model.config.schemes) + ", its own", 0);
  const OwnPositions own(model);
  for (std::size_t i = 0; i < options.schemes.size() && !result.stopped; ++i) {
    model.replace_schemes(options.schemes[i].schemes);
    result.stopped = !score(options.schemes[i].label, i + 1);
  }
  return result;
}

}  // namespace sextant
