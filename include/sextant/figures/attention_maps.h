// Draws attention: a map or lines per head, over the tokens of two texts.
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
  // The same with -infinity for hidden pairs, which is drawn; unset: the weights.
  std::optional<View<const double>> masked = {};
  std::vector<std::string> queries, keys;
  std::string title;
  std::int64_t head = -1;             // the chosen head; -1: all
  std::vector<std::int64_t> heads{};  // the numbers of all heads; empty: from 0
  bool has_heads = true;              // false: one map that belongs to no head
  std::string row_name = "Queries", column_name = "Keys";  // the kind of tokens of an axis

  View<const double> drawn() const { return masked.value_or(weights); }
};

// Returns the maps of sentences; head >= 0: only that one. Borrows `attention`. Throws an Error
// with figure.head for a head that does not exist.
HeadMaps maps_of(const SentenceAttention& attention, const SentenceAttentionOptions& options,
                 std::int64_t head = -1);
// Chooses a head of [heads, queries, keys]; -1: all. Throws the same Error.
View<const double> chosen_heads(View<const double> weights, std::int64_t head);
void check_head(std::int64_t head, std::int64_t heads);

// Draws all heads as small multiples; rows are queries. No wider than `max_width` pixels: kNarrow
// suits a phone.
inline constexpr double kNarrow = 350;
Picture draw_maps(const HeadMaps& maps, std::optional<double> max_width = {});
// Draws lines from the queries to the keys, in one colour per head.
Picture draw_lines(const HeadMaps& maps, std::optional<double> max_width = {});

// Returns the options and the weights as JSON; `one_text`: the text attends to itself.
std::string attention_json(const HeadMaps& maps, const SentenceAttentionOptions& options,
                           bool one_text);
// Returns one HTML page with the maps, the lines and that JSON.
std::string attention_page(const HeadMaps& maps, const SentenceAttentionOptions& options,
                           bool one_text);

// Says how a text is split into tokens to draw.
struct TextSplit {
  bool at_spaces = false;   // split only at white space, not into words and punctuation marks
  bool lower_case = false;  // convert to lower case first
};
inline constexpr std::size_t kMaxMapTokens = 2048;
// Splits a text. Throws an Error with `where` for no token, for more than kMaxMapTokens, and as
// check_tokens().
std::vector<std::string> tokens_to_draw(const std::string& text, const TextSplit& split,
                                        const std::string& where);

// Checks tokens, because every cell of a map names its two. Throws Error for a token of more than
// 4096 bytes.
void check_tokens(const std::vector<std::string>& tokens, const std::string& where);

}  // namespace sextant::figures
