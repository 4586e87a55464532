// Beam search: one small state per source, one call of the model for the rows of all of them.
#include "sextant/models/beam_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "models/generation_fields.h"
#include "sextant/core/error.h"
#include "sextant/core/numbers.h"
#include "sextant/text/tokenizer.h"

namespace sextant {
namespace {

// Wu et al. 2016, equation 14.
double penalized(double log_probability, std::int64_t length, double alpha) {
  return log_probability / std::pow((5.0 + static_cast<double>(length)) / 6.0, alpha);
}

struct Candidate {
  double log_probability;
  std::int64_t row;  // among the source's own
  std::int64_t token;

  bool operator<(const Candidate& other) const noexcept {
    if (log_probability != other.log_probability) return log_probability > other.log_probability;
    return row != other.row ? row < other.row : token < other.token;
  }
};

class BeamState {
 public:
  BeamState(std::int64_t max_length, const BeamSearchOptions& options)
      : options_(options), max_length_(max_length), open_(1) {}

  std::int64_t rows() const noexcept { return static_cast<std::int64_t>(open_.size()); }

  // Takes [rows(), vocabulary] log-probabilities; rows() is 0 afterwards if the source is done.
  // `parents` and `tokens` receive the arguments of the next call, parents counted from `first`.
  void advance(View<const float> table, std::int64_t first, std::vector<std::int64_t>& parents,
               std::vector<std::int64_t>& tokens) {
    ++length_;
    const std::vector<Candidate> best = candidates(table);
    std::vector<Hypothesis> next;
    const std::size_t asked = parents.size();
    for (std::size_t rank = 0; rank < best.size(); ++rank) {
      const Candidate& each = best[rank];
      const bool ends = each.token == options_.eos;
      if (ends ? rank >= beams() : next.size() == beams()) continue;
      Hypothesis longer = open_[static_cast<std::size_t>(each.row)];
      longer.log_probability = each.log_probability;
      longer.score = penalized(each.log_probability, length_, options_.length_penalty);
      longer.finished = ends;
      if (ends) {
        add_finished(std::move(longer));
      } else {
        longer.tokens.push_back(each.token);
        next.push_back(std::move(longer));
        parents.push_back(first + each.row);
        tokens.push_back(each.token);
      }
    }
    open_ = std::move(next);
    if (!is_done()) return;
    parents.resize(asked);
    tokens.resize(asked);
    unfinished_ = std::exchange(open_, {});
  }

  std::vector<Hypothesis> result() {
    const auto wanted = static_cast<std::size_t>(options_.n_best);
    std::vector<Hypothesis> best = std::move(finished_);
    for (Hypothesis& each : unfinished_) {
      if (best.size() < wanted) best.push_back(std::move(each));
    }
    if (best.size() > wanted) best.resize(wanted);
    return best;
  }

 private:
  std::size_t beams() const noexcept { return static_cast<std::size_t>(options_.beams); }

  std::vector<Candidate> candidates(View<const float> table) const {
    const std::size_t most = 2 * beams();
    std::vector<Candidate> best;  // a heap whose front is the worst
    for (std::int64_t row = 0; row < table.size(0); ++row) {
      const double before = open_[static_cast<std::size_t>(row)].log_probability;
      for (std::int64_t token = 0; token < table.size(1); ++token) {
        const float value = table(row, token);
        if (std::isnan(value) || value > 1e-3f) {
          throw Error("beam_search.step", "must give log-probabilities, got " + shortest(value) +
                                              " for token " + std::to_string(token));
        }
        if (std::isinf(value)) continue;
        const Candidate each{before + std::min(static_cast<double>(value), 0.0), row, token};
        if (best.size() == most) {
          if (!(each < best.front())) continue;
          std::pop_heap(best.begin(), best.end());
          best.pop_back();
        }
        best.push_back(each);
        std::push_heap(best.begin(), best.end());
      }
    }
    std::sort_heap(best.begin(), best.end());
    return best;
  }

  // Inserts it after all of the same or a better score.
  void add_finished(Hypothesis hypothesis) {
    const auto place = std::upper_bound(
        finished_.begin(), finished_.end(), hypothesis,
        [](const Hypothesis& a, const Hypothesis& b) { return a.score > b.score; });
    finished_.insert(place, std::move(hypothesis));
  }

  bool is_done() const {
    if (open_.empty() || length_ == max_length_ || finished_.size() >= beams()) return true;
    const auto wanted = static_cast<std::size_t>(options_.n_best);
    if (finished_.size() < wanted) return false;
    // Log-probabilities only fall, and of equal ones the longest has the best score.
    const double best_possible =
        penalized(open_.front().log_probability, max_length_, options_.length_penalty);
    return best_possible <= finished_[wanted - 1].score;
  }

  const BeamSearchOptions& options_;
  std::int64_t max_length_;
  std::int64_t length_ = 0;           // tokens of the hypotheses that continue
  std::vector<Hypothesis> open_;      // by falling probability
  std::vector<Hypothesis> finished_;  // by falling score
  std::vector<Hypothesis> unfinished_;
};

void check(std::span<const std::int64_t> max_lengths, const BeamStep& step,
           const BeamSearchOptions& options) {
  check_fields("beam_search", options);
  if (options.n_best > options.beams) {
    throw Error("beam_search.n_best", "must be at most beams = " + std::to_string(options.beams) +
                                          ", got " + std::to_string(options.n_best));
  }
  for (const std::int64_t length : max_lengths) {
    if (length < 1) {
      throw Error("beam_search.max_lengths", "must be >= 1, got " + std::to_string(length));
    }
  }
  if (!step) throw Error("beam_search.step", "must be a function");
}

}  // namespace

std::vector<std::vector<Hypothesis>> beam_search(std::span<const std::int64_t> max_lengths,
                                                 const BeamStep& step,
                                                 const BeamSearchOptions& given) {
  check(max_lengths, step, given);
  BeamSearchOptions options = given;
  if (options.bos < 0) options.bos = Tokenizer::kBos;
  if (options.eos < 0) options.eos = Tokenizer::kEos;
  std::vector<BeamState> sources;
  std::vector<std::int64_t> parents;
  std::vector<std::int64_t> tokens;
  for (const std::int64_t length : max_lengths) {
    sources.emplace_back(length, options);
    parents.push_back(static_cast<std::int64_t>(parents.size()));
    tokens.push_back(options.bos);
  }
  while (!parents.empty()) {
    const auto rows = static_cast<std::int64_t>(parents.size());
    const Tensor<float> table = step(parents, tokens);
    if (table.rank() != 2 || table.size(0) != rows || table.size(1) <= options.eos) {
      throw Error("beam_search.step", "must give [" + std::to_string(rows) +
                                          ", vocabulary] with the end token in the vocabulary");
    }
    parents.clear();
    tokens.clear();
    std::int64_t first = 0;
    for (BeamState& source : sources) {
      const std::int64_t own = source.rows();
      if (own == 0) continue;
      const View<const float> part(&table(first, 0), Shape{own, table.size(1)});
      source.advance(part, first, parents, tokens);
      first += own;
    }
  }
  std::vector<std::vector<Hypothesis>> results;
  for (BeamState& source : sources) results.push_back(source.result());
  return results;
}

}  // namespace sextant
