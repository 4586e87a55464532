// Decoding with one model or several, sources encoded and decoded together: by beam search, or
// along translations that are given.
#include "sextant/models/translate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numeric>
#include <string>

#include "layers/ops.h"
#include "models/embed_tokens.h"
#include "models/generation_fields.h"
#include "sextant/core/error.h"
#include "sextant/layers/stack_decoder.h"

namespace sextant {
namespace {

using Tokens = std::vector<std::int64_t>;

// Sources that are decoded together, encoded by one model.
class Decoding {
 public:
  // longest: how many tokens are read at most.
  Decoding(const Translator<float>& model, std::span<const Tokens> sources, std::int64_t longest,
           int threads)
      : model_(model), pass_{.memory = memory_, .threads = threads} {
    segments_.push_back(0);
    for (const auto& source : sources) {
      tokens_.insert(tokens_.end(), source.begin(), source.end());
      segments_.push_back(static_cast<std::int64_t>(tokens_.size()));
    }
    RandomKey key;
    const PositionTables<float> positions = model.encoder_positions.tables(segments_);
    const View<float> x =
        models::embed_tokens(model.embedding, positions, tokens_, segments_, 0, key, pass_);
    const View<const float> context =
        model.encoder.forward(x, {.segments = segments_, .positions = &positions}, pass_).y;
    decoder_ = std::make_unique<StackDecoder>(model.decoder, model.decoder_positions,
                                              static_cast<std::int64_t>(sources.size()), longest);
    decoder_->set_context(context, segments_, pass_);
    if (model.pointer) {
      copy_keys_ = Tensor<float>(context.shape());
      model.pointer->to_k.forward(context, copy_keys_, pass_);
    }
  }

  // BeamStep: log-probabilities of what follows.
  Tensor<float> step(std::span<const std::int64_t> parents, std::span<const std::int64_t> tokens) {
    memory_.reset();
    decoder_->select(parents);
    const auto rows = static_cast<std::int64_t>(tokens.size());
    const View<const float> x = models::embed_next<float>(model_.embedding, tokens, pass_);
    const View<const float> h = decoder_->read(x, pass_);
    auto logits = Tensor<float>::uninitialized({rows, model_.config.vocabulary});
    ops::linear<float>(h, model_.logits_matrix(), nullptr, logits.view(), pass_.threads);
    if (model_.pointer) {
      mix(h, logits);
    } else {
      for (std::int64_t row = 0; row < rows; ++row)
        to_log_probabilities(logits.view().narrow(0, row, 1));
    }
    return logits;
  }

  bool has_pointer() const noexcept { return model_.pointer.has_value(); }
  // The source of a row of the last step.
  std::span<const std::int64_t> source(std::int64_t row) const {
    const auto s = static_cast<std::size_t>(decoder_->sources()[static_cast<std::size_t>(row)]);
    return std::span(tokens_).subspan(static_cast<std::size_t>(segments_[s]),
                                      static_cast<std::size_t>(segments_[s + 1] - segments_[s]));
  }

 private:
  static void to_log_probabilities(View<float> row) {
    const std::span<float> values(row.data(), static_cast<std::size_t>(row.count()));
    const auto most = static_cast<double>(*std::ranges::max_element(values));
    double total = 0;
    for (const float value : values) total += std::exp(static_cast<double>(value) - most);
    const double log_total = most + std::log(total);
    for (float& value : values) value = static_cast<float>(static_cast<double>(value) - log_total);
  }

  // The pointer's mixture, source by source.
  void mix(View<const float> h, Tensor<float>& logits) {
    const auto sources = decoder_->sources();
    const auto rows = static_cast<std::int64_t>(sources.size());
    for (std::int64_t first = 0; first < rows;) {
      const std::int64_t source = sources[static_cast<std::size_t>(first)];
      std::int64_t last = first;
      while (last < rows && sources[static_cast<std::size_t>(last)] == source) ++last;
      const std::int64_t begin = segments_[static_cast<std::size_t>(source)],
                         length = segments_[static_cast<std::size_t>(source) + 1] - begin;
      model_.pointer->mix(h.narrow(0, first, last - first),
                          copy_keys_.view().narrow(0, begin, length),
                          std::span(tokens_).subspan(static_cast<std::size_t>(begin),
                                                     static_cast<std::size_t>(length)),
                          logits.view().narrow(0, first, last - first), {}, pass_);
      first = last;
    }
  }

