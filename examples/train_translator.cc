// Trains a small translator of dates and translates dates that were not in its training.
#include <iostream>

#include "sextant/models.h"
#include "sextant/training.h"

namespace sx = sextant;

int main() {
  const auto dates = sx::date_pairs({.count = 10000, .first_year = 2000, .last_year = 2029});
  const auto unseen = sx::date_pairs(
      {.count = 100, .set = sx::DateSet::held_out, .first_year = 2000, .last_year = 2029});
  auto data = sx::translation_data(dates, unseen, {.kind = sx::TokenizerKind::character});

  sx::TranslationTask task(data, {.width = 32, .heads = 4, .layers = 1},
                           {.batch_size = 32, .label_smoothing = 0});
  sx::train(task,
            {.steps = 1000,
             .schedule = {.decay = sx::Decay::cosine, .peak = 1e-2, .warmup = 20, .steps = 1000},
             .threads = 1});

  for (const char* date : {"Feb 23, 2017", "Wednesday, 8 November 2028", "30 Mar 2013"}) {
    std::cout << date << ": " << sx::translate(task.model(), date) << '\n';
  }
  const double share = sx::exact_match(task.model(), unseen).share();
  std::cout << "at least nine in ten are right: " << (share >= 0.9 ? "yes" : "no") << '\n';
}
