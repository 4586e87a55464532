// Attention of sentences as pictures.
#include "sextant/figures/attention_maps.h"

#include <algorithm>
#include <utility>

#include "core/json/json_text.h"
#include "figures/sentence_json.h"
#include "sextant/core/error.h"
#include "sextant/core/printable.h"
#include "sextant/figures/named_scheme.h"
#include "sextant/pictures/charts.h"
#include "sextant/pictures/page.h"
#include "sextant/text/segment.h"

namespace sextant::figures {
namespace {

constexpr std::size_t kLongestToken = 4096;  // bytes

}  // namespace

HeadMaps maps_of(const SentenceAttention& attention, const SentenceAttentionOptions& options,
                 std::int64_t head) {
  return {.weights = chosen_heads(attention.weights.view(), head),
          .masked = chosen_heads(attention.masked_weights.view(), head),
          .queries = attention.queries,
          .keys = attention.keys,
          .title = "Attention, " + title_of(options.schemes) + (options.causal ? ", causal" : ""),
          .head = head};
}

void check_head(std::int64_t head, std::int64_t heads) {
  if (head < heads) return;
  throw Error("figure.head",
              "must be 0 .. " + std::to_string(heads - 1) + ", got " + std::to_string(head));
}

View<const double> chosen_heads(View<const double> weights, std::int64_t head) {
  if (head < 0) return weights;
  check_head(head, weights.size(0));
  return weights.narrow(0, head, 1);
}

Picture draw_maps(const HeadMaps& maps, std::optional<double> max_width) {
  std::string title = maps.title;
  if (maps.has_heads && maps.weights.size(0) == 1) {
    const std::int64_t only = maps.heads.size() == 1 ? maps.heads[0] : 0;
    title += " · Head " + std::to_string(maps.head >= 0 ? maps.head : only);
  }
  AttentionMaps chart{maps.drawn(), maps.queries, maps.keys, title};
  chart.row_name = maps.row_name;
  chart.column_name = maps.column_name;
  chart.max_width = max_width.value_or(chart.max_width);
  if (maps.head < 0) chart.heads = maps.heads;
  return draw(chart);
}

Picture draw_lines(const HeadMaps& maps, std::optional<double> max_width) {
  AttentionLines lines;
  lines.weights = maps.weights;
  lines.queries = maps.queries;
  lines.keys = maps.keys;
  lines.title = maps.title;
  lines.left_name = maps.row_name;
  lines.right_name = maps.column_name;
  lines.max_width = max_width.value_or(lines.max_width);
  if (maps.head < 0) lines.heads = maps.heads;
  if (maps.head >= 0) lines.title += " · Head " + std::to_string(maps.head);
  return draw(lines);
}

std::string attention_json(const HeadMaps& maps, const SentenceAttentionOptions& options,
                           bool one_text) {
  Json json;
  if (one_text) json["tokens"] = maps.queries;
  json.update(sentence_json(maps.queries, maps.keys, options));
  json["heads"] = maps.weights.size(0);
  if (maps.head >= 0) json["head"] = maps.head;
  json["weights"] = rows_as_json(maps.weights);
  return to_text(json);
}

std::string attention_page(const HeadMaps& maps, const SentenceAttentionOptions& options,
                           bool one_text) {
  Page page(maps.title, "Rows are queries, columns are keys; every row sums to one.");
  page.section("Maps");
  page.picture(draw_maps(maps), draw_maps(maps, kNarrow),
               "One map per head. Row: the query's word. Column: the key's.");
  page.section("Lines");
  page.picture(draw_lines(maps), draw_lines(maps, kNarrow),
               "The same weights as lines from left to right, one colour "
               "per head; stronger is more opaque.");
  page.data("attention.json", attention_json(maps, options, one_text));
  return page.html();
}

std::vector<std::string> tokens_to_draw(const std::string& text, const TextSplit& split,
                                        const std::string& where) {
  check_utf8(text, where);
  const std::string cased = split.lower_case ? lower_case(text) : text;
  auto tokens = split.at_spaces ? split_spaces(cased) : split_words(cased);
  if (tokens.empty()) throw Error(where, "must hold at least one word, got none");
  if (tokens.size() > kMaxMapTokens) {
    throw Error(where, "must be at most " + std::to_string(kMaxMapTokens) +
                           " tokens to draw or compare each, got " + std::to_string(tokens.size()));
  }
  check_tokens(tokens, where);
  return tokens;
}

void check_tokens(const std::vector<std::string>& tokens, const std::string& where) {
  for (const std::string& token : tokens) {
    if (token.size() <= kLongestToken) continue;
    throw Error(where, "must be of tokens of at most " + std::to_string(kLongestToken) +
                           " bytes, got " + std::to_string(token.size()) + " in " +
                           printable_quote(token));
  }
}

}  // namespace sextant::figures
