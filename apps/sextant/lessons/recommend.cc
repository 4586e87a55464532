// `sextant recommend`: attention of users to items, by their attributes.
#include <memory>
#include <string>
#include <vector>

#include "commands.h"
#include "options/options.h"
#include "sextant/core/files.h"
#include "sextant/core/npy.h"
#include "sextant/core/numbers.h"
#include "sextant/lessons/recommendation.h"
#include "sextant/pictures/charts.h"
#include "streams/console.h"
#include "streams/table_output.h"

namespace sextant::app {
namespace {

constexpr Format kFormats[] = {Format::text, Format::json, Format::npy,
                               Format::svg,  Format::png,  Format::html};

struct Recommend {
  std::string users;
  std::string items;
  Output output;
};

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
  const std::string title = "Attention of users to items";
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
      return write_result(recommend_.output, format, format_npy<double>(found.weights));
    case Format::svg:
    case Format::png:
    case Format::html:
      return write_picture(
          draw(AttentionMaps{
              .weights = found.weights, .queries = users.rows, .keys = items.rows, .title = title}),
          title, recommend_.output, format);
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
      "Each user is a query, each item a key: scores are the products of their attributes, divided "
      "by the root of the number of attributes, and weights the softmax of each user's scores. "
      "Tables are comma-separated: the first row names the attributes, the first column the users "
      "or items.");
  auto recommend = std::make_shared<Recommend>();
  command.add_option("--users", recommend->users, "a row of attributes per user; - reads stdin")
      ->type_name("FILE.csv")
      ->required();
  command
      .add_option("--items", recommend->items,
                  "a row of attributes per item; the same attributes in any order")
      ->type_name("FILE.csv")
      ->required();
  recommend->output.add_to(command, kFormats,
                           "save as .json, as a picture .svg .png .html, or the weights as .npy");
  command.footer(
      "Examples:\n"
      "  sextant recommend --users users.csv --items movies.csv\n"
      "  sextant recommend --users users.csv --items movies.csv -o weights.svg");
  command.callback([recommend, &job] {
    if (recommend->users == "-" && recommend->items == "-") {
      throw Error("recommend.items", "must not be stdin too, which --users reads");
    }
    recommend->output.format(kFormats, "recommend");
    job = [recommend] { run(*recommend); };
  });
}

}  // namespace sextant::app
