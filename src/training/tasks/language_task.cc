// Batches of a text.
#include "sextant/training/tasks/language_task.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sextant/core/error.h"
#include "training/gradients/part_of.h"
#include "training/splitmix64.h"
#include "training/tasks/task_fields.h"

namespace sextant {
namespace {

const TaskOptions& checked(const TaskOptions& options, const StoredTokens& text) {
  check_fields("language_task", options);
  const auto enough = [&options](const char* name, std::size_t count) {
    if (count <= static_cast<std::size_t>(options.length)) {
      throw Error(name, "must have more than length = " + std::to_string(options.length) +
                            " tokens, got " + std::to_string(count));
    }
  };
  enough("language_task.tokens", text.tokens.size());
  enough("language_task.held_out", text.held_out.size());
  if (options.document_mask && text.document_ends.empty()) {
    throw Error("language_task.document_mask", "must be no for a text without documents");
  }
  return options;
}

// The first end of a document after token `place`.
std::size_t next_end(const TokenArray& ends, std::int64_t place) {
  std::size_t first = 0, count = ends.size();
  while (count > 0) {
    const std::size_t half = count / 2;
    if (ends[first + half] <= place) {
      first += half + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  return first;
}

// Hidden tokens need a token that replaces them.
TextModel with_mask(TextModel model) {
  if (model.config.kind == ModelKind::causal || model.tokenizer.special().mask >= 0) return model;
  throw Error("language_task.tokenizer",
              "must have a mask token, [MASK] or <mask>, to train a masked model");
}

}  // namespace

LanguageTask::LanguageTask(LanguageData text, TransformerConfig config, const TaskOptions& options)
    : LanguageTask({std::move(text.tokens), std::move(text.held_out)},
                   TextModel(std::move(config), std::move(text.tokenizer)), options) {}

LanguageTask::LanguageTask(StoredTokens tokens, TextModel model, const TaskOptions& options)
    : TokenTask(with_mask(std::move(model)), checked(options, tokens)),
      text_(std::move(tokens)),
      epochs_(std::max<std::int64_t>(
                  1, static_cast<std::int64_t>(text_.tokens.size()) / options_.length - 1),
              options_.seed) {}

std::int64_t LanguageTask::steps_per_epoch() const noexcept {
  return std::max<std::int64_t>(1, epochs_.count() / options_.batch_size);
}

TokenBatch LanguageTask::batch_of(const TokenArray& text, std::size_t place,
                                  std::span<const Sequence> sequences,
                                  double mask_probability) const {
  const bool causal = model_.config.kind == ModelKind::causal;
  const auto length = static_cast<std::size_t>(options_.length);
  const TokenArray& ends = text_.document_ends;
  TokenBatch batch;
  batch.segments.push_back(0);
  for (const auto& [begin, key] : sequences) {
    const auto from = static_cast<std::size_t>(begin);
    const auto number = static_cast<std::int64_t>(place + from);  // of the first token, of all
    std::size_t document = options_.document_mask ? next_end(ends, number) : ends.size();
    for (std::size_t i = 0; i < length; ++i) {
      for (; document < ends.size() && ends[document] <= number + static_cast<std::int64_t>(i);
           ++document) {
        const auto here = static_cast<std::int64_t>(batch.tokens.size());
        if (here > batch.segments.back()) batch.segments.push_back(here);
      }
      const std::int64_t token = text[from + i];
      if (causal) {
        batch.tokens.push_back(token);
        batch.targets.push_back(text[from + i + 1]);
        continue;
      }
      const bool chosen = hash_uniform(key, 3 * i) < mask_probability;
      const double how = hash_uniform(key, 3 * i + 1);
      std::int64_t shown = token;
      if (chosen && how < 0.8) shown = model_.tokenizer.special().mask;
      if (chosen && how >= 0.9) {
        shown = static_cast<std::int64_t>(splitmix64(key, 3 * i + 2) %
                                          static_cast<std::uint64_t>(model_.tokenizer.size()));
      }
      batch.tokens.push_back(shown);
      batch.targets.push_back(chosen ? token : -1);
    }
    batch.segments.push_back(static_cast<std::int64_t>(batch.tokens.size()));
  }
  return batch;
}

// Returns the smallest of the draws that batch_of() compares with the probability.
double LanguageTask::smallest_draw(std::span<const Sequence> sequences) const {
  double smallest = 1;
  for (const auto& [begin, key] : sequences) {
    for (std::int64_t i = 0; i < options_.length; ++i) {
      smallest = std::min(smallest, hash_uniform(key, static_cast<std::uint64_t>(3 * i)));
    }
  }
  return smallest;
}

std::vector<LanguageTask::Sequence> LanguageTask::sequences_of(std::int64_t step) {
  std::vector<Sequence> sequences;
  for (std::int64_t i = 0; i < options_.batch_size; ++i) {
    const std::int64_t place = step * options_.batch_size + i;
    const auto epoch = static_cast<std::uint64_t>(place / epochs_.count());
    const auto shift = static_cast<std::int64_t>(splitmix64(options_.seed ^ 0x7368696674u, epoch) %
                                                 static_cast<std::uint64_t>(options_.length));
    const std::int64_t most = static_cast<std::int64_t>(text_.tokens.size()) - options_.length - 1;
    sequences.push_back({std::min(most, epochs_(place) * options_.length + shift),
                         splitmix64(options_.seed, static_cast<std::uint64_t>(place))});
  }
  return sequences;
}

const TokenBatch& LanguageTask::whole_batch(std::int64_t step) {
  if (made_step_ == step) return made_;
  const std::vector<Sequence> sequences = sequences_of(step);
  made_step_ = -1;
  made_ = batch_of(text_.tokens, 0, sequences, options_.mask_probability);
  if (std::ranges::all_of(made_.targets, [](std::int64_t target) { return target < 0; })) {
    made_ = batch_of(text_.tokens, 0, sequences, std::nextafter(smallest_draw(sequences), 1));
  }
  made_step_ = step;
  return made_;
}

TokenBatch LanguageTask::training_batch(std::int64_t step, std::int64_t part) {
  const TokenBatch& whole = whole_batch(step);
  const auto [first, last] = part_of(options_.batch_size, part, options_.accumulation_steps);
  const std::int64_t begin = first * options_.length, end = last * options_.length;
  TokenBatch batch{.first_row = begin};
  batch.tokens.assign(whole.tokens.begin() + begin, whole.tokens.begin() + end);
  batch.targets.assign(whole.targets.begin() + begin, whole.targets.begin() + end);
  for (const std::int64_t border : whole.segments) {
    if (border >= begin && border <= end) batch.segments.push_back(border - begin);
  }
  return batch;
}

TokenBatch LanguageTask::held_out_batch(std::int64_t first, std::int64_t count) const {
  std::vector<Sequence> sequences;
  for (std::int64_t i = first; i < first + count; ++i) {
    sequences.push_back({i * options_.length, splitmix64(0, static_cast<std::uint64_t>(i))});
  }
  return batch_of(text_.held_out, text_.tokens.size(), sequences, options_.mask_probability);
}

std::int64_t LanguageTask::target_tokens(std::int64_t step) {
  return std::ranges::count_if(whole_batch(step).targets,
                               [](std::int64_t target) { return target >= 0; });
}

std::int64_t LanguageTask::held_out_count() const noexcept {
  return (static_cast<std::int64_t>(text_.held_out.size()) - 1) / options_.length;
}

}  // namespace sextant
