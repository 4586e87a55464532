// How image positions present themselves in the list of schemes; the tables are made by
// sincos_2d().
#include <algorithm>
#include <string>
#include <vector>

#include "core/quoted_text.h"
#include "schemes/added/grid_ids.h"
#include "schemes/added/sinusoidal_positions.h"
#include "schemes/descriptors.h"
#include "sextant/core/error.h"
#include "sextant/schemes/added/sincos_2d.h"

namespace sextant::descriptors {
namespace {

constexpr SchemeParameter kParameters[] = {
    {"form", "mae", "mae | moco | big_vision | detr | detr_normalized",
     "the model whose table this is; the next six parameters change parts of it"},
    {"axes", "auto", "auto | column_first | row_first",
     "which axis has the first half of the columns"},
    {"layout", "auto", "auto | interleaved | half_split | cos_first", "order inside each half"},
    {"ladder", "auto", "auto | d | d/2-1", "the frequencies of each half, as sinusoidal has them"},
    {"first", "auto", "auto or finite", "coordinate of the first row and column: 0, DETR 1"},
    {"step", "auto", "auto or finite", "coordinates from patch to patch: 1"},
    {"normalized", "auto", "auto | yes | no",
     "coordinates c become 2 pi c / (the last one + 1e-6), as DETR's"},
    {"base", "10000", "> 0", "wavelengths run from 2 pi to 2 pi times this"},
    {"rows", "auto", "auto or >= 1", "rows of the grid, for normalized; auto: up to the last id"},
    {"columns", "auto", "auto or >= 1",
     "columns of the grid; with one id per patch, row = id / columns; auto: the grid is square"},
};

std::int64_t side_of(const Parameters& given, std::string_view name,
                     const std::vector<std::int64_t>& ids, std::size_t axis) {
  if (given.text(name) != "auto") return given.integer(name);
  std::int64_t last = 0;
  for (std::size_t i = axis; i < ids.size(); i += 2) last = std::max(last, ids[i]);
  return last + 1;
}

Sincos2d options_of(const Parameters& given, const SchemeRequest& request) {
  Sincos2d options = sincos_2d_form(given.text("form"));
  const auto is_given = [&](std::string_view name) { return given.text(name) != "auto"; };
  if (is_given("axes")) {
    const std::string& axes = given.text("axes");
    if (axes != "column_first" && axes != "row_first") {
      throw Error(given.where("axes"),
                  "must be one of column_first, row_first, got " + quoted_text(axes));
    }
    options.column_first = axes == "column_first";
  }
  if (is_given("layout")) {
    options.layout = parse_name<SinusoidalLayout>(given.text("layout"), given.where("layout"));
  }
  if (is_given("ladder")) {
    options.ladder = parse_name<Ladder>(given.text("ladder"), given.where("ladder"));
  }
  if (is_given("first")) options.first = given.number("first");
  if (is_given("step")) options.step = given.number("step");
  if (is_given("normalized")) options.normalized = given.flag("normalized");
  options.base = given.number("base");
  options.width = request.width;
  return options;
}

SchemeTable make(const SchemeRequest& request) {
  const Parameters given(kSincos2d, request);
  Sincos2d options = options_of(given, request);
  listed_positions(request.positions, "sincos_2d.positions");
  const std::int64_t inner[] = {grid_side(given, "columns", request.rows(), 2)};
  const std::vector<std::int64_t> ids = grid_ids_of(request, kSincos2d.name, inner);
  options.rows = side_of(given, "rows", ids, 0);
  options.columns = request.axes == 1 ? inner[0] : side_of(given, "columns", ids, 1);
  return sincos_2d<double>(options, ids);
}

std::int64_t length_class(const SchemeRequest& request, std::int64_t length) {
  const Parameters given(kSincos2d, request);
  const std::int64_t columns = grid_side(given, "columns", length, 2);
  const bool rows_matter =
      options_of(given, request).normalized && given.text("rows") == "auto" && length > 0;
  const std::int64_t rows = rows_matter ? (length - 1) / columns + 1 : 0;
  return (rows << 31) + (given.text("columns") == "auto" ? columns : 0);
}

}  // namespace

constinit const Scheme kSincos2d = {
    .name = "sincos_2d",
    .kind = SchemeKind::added,
    .idea =
        "Adds sines and cosines of an image patch's column in one half and of its row in the "
        "other.",
    .paper = "He et al. 2021, 2111.06377; Carion et al. 2020, 2005.12872",
    .parameters = kParameters,
    .make = make,
    .length_class = length_class,
};

}  // namespace sextant::descriptors
