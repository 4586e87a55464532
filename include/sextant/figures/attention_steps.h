// The steps of attention as pictures and JSON.
#pragma once

#include <cstdint>
#include <string>

#include "sextant/figures/figure.h"
#include "sextant/lessons/attention_steps.h"

namespace sextant::figures {

// A step of all heads, or of one: maps of pairs, or vectors of words, a panel per head. `values`
// are the rows of all panels, one below the other. No wider than `max_width` pixels, 280 or more.
// Throws Error naming figure.head for a head that is not there.
Figure plot_step(const AttentionSteps& steps, AttentionStep step,
                 const SentenceAttentionOptions& options, std::int64_t head = -1,
                 double max_width = 950);

// The table of a step, of one head where it has heads and `head` is one; -1: all.
View<const double> step_table(const AttentionSteps& steps, AttentionStep step,
                              std::int64_t head = -1);

// What was asked for, and every step by its name.
std::string steps_json(const AttentionSteps& steps, const SentenceAttentionOptions& options,
                       std::int64_t head = -1);

}  // namespace sextant::figures
