// Declares the options of `sextant plot`, and makes its picture.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "calls/printed_call.h"
#include "options/options.h"
#include "options/scheme_choice.h"
#include "sextant/figures/figure.h"
#include "sextant/figures/position_figures.h"
#include "streams/table_output.h"

namespace sextant::app {

struct PlotOptions {
  std::string kind;
  TextInput text;
  Splitting splitting;
  std::optional<std::int64_t> length;
  std::optional<std::int64_t> width, head_dim;
  std::int64_t heads = 8;
  std::optional<std::int64_t> head;
  bool all_heads = false;
  std::string schemes;  // of distance: several, with their parameters; of difference: two
  std::int64_t first = 0;
  std::string table;
  std::string dtype;
  std::vector<std::int64_t> columns = {0, 1, 20, 21, 40, 41};
  std::vector<std::int64_t> rows = {0, 4, 10};
  std::string measure = "cosine";
  std::int64_t shift = 1;
  std::optional<std::int64_t> position;  // that the offset matrix is applied to
  SchemeChoice choice;
  Output output;
  CallChoice call;
};

struct Kind {
  std::string_view name;
  std::string_view figure;  // the name in figures::plot_sizes()
  std::string_view option;  // the one that no other kind has, or none

  std::int64_t length() const { return figures::plot_sizes(figure).length; }
  std::int64_t width() const { return figures::plot_sizes(figure).width; }
};

// A table of rows that are added to embeddings, or one from a file.
bool has_rows(const PlotOptions& options);

// Makes the picture with its numbers, and `about` fields for JSON; words mark positions of
// sinusoids. Throws Error for a kind that the scheme does not support.
figures::Figure make_plot(const PlotOptions& options, const Kind& kind,
                          const std::vector<std::string>& words, Json& about);

}  // namespace sextant::app
