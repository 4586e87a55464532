// Draws the steps of attention and writes them as JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sextant/figures/figure.h"
#include "sextant/lessons/attention_steps.h"

namespace sextant::figures {

// Draws a step of all heads, or of one: maps of pairs, or vectors of words, a panel per head.
// `values` are the rows of all panels, one below the other. No wider than `max_width` pixels, 280
// or more. Throws an Error with figure.head for a head that does not exist.
Figure plot_step(const AttentionSteps& steps, AttentionStep step,
                 const SentenceAttentionOptions& options, std::int64_t head = -1,
                 std::optional<double> max_width = {});

// Returns the table of a step, of one head if it has heads; `head` -1: all.
View<const double> step_table(const AttentionSteps& steps, AttentionStep step,
                              std::int64_t head = -1);

// Returns the options and every step by its name.
std::string steps_json(const AttentionSteps& steps, const SentenceAttentionOptions& options,
                       std::int64_t head = -1);

}  // namespace sextant::figures
