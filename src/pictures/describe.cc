// Describes charts in words.
#include "pictures/describe.h"

#include <cmath>

#include "pictures/text.h"
#include "sextant/core/numbers.h"

namespace sextant::pictures {
namespace {

std::string plural(std::size_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

std::string plural(std::int64_t count, const std::string& what) {
  return plural(static_cast<std::size_t>(count), what);
}

std::string said(double value) { return significant(value, 3); }

std::string quoted(const std::string& word) {
  constexpr double kLongest = 240;
  return "'" + shorten(token_label(word), 12, kLongest) + "'";
}

// The place of the largest number, and how many pairs are hidden.
struct Facts {
  double low = HUGE_VAL, high = -HUGE_VAL;
  std::int64_t panel = 0, row = 0, column = 0;
  std::int64_t hidden = 0;
  bool has_number() const { return low <= high; }
};

Facts facts_of(View<const double> values) {
  Facts facts;
  for (std::int64_t p = 0; p < values.size(0); ++p) {
    for (std::int64_t i = 0; i < values.size(1); ++i) {
      for (std::int64_t j = 0; j < values.size(2); ++j) {
        const double value = values(p, i, j);
        if (value == -HUGE_VAL) ++facts.hidden;
        if (!std::isfinite(value)) continue;
        facts.low = std::min(facts.low, value);
        if (value <= facts.high) continue;
        facts.high = value;
        facts.panel = p;
        facts.row = i;
        facts.column = j;
      }
    }
  }
  return facts;
}

// "3 queries", "1 query" of an axis "Queries"; "3 rows (Film)" of one that is no plural.
std::string counted(std::int64_t count, std::string name, const char* what) {
  if (!name.ends_with('s')) return plural(count, what) + (name.empty() ? "" : " (" + name + ")");
  if (name[0] >= 'A' && name[0] <= 'Z') name[0] = static_cast<char>(name[0] - 'A' + 'a');
  if (count > 1) return std::to_string(count) + " " + name;
  return "1 " + (name.ends_with("ies") ? name.substr(0, name.size() - 3) + "y"
                                       : name.substr(0, name.size() - 1));
}

std::string sizes_of(View<const double> weights, const std::string& rows,
                     const std::string& columns) {
  const std::int64_t heads = weights.size(0);
  return counted(weights.size(1), rows, "row") + " by " +
         counted(weights.size(2), columns, "column") +
         (heads > 1 ? " in " + plural(heads, "head") : "");
}

// "0.81 from 'sat' to 'cat' in head 2"
std::string largest_pair(const Facts& facts, const std::vector<std::string>& queries,
                         const std::vector<std::string>& keys, std::int64_t heads) {
  return said(facts.high) + " from " + quoted(queries[static_cast<std::size_t>(facts.row)]) +
         " to " + quoted(keys[static_cast<std::size_t>(facts.column)]) +
         (heads > 1 ? " in head " + std::to_string(facts.panel) : "");
}

// "20 rows, Position 0 to 19"
std::string side_of(std::int64_t count, const char* what, const std::string& name, double first,
                    const std::vector<std::string>& labels) {
  std::string text = plural(count, what);
  if (!labels.empty()) {
    return text + ", " + quoted(labels.front()) + (count > 1 ? " to " + quoted(labels.back()) : "");
  }
  return text + ", " + (name.empty() ? "" : name + " ") + said(first) +
         (count > 1 ? " to " + significant(first + static_cast<double>(count - 1), 7) : "");
}

std::string place_of(std::int64_t at, const char* what, const std::string& name, double first,
                     const std::vector<std::string>& labels) {
  if (!labels.empty()) return quoted(labels[static_cast<std::size_t>(at)]);
  return (name.empty() ? what : name) + " " + significant(first + static_cast<double>(at), 7);
}

// The first few, and how many more.
std::string list_of(const std::vector<std::string>& names) {
  constexpr std::size_t kSaid = 6;
  std::string text;
  for (std::size_t i = 0; i < std::min(kSaid, names.size()); ++i) {
    text += (i > 0 ? ", " : "") + names[i];
  }
  if (names.size() > kSaid) text += " and " + std::to_string(names.size() - kSaid) + " more";
  return text;
}

}  // namespace

std::string describe(const AttentionMaps& maps, View<const double> weights) {
  const Facts facts = facts_of(weights);
  const std::int64_t heads = weights.size(0), pairs = weights.size(1) * weights.size(2);
  std::string text =
      "Heatmap of attention weights, " + sizes_of(weights, maps.row_name, maps.column_name);
  if (facts.has_number()) {
    text += "; largest weight " + largest_pair(facts, maps.queries, maps.keys, heads);
  }
  if (facts.hidden > 0) {
    text +=
        "; " + std::to_string(facts.hidden) + " of " + plural(heads * pairs, "pair") + " hidden";
  }
  return text + ".";
}

std::string describe(const AttentionLines& lines, View<const double> weights, std::size_t drawn,
                     std::size_t all) {
  const Facts facts = facts_of(weights);
  std::string text = "Lines of attention weights, " +
                     sizes_of(weights, lines.left_name, lines.right_name) + ", more opaque where " +
                     "the weight is larger; ";
  text += drawn < all ? std::to_string(drawn) + " of " + plural(all, "line")
                      : plural(drawn, "line") + " from weight " + said(lines.threshold) + " on";
  if (drawn > 0) {
    text += "; strongest " + largest_pair(facts, lines.queries, lines.keys, weights.size(0));
  }
  return text + ".";
}

std::string describe(const HeatmapPanels& panels, View<const double> values) {
  const Facts facts = facts_of(values);
  const std::int64_t count = values.size(0);
  std::string text = count > 1 ? plural(count, "heatmap") : "Heatmap";
  if (!panels.color_label.empty()) text += " of " + panels.color_label;
  if (count > 1) text += " (" + list_of(panels.titles) + ")";
  text +=
      ": " + side_of(values.size(1), "row", panels.y_label, panels.first_row, panels.row_labels);
  text += " by " + side_of(values.size(2), "column", panels.x_label, panels.first_column,
                           panels.column_labels);
  if (facts.has_number()) {
    text += "; values from " + said(facts.low) + " to " + said(facts.high);
    if (facts.low < facts.high) {
      text += ", largest at " +
              place_of(facts.row, "row", panels.y_label, panels.first_row, panels.row_labels) +
              " and " +
              place_of(facts.column, "column", panels.x_label, panels.first_column,
                       panels.column_labels);
      if (count > 1) text += " of " + panels.titles[static_cast<std::size_t>(facts.panel)];
    }
  }
  if (facts.hidden > 0) {
    text += "; " + std::to_string(facts.hidden) + " of " + plural(values.count(), "pair") +
            (panels.hides ? " hidden" : " not finite");
  }
  return text + ".";
}

std::string describe(const LinePanels& chart) {
  Facts x, y;
  std::string highest;
  double highest_at = 0;
  std::vector<std::string> panels, series;
  for (const LinePanel& panel : chart.panels) {
    if (!panel.title.empty()) panels.push_back(panel.title);
    for (const Series& one : panel.series) {
      if (&panel == &chart.panels[0] && !one.name.empty()) series.push_back(one.name);
      for (std::size_t i = 0; i < one.x.size(); ++i) {
        if (!std::isfinite(one.x[i]) || !std::isfinite(one.y[i])) continue;
        x.low = std::min(x.low, one.x[i]);
        x.high = std::max(x.high, one.x[i]);
        y.low = std::min(y.low, one.y[i]);
        if (one.y[i] <= y.high) continue;
        y.high = one.y[i];
        highest_at = one.x[i];
        highest = !one.name.empty() ? one.name : panel.title;
      }
    }
  }
  std::string text = chart.points ? "Points" : "Lines";
  if (!chart.y_label.empty()) text += " of " + chart.y_label;
  if (!chart.x_label.empty()) text += " by " + chart.x_label;
  if (chart.panels.size() > 1) {
    text += " in " + plural(chart.panels.size(), "panel") +
            (panels.empty() ? "" : " (" + list_of(panels) + ")");
  }
  if (!series.empty()) text += ": " + list_of(series);
  text += "; x from " + said(x.low) + " to " + said(x.high) + ", y from " + said(y.low) + " to " +
          said(y.high);
  if (y.low < y.high) {
    text += ", highest at " + said(highest_at) + (highest.empty() ? "" : " (" + highest + ")");
  }
  if (!chart.band.empty()) text += "; bands: " + chart.band;
  return text + ".";
}

std::string with_own_ids(std::string_view svg, std::string_view page) {
  constexpr std::string_view kIds = " aria-labelledby=\"";
  std::string result(svg);
  const std::size_t begin = svg.find(kIds);
  const std::size_t end =
      begin == std::string_view::npos ? begin : svg.find('-', begin + kIds.size());
  if (end == std::string_view::npos) return result;
  const std::string old(svg.substr(begin + kIds.size(), end - begin - kIds.size()));
  std::string fresh = old;
  for (int copy = 2; page.find("\"" + fresh + "-") != std::string_view::npos; ++copy) {
    fresh = old + "." + std::to_string(copy);
  }
  if (fresh == old) return result;
  for (const std::string& before : {std::string("\""), std::string(" ")}) {
    const std::string from = before + old + "-", to = before + fresh + "-";
    for (std::size_t at = result.find(from); at != std::string::npos; at = result.find(from, at)) {
      result.replace(at, from.size(), to);
      at += to.size();
    }
  }
  return result;
}

}  // namespace sextant::pictures
