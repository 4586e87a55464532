// Attention as pictures: a map or lines per head, over the tokens of two texts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/core/tensor.h"
#include "sextant/lessons/sentence_attention.h"
#include "sextant/pictures/canvas.h"

namespace sextant::figures {

// The maps of one attention, all heads or one of them.
struct HeadMaps {
  View<const double> weights;  // [heads, queries, keys]; borrowed
  // The same with -infinity for hidden pairs, which is what is drawn; not set: the weights.
  std::optional<View<const double>> masked = {};
  std::vector<std::string> queries, keys;
  std::string title;
  std::int64_t head = -1;                                  // which one it is; -1: all
  bool has_heads = true;                                   // false: one map that is no head's
  std::string row_name = "Queries", column_name = "Keys";  // what the tokens of an axis are

  View<const double> drawn() const { return masked.value_or(weights); }
};

// Those of sentences; head >= 0: that one alone. Borrows `attention`. Throws Error naming
// figure.head for a head that is not there.
HeadMaps maps_of(const SentenceAttention& attention, const SentenceAttentionOptions& options,
                 std::int64_t head = -1);
// Chooses a head of [heads, queries, keys]; -1: all. Throws that Error.
View<const double> chosen_heads(View<const double> weights, std::int64_t head);
void check_head(std::int64_t head, std::int64_t heads);

// Rows are queries; all heads as small multiples. No wider than `max_width` pixels: kNarrow suits a
// phone.
inline constexpr double kNarrow = 350;
Picture draw_maps(const HeadMaps& maps, double max_width = 950);
// From the queries to the keys, a colour per head.
Picture draw_lines(const HeadMaps& maps, double max_width = 950);

// What the model was asked and the weights, as JSON; `one_text`: the text attends to itself.
std::string attention_json(const HeadMaps& maps, const SentenceAttentionOptions& options,
                           bool one_text);
// One HTML page: the maps, the lines and that JSON.
std::string attention_page(const HeadMaps& maps, const SentenceAttentionOptions& options,
                           bool one_text);

// How a text becomes tokens of which every one is drawn, or looks at every other.
struct TextSplit {
  bool at_spaces = false;   // at white space alone, not into words and punctuation marks
  bool lower_case = false;  // lower-cased first
};
inline constexpr std::size_t kMaxMapTokens = 2048;
// Throws Error naming `where` for no token, for more than kMaxMapTokens, and as check_tokens().
std::vector<std::string> tokens_to_draw(const std::string& text, const TextSplit& split,
                                        const std::string& where);

// Every cell of a map says its two tokens. Throws Error for a token of more than 4096 bytes.
void check_tokens(const std::vector<std::string>& tokens, const std::string& where);

}  // namespace sextant::figures
