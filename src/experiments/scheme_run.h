// One scheme of an extrapolation: measured, or trained and scored.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "experiments/extrapolation_plan.h"
#include "sextant/experiments/extrapolation_run.h"

namespace sextant {

// What all schemes have in common.
struct ExtrapolationData {
  const Tokenizer& tokenizer;
  const std::vector<std::int64_t>&tokens, &held_out;
  ScoredTokens scored;
};

class SchemeRun {
 public:
  // index: of options.schemes.
  SchemeRun(const ExtrapolationOptions& options, const ExtrapolationData& data, std::size_t index,
            const ExtrapolationObserver& observer);

  // What a step and the scores take, from a few that are not counted.
  Measured measure(const std::function<double()>& clock) const;
  // Nothing where it was stopped.
  std::optional<ExtrapolationRow> train_and_score(std::int64_t steps) const;

 private:
  LanguageTask task() const;
  void report(const ExtrapolationProgress& progress) const;

  const ExtrapolationOptions& options_;
  const ExtrapolationData& data_;
  std::size_t index_;
  const ExtrapolationScheme& scheme_;
  const ExtrapolationObserver& observer_;
};

}  // namespace sextant
