// The picture that `sextant plot` was asked for: of a table of rows, of any scheme's table, or of
// several schemes by distance.
#include <numeric>

#include "attention/scheme_forms.h"
#include "positions/plot_command.h"
#include "positions/scheme_profiles.h"
#include "sextant/core/error.h"
#include "streams/table_input.h"

namespace sextant::app {
namespace {

struct Source {
  Tensor<double> values;
  PositionTableView view;
};

std::vector<std::int64_t> positions_of(const PlotOptions& plot, std::int64_t length) {
  constexpr std::int64_t kMost = std::int64_t{1} << 24;
  if (length > kMost) {
    throw Error("plot.length", "must be at most 2^24 for the scheme " + plot.choice.scheme +
                                   ", got " + std::to_string(length));
  }
  std::vector<std::int64_t> positions(static_cast<std::size_t>(length));
  std::iota(positions.begin(), positions.end(), plot.first);
  return positions;
}

// Of added schemes and of files.
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
    const std::vector<std::int64_t> positions = positions_of(plot, length);
    const auto weights = plot.choice.weights();
    SchemeRequest request;
    request.width = width;
    request.positions = positions;
    request.parameters = plot.choice.parameters;
    if (weights) request.weights = &*weights;
    source.values = std::get<Tensor<double>>(scheme.make(request));  // of an added scheme
  }
  source.view.table = std::as_const(source.values).view();
  return source;
}

constexpr std::int64_t kHeadDim = 64;  // when nothing says it

// The table of any scheme, whatever its kind: its rows as a map, or one map per head.
Plot plot_form(const PlotOptions& options, const Kind& kind) {
  const std::vector<std::int64_t> positions =
      positions_of(options, options.length.value_or(kind.length));
  const auto weights = options.choice.weights();
  SchemeRequest request;
  request.heads = options.heads;
  request.head_dim = options.head_dim.value_or(options.width.value_or(kHeadDim));
  request.positions = positions;
  request.parameters = options.choice.parameters;
  if (weights) request.weights = &*weights;
  const SchemeForm form = form_of(options.choice.descriptor(), request, Side::queries, "plot");
  Plot plot{{}, form.rows.clone(), names_of(form)};
  plot.names.title = capital(options.choice.title());
  if (form.rows_per_head == 0 && form.first_column == 0) plot.names.first_row = options.first;
  plot.picture = plot.names.draw ? plot.names.draw(plot.names.title)
                                 : picture_of(std::as_const(plot.values).view(), plot.names);
  plot.names.draw = nullptr;  // it borrows
  return plot;
}

Plot plot_several(const PlotOptions& options, const Kind& kind) {
  ProfileOptions profile;
  profile.length = options.length.value_or(kind.length);
  profile.first = options.first;
  profile.width = options.width.value_or(kind.width);
  profile.head_dim = options.head_dim.value_or(options.width.value_or(kHeadDim));
  profile.heads = options.heads;
  profile.head = options.head;
  profile.all_heads = options.all_heads;
  profile.measure = options.measure == "dot" ? Measure::dot : Measure::cosine;
  if (!options.schemes.empty()) {
    return plot_profiles(parse_schemes(options.schemes, "plot.schemes"), profile);
  }
  const auto weights = options.choice.weights();
  return plot_profiles(
      {{options.choice.scheme, options.choice.parameters, weights ? &*weights : nullptr}}, profile);
}

}  // namespace

bool has_rows(const PlotOptions& options) {
  if (!options.schemes.empty()) return false;
  return !options.table.empty() || options.choice.descriptor().kind == SchemeKind::added;
}

Plot make_plot(const PlotOptions& options, const Kind& kind,
               const std::vector<std::string>& words) {
  if (!has_rows(options)) {
    return kind.name == "distance" ? plot_several(options, kind) : plot_form(options, kind);
  }
  const Source source = make_source(options, kind, static_cast<std::int64_t>(words.size()));
  if (kind.name == "sinusoids") return plot_sinusoids(source.view, options.columns, words);
  if (kind.name == "rows") return plot_rows(source.view, options.rows);
  if (kind.name == "heatmap") return plot_heatmap(source.view);
  if (kind.name == "similarity") return plot_similarity(source.view);
  return plot_distance(source.view, options.measure == "dot" ? Measure::dot : Measure::cosine);
}

}  // namespace sextant::app
