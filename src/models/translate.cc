// Beam search over the decoder: sources are encoded together and decoded together.
#include "sextant/models/translate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <string>

#include "layers/ops.h"
#include "models/embed_tokens.h"
#include "sextant/core/error.h"
#include "sextant/core/numbers.h"
#include "sextant/layers/stack_decoder.h"

namespace sextant {
namespace {

// The sources of one call of beam_search(), encoded by one model.
class Search {
 public:
  Search(Translator<float>& model, std::span<const std::vector<std::int64_t>> sources,
         const Translation& options)
      : model_(model), pass_{.memory = memory_, .threads = options.threads} {
    std::int64_t most = 1;
    segments_.push_back(0);
    for (const auto& source : sources) {
      tokens_.insert(tokens_.end(), source.begin(), source.end());
      segments_.push_back(static_cast<std::int64_t>(tokens_.size()));
      const double length = options.factor * static_cast<double>(source.size());
      lengths_.push_back(static_cast<std::int64_t>(length) + options.more);
      most = std::max(most, lengths_.back());
    }
    RandomKey key;
    const View<float> x = detail::embed_tokens(model.embedding, model.encoder_positions, tokens_,
                                               segments_, key, pass_);
    const View<const float> context =
        model.encoder
            .forward(x, {.segments = segments_, .positions = &model.encoder_positions}, pass_)
            .y;
    decoder_ = std::make_unique<StackDecoder>(model.decoder, model.decoder_positions,
                                              static_cast<std::int64_t>(sources.size()), most);
    decoder_->set_context(context, segments_, pass_);
    if (model.pointer) {
      copy_keys_ = Tensor<float>(context.shape());
      model.pointer->to_k.forward(context, copy_keys_, pass_);
    }
  }

  std::span<const std::int64_t> lengths() const { return lengths_; }

  // BeamStep: log-probabilities of what follows.
  Tensor<float> step(std::span<const std::int64_t> parents, std::span<const std::int64_t> tokens) {
    memory_.reset();
    decoder_->select(parents);
    const auto rows = static_cast<std::int64_t>(tokens.size());
    const View<const float> x = detail::embed_next<float>(
        model_.embedding, model_.decoder_positions, tokens, rows, decoder_->length(), pass_);
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

  Translator<float>& model_;
  Workspace memory_;
  Pass pass_;
  std::vector<std::int64_t> tokens_, segments_, lengths_;
  std::unique_ptr<StackDecoder> decoder_;
  Tensor<float> copy_keys_;
};

// Makes log-probabilities those of the mean of the probabilities.
void to_log_mean(Tensor<float>& first, std::span<const Tensor<float>> others) {
  const double count = 1 + static_cast<double>(others.size());
  for (std::int64_t i = 0; i < first.count(); ++i) {
    double total = std::exp(static_cast<double>(first.data()[i]));
    for (const auto& each : others) total += std::exp(static_cast<double>(each.data()[i]));
    first.data()[i] = static_cast<float>(std::log(std::max(total / count, 1e-300)));
  }
}

void check(std::span<Translator<float>* const> models,
           std::span<const std::vector<std::int64_t>> sources, const Translation& options) {
  if (models.empty()) throw Error("translate.models", "must be at least one, got none");
  const std::int64_t vocabulary = models[0]->config.vocabulary;
  for (const Translator<float>* model : models) {
    if (model->config.vocabulary == vocabulary) continue;
    throw Error("translate.models", "must have one vocabulary, got " + std::to_string(vocabulary) +
                                        " and " + std::to_string(model->config.vocabulary) +
                                        " tokens");
  }
  if (!(options.factor >= 0 && options.factor <= 1000)) {
    throw Error("translate.factor", "must be in 0 .. 1000, got " + shortest(options.factor));
  }
  if (options.more < 1 || options.more > (1 << 20)) {
    throw Error("translate.more", "must be 1 .. 1048576, got " + std::to_string(options.more));
  }
  if (options.together < 1) {
    throw Error("translate.together",
                "must be at least 1, got " + std::to_string(options.together));
  }
  for (const auto& source : sources) {
    if (source.empty()) throw Error("translate.sources", "must have a token each");
    for (const std::int64_t token : source) {
      if (token < 0 || token >= vocabulary) {
        throw Error("translate.sources", "must be 0 .. " + std::to_string(vocabulary - 1) +
                                             ", got " + std::to_string(token));
      }
    }
  }
}

}  // namespace

std::vector<std::vector<Hypothesis>> translate(std::span<Translator<float>* const> models,
                                               std::span<const std::vector<std::int64_t>> sources,
                                               const Translation& options) {
  check(models, sources, options);
  std::vector<std::vector<Hypothesis>> all;
  for (std::size_t first = 0; first < sources.size();) {
    const std::size_t count =
        std::min(sources.size() - first, static_cast<std::size_t>(options.together));
    std::vector<std::unique_ptr<Search>> searches;
    for (Translator<float>* model : models) {
      searches.push_back(std::make_unique<Search>(*model, sources.subspan(first, count), options));
    }
    auto found = beam_search(
        searches[0]->lengths(),
        [&searches](std::span<const std::int64_t> parents, std::span<const std::int64_t> tokens) {
          Tensor<float> table = searches[0]->step(parents, tokens);
          std::vector<Tensor<float>> others;
          for (std::size_t i = 1; i < searches.size(); ++i) {
            others.push_back(searches[i]->step(parents, tokens));
          }
          if (!others.empty()) to_log_mean(table, others);
          return table;
        },
        options.search);
    for (auto& hypotheses : found) all.push_back(std::move(hypotheses));
    first += count;
  }
  return all;
}

std::vector<std::vector<Hypothesis>> translate(Translator<float>& model,
                                               std::span<const std::vector<std::int64_t>> sources,
                                               const Translation& options) {
  return translate(std::array{&model}, sources, options);
}

}  // namespace sextant
