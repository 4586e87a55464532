// Texts are packed into passes; their states become one vector each.
#include "sextant/hub/sentence_vectors.h"

#include <algorithm>
#include <cmath>

#include "core/options/enum_names.h"
#include "sextant/core/error.h"
#include "sextant/text/segment.h"

namespace sextant {
namespace {

// At most `most` ids; the special tokens after the text stay.
bool cut(std::vector<std::int64_t>& ids, std::int64_t most, const Tokenizer& tokenizer,
         std::string_view text) {
  if (std::ssize(ids) <= most) return false;
  const auto plain = tokenizer.encode(text);
  const auto found = std::search(ids.begin(), ids.end(), plain.begin(), plain.end());
  const std::int64_t after = ids.end() - found - std::ssize(plain);
  ids.erase(ids.end() - after - (std::ssize(ids) - most), ids.end() - after);
  return true;
}

// One vector of [tokens, width].
void pool(View<const float> states, const SentenceOptions& options, float* to) {
  const std::int64_t tokens = states.size(0), width = states.size(1);
  std::vector<double> sum(static_cast<std::size_t>(width));
  for (std::int64_t c = 0; c < width; ++c) {
    double& x = sum[static_cast<std::size_t>(c)];
    switch (options.pooling) {
      case Pooling::mean:
        for (std::int64_t i = 0; i < tokens; ++i) x += states(i, c);
        x /= static_cast<double>(tokens);
        break;
      case Pooling::first:
        x = states(0, c);
        break;
      case Pooling::last:
        x = states(tokens - 1, c);
        break;
      case Pooling::max:
        x = states(0, c);
        for (std::int64_t i = 1; i < tokens; ++i) x = std::max<double>(x, states(i, c));
        break;
    }
  }
  double length = 1;
  if (options.normalize) {
    double squares = 0;
    for (const double x : sum) squares += x * x;
    length = squares > 0 ? std::sqrt(squares) : 1;
  }
  for (const double x : sum) *to++ = static_cast<float>(x / length);
}

}  // namespace

std::string_view name_of(Pooling pooling) noexcept {
  return enum_name(pooling, {"mean", "first", "last", "max"});
}

SentenceVectors sentence_vectors(const TextModel& model, std::span<const std::string> texts,
                                 const SentenceOptions& options) {
  if (texts.empty()) throw Error("sentence_vectors.texts", "must be one or more, got none");
  check_named("sentence_vectors.pooling", options.pooling);
  const std::int64_t end = model.positions.max_length();
  const std::int64_t most = options.max_tokens > 0 ? std::min(options.max_tokens, end) : end;
  const std::int64_t width = model.config.width;
  SentenceVectors made{.max_tokens = most};
  made.vectors = Tensor<float>::uninitialized({std::ssize(texts), width});
  Workspace memory;
  Pass pass{.memory = memory, .threads = options.threads};
  TokenBatch batch{{}, {0}, {}};
  float* to = made.vectors.data();
  const auto finish = [&] {
    batch.targets.assign(batch.tokens.size(), -1);
    memory.reset();
    const Tensor<float> states = model.last_hidden_states(batch, pass);
    for (std::size_t i = 0; i + 1 < batch.segments.size(); ++i, to += width) {
      const std::int64_t first = batch.segments[i];
      pool(states.view().narrow(0, first, batch.segments[i + 1] - first), options, to);
    }
    batch = {{}, {0}, {}};
  };
  for (const std::string& given : texts) {
    const std::string text = options.lower_case ? lower_case(given) : given;
    auto ids = model.tokenizer.model_input(text).ids;
    if (ids.empty()) {
      throw Error("sentence_vectors.texts", "must have at least one token each, got none in text " +
                                                std::to_string(&given - texts.data()));
    }
    made.cut += cut(ids, most, model.tokenizer, text);
    batch.tokens.insert(batch.tokens.end(), ids.begin(), ids.end());
    batch.segments.push_back(std::ssize(batch.tokens));
    if (std::ssize(batch.tokens) >= options.batch_tokens) finish();
  }
  if (!batch.tokens.empty()) finish();
  return made;
}

}  // namespace sextant
