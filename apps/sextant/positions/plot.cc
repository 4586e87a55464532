// `sextant plot`: pictures of a table of positions.
#include <memory>

#include "calls/calls.h"
#include "commands.h"
#include "core/text/strings.h"
#include "options/choices.h"
#include "options/file_arguments.h"
#include "options/options.h"
#include "positions/plot_command.h"
#include "positions/scheme_list.h"
#include "sextant/core/error.h"
#include "sextant/core/names.h"
#include "sextant/core/numbers.h"

namespace sextant::app {
namespace {

constexpr Kind kKinds[] = {
    {"sinusoids", "sinusoids", "columns"},
    {"rows", "rows", "rows"},
    {"heatmap", "heatmap", ""},
    {"similarity", "similarity", ""},
    {"distance", "distance", "measure"},
    {"offset-matrix", "offset_matrix", "shift"},
    {"difference", "difference", ""},
};

std::vector<std::string_view> kind_names() {
  std::vector<std::string_view> names;
  for (const Kind& kind : kKinds) names.push_back(kind.name);
  return names;
}

const Kind& find_kind(const std::string& name) {
  return kKinds[find_name(kind_names(), name, "plot.kind")];
}

// Checks that the kind of scheme can be drawn in this way.
void check_scheme(const PlotOptions& options, const Kind& kind) {
  if (!options.schemes.empty()) {
    if (kind.name != "distance" && kind.name != "difference") {
      throw Error("plot.schemes",
                  "must be given with distance and difference only, got it with " + options.kind);
    }
    if (options.choice.is_given() || !options.table.empty()) {
      throw Error("plot.schemes", "must be given without --scheme, its parameters and --table");
    }
    const auto schemes = parse_schemes(options.schemes, "plot.schemes");
    if (kind.name == "difference" && schemes.size() != 2) {
      throw Error("plot.schemes",
                  "must be two for difference, got " + std::to_string(schemes.size()));
    }
    return;
  }
  if (kind.name == "difference") {
    throw Error("plot.schemes", "must be given with difference: two schemes such as " +
                                    std::string("sinusoidal,sinusoidal:precision=framework"));
  }
  options.choice.check();
  if (kind.name == "offset-matrix" && options.choice.scheme != "sinusoidal") {
    throw Error("plot.scheme",
                "must be sinusoidal for offset-matrix, got '" + options.choice.scheme + "'");
  }
  if (kind.name == "heatmap" || kind.name == "distance" || has_rows(options)) return;
  throw Error("plot.scheme", "must be one that adds a table to embeddings for " + options.kind +
                                 ", got '" + options.choice.scheme +
                                 "', which has no rows to compare; heatmap and distance draw it");
}

// An option that the picture would not show is refused, not passed over.
void check(const CLI::App& command, const PlotOptions& options) {
  const Kind& kind = find_kind(options.kind);
  const auto given = [&](const std::string& name) { return command.count("--" + name) > 0; };
  for (const Kind& other : kKinds) {
    if (other.option.empty() || other.option == kind.option || !given(std::string(other.option)))
      continue;
    throw Error(
        "plot." + std::string(other.option),
        "must be given with " + std::string(other.name) + " only, got it with " + options.kind);
  }
  if (kind.name == "offset-matrix") {
    for (const std::string name : {"length", "first", "table"}) {
      if (given(name)) throw Error("plot." + name, "must not be given with offset-matrix");
    }
  }
  if (kind.name != "offset-matrix" && given("position")) {
    throw Error("plot.position", "must be given with offset-matrix only, got it with " +
                                     options.kind + " (the first row's is --first)");
  }
  options.text.check("plot.text", false);
  if (options.text.is_given() && kind.name != "sinusoids") {
    throw Error("plot.text", "must be given with sinusoids only, got it with " + options.kind +
                                 " (a table from a file is --table FILE)");
  }
  for (const std::string name : {"split", "lower-case"}) {
    if (given(name) && !options.text.is_given()) {
      throw Error("plot." + name, "must be given with a text only");
    }
  }
  if (options.table.empty() || !options.schemes.empty()) {
    check_scheme(options, kind);
  } else if (given("length") || given("width") || options.choice.is_given()) {
    throw Error("plot.table",
                "must be given without --length, --width, --scheme and its "
                "parameters: the file has its own");
  }
  options.output.format(kTableFormats, "plot");
}

void run(const PlotOptions& options) {
  const Kind& kind = find_kind(options.kind);
  std::vector<std::string> words;
  if (options.text.is_given()) {
    words =
        options.splitting.tokens(options.text.read("plot.text", kLongestShownText), "plot.text");
  }
  if (options.call.is_given()) return options.call.print(call_of(options, kind.figure, words));
  Json about;
  const figures::Figure plot = make_plot(options, kind, words, about);
  auto format = options.output.format(kTableFormats, "plot");
  if (!format && !stdout_is_terminal()) format = Format::svg;
  if (!format) {
    const View<const double> values = std::as_const(plot.values).view();
    const std::string drawn = kind.name == "distance" ? bars_of(values, plot.labels.column_name)
                                                      : blocks_of(values, plot.labels);
    print(plot.labels.title + "\n");
    print(drawn, Colors::drawn);
    return print(
        "the picture: -o FILE.svg, .png, .pdf or .html; its numbers: .npy, .csv or .json\n");
  }
  if (is_picture(*format)) {
    return write_picture(plot.picture, plot.labels.title, options.output, *format);
  }
  TableNames names{plot.labels, {}, about};
  if (kind.name == "sinusoids") names.about["columns"] = options.columns;
  if (kind.name == "rows") names.about["rows"] = options.rows;
  if (!plot.columns.empty()) names.about["columns"] = plot.columns;
  names.about["plot"] = kind.name;
  names.about["scheme"] =
      options.table.empty() && options.schemes.empty() ? Json(options.choice.scheme) : Json();
  write_table<double>(std::as_const(plot.values).view(), names, options.output, *format);
}

}  // namespace

void add_plot(CLI::App& program, Job& job) {
  CLI::App& command = *program.add_subcommand(
      "plot",
      "pictures of a table of positions\n"
      "Draws a table of positions. sinusoids: chosen columns as curves, the words of TEXT marked "
      "on them. rows: the vectors of chosen positions. heatmap: the whole table, of schemes of any "
      "kind: rotations as cosines and sines, biases by distance or by query and key. similarity: "
      "how similar any two positions are. distance: similarity or bias as a function of the "
      "distance; --schemes draws several together. offset-matrix: the matrix that moves sinusoidal "
      "positions by --shift, with --position at work on that position. difference: two --schemes, "
      "the second minus the first. Loss curves of training runs: `sextant plot losses`; "
      "perplexities "
      "by length: `sextant plot extrapolation`.");
  auto plot = std::make_shared<PlotOptions>();
  offer(command.add_option("KIND", plot->kind, joined(kind_names(), " | ")), kind_names());
  plot->text.add_to(command, "sinusoids: words to mark");
  plot->splitting.add_to(command);
  add_integer(command, "--length", plot->length, 1, kMaxInteger,
              "positions (default: the words of TEXT and 20 more, else 100)");
  add_integer(command, "--width", plot->width, 1, kMaxInteger,
              "dimensions of added tables (default 100 for sinusoids and rows, 32 for "
              "offset-matrix, else 512)");
  add_integer(command, "--head-dim", plot->head_dim, 1, kMaxInteger,
              "channels of a head, for rotations (default 64)");
  constexpr std::int64_t kMaxHeads = 1 << 20;
  add_integer(command, "--heads", plot->heads, 1, kMaxHeads,
              "number of heads, for biases (default 8)");
  auto* head = add_integer(command, "--head", plot->head, 0, kMaxHeads - 1,
                           "distance: the head of a bias (default: the middle one)");
  command.add_flag("--all-heads", plot->all_heads, "distance: a curve for each head of a bias")
      ->excludes(head);
  add_integer(command, "--first", plot->first, -kFarthestPosition, kFarthestPosition,
              "position of the first row, -2^53 .. 2^53 (default 0)");
  const auto add_list = [&](const std::string& name, std::vector<std::int64_t>& list,
                            const std::string& meaning) {
    command
        .add_option_function<std::string>(
            "--" + name,
            [&list, name](const std::string& text) {
              const std::string where = "plot." + name;
              list = parse_int64_list(text, where);
              for (const std::int64_t at : list)
                check_range(IntegerRange{0, kMaxInteger}, where, at);
            },
            meaning)
        ->type_name("LIST");
  };
  add_list("columns", plot->columns, "sinusoids: columns to draw (default 0,1,20,21,40,41)");
  add_list("rows", plot->rows, "rows: rows to draw, counted from the first (default 0,4,10)");
  add_integer(command, "--shift", plot->shift, -kFarthestPosition, kFarthestPosition,
              "offset-matrix: shift in positions (default 1)");
  add_integer(command, "--position", plot->position, -kFarthestPosition, kFarthestPosition,
              "offset-matrix: PE(p), M PE(p) and PE(p + shift) of this position p instead of M");
  command.add_option("--measure", plot->measure, "distance: cosine | dot (default cosine)")
      ->type_name("M")
      ->check(one_of("plot.measure", {"cosine", "dot"}));
  scheme_list(command.add_option("--schemes", plot->schemes,
                                 "distance: several schemes with their parameters, such as "
                                 "sinusoidal,rotary,rotary:base=500000; one panel per kind. "
                                 "difference: two schemes whose tables have the same shape"),
              "LIST", scheme_names());
  auto* table = input_file(
      command.add_option("--table", plot->table,
                         "draw the table in this .npy or text file instead of making one; - "
                         "reads stdin"));
  command
      .add_option("--dtype", plot->dtype,
                  "with --table: bfloat16 if the file stores its bits as uint16")
      ->type_name("T")
      ->check(one_of("plot.dtype", {"float64", "float32", "bfloat16", "float16"}))
      ->needs(table);
  plot->output.add_to(command, kTableFormats,
                      "save the picture (.svg .png .pdf .html) or its numbers (.npy .csv .json)");
  plot->choice.add_to(command, "sinusoidal");
  plot->call.add_to(command);
  command.footer(
      "Examples:\n"
      "  sextant plot sinusoids \"I am a robot\" -o sines.svg\n"
      "  sextant plot heatmap --length 100 --width 512 -o table.png\n"
      "  sextant plot distance --width 64 --measure dot -o profile.svg\n"
      "  sextant plot offset-matrix --shift 5 -o matrix.svg\n"
      "  sextant plot distance --schemes sinusoidal,rotary,rotary:base=500000 -o schemes.svg\n"
      "  sextant plot offset-matrix --shift 5 --position 10 -o at-work.svg\n"
      "  sextant plot difference --schemes sinusoidal,sinusoidal:precision=framework --first "
      "1000000\n"
      "Without -o: colour blocks in a terminal, SVG in a pipe.");
  add_plot_losses(command, job);
  add_plot_extrapolation(command, job);
  command.callback([plot, &command, &job] {
    if (!command.get_subcommands().empty()) return;
    if (plot->kind.empty()) throw CLI::RequiredError("KIND");
    check(command, *plot);
    job = [plot] { run(*plot); };
  });
}

}  // namespace sextant::app
