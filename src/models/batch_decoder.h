// Sources that are decoded together, by one translator or by several.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "layers/plain_ops.h"
#include "models/stack_pass.h"
#include "sextant/layers/stack_decoder.h"
#include "sextant/models/translate.h"

namespace sextant::models {

class BatchDecoder {
  using Tokens = std::vector<std::int64_t>;

 public:
  // before: the first input of each decoder; longest: the largest number of tokens that it reads
  // after that.
  BatchDecoder(const TranslatorEnsemble& ensemble, std::span<const Tokens> sources, Tokens before,
               std::int64_t longest, int threads)
      : pass_{.memory = memory_, .threads = threads}, before_(std::move(before)) {
    segments_.push_back(0);
    for (const Tokens& source : sources) {
      tokens_.insert(tokens_.end(), source.begin(), source.end());
      segments_.push_back(static_cast<std::int64_t>(tokens_.size()));
    }
    for (const Translator<float>* model : ensemble.models) {
      memory_.reset();
      const View<const float> context =
          infer<float>({model->embedding, model->config.embedding_factor(),
                        model->encoder_positions, model->encoder},
                       {tokens_, segments_}, pass_);
      Member& member =
          members_.emplace_back(Member{*model,
                                       {model->decoder, model->decoder_positions,
                                        std::ssize(sources), longest + std::ssize(before_)}});
      member.decoder.set_context(context, segments_, pass_);
      if (model->pointer) member.copy_keys = copy_of(model->pointer->keys(context, pass_));
    }
  }

  // As BeamStep: returns log-probabilities of the next token, without some tokens unless a pointer
  // may copy them.
  Tensor<float> step(std::span<const std::int64_t> parents, std::span<const std::int64_t> tokens,
                     std::span<const std::int64_t> never = {}) {
    std::vector<Tensor<float>> tables;
    for (Member& member : members_) tables.push_back(step_of(member, parents, tokens));
    if (tables.size() > 1) to_log_mean(tables);
    Tensor<float>& table = tables[0];
    const bool copies = std::ranges::any_of(
        members_, [](const Member& member) { return member.model.pointer.has_value(); });
    for (std::int64_t row = 0; row < table.size(0); ++row) {
      const auto source = tokens_of(members_[0].decoder.sources()[static_cast<std::size_t>(row)]);
      Tokens hidden(never.begin(), never.end());
      std::erase_if(hidden, [&](std::int64_t token) {
        return copies && std::ranges::count(source, token) > 0;
      });
      forbid(hidden, {&table(row, 0), static_cast<std::size_t>(table.size(1))});
    }
    return std::move(table);
  }

 private:
  struct Member {
    const Translator<float>& model;
    StackDecoder decoder;
    Tensor<float> copy_keys{};  // of a pointer, [source tokens, width]
  };

  std::span<const std::int64_t> tokens_of(std::int64_t source) const {
    const auto s = static_cast<std::size_t>(source);
    return std::span(tokens_).subspan(static_cast<std::size_t>(segments_[s]),
                                      static_cast<std::size_t>(segments_[s + 1] - segments_[s]));
  }

  Tensor<float> step_of(Member& member, std::span<const std::int64_t> parents,
                        std::span<const std::int64_t> tokens) {
    memory_.reset();
    member.decoder.reorder(parents);
    const auto read = [&](std::span<const std::int64_t> next) {
      return member.decoder.read(
          embed<float>(member.model.embedding, next, member.model.config.embedding_factor(), pass_),
          pass_);
    };
    if (member.decoder.length() == 0 && !before_.empty()) {
      Tokens all;  // of each row
      for (std::size_t row = 0; row < tokens.size(); ++row) {
        all.insert(all.end(), before_.begin(), before_.end());
      }
      read(all);
    }
    const View<const float> h = read(tokens);
    auto logits =
        Tensor<float>::uninitialized({std::ssize(tokens), member.model.config.vocabulary});
    member.model.make_logits(h, logits.view(), pass_);
    if (member.model.pointer) {
      mix(member, h, logits);
      return logits;
    }
    for (std::int64_t row = 0; row < logits.size(0); ++row) {
      float* line = &logits(row, 0);
      const double total = ops::plain::exp_sum(line, logits.size(1)).log();
      std::transform(line, line + logits.size(1), line, [total](float value) {
        return static_cast<float>(static_cast<double>(value) - total);
      });
    }
    return logits;
  }

  // Makes logits the log-probabilities of the pointer's mixture, source by source.
  void mix(const Member& member, View<const float> h, Tensor<float>& logits) {
    const auto sources = member.decoder.sources();
    for (std::int64_t first = 0, end = 0; first < h.size(0); first = end) {
      const std::int64_t source = sources[static_cast<std::size_t>(first)];
      while (end < h.size(0) && sources[static_cast<std::size_t>(end)] == source) ++end;
      const auto tokens = tokens_of(source);
      const std::int64_t begin = segments_[static_cast<std::size_t>(source)];
      member.model.pointer->mix(h.narrow(0, first, end - first),
                                member.copy_keys.view().narrow(0, begin, std::ssize(tokens)),
                                tokens, logits.view().narrow(0, first, end - first), {}, pass_);
    }
  }

  // Makes the first table the logarithms of the mean of the probabilities.
  static void to_log_mean(std::span<Tensor<float>> tables) {
    for (std::int64_t i = 0; i < tables[0].count(); ++i) {
      double total = 0;
      for (const auto& each : tables) total += std::exp(static_cast<double>(each.data()[i]));
      const double mean = total / static_cast<double>(tables.size());
      tables[0].data()[i] = static_cast<float>(std::log(std::max(mean, 1e-300)));
    }
  }

  Workspace memory_;
  Pass pass_;
  Tokens before_;
  Tokens tokens_, segments_;
  std::vector<Member> members_;
};

}  // namespace sextant::models