  const Translator<float>& model_;
  Workspace memory_;
  Pass pass_;
  Tokens tokens_, segments_;
  std::unique_ptr<StackDecoder> decoder_;
  Tensor<float> copy_keys_;
};

// The same by all models: a token's probability is the mean of theirs.
class Decodings {
 public:
  Decodings(std::span<const Translator<float>* const> models, std::span<const Tokens> sources,
            std::int64_t longest, int threads) {
    for (const Translator<float>* model : models) {
      each_.push_back(std::make_unique<Decoding>(*model, sources, longest, threads));
    }
  }

  Tensor<float> step(std::span<const std::int64_t> parents, std::span<const std::int64_t> tokens) {
    Tensor<float> table = each_[0]->step(parents, tokens);
    std::vector<Tensor<float>> others;
    for (std::size_t i = 1; i < each_.size(); ++i) {
      others.push_back(each_[i]->step(parents, tokens));
    }
    if (!others.empty()) to_log_mean(table, others);
    return table;
  }

  // The same without some tokens, unless a pointer may copy them.
  Tensor<float> step_without(std::span<const std::int64_t> never,
                             std::span<const std::int64_t> parents,
                             std::span<const std::int64_t> tokens) {
    Tensor<float> table = step(parents, tokens);
    const bool copies =
        std::ranges::any_of(each_, [](const auto& one) { return one->has_pointer(); });
    for (std::int64_t row = 0; row < table.size(0); ++row) {
      const auto source = each_[0]->source(row);
      Tokens hidden(never.begin(), never.end());
      std::erase_if(hidden, [&](std::int64_t token) {
        return copies && std::ranges::count(source, token) > 0;
      });
      forbid(hidden, {&table(row, 0), static_cast<std::size_t>(table.size(1))});
    }
    return table;
  }

 private:
  // Makes log-probabilities those of the mean of the probabilities.
  static void to_log_mean(Tensor<float>& first, std::span<const Tensor<float>> others) {
    const double count = 1 + static_cast<double>(others.size());
    for (std::int64_t i = 0; i < first.count(); ++i) {
      double total = std::exp(static_cast<double>(first.data()[i]));
      for (const auto& each : others) total += std::exp(static_cast<double>(each.data()[i]));
      first.data()[i] = static_cast<float>(std::log(std::max(total / count, 1e-300)));
    }
  }

