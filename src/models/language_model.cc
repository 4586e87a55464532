// Language models: batches through embedding, stack and loss, and back.
#include "sextant/models/language_model.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "layers/attend.h"
#include "layers/ops.h"
#include "models/embed_tokens.h"
#include "sextant/core/error.h"

namespace sextant {
namespace {

TransformerConfig checked(const TransformerConfig& config) {
  check_config(config);
  if (config.kind == ModelKind::translator) {
    throw Error("transformer.kind", "must be causal or masked for a language model");
  }
  return config;
}

// What is here of an array with an element per token of the batch.
std::vector<std::int64_t> rows_of(const std::vector<std::int64_t>& all,
                                  std::span<const RowRange> rows) {
  if (rows.empty()) return all;
  std::vector<std::int64_t> here;
  for (const auto& [first, count] : rows) {
    here.insert(here.end(), all.begin() + first, all.begin() + first + count);
  }
  return here;
}

TokenBatch one_sequence(std::span<const std::int64_t> tokens) {
  TokenBatch batch;
  batch.tokens.assign(tokens.begin(), tokens.end());
  batch.segments = {0, static_cast<std::int64_t>(tokens.size())};
  batch.targets.assign(tokens.size(), -1);
  return batch;
}

}  // namespace

void TokenBatch::check(std::int64_t vocabulary) const {
  const auto count = static_cast<std::int64_t>(tokens.size());
  if (segments.empty() || segments.front() != 0 || segments.back() != count ||
      !std::is_sorted(segments.begin(), segments.end())) {
    throw Error("batch.segments",
                "must rise from 0 to the number of tokens, " + std::to_string(count));
  }
  if (targets.size() != tokens.size()) {
    throw Error("batch.targets", "must be one per token, " + std::to_string(count) + ", got " +
                                     std::to_string(targets.size()));
  }
  for (const std::int64_t token : tokens) {
    if (token < 0 || token >= vocabulary) {
      throw Error("batch.tokens", "must be 0 .. " + std::to_string(vocabulary - 1) + ", got " +
                                      std::to_string(token));
    }
  }
}

template <class T>
LanguageModel<T>::LanguageModel(const TransformerConfig& given)
    : config(checked(given)),
      embedding([&] {
        NumpyRandom random(config.seed);
        return Embedding<T>::random(config.vocabulary, config.width, random);
      }()),
      positions(config.position_options()),
      stack([&] {
        NumpyRandom random(config.seed + 1);
        return TransformerStack<T>(config.stack(config.kind == ModelKind::masked), random);
      }()) {
  config.positions = positions.options().schemes;  // what is in the weights now is not
  if (config.tied) return;
  NumpyRandom random(config.seed + 2);
  output = std::move(Linear<T>::glorot(config.width, config.vocabulary, random, false).weight);
}

template <class T>
View<const T> LanguageModel<T>::logits_matrix() const {
  return config.tied ? embedding.table().view() : output.view();
}

template <class T>
typename LanguageModel<T>::Forward LanguageModel<T>::forward(const TokenBatch& batch,
                                                             Pass& pass) const {
  batch.check(config.vocabulary);
  Forward run;
  run.positions = std::make_unique<PositionTables<T>>(positions.tables(batch.segments));
  if constexpr (!std::is_same_v<T, float>) layers::check_whole(pass, "language_model.batch");
  if (pass.divided != nullptr) {
    run.rows = pass.divided->rows(static_cast<std::int64_t>(batch.tokens.size()));
  }
  run.tokens = rows_of(batch.tokens, run.rows);
  run.x = models::embed_tokens(embedding, *run.positions, run.tokens, batch.segments,
                               batch.first_row, run.key, pass, run.rows);
  run.stack =
      stack.forward(run.x, {.segments = batch.segments, .positions = run.positions.get()}, pass);
  return run;
}

template <class T>
LossSum LanguageModel<T>::loss(const TokenBatch& batch, const TokenLossOptions& options,
                               LanguageModel* gradient, Pass& pass) const {
  const auto mark = pass.memory.mark();
  const Forward run = forward(batch, pass);
  View<T> d, dmatrix;
  if (gradient != nullptr) {
    d = pass.memory.take<T>(run.x.shape());
    dmatrix = config.tied ? gradient->embedding.table().view() : gradient->output.view();
  }
  const LossSum sum = token_loss<T>(run.stack.y, logits_matrix(), rows_of(batch.targets, run.rows),
                                    options, d, dmatrix, pass);
  if (gradient != nullptr) {
    stack.backward(run.stack, d, {}, gradient->stack, &gradient->positions, pass);
    models::embed_tokens_gradient<T>(embedding, *run.positions, run.tokens, batch.segments, run.key,
                                     d, gradient->embedding, gradient->positions, pass);
  }
  pass.memory.release(mark);
  return sum;
}

template <class T>
Tensor<double> LanguageModel<T>::log_likelihoods(const TokenBatch& batch, Pass& pass) const {
  layers::check_whole(pass, "log_likelihoods.batch");
  const auto mark = pass.memory.mark();
  const Forward run = forward(batch, pass);
  Tensor<double> result =
      token_log_likelihoods<T>(run.stack.y, logits_matrix(), batch.targets, pass);
  pass.memory.release(mark);
  return result;
}

template <class T>
Tensor<T> LanguageModel<T>::logits(const TokenBatch& batch, std::span<const std::int64_t> places,
                                   Pass& pass) const {
  layers::check_whole(pass, "logits.batch");
  const auto mark = pass.memory.mark();
  const auto count = static_cast<std::int64_t>(batch.tokens.size());
  for (const std::int64_t place : places) {
    if (place < 0 || place >= count) {
      throw Error("logits.places",
                  "must be 0 .. " + std::to_string(count - 1) + ", got " + std::to_string(place));
    }
  }
  const Forward run = forward(batch, pass);
  auto result =
      Tensor<T>::uninitialized({static_cast<std::int64_t>(places.size()), config.vocabulary});
  for (std::size_t i = 0; i < places.size(); ++i) {
    ops::linear<T>(run.stack.y.narrow(0, places[i], 1), logits_matrix(), nullptr,
                   result.view().narrow(0, static_cast<std::int64_t>(i), 1), pass.threads);
  }
  pass.memory.release(mark);
  return result;
}

template <class T>
std::vector<Tensor<T>> LanguageModel<T>::layer_logits(std::span<const std::int64_t> tokens,
                                                      Pass& pass) const {
  layers::check_whole(pass, "layer_logits.tokens");
  const auto mark = pass.memory.mark();
  const TokenBatch batch = one_sequence(tokens);  // what is kept looks at its segments
  const Forward run = forward(batch, pass);
  std::vector<View<const T>> streams = {run.x};
  streams.insert(streams.end(), run.stack.residual.begin(), run.stack.residual.end());
  std::vector<Tensor<T>> result;
  for (const View<const T>& x : streams) {
    result.push_back(Tensor<T>::uninitialized({x.size(0), config.vocabulary}));
    ops::linear<T>(stack.ended(x, pass), logits_matrix(), nullptr, result.back().view(),
                   pass.threads);
  }
  pass.memory.release(mark);
  return result;
}

template <class T>
void LanguageModel<T>::remove_positions() {
  config.positions = {"none"};
  positions = SchemePositions<T>(config.position_options());
}

template <class T>
std::vector<Tensor<T>> LanguageModel<T>::attention_maps(std::span<const std::int64_t> tokens,
                                                        Pass& pass) const {
  layers::check_whole(pass, "attention_maps.tokens");
  const auto mark = pass.memory.mark();
  const TokenBatch batch = one_sequence(tokens);  // what is kept looks at its segments
  const Forward run = forward(batch, pass);
  std::vector<Tensor<T>> maps;
  for (std::size_t i = 0; i < stack.layers.size(); ++i) {
    maps.push_back(stack.layers[i].self.weights(run.stack.layers[i].self.inner, 0));
  }
  pass.memory.release(mark);
  return maps;
}

template <class T>
Parameters<T> LanguageModel<T>::parameters() {
  Parameters<T> list;
  embedding.append_parameters(list, "embedding.");
  positions.append_parameters(list, "positions.");
  stack.append_parameters(list, "stack.");
  if (!config.tied) list.push_back({"output.weight", &output, true});
  return list;
}

template <class T>
Parameters<const T> LanguageModel<T>::parameters() const {
  return for_reading(const_cast<LanguageModel*>(this)->parameters());
}

template struct LanguageModel<float>;
template struct LanguageModel<double>;

}  // namespace sextant
