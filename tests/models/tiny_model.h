// A model small enough for differences, and the check of all its gradients by them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>

#include "layers/gradient_checks.h"
#include "sextant/models/language_model.h"
#include "sextant/models/translator.h"

namespace sextant {

inline TransformerConfig tiny(ModelKind kind) {
  TransformerConfig config;
  config.kind = kind;
  config.vocabulary = 11;
  config.width = 8;
  config.heads = 2;
  config.layers = 1;
  config.ffn_width = 12;
  config.length = 8;
  return config;
}

inline TokenBatch two_sentences() {
  return {{1, 4, 6, 3, 5, 1, 7}, {0, 5, 7}, {4, 6, -1, 5, 2, 7, 2}};
}

template <class Model, class Batch>
void expect_model_gradients(const TransformerConfig& config, const Batch& batch) {
  Model model(config), gradient = zeros_like(model);
  // Positions as large as words: where a word is hidden, the norm of a tiny row would be too curved
  // for differences.
  for (const auto& parameter : model.parameters()) {
    if (!parameter.name.ends_with(".table")) continue;
    for (double& value : parameter.tensor->span()) value *= 50;
  }
  Workspace memory;
  const TokenLossOptions options{.label_smoothing = 0.1, .scale = 0.5};
  const auto make_pass = [&] {
    return Pass{.memory = memory,
                .threads = 1,
                .dropout = 0.1,
                .random = {.seed = 9},
                .word_dropout = 0.3,
                .attention_dropout = 0.2};
  };
  const auto loss = [&] {
    memory.reset();
    Pass pass = make_pass();
    return options.scale * model.loss(batch, options, nullptr, pass).smoothed;
  };
  Pass pass = make_pass();
  model.loss(batch, options, &gradient, pass);
  expect_gradients(model.parameters(), gradient.parameters(), loss, 6);
}

}  // namespace sextant
