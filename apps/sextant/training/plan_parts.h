// The parts of a training plan whose fields are options of `sextant train`.
#pragma once

#include <span>
#include <vector>

#include "options/field_options.h"
#include "sextant/training/tasks/training_plan.h"
#include "training/tasks/plan_words.h"

namespace sextant::app {

template <class Options>
struct PlanPart {
  const char* group;
  std::span<const Wording> words;
  Options& (*of)(TrainingPlan&);

  // What each kind of training starts from.
  std::vector<Defaults<Options>> defaults() const {
    std::vector<Defaults<Options>> all;
    for (const char* kind : kTrainingKinds) {
      TrainingPlan plan = default_plan(kind);
      all.push_back({kind, of(plan)});
    }
    return all;
  }
};

// f(part) for each, in the order of help.
template <class F>
void each_part(const F& f) {
  using Plan = TrainingPlan;
  f(PlanPart<TrainingSettings>{
      kData, kSettingsWords, [](Plan & plan) -> auto& { return plan.settings;
}
}  // namespace sextant::app
);
  f(PlanPart<TokenizerTraining>{
      kData, kTokenizerWords, [](Plan & plan) -> auto& { return plan.settings.tokenizer;
  }
  });
  f(PlanPart<TransformerConfig>{
      kModel, kModelWords, [](Plan & plan) -> auto& { return plan.settings.model;
  }
  });
  f(PlanPart<TrainerOptions>{
      kSteps, kTrainerWords, [](Plan & plan) -> auto& { return plan.trainer;
  }
  });
  f(PlanPart<Schedule>{
      kSteps, kScheduleWords, [](Plan & plan) -> auto& { return plan.trainer.schedule;
  }
  });
  f(PlanPart<AdamWOptions>{
      kSteps, kOptimiserWords, [](Plan & plan) -> auto& { return plan.trainer.optimiser;
  }
  });
  }

  }  // namespace sextant::app
