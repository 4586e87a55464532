// `sextant recommend`: attention of users to items, by their attributes.
#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "commands.h"
#include "options/file_arguments.h"
#include "options/options.h"
#include "sextant/core/error.h"
#include "sextant/core/files.h"
#include "sextant/core/npy.h"
#include "sextant/core/numbers.h"
#include "sextant/figures/figure.h"
#include "sextant/lessons/recommendation.h"
#include "sextant/pictures/charts.h"
#include "sextant/text/segment.h"
#include "streams/console.h"
#include "streams/table_output.h"

namespace sextant::app {
namespace {

constexpr Format kFormats[] = {Format::text, Format::json, Format::npy, Format::svg,
                               Format::png,  Format::pdf,  Format::html};

struct Recommend {
  std::string users;
  std::string items;
  std::string show = "weights";
  Output output;
};

// One of the tables with its names.
struct Shown {
  View<const double> values;
  std::vector<std::string> rows, columns;
  std::string title, row_name, column_name, color_name;
};

// Returns the name of the rows in the file, unless it is empty or too long for an axis.
std::string axis_of(const NamedTable& table, const char* otherwise) {
  constexpr std::int64_t kLongest = 30;
  const std::string name = figures::capital(table.row_name);
  return name.empty() || name == "Name" || display_width(name) > kLongest ? otherwise : name;
}

Shown shown_of(const std::string& what, const NamedTable& users, const NamedTable& items,
               const Recommendation& found) {
  const std::string user = axis_of(users, "Users"), item = axis_of(items, "Items");
  if (what == "users") {
    return {users.values.view(), users.rows, users.columns, "Attributes of users", user,
            "Attributes",        "Attribute"};
  }
  if (what == "items") {
    return {items.values.view(), items.rows, items.columns, "Attributes of items", item,
            "Attributes",        "Attribute"};
  }
  const bool scores = what == "scores";
  return {scores ? found.scores.view() : found.weights.view(),
          users.rows,
          items.rows,
          scores ? "Scores of users and items" : "Attention of users to items",
          user,
          item,
          "Score"};
}

// Attributes are -1 .. 1 as a rule; larger ones widen the scale.
Picture picture_of(const Shown& shown, const std::string& what, std::optional<double> max_width) {
  if (what == "weights") {
    AttentionMaps maps{.weights = shown.values,
                       .queries = shown.rows,
                       .keys = shown.columns,
                       .title = shown.title,
                       .row_name = shown.row_name,
                       .column_name = shown.column_name};
    maps.max_width = max_width.value_or(maps.max_width);
    return draw(maps);
  }
  HeatmapPanels map{.values = shown.values,
                    .titles = {},
                    .title = shown.title,
                    .x_label = shown.column_name,
                    .y_label = shown.row_name,
                    .color_label = shown.color_name,
                    .map = ColorMap::diverging,
                    .row_labels = shown.rows,
                    .column_labels = shown.columns};
  if (what != "scores") {
    double largest = 1;
    for (std::int64_t i = 0; i < shown.values.size(0); ++i) {
      for (std::int64_t j = 0; j < shown.values.size(1); ++j) {
        largest = std::max(largest, std::abs(shown.values(i, j)));
      }
    }
    map.low = -largest;
    map.high = largest;
  }
  map.max_width = max_width.value_or(map.max_width);
  return draw(map);
}

NamedTable load_named(const std::string& path) {
  return parse_named_table(path == "-" ? read_stdin(kLongestText) : read_file(path, kLongestText),
                           path == "-" ? "stdin" : path);
}

Json rows_of(View<const double> table) {
  Json rows = Json::array();
  for (std::int64_t i = 0; i < table.size(0); ++i) {
    Json row = Json::array();
    for (std::int64_t j = 0; j < table.size(1); ++j) row.push_back(table(i, j));
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string text_of(const std::string& title, const std::vector<std::string>& rows,
                    const std::vector<std::string>& columns, View<const double> table) {
  std::vector<std::vector<std::string>> lines(1, {""});
  lines[0].insert(lines[0].end(), columns.begin(), columns.end());
  for (std::int64_t i = 0; i < table.size(0); ++i) {
    lines.push_back({rows[static_cast<std::size_t>(i)]});
    for (std::int64_t j = 0; j < table.size(1); ++j) lines.back().push_back(fixed(table(i, j), 4));
  }
  return title + "\n" + aligned(lines);
}

void run(const Recommend& recommend_) {
  const NamedTable users = load_named(recommend_.users), items = load_named(recommend_.items);
  const Recommendation found = recommend(users, items);
  const Format format = recommend_.output.format(kFormats, "recommend").value_or(Format::text);
  const Shown shown = shown_of(recommend_.show, users, items, found);
  switch (format) {
    case Format::json: {
      Json json;
      json["users"] = users.rows;
      json["items"] = items.rows;
      json["attributes"] = users.columns;
      json["scores"] = rows_of(found.scores);
      json["weights"] = rows_of(found.weights);
      return write_result(recommend_.output, format, to_text(json) + "\n");
    }
    case Format::npy:
      return write_result(recommend_.output, format, format_npy<double>(shown.values));
    case Format::svg:
    case Format::png:
    case Format::pdf:
    case Format::html:
      return write_picture(picture_of(shown, recommend_.show, recommend_.output.max_width),
                           shown.title, recommend_.output, format);
    default:
      break;
  }
  const std::string root = "sqrt(" + std::to_string(users.columns.size()) + ")";
  write_result(recommend_.output, Format::text,
               text_of("scores: users x items / " + root, users.rows, items.rows, found.scores) +
                   "\n" +
                   text_of("weights: softmax of each row", users.rows, items.rows, found.weights));
}

}  // namespace

void add_recommend(CLI::App& program, Job& job) {
  CLI::App& command = *program.add_subcommand(
      "recommend",
      "attention of users to items, by their attributes\n"
      "Computes attention of users to items: each user is a query, each item a key. Scores are the "
      "products of their attributes, divided by the root of the number of attributes; weights are "
      "the softmax of each user's scores. "
      "Tables are comma-separated: the first row names the attributes, the first column the users "
      "or items.");
  auto recommend = std::make_shared<Recommend>();
  input_file(command.add_option("--users", recommend->users,
                                "a row of attributes per user; - reads stdin"),
             "FILE.csv")
      ->required();
  input_file(command.add_option("--items", recommend->items,
                                "a row of attributes per item; the same attributes in any order"),
             "FILE.csv")
      ->required();
  recommend->output.add_to(command, kFormats,
                           "save as .json, as a picture .svg .png .pdf .html, or as .npy");
  auto* show = command
                   .add_option("--show", recommend->show,
                               "pictures and .npy: users | items | scores | weights (default "
                               "weights); users and items are their attributes")
                   ->type_name("TABLE")
                   ->check(one_of("recommend.show", {"users", "items", "scores", "weights"}));
  command.footer(
      "Examples:\n"
      "  sextant recommend --users users.csv --items movies.csv\n"
      "  sextant recommend --users users.csv --items movies.csv -o weights.svg\n"
      "  sextant recommend --users users.csv --items movies.csv --show users -o users.svg");
  command.callback([recommend, show, &job] {
    const auto format = recommend->output.format(kFormats, "recommend").value_or(Format::text);
    if (show->count() > 0 && (format == Format::text || format == Format::json)) {
      throw Error("recommend.show", "must be given with svg, png, pdf, html or npy, got it with " +
                                        std::string(name_of(format)));
    }
    job = [recommend] { run(*recommend); };
  });
}

}  // namespace sextant::app
