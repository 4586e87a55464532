// `sextant plot`: pictures of a table of positions.
#include <memory>
#include <numeric>
#include <optional>

#include "commands.h"
#include "plots.h"
#include "sextant/core/error.h"
#include "sextant/core/numbers.h"
#include "table_input.h"

namespace sextant::app {
namespace {

struct PlotOptions {
  std::string kind;
  TextInput text;
  Splitting splitting;
  std::optional<std::int64_t> length;
  std::optional<std::int64_t> width;
  std::int64_t first = 0;
  std::string table;
  std::string dtype;
  std::vector<std::int64_t> columns = {1, 2, 20, 21, 40, 41};
  std::vector<std::int64_t> rows = {0, 4, 10};
  std::string measure = "cosine";
  SchemeChoice choice;
  Output output;
};

constexpr std::int64_t kBeyondWords = 20;  // positions drawn behind the last word (A2)

struct Kind {
  std::string_view name;
  std::int64_t length;  // when nothing says how long the table is
  std::int64_t width;
  std::string_view own;  // the one option that no other kind has, or none
};
// The sizes of the course's own pictures; 512 wide where the whole vector is compared.
constexpr Kind kKinds[] = {
    {"sinusoids", 100, 100, "columns"}, {"rows", 100, 100, "rows"},
    {"heatmap", 100, 512, ""},          {"similarity", 100, 512, ""},
    {"distance", 100, 512, "measure"},
};

const Kind& find_kind(const std::string& name) {
  std::string names;
  for (const Kind& kind : kKinds) {
    if (kind.name == name) return kind;
    names += (names.empty() ? "" : ", ") + std::string(kind.name);
  }
  throw CLI::ValidationError("KIND", "must be one of " + names + ", got '" + name + "'");
}

struct Source {
  Tensor<double> values;
  PositionTableView view;
};

Source make_source(const PlotOptions& plot, const Kind& kind, std::int64_t words) {
  Source source;
  source.view.first = plot.first;
  if (!plot.table.empty()) {
    source.values = std::move(load_table(plot.table, plot.dtype).values);
    source.view.name = "the table in " + plot.table.substr(plot.table.find_last_of('/') + 1);
    source.view.table = std::as_const(source.values).view();
    return source;
  }
  const std::int64_t length = plot.length.value_or(words > 0 ? words + kBeyondWords : kind.length);
  const std::int64_t width = plot.width.value_or(kind.width);
  source.view.name = plot.choice.title();
  if (plot.choice.is_sinusoidal()) {
    Sinusoidal options = sinusoidal_from(plot.choice.parameters);
    options.length = length;
    options.width = width;
    options.first = plot.first;
    source.values = sinusoidal<double>(options);
    source.view.options = options;
  } else {
    const Scheme& scheme = plot.choice.descriptor();
    constexpr std::int64_t kMost = std::int64_t{1} << 24;
    if (length > kMost) {
      throw Error("plot.length", "must be at most 2^24 for the scheme " + plot.choice.scheme +
                                     ", got " + std::to_string(length));
    }
    std::vector<std::int64_t> positions(static_cast<std::size_t>(length));
    std::iota(positions.begin(), positions.end(), plot.first);
    SchemeRequest request;
    request.width = width;
    request.positions = positions;
    request.parameters = plot.choice.parameters;
    source.values = std::get<Tensor<double>>(scheme.make(request));  // of an added scheme
  }
  source.view.table = std::as_const(source.values).view();
  return source;
}

Plot make_plot(const PlotOptions& options, const Kind& kind, const Source& source,
               const std::vector<std::string>& words) {
  if (kind.name == "sinusoids") {
    return plot_sinusoids(source.view, options.columns, words);
  }
  if (kind.name == "rows") {
    return plot_rows(source.view, options.rows);
  }
  if (kind.name == "heatmap") return plot_heatmap(source.view);
  if (kind.name == "similarity") return plot_similarity(source.view);
  return plot_distance(source.view, options.measure == "dot" ? Measure::dot : Measure::cosine);
}

// An option that the picture would not show is refused, not passed over.
void check(const CLI::App& command, const PlotOptions& options) {
  const Kind& kind = find_kind(options.kind);
  const auto given = [&](const std::string& name) { return command.count("--" + name) > 0; };
  for (const Kind& other : kKinds) {
    if (other.own.empty() || other.own == kind.own || !given(std::string(other.own))) continue;
    throw Error("plot." + std::string(other.own), "must be given with " + std::string(other.name) +
                                                      " only, got it with " + options.kind);
  }
  options.text.check("plot.text", false);
  if (options.text.is_given() && kind.name != "sinusoids") {
    throw Error("plot.text", "must be given with sinusoids only, got it with " + options.kind +
                                 " (a table from a file is --table FILE)");
  }
  for (const std::string name : {"split", "lower"}) {
    if (given(name) && !options.text.is_given()) {
      throw Error("plot." + name, "must be given with a text only");
    }
  }
  if (options.table.empty()) {
    options.choice.check();
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
    words = options.splitting.tokens(options.text.read("plot.text"), "plot.text");
  }
  const Source source = make_source(options, kind, static_cast<std::int64_t>(words.size()));
  const Plot plot = make_plot(options, kind, source, words);
  auto format = options.output.format(kTableFormats, "plot");
  if (!format && !stdout_is_terminal()) format = Format::svg;
  if (!format) {
    const View<const double> values = std::as_const(plot.values).view();
    const std::string drawn = kind.name == "distance" ? bars_of(values, plot.names.column_name)
                                                      : blocks_of(values, plot.names);
    return print(plot.names.title + "\n" + drawn +
                 "the picture: -o FILE.svg, .png or .html; its numbers: .npy, .csv or .json\n");
  }
  if (*format == Format::svg || *format == Format::png || *format == Format::html) {
    return write_picture(plot.picture, plot.names.title, options.output, *format);
  }
  TableNames names = plot.names;
  names.about["plot"] = kind.name;
  names.about["scheme"] = options.table.empty() ? Json(options.choice.scheme) : Json();
  write_table<double>(std::as_const(plot.values).view(), names, options.output, *format);
}

}  // namespace

void add_plot(CLI::App& program, Job& job) {
  CLI::App& command =
      *program.add_subcommand("plot",
                              "pictures of a table of positions\n"
                              "Draws a table of positions. sinusoids: chosen columns as curves, "
                              "the words of TEXT marked on "
                              "them. rows: the vectors of chosen positions. heatmap: the whole "
                              "table. similarity: how alike "
                              "any two positions are. distance: the same by their distance.");
  auto plot = std::make_shared<PlotOptions>();
  command.add_option("KIND", plot->kind, "sinusoids | rows | heatmap | similarity | distance")
      ->required();
  plot->text.add_to(command, "sinusoids: words to mark");
  plot->splitting.add_to(command);
  add_integer(command, "--length", plot->length, 1, kMostInteger,
              "positions (default: the words of TEXT and 20 more, else 100)");
  add_integer(command, "--width", plot->width, 1, kMostInteger,
              "dimensions (default 100 for sinusoids and rows, else 512)");
  add_integer(command, "--first", plot->first, -kFarthestPosition, kFarthestPosition,
              "position of the first row, -2^53 .. 2^53 (default 0)");
  const auto add_list = [&](const std::string& name, std::vector<std::int64_t>& list,
                            const std::string& meaning) {
    command
        .add_option_function<std::string>(
            "--" + name,
            [&list, name](const std::string& text) {
              list = parse_int64_list(text, "plot." + name);
            },
            meaning)
        ->type_name("LIST");
  };
  add_list("columns", plot->columns, "sinusoids: which (default 1,2,20,21,40,41)");
  add_list("rows", plot->rows, "rows: which, counted from the first (default 0,4,10)");
  command.add_option("--measure", plot->measure, "distance: cosine | dot (default cosine)")
      ->type_name("M")
      ->check(CLI::IsMember({"cosine", "dot"}));
  auto* table = command
                    .add_option("--table", plot->table,
                                "draw the table in this .npy or text file instead of making one; - "
                                "reads stdin")
                    ->type_name("FILE");
  command
      .add_option("--dtype", plot->dtype,
                  "with --table: bfloat16 when the file holds its bits as uint16")
      ->type_name("T")
      ->check(CLI::IsMember({"float64", "float32", "bfloat16", "float16"}))
      ->needs(table);
  plot->output.add_to(command, kTableFormats,
                      "save the picture (.svg .png .html) or its numbers (.npy .csv .json)");
  plot->choice.add_to(command, "sinusoidal",
                      [](const Scheme& scheme) { return scheme.kind == SchemeKind::added; });
  command.footer(
      "Examples:\n"
      "  sextant plot sinusoids \"I am a robot\" -o sines.svg\n"
      "  sextant plot heatmap --length 100 --width 512 -o table.png\n"
      "  sextant plot distance --width 64 --measure dot -o profile.svg\n"
      "Without -o: colour blocks in a terminal, SVG in a pipe.");
  command.callback([plot, &command, &job] {
    check(command, *plot);
    job = [plot] { run(*plot); };
  });
}

}  // namespace sextant::app
