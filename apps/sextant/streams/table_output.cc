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

namespace sextant::app {
namespace {

constexpr std::int64_t kLinesForText = 8;  // of a terminal, beside a table: command, title, notes
constexpr std::size_t kPart = std::size_t{1} << 20;  // bytes of text before they are sent on

std::string row_label(const figures::TableLabels& names, std::int64_t row) {
  return names.row_label ? names.row_label(row) : std::to_string(names.first_row + row);
}

std::string column_label(const figures::TableLabels& names, std::int64_t column) {
  return names.column_label ? names.column_label(column)
                            : std::to_string(names.first_column + column);
}

// Words that are too long to stand above `cells` terminal cells each are numbered; the numbers are
// explained in lines below, which are returned.
std::string number_long_labels(std::vector<std::string>& labels, std::int64_t cells) {
  constexpr std::int64_t kLongest = 8;
  const std::int64_t room = std::min(cells, kLongest);
  if (std::ranges::all_of(labels, [&](const auto& one) { return display_width(one) < room; })) {
    return "";
  }
  std::string text = "columns:";
  for (std::size_t i = 0; i < labels.size(); ++i) {
    text += " " + std::to_string(i) + " " + labels[i] + (i + 1 < labels.size() ? "," : "");
    labels[i] = std::to_string(i);
  }
  return wrap(text, static_cast<std::size_t>(terminal_width())) + "\n";
}

// JSON has no infinities; null is what JavaScript writes for them.
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

std::string text_of(View<const double> table, const figures::TableLabels& names) {
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
      return write_result(output, format, text_of(widen(table), names));
    case Format::svg:
    case Format::png:
    case Format::html:
      return write_picture(names.draw ? names.draw() : table_map(widen(table), names), names.title,
                           output, format);
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

std::string blocks_of(View<const double> table, const figures::TableLabels& names) {
  constexpr std::int64_t kCellWidth = 2;  // terminal cells, about as wide as high
  // The corner, and not every n-th column: sines and cosines alternate, so leaving some out would
  // draw stripes that are not there.
  const std::int64_t rows =
      std::min(table.size(0), std::max<std::int64_t>(1, terminal_height() - kLinesForText));
  std::int64_t label_width = 0;
  for (std::int64_t row = 0; row < rows; ++row) {
    label_width = std::max(label_width, display_width(row_label(names, row)));
  }
  const std::int64_t columns = std::min(
      table.size(1), std::max<std::int64_t>(1, (terminal_width() - label_width - 2) / kCellWidth));
  // Of distances those around 0.
  const std::int64_t first =
      names.first_column < 0
          ? std::clamp<std::int64_t>(-names.first_column - columns / 2, 0, table.size(1) - columns)
          : 0;
  TerminalMap map;
  for (std::int64_t row = 0; row < rows; ++row) map.row_labels.push_back(row_label(names, row));
  for (std::int64_t column = 0; column < columns; ++column) {
    map.column_labels.push_back(column_label(names, first + column));
  }
  const std::string numbered =
      names.column_label
          ? number_long_labels(map.column_labels, (terminal_width() - label_width - 2) / columns)
          : "";
  map.values = table.narrow(0, 0, rows).narrow(1, first, columns);
  map.map = names.map;
  map.low = names.low;
  map.high = names.high;
  map.hides = names.hides;
  map.color = use_color();
  map.width = terminal_width();
  std::string text = draw_terminal(map) + numbered;
  const auto counted = [](std::int64_t shown, std::int64_t all) {
    return std::to_string(shown) + " of " + std::to_string(all);
  };
  if (rows < table.size(0) || columns < table.size(1)) {
    text += "the first " + counted(rows, table.size(0)) + " rows and " +
            (first > 0 ? "the middle " : "") + counted(columns, table.size(1)) + " columns\n";
  }
  return text;
}

std::string bars_of(View<const double> table, const std::string& header) {
  double largest = 0;
  for (std::int64_t row = 0; row < table.size(0); ++row) {
    if (std::isfinite(table(row, 1))) largest = std::max(largest, std::abs(table(row, 1)));
  }
  constexpr std::int64_t kRoomForNumbers = 24;
  const auto longest =
      static_cast<double>(std::max<std::int64_t>(10, terminal_width() - kRoomForNumbers));
  const std::int64_t lines =
      std::clamp<std::int64_t>(terminal_height() - kLinesForText, 1, table.size(0));
  std::vector<std::vector<std::string>> rows;
  for (std::int64_t line = 0; line < lines; ++line) {
    const std::int64_t row = lines == 1 ? 0 : line * (table.size(0) - 1) / (lines - 1);
    // Of an infinity the longest bar, of NaN none.
    const double share = largest > 0 ? std::min(1.0, std::max(0.0, table(row, 1)) / largest) : 0;
    rows.push_back({shortest(table(row, 0)), fixed(table(row, 1), 6),
                    std::string(static_cast<std::size_t>(std::lround(share * longest)), '#')});
  }
  return header + "\n" + aligned(rows, false);
}

std::string aligned(const std::vector<std::vector<std::string>>& rows, bool right) {
  std::vector<std::int64_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], display_width(row[i]));
    }
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string space(static_cast<std::size_t>(widths[i] - display_width(row[i])), ' ');
      if (i > 0) line += "  ";
      line += right && i > 0 ? space + row[i] : row[i] + space;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

void write_picture(const Picture& picture, const std::string& title, const Output& output,
                   Format format) {
  if (format == Format::svg) return write_result(output, format, picture.svg + "\n");
  if (format == Format::png) return write_result(output, format, render_png(picture));
  Page page(title);
  page.picture(picture, "");
  write_result(output, format, page.html());
}

}  // namespace sextant::app
