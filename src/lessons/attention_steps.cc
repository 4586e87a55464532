// Attention step by step.
#include "sextant/lessons/attention_steps.h"

#include <cmath>
#include <utility>

#include "core/options/enum_names.h"
#include "lessons/sentence_model.h"
#include "lessons/views.h"

namespace sextant {

using namespace lessons;

namespace {

// [length, width] -> [heads, length, head_dim].
Tensor<double> by_head(const Tensor<double>& rows, std::int64_t heads) {
  return copy_of(as_heads(rows.view(), heads).select(0, 0));
}

Tensor<double> difference(const Tensor<double>& a, const Tensor<double>& b) {
  Tensor<double> result = a.clone();
  for (std::int64_t i = 0; i < result.count(); ++i) result.data()[i] -= b.data()[i];
  return result;
}

// The weights and, as the last column, the bias of a map.
Tensor<double> with_bias(const Linear<double>& map) {
  const std::int64_t out = map.weight.size(0), in = map.weight.size(1);
  Tensor<double> matrix({out, in + 1});
  for (std::int64_t row = 0; row < out; ++row) {
    for (std::int64_t i = 0; i < in; ++i) matrix(row, i) = map.weight(row, i);
    matrix(row, in) = map.bias.data()[row];
  }
  return matrix;
}

// The scores that the softmax would get of this scheme alone, less those without positions.
Tensor<double> from_positions(const SentenceModel& model, const SentenceAttentionOptions& asked) {
  AttentionOptions<double> with = model.options;
  with.window = {};
  with.mask = {};
  with.sinks = {};
  with.softcap = 0;
  AttentionOptions<double> without;
  without.causal = with.causal;
  without.scale = 1 / std::sqrt(static_cast<double>(model.head_dim())) / asked.temperature;
  const Tensor<double> q = model.model.to_q(model.queries.embeddings),
                       k = model.model.to_k(model.keys.embeddings);
  const auto scores = [&](const Tensor<double>& queries, const Tensor<double>& keys,
                          const AttentionOptions<double>& options, Stage stage) {
    const Tensor<double> all =
        attention_weights<double>(as_heads(queries.view(), model.heads()),
                                  as_heads(keys.view(), model.heads()), options, {.stage = stage});
    return copy_of(all.view().select(0, 0));
  };
  return difference(scores(model.rotated_q, model.rotated_k, with, Stage::biased),
                    scores(q, k, without, Stage::scores));
}

}  // namespace

std::string_view name_of(AttentionStep step) noexcept {
  return enum_name(step, {"embeddings",    "positions",  "inputs",  "key_embeddings",
                          "key_positions", "key_inputs", "w_q",     "w_k",
                          "w_v",           "q",          "k",       "v",
                          "rotated_q",     "rotated_k",  "scores",  "from_positions",
                          "capped",        "biased",     "weights", "mixed",
                          "w_out",         "output"});
}

std::string_view meaning_of(AttentionStep step) noexcept {
  return enum_name(
      step, {"one vector per word; the same word has the same vector at every place",
             "the vectors that the scheme adds",
             "words and positions added up",
             "one vector per word of the keys",
             "the vectors that the scheme adds to those of the keys",
             "words and positions of the keys added up",
             "the matrix that computes q from an input: a row per channel of q, the bias last",
             "the matrix that computes k from an input",
             "the matrix that computes v from an input",
             "the query of each word: its input times W_q, in the channels of each head",
             "the key of each word: its input times W_k",
             "the value of each word: its input times W_v",
             "q after the rotation by its position",
             "k after the rotation by its position",
             "how well each q matches each k: their dot product, scaled",
             "the change of the scores by the scheme",
             "scores after the softcap",
             "scores after biases and masks: the input of the softmax",
             "after the softmax: shares of attention",
             "weights times v, of each head",
             "the matrix that turns the heads into one vector",
             "the heads side by side times W_out: the output of attention"});
}

AttentionSteps attention_steps(const std::vector<std::string>& first,
                               const std::vector<std::string>& second,
                               const SentenceAttentionOptions& options) {
  SentenceModel model(first, second, options);
  AttentionSteps result;
  result.tables.resize(kAttentionSteps);
  const auto set = [&result](AttentionStep step, Tensor<double> table) {
    result.tables[static_cast<std::size_t>(step)] = std::move(table);
  };
  const std::int64_t heads = model.heads();
  set(AttentionStep::from_positions, from_positions(model, options));
  set(AttentionStep::q, by_head(model.q, heads));
  set(AttentionStep::k, by_head(model.k, heads));
  set(AttentionStep::v, by_head(model.v, heads));
  set(AttentionStep::rotated_q, by_head(model.rotated_q, heads));
  set(AttentionStep::rotated_k, by_head(model.rotated_k, heads));
  set(AttentionStep::scores, model.maps(Stage::scores));
  set(AttentionStep::capped, model.maps(Stage::capped));
  set(AttentionStep::biased, model.maps(Stage::biased));
  set(AttentionStep::weights, model.maps(Stage::probabilities));
  const Tensor<double> mixed = model.mixed();
  set(AttentionStep::mixed, by_head(mixed, heads));
  set(AttentionStep::output, model.model.to_out(mixed));
  set(AttentionStep::positions, difference(model.queries.inputs, model.queries.embeddings));
  set(AttentionStep::key_positions, difference(model.keys.inputs, model.keys.embeddings));
  set(AttentionStep::embeddings, std::move(model.queries.embeddings));
  set(AttentionStep::key_embeddings, std::move(model.keys.embeddings));
  set(AttentionStep::inputs, std::move(model.queries.inputs));
  set(AttentionStep::key_inputs, std::move(model.keys.inputs));
  set(AttentionStep::w_q, with_bias(model.model.to_q));
  set(AttentionStep::w_k, with_bias(model.model.to_k));
  set(AttentionStep::w_v, with_bias(model.model.to_v));
  set(AttentionStep::w_out, with_bias(model.model.to_out));
  result.queries = std::move(model.queries.tokens);
  result.keys = std::move(model.keys.tokens);
  return result;
}

}  // namespace sextant
