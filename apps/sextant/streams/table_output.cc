// A table of numbers as text, JSON, .npy, a picture or colour blocks.
#include "streams/table_output.h"

#include <algorithm>
#include <cmath>

#include "sextant/core/error.h"
#include "sextant/core/files.h"
#include "sextant/core/npy.h"
#include "sextant/core/numbers.h"
#include "sextant/pictures/page.h"
#include "sextant/text/segment.h"
#include "streams/console.h"

namespace sextant::app {
namespace {

constexpr std::size_t kPart = std::size_t{1} << 20;  // bytes of text before they are sent on

std::string row_label(const figures::TableLabels& names, std::int64_t row) {
  return names.row_label ? names.row_label(row) : std::to_string(names.first_row + row);
}

std::string column_label(const figures::TableLabels& names, std::int64_t column) {
  return names.column_label ? names.column_label(column)
                            : std::to_string(names.first_column + column);
}

// JSON has no infinities; JavaScript writes null for them.
template <class T>
std::string json_digits(T value) {
  return std::isfinite(static_cast<double>(value)) ? digits(value) : "null";
}

// Rows as text, each made by `line(row)`; to stdout in parts, so that a long table needs no memory.
template <class Line>
void write_lines(const Output& output, std::int64_t rows, std::string text, Line line,
                 std::string_view end) {
  for (std::int64_t row = 0; row < rows; ++row) {
    line(text, row);
    if (!output.to_file() && text.size() >= kPart) {
      print(text);
      text.clear();
    }
  }
  text += end;
  if (output.to_file()) {
    write_file(output.path, text);
  } else {
    print(text);
  }
}

template <class T>
void write_csv(View<const T> table, const Output& output) {
  const auto line = [&](std::string& text, std::int64_t row) {
    for (std::int64_t column = 0; column < table.size(1); ++column) {
      if (column > 0) text += ',';
      text += digits(table(row, column));
    }
    text += '\n';
  };
  write_lines(output, table.size(0), "", line, "");
}

template <class T>
void write_json(View<const T> table, const TableNames& names, const Output& output) {
  Json about = names.about.is_object() ? names.about : Json::object();
  about["dtype"] = dtype_name(dtype_of<T>);
  const int last = table.rank() - 1;
  about["shape"] = std::vector<std::int64_t>(table.shape().begin(), table.shape().end());
  std::string text = to_text(about);
  text.resize(text.size() - 2);  // the closing brace on its own line
  text += ",\n  \"values\": [";
  const std::int64_t columns = table.size(last);
  std::int64_t lines = 1;
  for (int axis = 0; axis < last; ++axis) lines *= table.size(axis);
  // How many arrays, the line's own aside, begin with line `row`; as many end before it.
  const auto begin = [&](std::int64_t row) {
    std::size_t count = 0;
    for (int axis = last - 1; axis > 0 && row % table.size(axis) == 0; --axis) {
      row /= table.size(axis);
      ++count;
    }
    return count;
  };
  const auto line = [&](std::string& out, std::int64_t row) {
    const std::size_t count = begin(row);
    if (row > 0) out += std::string(count, ']') + ",";
    out += "\n    " + std::string(count, '[') + "[";
    for (std::int64_t column = 0; column < columns; ++column) {
      if (column > 0) out += ", ";
      out += json_digits(table.data()[row * columns + column]);
    }
    out += "]";
  };
  const std::string close = lines > 0 ? std::string(static_cast<std::size_t>(last - 1), ']') : "";
  write_lines(output, lines, text, line, close + "\n  ]\n}\n");
}

std::string text_of_table(View<const double> table, const figures::TableLabels& names) {
  std::vector<std::vector<std::string>> rows(1, {names.row_name});
  for (std::int64_t column = 0; column < table.size(1); ++column) {
    rows[0].push_back(std::to_string(names.first_column + column));
  }
  for (std::int64_t row = 0; row < table.size(0); ++row) {
    rows.push_back({row_label(names, row)});
    for (std::int64_t column = 0; column < table.size(1); ++column) {
      rows.back().push_back(fixed(table(row, column), 6));
    }
  }
  return aligned(rows);
}

}  // namespace

template <>
std::string digits(double value) {
  return significant(value, 17);
}
template <>
std::string digits(float value) {
  return shortest(value);
}
template <>
std::string digits(bfloat16 value) {
  return shortest(static_cast<float>(value));
}
template <>
std::string digits(float16 value) {
  return shortest(static_cast<float>(value));
}

template <class T>
Tensor<double> widen(View<const T> table) {
  auto result = Tensor<double>::uninitialized(table.shape());
  for (std::int64_t row = 0; row < table.size(0); ++row) {
    for (std::int64_t column = 0; column < table.size(1); ++column) {
      result(row, column) = static_cast<double>(table(row, column));
    }
  }
  return result;
}

template <class T>
void write_table(View<const T> table, const TableNames& names, const Output& output,
                 Format format) {
  switch (format) {
    case Format::csv:
      return write_csv(table, output);
    case Format::json:
      return write_json(table, names, output);
    case Format::npy:
      if constexpr (std::is_same_v<T, bfloat16>) {
        note("NumPy has no bfloat16: the .npy file holds its bits as uint16");
      }
      if (output.to_file()) return save_npy<T>(output.path, table);
      return write_result(output, format, format_npy<T>(table));
    case Format::text:
      return write_result(output, format, text_of_table(widen(table), names));
    case Format::svg:
    case Format::png:
    case Format::pdf:
    case Format::html:
      return write_picture(
          names.draw ? names.draw() : table_map(widen(table), names, {}, output.max_width),
          names.title, output, format);
  }
}

template void write_table(View<const double>, const TableNames&, const Output&, Format);
template void write_table(View<const float>, const TableNames&, const Output&, Format);
template void write_table(View<const bfloat16>, const TableNames&, const Output&, Format);
template void write_table(View<const float16>, const TableNames&, const Output&, Format);
template Tensor<double> widen(View<const double>);
template Tensor<double> widen(View<const float>);
template Tensor<double> widen(View<const bfloat16>);
template Tensor<double> widen(View<const float16>);

std::string blocks_of(View<const double> tables, const figures::TableLabels& names,
                      std::vector<std::string> titles) {
  constexpr std::int64_t kCellWidth = 2;  // terminal cells, about as wide as high
  // The largest and smallest width that draw_terminal() uses for rows, with one cell of distance.
  constexpr std::int64_t kMostForRows = 19, kLeastForRows = 7;
  const bool words = static_cast<bool>(names.column_label);
  const int rank = tables.rank();
  const std::int64_t all_rows = tables.size(rank - 2), all_columns = tables.size(rank - 1);
  // The corner, and not every n-th column: sines and cosines alternate, so leaving some out would
  // draw stripes that are not there.
  const std::int64_t width = terminal_width();
  std::int64_t rows =
      std::min(all_rows, std::max<std::int64_t>(1, terminal_height() - kLinesForText));
  std::int64_t columns = 0;
  if (words) {
    // Words have one cell each if need be, and scroll.
    columns = std::clamp<std::int64_t>(width - kLeastForRows, 1, all_columns);
    rows = std::min(all_rows, std::max(rows, columns));
  } else {
    std::int64_t beside = 0;
    for (std::int64_t row = 0; row < rows; ++row) {
      beside = std::max(beside, display_width(row_label(names, row)) + 1);
    }
    beside = std::min(beside, kMostForRows);
    columns = std::clamp<std::int64_t>((width - beside) / kCellWidth, 1, all_columns);
  }
  // Shows the distances around 0, equally many on both sides.
  std::int64_t first = 0;
  if (names.first_column < 0 && columns < all_columns) {
    columns -= columns % 2 == 0 ? 1 : 0;
    first = std::clamp<std::int64_t>(-names.first_column - columns / 2, 0, all_columns - columns);
  }
  TerminalMap map;
  for (std::int64_t row = 0; row < rows; ++row) map.row_labels.push_back(row_label(names, row));
  for (std::int64_t column = 0; column < columns; ++column) {
    map.column_labels.push_back(column_label(names, first + column));
  }
  map.values = tables.narrow(rank - 2, 0, rows).narrow(rank - 1, first, columns);
  map.titles = std::move(titles);
  map.row_name = names.row_name;
  map.column_name = names.column_name;
  map.map = names.map;
  map.low = names.low;
  map.high = names.high;
  map.hides = names.hides;
  map.color = use_color();
  map.width = width;
  std::string text = draw_terminal(map);
  const auto counted = [](std::int64_t shown, std::int64_t all) {
    return std::to_string(shown) + " of " + std::to_string(all);
  };
  if (rows < all_rows || columns < all_columns) {
    text += "the first " + counted(rows, all_rows) + " rows and " +
            (first > 0 ? "the middle " : "") + counted(columns, all_columns) + " columns\n";
  }
  return text;
}

void warn_of(const std::string& path, const Picture& picture) {
  const std::string warning = picture_warning(path, picture);
  if (!warning.empty()) note("warning: " + warning);
}

void write_picture(const Picture& picture, const std::string& title, const Output& output,
                   Format format) {
  if (format == Format::svg) return write_result(output, format, picture.svg + "\n");
  if (format == Format::png) {
    write_result(output, format, render_png(picture));
    return warn_of(".png", picture);
  }
  if (format == Format::pdf) {
    write_result(output, format, render_pdf(picture));
    return warn_of(".pdf", picture);
  }
  Page page(title);
  page.picture(picture, "");
  write_result(output, format, page.html());
}

}  // namespace sextant::app
