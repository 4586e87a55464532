// One scheme of an extrapolation with one seed: measured, or trained and scored.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "experiments/extrapolation_plan.h"
#include "sextant/experiments/extrapolation_run.h"

namespace sextant {

// The data that all schemes share.
struct ExtrapolationData {
  const Tokenizer& tokenizer;
  const std::vector<std::int64_t>&tokens, &held_out;
  ScoredTokens scored;
};

class SchemeRun {
 public:
  // index: of options.schemes; seed: 0 .. options.seeds - 1.
  SchemeRun(const ExtrapolationOptions& options, const ExtrapolationData& data, std::size_t index,
            std::int64_t seed, const ExtrapolationObserver& observer);
  SchemeRun(const SchemeRun&) = delete;  // its training calls should_stop of its options

  // Measures the time of a step and of the scores, after a few uncounted ones.
  Measured measure(const std::function<double()>& clock) const;
  // Nothing where it was stopped.
  std::optional<ExtrapolationRow> train_and_score(std::int64_t steps) const;

 private:
  LanguageTask task() const;
  const ExtrapolationScheme& scheme() const { return options_.schemes[index_]; }
  void report(ExtrapolationProgress progress) const;

  ExtrapolationOptions options_;  // of the seed
  const ExtrapolationData& data_;
  std::size_t index_;
  SchemeSpecs asked_;
  const ExtrapolationObserver& observer_;
};

}  // namespace sextant
