// A table of numbers as text, JSON, .npy, a picture or colour blocks.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "options/arguments.h"
#include "options/options.h"
#include "sextant/core/tensor.h"
#include "sextant/figures/figure.h"
#include "streams/console.h"

namespace sextant::app {

inline constexpr Format kTableFormats[] = {Format::text, Format::csv, Format::json, Format::npy,
                                           Format::svg,  Format::png, Format::pdf,  Format::html};

// Lines of a terminal besides the table: command, title, notes.
inline constexpr std::int64_t kLinesForText = 8;

// Describes a table besides its numbers.
struct TableNames : figures::TableLabels {
  // The picture, where a map of the table's rows is not it; empty: that map.
  std::function<Picture()> draw;
  Json about;  // fields before "values" in JSON
};

// One number as its type would print it: float64 with 17 significant digits (which read back as the
// same number), narrower types with the fewest that do.
template <class T>
std::string digits(T value);

// Writes [rows, columns] in any format, to the file of `output` or to stdout; rows of csv are plain
// numbers without a header. For .npy and JSON the contiguous table may have any rank from 2 on.
// JSON has null for values that are not finite.
template <class T>
void write_table(View<const T> table, const TableNames& names, const Output& output, Format format);

// The table, or tables [tables, rows, columns] below their titles, as colour blocks: as many of the
// first rows and columns as fit the terminal, and a line that says so when that is not all. Named
// columns are words: of them as many rows as columns are shown.
std::string blocks_of(View<const double> tables, const figures::TableLabels& names,
                      std::vector<std::string> titles = {});

// [rows, 2] of x and y as bars of text, one line each; as many rows as fit the terminal, evenly
// spread.
std::string bars_of(View<const double> table, const std::string& header);

// Columns of text, aligned: numbers to the right when `right` says so. rows[0] is the header.
std::string aligned(const std::vector<std::vector<std::string>>& rows, bool right = true);

// A line on stderr for the characters that a file of this name would not show.
void warn_of(const std::string& path, const Picture& picture);

// A finished picture as svg, png, pdf or html, with that line.
void write_picture(const Picture& picture, const std::string& title, const Output& output,
                   Format format);

// Any float type as float64: exact.
template <class T>
Tensor<double> widen(View<const T> table);

}  // namespace sextant::app
