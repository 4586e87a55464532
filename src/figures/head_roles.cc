// Mean weights at places, and the variance that distance explains.
#include "sextant/figures/head_roles.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "core/json/json_text.h"
#include "core/options/enum_names.h"
#include "sextant/core/error.h"
#include "sextant/core/numbers.h"
#include "sextant/pictures/charts.h"

namespace sextant::figures {
namespace {

constexpr double kLeast = 0.5;

// Which pairs a map has: all, or those up to the query.
struct Map {
  View<const double> weights;  // [queries, keys]
  bool causal;

  std::int64_t keys(std::int64_t query) const { return causal ? query + 1 : weights.size(1); }
};

template <class KeyOf>
double mean_weight(const Map& map, const KeyOf& key_of) {
  double sum = 0;
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < map.weights.size(0); ++i) {
    const std::int64_t key = key_of(i);
    if (key < 0 || key >= map.keys(i) || map.keys(i) < 2) continue;
    sum += map.weights(i, key);
    ++count;
  }
  return count == 0 ? 0 : sum / static_cast<double>(count);
}

// 1 - the variance within distances / the variance of all.
double explained_by_distance(const Map& map) {
  struct Moments {
    double sum = 0, squares = 0, count = 0;
    void add(double x) {
      sum += x;
      squares += x * x;
      count += 1;
    }
    double spread() const { return squares - sum * sum / count; }
  };
  Moments all;
  std::map<std::int64_t, Moments> of_distance;
  for (std::int64_t i = 0; i < map.weights.size(0); ++i) {
    for (std::int64_t j = 0; j < map.keys(i); ++j) {
      all.add(map.weights(i, j));
      of_distance[i - j].add(map.weights(i, j));
    }
  }
  double within = 0;
  for (const auto& [distance, moments] : of_distance) within += moments.spread();
  constexpr double kRounding = 1e-12;  // of the sums: equal weights have no variance to explain
  if (all.spread() <= kRounding * all.squares) return 0;
  return std::clamp(1 - within / all.spread(), 0.0, 1.0);
}

HeadSummary summary_of(const Map& map) {
  const std::int64_t length = map.weights.size(0);
  HeadSummary made;
  made.previous = mean_weight(map, [](std::int64_t i) { return i - 1; });
  made.same = mean_weight(map, [](std::int64_t i) { return i; });
  made.first = mean_weight(map, [](std::int64_t) { return 0; });
  if (!map.causal) {
    made.next = mean_weight(map, [length](std::int64_t i) { return i + 1 < length ? i + 1 : -1; });
    made.last = mean_weight(map, [length](std::int64_t) { return length - 1; });
  }
  made.distance = explained_by_distance(map);
  made.score = made.distance;
  if (made.distance >= kLeast) made.role = HeadRole::distance;
  double best = kLeast;
  for (const auto& [role, score] : {std::pair{HeadRole::previous, made.previous},
                                    {HeadRole::next, made.next},
                                    {HeadRole::same, made.same},
                                    {HeadRole::first, made.first},
                                    {HeadRole::last, made.last}}) {
    if (score < best) continue;
    made.role = role;
    made.score = best = score;
  }
  return made;
}

// Whether nothing looks ahead, which masked maps say.
bool is_causal(const ModelAttention& part, std::size_t layer) {
  if (part.masked.empty() || part.masked[layer].size(1) < 2) return false;
  return part.masked[layer](0, 0, 1) == -HUGE_VAL;
}

}  // namespace

std::string_view name_of(HeadRole role) noexcept {
  return enum_name(role, {"previous", "next", "same", "first", "last", "distance", "content"});
}

std::vector<HeadSummary> head_roles(const ModelAttention& part) {
  if (!part.has_heads() || part.name == "cross") {
    throw Error("figure.part", "must be of a text that looks at itself, got " + part.name);
  }
  std::vector<HeadSummary> heads;
  for (std::size_t layer = 0; layer < part.layers.size(); ++layer) {
    for (std::int64_t head = 0; head < part.layers[layer].size(0); ++head) {
      HeadSummary made =
          summary_of({part.layers[layer].view().select(0, head), is_causal(part, layer)});
      made.layer = static_cast<std::int64_t>(layer);
      made.head = head;
      heads.push_back(made);
    }
  }
  std::ranges::stable_sort(heads, [](const HeadSummary& a, const HeadSummary& b) {
    return a.role != b.role ? a.role < b.role : a.score > b.score;
  });
  return heads;
}

Picture draw_head_roles(const ModelAttention& part, std::span<const HeadSummary> heads,
                        std::optional<double> max_width) {
  const Shape& one = part.layers.at(0).shape();
  Tensor<double> maps({std::ssize(heads), one[1], one[2]});
  HeatmapPanels sheet{.values = maps.view(),
                      .titles = {},
                      .title = part.title + ": heads by their roles (layer.head, role, score)",
                      .x_label = part.column_name,
                      .y_label = part.row_name,
                      .color_label = "Weight",
                      .low = 0,
                      .high = 1,
                      .map = ColorMap::sequential,
                      .hides = !part.masked.empty()};
  for (std::size_t i = 0; i < heads.size(); ++i) {
    const HeadSummary& head = heads[i];
    const auto& layers = part.masked.empty() ? part.layers : part.masked;
    const auto map = layers[static_cast<std::size_t>(head.layer)].view().select(0, head.head);
    std::copy_n(map.data(), map.count(), &maps(static_cast<std::int64_t>(i), 0, 0));
    sheet.titles.push_back(std::to_string(head.layer) + "." + std::to_string(head.head) + " " +
                           std::string(name_of(head.role)) + " " + fixed(head.score, 2));
  }
  sheet.max_width = max_width.value_or(sheet.max_width);
  return draw(sheet);
}

std::vector<std::vector<std::string>> head_role_rows(std::span<const HeadSummary> heads) {
  std::vector<std::vector<std::string>> rows = {
      {"layer", "head", "role", "score", "previous", "next", "same", "first", "last", "distance"}};
  for (const HeadSummary& each : heads) {
    rows.push_back(
        {std::to_string(each.layer), std::to_string(each.head), std::string(name_of(each.role))});
    for (const double x :
         {each.score, each.previous, each.next, each.same, each.first, each.last, each.distance}) {
      rows.back().push_back(fixed(x, 3));
    }
  }
  return rows;
}

std::string head_roles_json(std::span<const HeadSummary> heads) {
  Json all = Json::array();
  for (const HeadSummary& each : heads) {
    all.push_back({{"layer", each.layer},
                   {"head", each.head},
                   {"role", name_of(each.role)},
                   {"score", each.score},
                   {"previous", each.previous},
                   {"next", each.next},
                   {"same", each.same},
                   {"first", each.first},
                   {"last", each.last},
                   {"distance", each.distance}});
  }
  return to_text(Json{{"heads", all}});
}

}  // namespace sextant::figures
