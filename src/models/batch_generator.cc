// Generation: the stack reads the prompts, then the tokens that follow, of all texts together.
#include "models/batch_generator.h"

#include <algorithm>
#include <string>
#include <utility>

#include "core/threads/useful_threads.h"
#include "layers/packed_decoder.h"
#include "models/check_kind.h"
#include "models/embed_tokens.h"
#include "models/generation_fields.h"
#include "sextant/core/error.h"
#include "sextant/core/parallel.h"

namespace sextant::models {
namespace {

constexpr std::int64_t kPassTokens = 4096;  // of a pass that reads several texts
constexpr double kSamplingWork = 1e4;       // logits that are worth a thread

// Each token of a text once: the tokens that a repetition penalty looks at.
class DifferentTokens {
 public:
  DifferentTokens(std::span<const std::int64_t> tokens, std::int64_t vocabulary)
      : seen_(static_cast<std::size_t>(vocabulary)) {
    for (const std::int64_t token : tokens) add(token);
  }
  void add(std::int64_t token) {
    if (seen_[static_cast<std::size_t>(token)]) return;
    seen_[static_cast<std::size_t>(token)] = true;
    list_.push_back(token);
  }
  std::span<const std::int64_t> list() const noexcept { return list_; }

 private:
  std::vector<std::int64_t> list_;
  std::vector<bool> seen_;
};

struct PromptState {
  std::span<const std::int64_t> tokens;
  std::int64_t window;             // tokens that a continuation holds at most
  layers::DecodedSequence read{};  // until its last sample begins
  std::vector<float> logits{};     // of the token after it
};

// A text that has not ended.
struct Continuation {
  std::size_t prompt;
  std::int64_t sample, window;
  layers::DecodedSequence read;
  NumpyRandom random;
  std::vector<std::int64_t> tokens;  // with the prompt
  DifferentTokens different;
  GeneratedTokens made{};
  bool ended = false;
};

// Tokens that a sequence reads next.
struct Unread {
  layers::DecodedSequence* sequence;
  std::span<const std::int64_t> tokens;
};

class BatchGenerator {
 public:
  BatchGenerator(const LanguageModel<float>& model,
                 std::span<const std::span<const std::int64_t>> prompts,
                 const GenerateOptions& options, const BatchOptions& batch, const EachToken& each)
      : model_(model),
        options_(options),
        samples_(batch.samples),
        batch_size_(batch.batch_size),
        each_(each),
        prompts_(states_of(model, prompts, options)),
        results_(prompts.size(),
                 std::vector<GeneratedTokens>(static_cast<std::size_t>(batch.samples))),
        decoder_(model.stack, model.positions,
                 std::ranges::max_element(prompts_, {}, &PromptState::window)->window,
                 options.cache_type),
        pass_{.memory = memory_, .threads = options.threads} {}

  std::vector<std::vector<GeneratedTokens>> run() {
    const std::int64_t all = std::ssize(prompts_) * samples_;
    while (true) {
      while (next_ < all && std::ssize(active_) < batch_size_) {
        begin(std::min(all, next_ + batch_size_ - std::ssize(active_)));
      }
      if (active_.empty()) return std::move(results_);
      step();
    }
  }

 private:
  static std::vector<PromptState> states_of(const LanguageModel<float>& model,
                                            std::span<const std::span<const std::int64_t>> prompts,
                                            const GenerateOptions& options) {
    std::vector<PromptState> states;
    for (const auto& tokens : prompts) {
      states.push_back({tokens, std::min(std::ssize(tokens) + options.max_tokens - 1,
                                         model.positions.max_length())});
    }
    return states;
  }

