// Equal lines, small multiples and names at line ends.
#include "pictures/lines/line_series.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace sextant::pictures {
namespace {

constexpr double kSame = 0.5;  // pixels
constexpr double kPitch = kTickSize * kLineHeight;

bool is_same(double a, double b) {
  return std::isfinite(a) ? std::abs(a - b) <= kSame : !std::isfinite(b);
}

bool are_equal(const Series& a, const Series& b, const Panel& panel) {
  if (a.x.size() != b.x.size()) return false;
  const auto are_same = [&panel](const std::vector<double>& left,
                                 const std::vector<double>& right) {
    return std::ranges::equal(left, right, [&panel](double one, double other) {
      return is_same(panel.down(one), panel.down(other));
    });
  };
  for (std::size_t i = 0; i < a.x.size(); ++i) {
    if (!is_same(panel.across(a.x[i]), panel.across(b.x[i]))) return false;
  }
  return are_same(a.y, b.y) && are_same(a.low, b.low) && are_same(a.high, b.high);
}

}  // namespace

std::vector<DistinctSeries> distinct_series(const std::vector<LinePanel>& panels,
                                            const Panel& panel) {
  std::vector<DistinctSeries> distinct;
  for (std::size_t i = 0; i < panels[0].series.size(); ++i) {
    const auto is_equal = [&](const DistinctSeries& other) {
      return std::ranges::all_of(panels, [&](const LinePanel& one) {
        return are_equal(one.series[i], one.series[other.index], panel);
      });
    };
    const std::string& name = panels[0].series[i].name;
    const auto equal = std::find_if(distinct.begin(), distinct.end(), is_equal);
    if (equal == distinct.end()) {
      distinct.push_back({i, name});
    } else if (!name.empty()) {
      equal->name += " = " + name;
    }
  }
  return distinct;
}

void keep(const std::vector<DistinctSeries>& distinct, std::vector<LinePanel>& panels) {
  for (LinePanel& panel : panels) {
    std::vector<Series> kept;
    for (const auto& [index, name] : distinct) {
      kept.push_back(panel.series[index]);
      kept.back().name = name;
    }
    panel.series = std::move(kept);
  }
}

LinePanels small_multiples(const LinePanels& chart) {
  constexpr double kWidth = 330, kHeight = 170;
  constexpr std::size_t kMostBehind = 8;
  LinePanels spread = chart;
  spread.panels.clear();
  spread.panel_width = kWidth;
  spread.panel_height = kHeight;
  const std::vector<Series>& all = chart.panels[0].series;
  for (std::size_t i = 0; i < all.size(); ++i) {
    LinePanel panel{.title = all[i].name, .series = {all[i]}};
    for (std::size_t j = 0; all.size() <= kMostBehind + 1 && j < all.size(); ++j) {
      if (j != i) panel.behind.push_back(all[j]);
    }
    spread.panels.push_back(std::move(panel));
  }
  return spread;
}

std::vector<EndName> end_names(const Panel& panel, const std::vector<Series>& series) {
  std::vector<EndName> names;
  for (std::size_t i = 0; i < series.size(); ++i) {
    if (series[i].x.empty() || series[i].name.empty()) return {};
    const double x = panel.across(series[i].x.back()), y = panel.down(series[i].y.back());
    constexpr double kNear = 20;  // pixels from the right side
    if (!std::isfinite(y) || std::abs(panel.right() - x) > kNear) return {};
    names.push_back({i, y, y});
  }
  if (kPitch * static_cast<double>(names.size()) > panel.height) return {};
  std::ranges::stable_sort(names, {}, &EndName::line);
  // Downwards, then back from the bottom.
  double free = panel.top;
  for (EndName& name : names) {
    name.text = std::max(name.line, free);
    free = name.text + kPitch;
  }
  free = panel.bottom();
  for (auto name = names.rbegin(); name != names.rend(); ++name) {
    name->text = std::min(name->text, free);
    free = name->text - kPitch;
  }
  return names;
}

}  // namespace sextant::pictures
