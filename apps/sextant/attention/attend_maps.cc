// How `sextant attend` shows maps.
#include <algorithm>
#include <utility>

#include "attention/attend_command.h"
#include "sextant/core/error.h"
#include "sextant/core/npy.h"
#include "sextant/core/numbers.h"
#include "streams/console.h"

namespace sextant::app {

void check_written(const Attend& attend, double weights) {
  const auto format = attend.output.format(kAttendFormats, "attend");
  const bool is_text = format ? *format == Format::text : !stdout_is_terminal();
  const bool in_digits =
      is_text || format == Format::csv || format == Format::json || format == Format::html;
  if (!in_digits || weights <= kMaxWrittenWeights) return;
  throw Error("attend.text", "must be so short that all heads have at most 2^21 weights for " +
                                 std::string(name_of(format.value_or(Format::text))) + ", got " +
                                 shortest(weights) + "; npy, svg and png have no such limit");
}

namespace {

std::string title_of(const HeadMaps& maps, std::int64_t index) {
  if (!maps.has_heads) return maps.title;
  return maps.title + ", head " + std::to_string(maps.head < 0 ? index : maps.head);
}

std::string blocks_of(const HeadMaps& maps) {
  const auto label = [](const std::vector<std::string>& words) {
    return [&words](std::int64_t at) { return words[static_cast<std::size_t>(at)]; };
  };
  figures::TableLabels names;
  names.row_label = label(maps.queries);
  names.column_label = label(maps.keys);
  names.row_name = maps.row_name;
  names.column_name = maps.column_name;
  names.map = ColorMap::sequential;
  names.low = 0;
  names.high = 1;
  names.hides = true;
  std::vector<std::string> titles;
  for (std::int64_t i = 0; i < maps.drawn().size(0); ++i) titles.push_back(title_of(maps, i));
  return app::blocks_of(maps.drawn(), names, std::move(titles));
}

}  // namespace

std::string text_of(const HeadMaps& maps, bool blocks) {
  if (blocks) return blocks_of(maps);
  std::string text;
  for (std::int64_t i = 0; i < maps.weights.size(0); ++i) {
    text += (i > 0 ? "\n" : "") + title_of(maps, i) + "\n";
    const auto map = maps.weights.select(0, i);
    std::vector<std::vector<std::string>> rows(1, {""});
    rows[0].insert(rows[0].end(), maps.keys.begin(), maps.keys.end());
    for (std::int64_t row = 0; row < map.size(0); ++row) {
      rows.push_back({maps.queries[static_cast<std::size_t>(row)]});
      for (std::int64_t key = 0; key < map.size(1); ++key) {
        rows.back().push_back(fixed(map(row, key), 4));
      }
    }
    text += aligned(rows);
  }
  return text;
}

void write_maps(const Attend& attend, const HeadMaps& maps,
                const std::function<std::string()>& json, const std::function<std::string()>& page,
                const std::string& further) {
  const auto format = attend.output.format(kAttendFormats, "attend");
  switch (format.value_or(Format::text)) {
    case Format::json:
      return write_result(attend.output, Format::json, json() + "\n");
    case Format::csv: {  // a row per head and query
      const View<const double>& w = maps.weights;
      Tensor<double> rows({w.size(0) * w.size(1), w.size(2)});
      std::copy_n(w.data(), w.count(), rows.data());
      return write_table<double>(std::as_const(rows).view(), {}, attend.output, Format::csv);
    }
    case Format::npy:
      return write_result(attend.output, Format::npy, format_npy<double>(maps.weights));
    case Format::html:
      if (page) return write_result(attend.output, Format::html, page());
      [[fallthrough]];
    case Format::svg:
    case Format::png:
    case Format::pdf:
      return write_picture(attend.lines ? draw_lines(maps, attend.output.max_width)
                                        : draw_maps(maps, attend.output.max_width),
                           maps.title, attend.output, *format);
    default:
      break;
  }
  const bool blocks = !format && stdout_is_terminal();
  std::string shown = text_of(maps, blocks);
  if (!further.empty()) shown += "\n" + further;
  if (!blocks) return write_result(attend.output, Format::text, shown);
  print(shown + "\nsave: -o map.svg, .png, .pdf, .html, .json or .npy; numbers: --format text\n",
        Colors::drawn);
}

}  // namespace sextant::app