  // Begins the continuations next_ .. end - 1, sample by sample of each prompt, and chooses their
  // first tokens.
  void begin(std::int64_t end) {
    std::vector<PromptState*> opened;
    std::vector<Unread> unread;
    for (std::int64_t n = next_; n < end; ++n) {
      if (n % samples_ > 0) continue;
      PromptState& prompt = prompts_[static_cast<std::size_t>(n / samples_)];
      prompt.read = decoder_.sequence();
      opened.push_back(&prompt);
      const std::int64_t count = std::min<std::int64_t>(std::ssize(prompt.tokens), prompt.window);
      unread.push_back({&prompt.read, prompt.tokens.last(static_cast<std::size_t>(count))});
    }
    read(unread, [&](std::size_t first, View<const float> logits) {
      for (std::int64_t row = 0; row < logits.size(0); ++row) {
        const float* from = &logits(row, 0);
        opened[first + static_cast<std::size_t>(row)]->logits.assign(from, from + logits.size(1));
      }
    });
    std::vector<Continuation*> begun;
    std::vector<std::span<const float>> logits;
    active_.reserve(active_.size() + static_cast<std::size_t>(end - next_));
    for (; next_ < end; ++next_) {
      const auto i = static_cast<std::size_t>(next_ / samples_);
      const std::int64_t sample = next_ % samples_;
      PromptState& prompt = prompts_[i];
      active_.push_back(
          {.prompt = i,
           .sample = sample,
           .window = prompt.window,
           .read = sample + 1 < samples_ ? prompt.read.fork() : std::move(prompt.read),
           .random = NumpyRandom(sample_seed(options_.seed, sample)),
           .tokens = {prompt.tokens.begin(), prompt.tokens.end()},
           .different = DifferentTokens(prompt.tokens, model_.config.vocabulary)});
      begun.push_back(&active_.back());
      logits.push_back(prompt.logits);
    }
    choose(begun, logits);
    drop_ended();
  }

  // Reads the last token of every active continuation and chooses the next. After the end of the
  // positions, a text that slides reads all tokens of its window again.
  void step() {
    std::vector<Continuation*> going;
    std::vector<Unread> unread;
    for (Continuation& each : active_) {
      if (std::ssize(each.tokens) > each.window) {
        if (!options_.slide) {
          end(each, GenerationEnd::positions);
          continue;
        }
        each.read.clear();
      }
      const std::int64_t length = std::min<std::int64_t>(std::ssize(each.tokens), each.window);
      const std::int64_t count = length - decoder_.prepare(each.read, length);
      going.push_back(&each);
      unread.push_back({&each.read, std::span(each.tokens).last(static_cast<std::size_t>(count))});
    }
    read(unread, [&](std::size_t first, View<const float> logits) {
      std::vector<std::span<const float>> rows;
      for (std::int64_t row = 0; row < logits.size(0); ++row) {
        rows.emplace_back(&logits(row, 0), static_cast<std::size_t>(logits.size(1)));
      }
      choose(std::span(going).subspan(first, rows.size()), rows);
    });
    drop_ended();
  }

  // Calls use(index of the first text, logits [texts, vocabulary]) for some texts at a time: those
  // with many tokens to read are not in one pass, which would take much memory.
  template <class Use>
  void read(std::span<const Unread> unread, const Use& use) {
    for (std::size_t first = 0, end = 0; first < unread.size(); first = end) {
      std::vector<std::int64_t> tokens;
      std::vector<layers::PackedDecoder::Part> parts;
      for (; end < unread.size(); ++end) {
        const auto& [sequence, next] = unread[end];
        if (end > first && std::ssize(tokens) + std::ssize(next) > kPassTokens) break;
        tokens.insert(tokens.end(), next.begin(), next.end());
        parts.push_back({sequence, std::ssize(next)});
      }
      memory_.reset();
      const View<const float> x =
          embed<float>(model_.embedding, tokens, model_.config.embedding_factor(), pass_);
      const View<const float> h = decoder_.read(parts, x, pass_);
      const View<float> logits = memory_.take<float>({std::ssize(parts), model_.config.vocabulary});
      model_.make_logits(h, logits, pass_);
      use(first, logits);
    }
  }