  std::vector<std::unique_ptr<Decoding>> each_;
};

// Walks along the targets, all side by side, shorter ones leaving.
LossSum loss_along(Decodings& models, std::span<const Tokens> targets,
                   const BeamSearchOptions& search) {
  LossSum sum;
  Tokens read(targets.size(), search.bos), rows(targets.size());
  std::iota(rows.begin(), rows.end(), std::int64_t{0});
  std::vector<std::size_t> places(rows.begin(), rows.end());  // whose target a row reads
  for (std::size_t length = 0; !rows.empty(); ++length) {
    const Tensor<float> table = models.step(rows, read);
    std::vector<std::size_t> stay;
    rows.clear();
    read.clear();
    for (std::size_t i = 0; i < places.size(); ++i) {
      const Tokens& target = targets[places[i]];
      const bool ends = length == target.size();
      const std::int64_t token = ends ? search.eos : target[length];
      const auto row = static_cast<std::int64_t>(i);
      const float* line = &table(row, 0);
      sum.loss -= static_cast<double>(line[token]);
      sum.correct += std::max_element(line, line + table.size(1)) - line == token ? 1 : 0;
      ++sum.tokens;
      if (ends) continue;
      rows.push_back(row);
      read.push_back(token);
      stay.push_back(places[i]);
    }
    places = std::move(stay);
  }
  sum.smoothed = sum.loss;
  return sum;
}

void check_tokens(const std::string& name, const Tokens& tokens, std::int64_t vocabulary) {
  for (const std::int64_t token : tokens) {
    if (token >= 0 && token < vocabulary) continue;
    throw Error(
        name, "must be 0 .. " + std::to_string(vocabulary - 1) + ", got " + std::to_string(token));
  }
}

// The longest sequence that all models have positions for.
std::int64_t max_length(std::span<const Translator<float>* const> models) {
  std::int64_t longest = kAnyLength;
  for (const Translator<float>* model : models) {
    longest = std::min(
        {longest, model->encoder_positions.max_length(), model->decoder_positions.max_length()});
  }
  return longest;
}

// `more`: tokens that are read besides, <bos>.
void check_length(const std::string& name, const Tokens& tokens, std::int64_t more,
                  std::int64_t longest) {
  if (std::ssize(tokens) + more <= longest) return;
  throw Error(name, "must be at most " + std::to_string(longest - more) +
                        " tokens each, where the positions of the model end, got " +
                        std::to_string(tokens.size()));
}

void check(std::span<const Translator<float>* const> models,
           std::span<const std::vector<std::int64_t>> sources, const TranslateOptions& options) {
  if (models.empty()) throw Error("translate.models", "must be at least one, got none");
  const std::int64_t vocabulary = models[0]->config.vocabulary;
  for (const Translator<float>* model : models) {
    if (model->config.vocabulary == vocabulary) continue;
    throw Error("translate.models", "must have one vocabulary, got " + std::to_string(vocabulary) +
                                        " and " + std::to_string(model->config.vocabulary) +
                                        " tokens");
  }
  check_fields("translate", options);
  const std::int64_t longest = max_length(models);
  for (const auto& source : sources) {
    if (source.empty()) throw Error("translate.sources", "must have a token each");
    check_tokens("translate.sources", source, vocabulary);
    check_length("translate.sources", source, 0, longest);
  }
}

}  // namespace

std::vector<std::vector<Hypothesis>> translate(std::span<const Translator<float>* const> models,
                                               std::span<const std::vector<std::int64_t>> sources,
                                               const TranslateOptions& options) {
  check(models, sources, options);
  const std::int64_t longest = max_length(models);
  std::vector<std::vector<Hypothesis>> all;
  for (std::size_t first = 0; first < sources.size();) {
    const auto together = sources.subspan(
        first, std::min(sources.size() - first, static_cast<std::size_t>(options.batch_size)));
    Tokens lengths;
    for (const Tokens& source : together) {
      const double length = options.length_factor * static_cast<double>(source.size());
      lengths.push_back(
          std::min(static_cast<std::int64_t>(length) + options.extra_tokens, longest));
    }
    Decodings decodings(models, together, *std::ranges::max_element(lengths), options.threads);
    auto found = beam_search(
        lengths,
        [&](std::span<const std::int64_t> parents, std::span<const std::int64_t> tokens) {
          return decodings.step_without(options.never, parents, tokens);
        },
        options.search);
    for (auto& hypotheses : found) all.push_back(std::move(hypotheses));
    first += together.size();
  }
  return all;
}

std::vector<std::vector<Hypothesis>> translate(const Translator<float>& model,
                                               std::span<const std::vector<std::int64_t>> sources,
                                               const TranslateOptions& options) {
  return translate(std::array{&model}, sources, options);
}

LossSum translation_loss(std::span<const Translator<float>* const> models,
                         std::span<const std::vector<std::int64_t>> sources,
                         std::span<const std::vector<std::int64_t>> targets,
                         const TranslateOptions& options) {
  check(models, sources, options);
  if (targets.size() != sources.size()) {
    throw Error("translation_loss.targets", "must be as many as sources, " +
                                                std::to_string(sources.size()) + ", got " +
                                                std::to_string(targets.size()));
  }
  const std::int64_t vocabulary = models[0]->config.vocabulary;
  check_tokens("translation_loss.bos", {options.search.bos}, vocabulary);
  check_tokens("translation_loss.eos", {options.search.eos}, vocabulary);
  for (const Tokens& target : targets) {
    check_tokens("translation_loss.targets", target, vocabulary);
    check_length("translation_loss.targets", target, 1, max_length(models));
  }
  LossSum sum;
  for (std::size_t first = 0; first < sources.size();) {
    const std::size_t count =
        std::min(sources.size() - first, static_cast<std::size_t>(options.batch_size));
    std::size_t longest = 0;
    for (const Tokens& target : targets.subspan(first, count)) {
      longest = std::max(longest, target.size());
    }
    Decodings decodings(models, sources.subspan(first, count),
                        static_cast<std::int64_t>(longest) + 1, options.threads);
    sum.add(loss_along(decodings, targets.subspan(first, count), options.search));
    first += count;
  }
  return sum;
}

}  // namespace sextant
