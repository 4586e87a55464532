// Computes BLEU (Papineni et al. 2002) over a corpus, with the tokens, smoothing and rounding-free
// sums of sacreBLEU (Post 2018), so that figures can be compared with published ones.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sextant {

enum class BleuTokens {
  v13a,  // mteval-v13a, the default of WMT: entities resolved, punctuation split off, not in
         // numbers
  none   // white space only
};

// The precision used for an order without a match (Chen and Cherry 2014).
enum class BleuSmoothing {
  none,   // 0, so the score is 0
  floor,  // method 1: smoothing_value / total
  add_k,  // method 2: smoothing_value added to matches and totals of orders 2 to 4
  exp     // method 3: 1 / (2^i total) for the i-th such order
};

struct BleuOptions {
  BleuTokens tokens = BleuTokens::v13a;
  BleuSmoothing smoothing = BleuSmoothing::exp;
  // >= 0; defaults: floor 0.1, add_k 1, others none.
  std::optional<double> smoothing_value = std::nullopt;
  bool lower_case = false;
  // The mean is only over orders for which the hypotheses are long enough: for single sentences.
  bool effective_order = false;
};

struct Bleu {
  double score = 0;                       // 0 .. 100
  std::array<double, 4> precisions{};     // of orders 1 .. 4, 0 .. 100, smoothed
  std::array<std::int64_t, 4> matches{};  // as counted, without smoothing
  std::array<std::int64_t, 4> totals{};
  double brevity_penalty = 0;          // 0 .. 1
  std::int64_t hypothesis_length = 0;  // in tokens
  std::int64_t reference_length = 0;   // of the references closest in length, the shorter of two
  std::string signature;               // "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp"
};

// Scores hypotheses. Throws Error for no hypothesis, another number of references, a hypothesis
// without any, text that is not UTF-8, or a smoothing value out of range.
Bleu bleu(std::span<const std::string> hypotheses, std::span<const std::string> references,
          const BleuOptions& options = {});
// Scores with several references each, [hypotheses][any number >= 1].
Bleu bleu(std::span<const std::string> hypotheses,
          std::span<const std::vector<std::string>> references, const BleuOptions& options = {});

// Returns "BLEU|nrefs:1|... = 16.3 51.2/22.1/... (BP = 0.987 ratio = 0.987 hyp_len = 1 ref_len =
// 1)", as sacreBLEU writes it, without its version.
std::string describe(const Bleu& result);

// Returns the tokens that are compared.
std::vector<std::string> bleu_tokens(std::string_view text, const BleuOptions& options = {});

}  // namespace sextant
