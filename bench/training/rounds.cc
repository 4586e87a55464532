// A step as the trainer makes it: forward, backward, clipping, AdamW with gradients to zero.
#include "training/rounds.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "sextant/core/error.h"
#include "sextant/training/adamw.h"
#include "support/peak.h"
#include "training/parts.h"

namespace sextant::bench {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

template <class Model, class Batch>
class ModelRounds : public Rounds {
 public:
  ModelRounds(const TrainingCase& test, std::vector<Batch> batches, int threads)
      : model_(test.config),
        gradient_(zeros_like(model_)),
        optimiser_(model_.parameters(), {.weight_decay = 0.01, .clip_norm = 1}),
        batches_(std::move(batches)),
        dropout_(test.dropout),
        threads_(threads) {}

  std::int64_t parameters() override { return count_of(model_.parameters()); }

  Json run(int rounds) override {
    const auto before = part_seconds();
    optimiser_seconds_ = 0;
    std::vector<double> seconds;
    LossSum loss;
    double all = 0;
    for (int i = 0; i < rounds; ++i) {
      loss = {};
      const auto start = Clock::now();
      for (const Batch& batch : batches_) loss.add(step(batch));
      seconds.push_back(seconds_since(start));
      all += seconds.back();
    }
    Json parts;
    double rest = all - optimiser_seconds_;
    for (std::size_t i = 0; i < kParts; ++i) {
      const double spent = part_seconds()[i] - before[i];
      parts[kPartNames[i]] = spent;
      rest -= spent;
    }
    if (parts["norms"] == 0) {
      throw Error("parts", "have no clock: callers of layers/ops.h are compiled together with it");
    }
    parts["optimiser"] = optimiser_seconds_;
    parts["rest"] = rest;
    return {{"seconds", seconds},
            {"loss", loss.loss / static_cast<double>(loss.tokens)},
            {"parts", parts}};
  }

 private:
  static const TokenBatch& targets_of(const TokenBatch& batch) { return batch; }
  static const TokenBatch& targets_of(const PairBatch& batch) { return batch.target; }

  LossSum step(const Batch& batch) {
    memory_.reset();
    Pass pass{.memory = memory_,
              .threads = threads_,
              .dropout = dropout_,
              .random = {.seed = static_cast<std::uint64_t>(optimiser_.steps())}};
    const double scale = 1 / static_cast<double>(targets_of(batch).targets.size());
    const LossSum sum = model_.loss(batch, {.scale = scale}, &gradient_, pass);
    const auto start = Clock::now();
    optimiser_.step(model_.parameters(), gradient_.parameters(), 3e-4, threads_);
    optimiser_seconds_ += seconds_since(start);
    return sum;
  }

  Model model_, gradient_;
  AdamW optimiser_;
  std::vector<Batch> batches_;
  Workspace memory_;
  double dropout_;
  int threads_;
  double optimiser_seconds_ = 0;
};

template <class Model, class Make>
std::unique_ptr<Rounds> make(const TrainingCase& test, int threads, const Make& make_batch) {
  std::vector<decltype(make_batch(test, 0))> batches;
  for (std::size_t i = 0; i < test.batches.size(); ++i) batches.push_back(make_batch(test, i));
  return std::make_unique<ModelRounds<Model, decltype(make_batch(test, 0))>>(
      test, std::move(batches), threads);
}

}  // namespace

std::unique_ptr<Rounds> make_rounds(const TrainingCase& test, int threads) {
  if (test.config.kind == ModelKind::translator) {
    return make<Translator<float>>(test, threads, pair_batch);
  }
  return make<LanguageModel<float>>(test, threads, token_batch);
}

double peak_rate(int threads) {
  double best = 0;
  for (int i = 0; i < 10; ++i) {
    const auto start = Clock::now();
    const double operations = multiply_add(threads);
    best = std::max(best, operations / seconds_since(start));
  }
  return best;
}

}  // namespace sextant::bench