  // Chooses the next token of each text. The distributions are computed in parallel; callbacks are
  // called in the order of the texts.
  void choose(std::span<Continuation* const> texts,
              std::span<const std::span<const float>> logits) {
    std::vector<std::vector<double>> probabilities(texts.size());
    const double work =
        static_cast<double>(texts.size()) * static_cast<double>(model_.config.vocabulary);
    parallel_for(std::ssize(texts), useful_threads(options_.threads, work, kSamplingWork),
                 [&](std::int64_t at) {
                   const auto i = static_cast<std::size_t>(at);
                   std::vector<float> possible(logits[i].begin(), logits[i].end());
                   forbid(options_.never, possible);
                   probabilities[i] =
                       token_probabilities(possible, options_.sampling, texts[i]->different.list());
                 });
    for (std::size_t i = 0; i < texts.size(); ++i) take(*texts[i], logits[i], probabilities[i]);
  }

  void take(Continuation& text, std::span<const float> logits,
            std::span<const double> probabilities) {
    const std::int64_t token =
        token_at(probabilities, options_.sampling.temperature == 0 ? 0 : text.random.uniform());
    if (options_.watch) options_.watch({token, logits, probabilities, text.prompt, text.sample});
    if (std::ranges::count(options_.ends, token) > 0) return end(text, GenerationEnd::end);
    text.tokens.push_back(token);
    text.made.tokens.push_back(token);
    text.different.add(token);
    if (each_ && !each_(text.prompt, text.sample, token)) return end(text, GenerationEnd::stop);
    if (std::ssize(text.made.tokens) == options_.max_tokens) end(text, GenerationEnd::tokens);
  }

  void end(Continuation& text, GenerationEnd by) {
    text.made.ended_by = by;
    text.ended = true;
    results_[text.prompt][static_cast<std::size_t>(text.sample)] = std::move(text.made);
  }

  void drop_ended() {
    std::erase_if(active_, [](const Continuation& each) { return each.ended; });
  }

  const LanguageModel<float>& model_;
  const GenerateOptions& options_;
  std::int64_t samples_, batch_size_;
  const EachToken& each_;
  std::vector<PromptState> prompts_;
  std::vector<std::vector<GeneratedTokens>> results_;
  layers::PackedDecoder decoder_;
  Workspace memory_;
  Pass pass_;
  std::vector<Continuation> active_;
  std::int64_t next_ = 0;  // the next continuation: sample next_ % samples_ of next_ / samples_
};

}  // namespace

void check_generation(const LanguageModel<float>& model, const GenerateOptions& options) {
  check_kind("generate.model", model.config.kind, ModelKind::causal);
  check_fields("generate", options);
  check_sampling(options.sampling);
}

void check_prompt(const LanguageModel<float>& model, std::span<const std::int64_t> prompt,
                  bool slide, const std::string& where) {
  if (prompt.empty()) throw Error(where, "must have at least one token");
  for (const std::int64_t token : prompt) {
    if (token < 0 || token >= model.config.vocabulary) {
      throw Error(where, "must be 0 .. " + std::to_string(model.config.vocabulary - 1) + ", got " +
                             std::to_string(token));
    }
  }
  const std::int64_t longest = model.positions.max_length();
  if (slide || std::ssize(prompt) <= longest) return;
  const std::string most = std::to_string(longest);
  throw Error(where, "must be at most " + most + " tokens, where the positions of the model (" +
                         names_of(model.config.schemes) + ") end, got " +
                         std::to_string(prompt.size()) + "; slide reads its last " + most);
}

std::vector<std::vector<GeneratedTokens>> continue_prompts(
    const LanguageModel<float>& model, std::span<const std::span<const std::int64_t>> prompts,
    const GenerateOptions& options, const BatchOptions& batch, const EachToken& each) {
  return BatchGenerator(model, prompts, options, batch, each).run();
}

}  // namespace sextant::models
