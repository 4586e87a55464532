// Measures how well a language model predicts the same tokens with more and more context ("train
// short, test long").
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/models/language_model.h"

namespace sextant {

// Says which tokens of a text are predicted and scored: [first, first + count). They are the same
// for every length and both protocols, so that only the context differs.
struct ScoredTokens {
  std::int64_t first = 0, count = 0;
};

// Returns first = longest, so that even the first token has a full window before it, and at most
// `max_tokens`, a multiple of `longest` if the text has that many. Throws Error for longest < 2,
// max_tokens < 1, and a text of fewer than 2 longest tokens.
ScoredTokens scored_tokens(std::int64_t text, std::int64_t longest, std::int64_t max_tokens);

struct ScoringOptions {
  std::int64_t batch_tokens = 8192;  // approximate tokens of one pass; limits the memory
  int threads = 0;                   // as in parallel_for; the numbers do not depend on it
};

// exp of the mean negative log likelihood, or the reason why there is none.
struct LengthScore {
  std::optional<double> perplexity;
  std::string reason;
};

// Scores segments that do not overlap (Press et al. 2022, 2108.12409): the scored tokens are cut
// into segments of `length` (the last may be shorter), and each token is predicted from the tokens
// before it in its segment and the one before the segment. Token i of a segment (from 0) has a
// context of i + 1 tokens, so a longer segment is easier even for a model that uses no more.
//
// There is no perplexity if the scheme has no position length - 1 (a learned table has an end) or
// the loss is not finite. Throws Error for a model that is not causal, for length < 2, and for
// scored tokens that are not in the text or have fewer than `length` tokens before them.
LengthScore segment_perplexity(const LanguageModel<float>& model,
                               std::span<const std::int64_t> tokens, const ScoredTokens& scored,
                               std::int64_t length, const ScoringOptions& options = {});

// Scores sliding windows (the same authors): windows of `length` tokens, each `stride` after the
// previous one; the last `stride` predictions of each are scored (all remaining ones of the last
// window). Every scored token has a context of length - stride + 1 .. length tokens, with stride 1
// exactly `length`; the perplexity of a model that uses no more than the training length stays
// flat. This needs count / stride windows. Throws Error as above and unless 1 <= stride <= length.
LengthScore sliding_perplexity(const LanguageModel<float>& model,
                               std::span<const std::int64_t> tokens, const ScoredTokens& scored,
                               std::int64_t length, std::int64_t stride,
                               const ScoringOptions& options = {});

// Returns the number of tokens that the model computes for it; stride 0: segments that do not
// overlap.
std::int64_t tokens_to_score(const ScoredTokens& scored, std::int64_t length, std::int64_t stride);

// Says of which model the scores are, where a trained model is trained further with other
// positions.
enum class TrainingStage { before, after };
std::string_view name_of(TrainingStage stage) noexcept;  // "before", "after"
// Returns "none, before", or the label alone.
std::string with_stage(const std::string& label, std::optional<TrainingStage> stage);

// The result of one run: a scheme with a seed, and its stage if it has one.
struct ExtrapolationRow {
  std::string label;                   // "rotary base=500000"
  std::optional<TrainingStage> stage;  // unset for a model that was trained from first weights
  std::optional<std::uint64_t> seed;   // unset for the only seed of a table that was read
  SchemeSpecs schemes;
  std::int64_t weights = 0;                    // number of learned parameters
  double seconds = 0;                          // seconds of training
  double validation_loss = 0;                  // per token, at the training length
  std::vector<LengthScore> segments, sliding;  // one per length
};

struct ExtrapolationTable {
  std::int64_t train_length = 0, steps = 0;
  std::int64_t stride = 0;
  std::int64_t seeds = 1;  // seeds of each scheme; an unfinished table has fewer rows
  ScoredTokens scored;
  std::vector<std::int64_t> lengths;
  std::vector<ExtrapolationRow> rows;  // rows of one scheme differ in their seeds and stages
};

// Writes and parses JSON with all fields; missing perplexities are null with their reason. A table
// of several seeds also has the result of over_seeds() as `means`, which is not read back. Parsing
// throws an Error with `where` for anything else.
std::string format_json(const ExtrapolationTable& table);
ExtrapolationTable parse_extrapolation(std::string_view json, std::string_view where);

// Returns "scheme,stage,seed,scoring,length,perplexity" (without stages or the seed where there are
// none or one) and a line per number; labels with commas or quotes are quoted, missing numbers are
// empty.
std::string format_csv(const ExtrapolationTable& table);

}  // namespace sextant
