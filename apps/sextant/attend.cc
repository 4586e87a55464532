// `sextant attend`: a text looks at itself, or at another one.
#include <memory>

#include "commands.h"
#include "scheme_choice.h"
#include "sextant/core/error.h"
#include "sextant/core/npy.h"
#include "sextant/core/numbers.h"
#include "sextant/layers/sentence_attention.h"
#include "sextant/pictures/page.h"
#include "sextant/text/segment.h"
#include "table_output.h"

namespace sextant::app {
namespace {

constexpr Format kFormats[] = {Format::text, Format::json, Format::npy,
                               Format::svg,  Format::png,  Format::html};

struct Attend {
  TextInput text;
  std::string second;
  const CLI::Option* second_option = nullptr;
  Splitting splitting;
  SentenceAttentionOptions options;
  std::int64_t head = -1;
  bool lines = false;
  SchemeChoice choice;
  Output output;
};

std::string title_of(const Attend& attend) {
  return "Attention, " + attend.choice.title() + (attend.options.causal ? ", causal" : "");
}

// The heads that were asked for, [heads, queries, keys].
View<const double> chosen_heads(const Attend& attend, const SentenceAttention& result) {
  const View<const double> weights = result.weights.view();
  if (attend.head < 0) return weights;
  if (attend.head >= weights.size(0)) {
    throw Error("attend.head", "must be 0 .. " + std::to_string(weights.size(0) - 1) + ", got " +
                                   std::to_string(attend.head));
  }
  return weights.narrow(0, attend.head, 1);
}

Picture maps_of(const Attend& attend, const SentenceAttention& result) {
  const auto weights = chosen_heads(attend, result);
  if (attend.head < 0 && weights.size(0) > 1) {
    return draw(AttentionMaps{weights, result.queries, result.keys, title_of(attend)});
  }
  AttentionMap map;
  map.weights = weights.select(0, 0);
  map.queries = result.queries;
  map.keys = result.keys;
  map.title = title_of(attend);
  map.head = std::max<std::int64_t>(attend.head, 0);
  return draw(map);
}

Picture lines_of(const Attend& attend, const SentenceAttention& result) {
  AttentionLines lines;
  lines.weights = chosen_heads(attend, result);
  lines.queries = result.queries;
  lines.keys = result.keys;
  lines.title = title_of(attend);
  return draw(lines);
}

Json json_of(const Attend& attend, const SentenceAttention& result) {
  Json json;
  if (attend.second_option->count() == 0) json["tokens"] = result.queries;
  json["queries"] = result.queries;
  json["keys"] = result.keys;
  json["scheme"] = attend.choice.scheme;
  json["parameters"] = attend.choice.parameters;
  json["causal"] = attend.options.causal;
  json["width"] = attend.options.width;
  json["seed"] = attend.options.seed;
  const auto weights = chosen_heads(attend, result);
  json["heads"] = weights.size(0);
  if (attend.head >= 0) json["head"] = attend.head;
  json["weights"] = app::json_of(weights);
  return json;
}

// One block of numbers or colours per head.
std::string text_of(const Attend& attend, const SentenceAttention& result, bool blocks) {
  const auto weights = chosen_heads(attend, result);
  std::string text;
  for (std::int64_t i = 0; i < weights.size(0); ++i) {
    const std::int64_t head = attend.head < 0 ? i : attend.head;
    text += (i > 0 ? "\n" : "") + title_of(attend) + ", head " + std::to_string(head) + "\n";
    const auto map = weights.select(0, i);
    if (blocks) {
      TableNames names;
      names.row_label = [&result](std::int64_t row) {
        return result.queries[static_cast<std::size_t>(row)];
      };
      names.map = ColorMap::viridis;
      text += blocks_of(map, names);
      continue;
    }
    std::vector<std::vector<std::string>> rows(1, {""});
    rows[0].insert(rows[0].end(), result.keys.begin(), result.keys.end());
    for (std::int64_t row = 0; row < map.size(0); ++row) {
      rows.push_back({result.queries[static_cast<std::size_t>(row)]});
      for (std::int64_t key = 0; key < map.size(1); ++key) {
        rows.back().push_back(fixed(map(row, key), 4));
      }
    }
    text += aligned(rows);
  }
  return text;
}

std::string page_of(const Attend& attend, const SentenceAttention& result) {
  Page page(title_of(attend), "Rows ask, columns answer; every row sums to one.");
  page.section("Maps");
  page.picture(maps_of(attend, result),
               "One map per head. Row: the word that looks. Column: the "
               "word that is looked at.");
  page.section("Lines");
  page.picture(lines_of(attend, result),
               "The same weights as lines from left to right, one colour "
               "per head; stronger is more opaque.");
  page.data("attention.json", to_text(json_of(attend, result)));
  return page.html();
}

// A map has one number per head and pair of tokens: said before a text as long as a book is
// multiplied with itself.
constexpr std::size_t kMostTokens = 2048;

std::vector<std::string> tokens_of(const Attend& attend, const std::string& text,
                                   const std::string& where) {
  auto tokens = attend.splitting.tokens(text, where);
  if (tokens.size() <= kMostTokens) return tokens;
  throw Error(where, "must be at most " + std::to_string(kMostTokens) + " tokens for a map, got " +
                         std::to_string(tokens.size()));
}

void check(const Attend& attend) {
  attend.text.check("attend.text");
  if (attend.text.is_stdin() && attend.second == "-") {
    throw Error("attend.second", "must not be - when the text is: there is one stdin");
  }
  attend.choice.check();
  attend.output.format(kFormats, "attend");
}

void run(Attend& attend) {
  attend.options.scheme = attend.choice.scheme;
  attend.options.parameters = attend.choice.parameters;
  const auto first = tokens_of(attend, attend.text.read("attend.text"), "attend.text");
  std::vector<std::string> second;
  if (attend.second_option->count() > 0) {
    second = tokens_of(attend, read_text(attend.second, "attend.second"), "attend.second");
  }
  const auto format = attend.output.format(kFormats, "attend");
  const auto weights = attend.choice.weights();
  attend.options.weights = weights ? &*weights : nullptr;
  const SentenceAttention result = attend_sentences(first, second, attend.options);

  switch (format.value_or(Format::text)) {
    case Format::json:
      return write_result(attend.output, Format::json, to_text(json_of(attend, result)) + "\n");
    case Format::npy:
      return write_result(attend.output, Format::npy,
                          format_npy<double>(chosen_heads(attend, result)));
    case Format::html:
      return write_result(attend.output, Format::html, page_of(attend, result));
    case Format::svg:
    case Format::png:
      return write_picture(attend.lines ? lines_of(attend, result) : maps_of(attend, result),
                           title_of(attend), attend.output, *format);
    default:
      break;
  }
  const bool blocks = !format && stdout_is_terminal();
  std::string shown = text_of(attend, result, blocks);
  if (blocks) shown += "\nsave: -o map.svg, .png, .html, .json or .npy; numbers: --format text\n";
  write_result(attend.output, Format::text, shown);
}

}  // namespace

void add_attend(CLI::App& program, Job& job) {
  CLI::App& command = *program.add_subcommand(
      "attend",
      "attention maps of a text\n"
      "Shows where every word of a text looks: softmax(q k^T / sqrt(head width)) of a model with "
      "seeded random weights. A word's vector depends on the word and the seed only, so all that "
      "tells two equal words apart is the scheme of positions.");
  auto attend = std::make_shared<Attend>();
  attend->text.add_to(command, "the text that looks");
  attend->second_option =
      command
          .add_option("--second", attend->second,
                      "the text that is looked at; - reads stdin (default: the first looks at "
                      "itself)")
          ->type_name("TEXT");
  attend->splitting.add_to(command);
  add_model(command, attend->options);
  add_integer(command, "--head", attend->head, 0, kMostInteger, "only this one, 0 .. heads - 1");
  command.add_flag("--causal", attend->options.causal, "no word sees a later one");
  command.add_flag("--lines", attend->lines, "svg, png: lines between the words instead of maps");
  attend->output.add_to(command, kFormats,
                        "save as .svg .png .html (maps and lines) .json or .npy, by the ending");
  attend->choice.add_to(command, "sinusoidal");
  command.footer(
      "Examples:\n"
      "  sextant attend \"the cat sat on the mat\" --causal\n"
      "  sextant attend \"the cat sat on the mat\" --scheme none -o order-is-invisible.svg\n"
      "  sextant attend \"the black cat\" --second \"die schwarze Katze\" --scheme rotary -o "
      "map.html\n"
      "Without -o and --format: colour blocks in a terminal, numbers in a pipe.");
  command.callback([attend, &job] {
    check(*attend);
    job = [attend] { run(*attend); };
  });
}

}  // namespace sextant::app
