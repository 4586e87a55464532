// Counts matching n-grams over a corpus and makes the score of them.
#include "sextant/training/tasks/bleu.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <set>
#include <unordered_map>

#include "sextant/core/error.h"
#include "sextant/core/numbers.h"

namespace sextant {
namespace {

constexpr std::size_t kOrders = 4;

// The numbers of up to four tokens, -1 after them.
using Gram = std::array<int, kOrders>;
using Counts = std::map<Gram, std::int64_t>;

// Numbers tokens as they come.
class Numbers {
 public:
  std::vector<int> of(const std::vector<std::string>& tokens) {
    std::vector<int> result;
    for (const std::string& token : tokens) {
      result.push_back(numbers_.emplace(token, static_cast<int>(numbers_.size())).first->second);
    }
    return result;
  }

 private:
  std::unordered_map<std::string, int> numbers_;
};

Counts grams(const std::vector<int>& tokens) {
  Counts counts;
  for (std::size_t begin = 0; begin < tokens.size(); ++begin) {
    Gram gram;
    gram.fill(-1);
    for (std::size_t n = 0; n < kOrders && begin + n < tokens.size(); ++n) {
      gram[n] = tokens[begin + n];
      ++counts[gram];
    }
  }
  return counts;
}

std::size_t order_of(const Gram& gram) {
  return static_cast<std::size_t>(std::find(gram.begin(), gram.end(), -1) - gram.begin());
}

void add_sentence(const std::string& hypothesis, std::span<const std::string> references,
                  const BleuOptions& options, Bleu& sums) {
  Numbers numbers;
  const std::vector<int> own = numbers.of(bleu_tokens(hypothesis, options));
  const auto length = static_cast<std::int64_t>(own.size());
  Counts allowed;
  std::int64_t closest = -1;
  for (const std::string& reference : references) {
    const std::vector<int> tokens = numbers.of(bleu_tokens(reference, options));
    const auto other = static_cast<std::int64_t>(tokens.size());
    const std::int64_t far = std::abs(closest - length) - std::abs(other - length);
    if (closest < 0 || far > 0 || (far == 0 && other < closest)) closest = other;
    for (const auto& [gram, count] : grams(tokens)) {
      allowed[gram] = std::max(allowed[gram], count);
    }
  }
  sums.hypothesis_length += length;
  sums.reference_length += closest;
  for (const auto& [gram, count] : grams(own)) {
    const std::size_t n = order_of(gram) - 1;
    sums.totals[n] += count;
    if (const auto found = allowed.find(gram); found != allowed.end()) {
      sums.matches[n] += std::min(count, found->second);
    }
  }
}

double smoothing_value(const BleuOptions& options) {
  return options.smoothing_value.value_or(options.smoothing == BleuSmoothing::floor ? 0.1 : 1.0);
}

// Precisions, brevity penalty and score from the counts.
void finish(const BleuOptions& options, Bleu& result) {
  const auto own = static_cast<double>(result.hypothesis_length);
  const auto other = static_cast<double>(result.reference_length);
  result.brevity_penalty = own >= other ? 1 : own > 0 ? std::exp(1 - other / own) : 0;
  if (std::all_of(result.matches.begin(), result.matches.end(), [](auto n) { return n == 0; })) {
    return;
  }
  const double value = smoothing_value(options);
  double halved = 1;
  std::size_t orders = kOrders;
  for (std::size_t n = 0; n < kOrders; ++n) {
    const double added = options.smoothing == BleuSmoothing::add_k && n > 0 ? value : 0;
    const double matches = static_cast<double>(result.matches[n]) + added;
    const double total = static_cast<double>(result.totals[n]) + added;
    if (total == 0) break;
    if (options.effective_order) orders = n + 1;
    if (matches != 0) {
      result.precisions[n] = 100 * matches / total;
    } else if (options.smoothing == BleuSmoothing::exp) {
      halved *= 2;
      result.precisions[n] = 100 / (halved * total);
    } else if (options.smoothing == BleuSmoothing::floor) {
      result.precisions[n] = 100 * value / total;
    }
  }
  double logs = 0;
  for (std::size_t n = 0; n < orders; ++n) {
    if (result.precisions[n] == 0) return;
    logs += std::log(result.precisions[n]);
  }
  result.score = result.brevity_penalty * std::exp(logs / static_cast<double>(orders));
}

std::string smoothing_name(const BleuOptions& options) {
  switch (options.smoothing) {
    case BleuSmoothing::none:
      return "none";
    case BleuSmoothing::floor:
      return "floor[" + fixed(smoothing_value(options), 2) + "]";
    case BleuSmoothing::add_k:
      return "add-k[" + fixed(smoothing_value(options), 2) + "]";
    case BleuSmoothing::exp:
      return "exp";
  }
  throw Error("bleu.smoothing", "must be none, floor, add_k or exp");
}

// `references_of(i)` is a list of texts.
template <class ReferencesOf>
Bleu compute(std::span<const std::string> hypotheses, std::size_t references,
             const BleuOptions& options, ReferencesOf references_of) {
  if (hypotheses.empty()) throw Error("bleu.hypotheses", "must hold at least one");
  if (references != hypotheses.size()) {
    throw Error("bleu.references", "must be as many as hypotheses, " +
                                       std::to_string(hypotheses.size()) + ", got " +
                                       std::to_string(references));
  }
  const double value = smoothing_value(options);
  if (!(value >= 0 && value < std::numeric_limits<double>::infinity())) {
    throw Error("bleu.smoothing_value", "must be >= 0 and finite, got " + shortest(value));
  }
  Bleu result;
  std::set<std::size_t> widths;
  for (std::size_t i = 0; i < hypotheses.size(); ++i) {
    const std::span<const std::string> list = references_of(i);
    if (list.empty()) {
      throw Error("bleu.references",
                  "must be at least one for each hypothesis, got none for " + std::to_string(i));
    }
    widths.insert(list.size());
    add_sentence(hypotheses[i], list, options, result);
  }
  finish(options, result);
  result.signature = "nrefs:" + (widths.size() == 1 ? std::to_string(*widths.begin()) : "var") +
                     "|case:" + (options.lower_case ? "lc" : "mixed") +
                     "|eff:" + (options.effective_order ? "yes" : "no") +
                     "|tok:" + (options.tokens == BleuTokens::v13a ? "13a" : "none") +
                     "|smooth:" + smoothing_name(options);
  return result;
}

}  // namespace

Bleu bleu(std::span<const std::string> hypotheses, std::span<const std::string> references,
          const BleuOptions& options) {
  return compute(hypotheses, references.size(), options,
                 [&](std::size_t i) { return references.subspan(i, 1); });
}

Bleu bleu(std::span<const std::string> hypotheses,
          std::span<const std::vector<std::string>> references, const BleuOptions& options) {
  return compute(hypotheses, references.size(), options,
                 [&](std::size_t i) { return std::span<const std::string>(references[i]); });
}

std::string describe(const Bleu& result) {
  const auto own = static_cast<double>(result.hypothesis_length);
  const auto other = static_cast<double>(result.reference_length);
  std::string text = "BLEU|" + result.signature + " = " + fixed(result.score, 1);
  for (std::size_t n = 0; n < kOrders; ++n) {
    text += (n == 0 ? " " : "/") + fixed(result.precisions[n], 1);
  }
  return text + " (BP = " + fixed(result.brevity_penalty, 3) +
         " ratio = " + fixed(other > 0 ? own / other : 0, 3) +
         " hyp_len = " + std::to_string(result.hypothesis_length) +
         " ref_len = " + std::to_string(result.reference_length) + ")";
}

}  // namespace sextant
