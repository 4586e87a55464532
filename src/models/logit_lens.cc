// Each layer's predictions: its logits as probabilities, the largest first.
#include "sextant/models/logit_lens.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "models/generation_fields.h"
#include "sextant/core/error.h"
#include "sextant/models/sampling.h"
#include "sextant/models/translate_lines.h"

namespace sextant {
namespace {

using Tokens = std::vector<std::int64_t>;

Tokens checked(Tokens tokens, const char* where, std::size_t least) {
  if (tokens.size() < least || tokens.size() > kMaxLensTokens) {
    throw Error(where, "must be " + std::to_string(least) + " .. " +
                           std::to_string(kMaxLensTokens) + " tokens, got " +
                           std::to_string(tokens.size()));
  }
  return tokens;
}

LogitLens lens_of(const std::vector<Tensor<float>>& layers, Tokens read, Tokens next,
                  std::int64_t count) {
  LogitLens result;
  for (const Tensor<float>& logits : layers) {
    auto& predictions = result.predictions.emplace_back();
    auto& of_next = result.next_probability.emplace_back();
    for (std::int64_t row = 0; row < logits.size(0); ++row) {
      const std::span<const float> line(&logits(row, 0), static_cast<std::size_t>(logits.size(1)));
      predictions.push_back(most_probable(line, count));
      const std::int64_t token = next[static_cast<std::size_t>(row)];
      of_next.push_back(token < 0 ? 0
                                  : token_probabilities(line, {})[static_cast<std::size_t>(token)]);
    }
  }
  result.read = std::move(read);
  result.next = std::move(next);
  return result;
}

}  // namespace

std::vector<TokenProbability> most_probable(std::span<const float> logits, std::int64_t count) {
  if (count < 1) {
    throw Error("most_probable.count", "must be at least 1, got " + std::to_string(count));
  }
  const std::vector<double> probabilities = token_probabilities(logits, {});
  Tokens order(probabilities.size());
  std::iota(order.begin(), order.end(), std::int64_t{0});
  const auto end = order.begin() + std::min<std::ptrdiff_t>(count, std::ssize(order));
  const auto of = [&](std::int64_t token) {
    return probabilities[static_cast<std::size_t>(token)];
  };
  std::partial_sort(order.begin(), end, order.end(), [&](std::int64_t a, std::int64_t b) {
    return of(a) != of(b) ? of(a) > of(b) : a < b;
  });
  std::vector<TokenProbability> predictions;
  for (auto token = order.begin(); token != end; ++token)
    predictions.push_back({*token, of(*token)});
  return predictions;
}

std::string layer_name(std::size_t layer) {
  return layer == 0 ? "embedding" : "layer " + std::to_string(layer - 1);
}

LogitLens logit_lens(const TextModel& model, std::string_view text,
                     const LogitLensOptions& options) {
  check_fields("logit_lens", options);
  Tokens read = checked(model.tokenizer.model_input(text).ids, "logit_lens.text", 1), next = read;
  if (model.config.kind == ModelKind::causal) {
    next.erase(next.begin());
    next.push_back(-1);
  }
  Workspace memory;
  Pass pass{.memory = memory, .threads = options.threads};
  const auto layers = model.layer_logits(read, pass);
  return lens_of(layers, std::move(read), std::move(next), options.top_k);
}

LogitLens logit_lens(const TextTranslator& model, std::string_view source,
                     const std::optional<std::string>& target, const LogitLensOptions& options) {
  check_fields("logit_lens", options);
  const std::vector<Tokens> sources = {
      checked(source_tokens(model.tokenizer, source), "logit_lens.text", 1)};
  const Tokens made =
      target
          ? checked(model.tokenizer.encode(*target), "logit_lens.target", 0)
          : translate(model, sources, for_text(model, {.threads = options.threads}))[0][0].tokens;
  Tokens read = model.decoder_input(made), next(read.begin() + 1, read.end());
  next.push_back(model.config.target_end);
  Workspace memory;
  Pass pass{.memory = memory, .threads = options.threads};
  const auto layers = model.layer_logits(sources[0], read, pass);
  return lens_of(layers, std::move(read), std::move(next), options.top_k);
}

}  // namespace sextant
