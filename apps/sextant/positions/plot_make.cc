// The figure that `sextant plot` was asked for: of a table of rows, of any scheme's table, or of
// several schemes by distance.
#include "positions/plot_command.h"
#include "positions/scheme_list.h"
#include "sextant/core/error.h"
#include "sextant/figures/position_figures.h"
#include "sextant/figures/scheme_array.h"
#include "sextant/figures/scheme_difference.h"
#include "sextant/figures/scheme_profiles.h"
#include "streams/table_input.h"

namespace sextant::app {
namespace {

constexpr std::int64_t kHeadDim = 64;  // when nothing says it

std::int64_t head_dim_of(const PlotOptions& options) {
  return options.head_dim.value_or(options.width.value_or(kHeadDim));
}

figures::Measure measure_of(const PlotOptions& options) {
  return options.measure == "dot" ? figures::Measure::dot : figures::Measure::cosine;
}

// Makes the table of an added scheme or of a file.
figures::PositionTable table_of(const PlotOptions& plot, const Kind& kind, std::int64_t words) {
  if (!plot.table.empty()) {
    return {.values = std::move(load_table(plot.table, plot.dtype).values),
            .name = "the table in " + plot.table.substr(plot.table.find_last_of('/') + 1),
            .first = plot.first};
  }
  const auto weights = plot.choice.weights();
  return position_table(
      plot.choice.named(weights),
      plot.length.value_or(words > 0 ? words + figures::kBeyondWords : kind.length()),
      plot.width.value_or(kind.width()), plot.first);
}

// Replaces the library's error by one that names the command for this scheme.
void check_has_profile(const figures::NamedScheme& named) {
  if (named.descriptor().kind != SchemeKind::content) return;
  throw Error("plot.scheme", "must be a scheme that has a profile, got '" + named.scheme +
                                 "', whose scores depend on q and k as well: see `sextant attend " +
                                 "--scheme " + named.scheme + "`");
}

figures::Figure plot_several(const PlotOptions& options, const Kind& kind) {
  figures::ProfileOptions profile;
  profile.length = options.length.value_or(kind.length());
  profile.first = options.first;
  profile.width = options.width.value_or(kind.width());
  profile.head_dim = head_dim_of(options);
  profile.heads = options.heads;
  profile.head = options.head;
  profile.all_heads = options.all_heads;
  profile.measure = measure_of(options);
  profile.max_width = options.output.max_width;
  const auto weights = options.choice.weights();
  const auto schemes = options.schemes.empty() ? std::vector{options.choice.named(weights)}
                                               : parse_schemes(options.schemes, "plot.schemes");
  for (const auto& named : schemes) check_has_profile(named);
  return plot_profiles(schemes, profile);
}

// How far two tables are apart, and where most.
figures::Figure plot_two(const PlotOptions& options, const Kind& kind, Json& about) {
  const auto schemes = parse_schemes(options.schemes, "plot.schemes");
  auto found = figures::plot_difference(schemes[0], schemes[1],
                                        {.length = options.length.value_or(kind.length()),
                                         .first = options.first,
                                         .heads = options.heads,
                                         .head_dim = head_dim_of(options),
                                         .max_width = options.output.max_width},
                                        options.width.value_or(kind.width()));
  about["largest"] = {{"difference", found.largest}, {"row", found.row}, {"column", found.column}};
  return std::move(found.figure);
}

}  // namespace

bool has_rows(const PlotOptions& options) {
  if (!options.schemes.empty()) return false;
  return !options.table.empty() || options.choice.descriptor().kind == SchemeKind::added;
}

figures::Figure make_plot(const PlotOptions& options, const Kind& kind,
                          const std::vector<std::string>& words, Json& about) {
  if (kind.name == "difference") return plot_two(options, kind, about);
  const std::optional<double> max_width = options.output.max_width;
  if (kind.name == "offset-matrix") {
    Sinusoidal table = sinusoidal_from(options.choice.parameters);
    table.width = options.width.value_or(kind.width());
    if (!options.position) return figures::plot_offset_matrix(table, options.shift, max_width);
    table.first = *options.position;
    return figures::plot_offset_at_work(table, options.shift, max_width);
  }
  if (!has_rows(options)) {
    if (kind.name == "distance") return plot_several(options, kind);
    check_has_table(options.choice, "plot.scheme");
    const auto weights = options.choice.weights();
    return plot_scheme(options.choice.named(weights),
                       {.length = options.length.value_or(kind.length()),
                        .first = options.first,
                        .heads = options.heads,
                        .head_dim = head_dim_of(options),
                        .max_width = max_width});
  }
  const auto count = static_cast<std::int64_t>(words.size());
  const auto table = table_of(options, kind, count);
  if (count > table.values.size(0)) {
    throw Error("plot.text", "must have at most as many words as there are positions, " +
                                 std::to_string(table.values.size(0)) + ", got " +
                                 std::to_string(count));
  }
  if (kind.name == "sinusoids") return plot_sinusoids(table, options.columns, words, max_width);
  if (kind.name == "rows") return plot_rows(table, options.rows, max_width);
  if (kind.name == "heatmap") return plot_heatmap(table, max_width);
  if (kind.name == "similarity") return plot_similarity(table, max_width);
  return plot_distance(table, measure_of(options), max_width);
}

}  // namespace sextant::app
