// One scheme of an extrapolation with one seed: measured, scored as it is, or trained and scored.
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
  // Nothing where it was stopped. Without training, `steps` are not used.
  std::optional<ExtrapolationRow> make_row(std::optional<TrainingStage> stage,
                                           std::int64_t steps) const;

 private:
  LanguageTask task() const;
  bool score(const LanguageModel<float>& model, ExtrapolationRow& row) const;  // false: stopped
  const ExtrapolationScheme& scheme() const { return options_.schemes[index_]; }
  void report(ExtrapolationProgress progress) const;
  bool stops() const { return options_.should_stop && options_.should_stop(); }

  ExtrapolationOptions options_;  // of the seed
  const ExtrapolationData& data_;
  std::size_t index_;
  SchemeSpecs asked_;
  const ExtrapolationObserver& observer_;
};

}  // namespace sextant
