// Profiles of schemes by distance.
#include "sextant/figures/scheme_profiles.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "figures/curves.h"
#include "figures/tables.h"
#include "sextant/core/error.h"

namespace sextant::figures {
namespace {

constexpr std::int64_t kMaxDistances = 4096;

// The curves of one scheme, from the table that it made: those of single heads, or one.
struct Profiler {
  const NamedScheme& named;
  const SchemeRequest& request;
  const ProfileOptions& options;

  std::int64_t head(std::int64_t heads) const {
    const std::int64_t chosen = options.head.value_or(heads / 2);
    if (chosen < heads) return chosen;
    throw Error("figure.head",
                "must be 0 .. " + std::to_string(heads - 1) + ", got " + std::to_string(chosen));
  }
  Series series(std::vector<double> values, const std::string& suffix = "") const {
    return counted(named.label() + suffix, std::move(values));
  }
  template <class Profile>
  std::vector<Series> of_heads(std::int64_t heads, const Profile& profile) const {
    if (!options.all_heads) return {series(profile(head(heads)))};
    std::vector<Series> all;
    for (std::int64_t h = 0; h < heads; ++h) {
      all.push_back(series(profile(h), ", head " + std::to_string(h)));
    }
    return all;
  }
  std::vector<Series> operator()(const AppliedPositions<double>& applied) const {
    if (applied.added)
      return {series(similarity_by_distance(applied.added->view(), options.measure))};
    if (applied.rotation) return of(*applied.rotation);
    if (applied.bias) return of(*applied.bias);
    if (applied.indexed) return of(*applied.indexed);
    refuse_scheme(named.scheme, applied, "profile");
  }
  std::vector<Series> of(const RotationTable<double>& table) const {
    const RotationTable<double>& keys = table.for_keys();
    const bool by_head = table.cos.rank() == 3;
    const std::int64_t length = request.rows(), pairs = table.cos.size(by_head ? 2 : 1);
    const auto profile = [&](std::int64_t h) {
      const std::int64_t from = by_head ? h * length * pairs : 0;
      std::vector<double> means;
      for (std::int64_t distance = 0; distance < length; ++distance) {
        double sum = 0;
        for (std::int64_t row = 0; row + distance < length; ++row) {
          const std::int64_t q = from + (row + distance) * pairs, k = from + row * pairs;
          for (std::int64_t pair = 0; pair < pairs; ++pair) {
            sum += table.cos.data()[q + pair] * keys.cos.data()[k + pair] +
                   table.sin.data()[q + pair] * keys.sin.data()[k + pair];
          }
        }
        means.push_back(sum / static_cast<double>((length - distance) * pairs));
      }
      return means;
    };
    if (!by_head) return {series(profile(0))};
    return of_heads(table.cos.size(0), profile);
  }
  std::vector<Series> of(const DistanceBias& bias) const {
    return of_heads(options.heads, [&](std::int64_t h) {
      auto values = biases_by_distance(bias, h, 1 - request.rows(), 0);
      std::ranges::reverse(values);  // key - query is -distance
      return values;
    });
  }
  std::vector<Series> of(const ScoreTerm& term) const {
    const std::int64_t length = request.rows();
    return of_heads(options.heads, [&](std::int64_t h) {
      std::vector<float> row(static_cast<std::size_t>(length));
      write_term(term, {.head = h, .first_query = length - 1, .queries = 1, .keys = length},
                 row.data());
      return std::vector<double>(row.rbegin(), row.rend());
    });
  }
};

// Titles and axes of the panel of a kind.
struct PanelText {
  std::string title, y_label;
};
PanelText text_of(SchemeKind kind, const ProfileOptions& options) {
  const std::string head =
      options.all_heads ? ""
                        : ", head " + std::to_string(options.head.value_or(options.heads / 2)) +
                              " of " + std::to_string(options.heads);
  switch (kind) {
    case SchemeKind::added:
      return {"Similarity of added positions by distance, width " + std::to_string(options.width),
              options.measure == Measure::cosine ? "Mean cosine similarity" : "Mean dot product"};
    case SchemeKind::rotated:
      return {"Score of rotated queries and keys that are all ones, " +
                  std::to_string(options.head_dim) + " channels",
              "Score / channels"};
    case SchemeKind::distance_bias:
      return {"Bias by distance" + head, "Bias"};
    case SchemeKind::indexed_bias:
      return {"Bias of the last query by distance" + head, "Bias"};
    default:
      return {};
  }
}

}  // namespace

std::vector<Series> profiles_of(const NamedScheme& named, const ProfileOptions& options) {
  if (options.length < 2 || options.length > kMaxDistances) {
    throw Error("figure.length", "must be 2 .. " + std::to_string(kMaxDistances) +
                                     " positions to have distances, got " +
                                     std::to_string(options.length));
  }
  const std::vector<std::int64_t> positions = positions_of(named, options.length, options.first);
  const Scheme& scheme = named.descriptor();
  SchemeRequest request = named.request(positions);
  request.width = options.width;
  request.heads = options.heads;
  request.head_dim = options.head_dim;
  return Profiler{named, request, options}(AppliedPositions<double>(scheme.make(request)));
}

Figure plot_profiles(const std::vector<NamedScheme>& schemes, const ProfileOptions& options) {
  if (schemes.empty()) throw Error("figure.schemes", "must name at least one, got none");
  std::map<SchemeKind, std::vector<Series>> panels;
  std::vector<Series> all;
  for (const NamedScheme& named : schemes) {
    auto& panel = panels[named.descriptor().kind];
    for (Series& series : profiles_of(named, options)) {
      all.push_back(series);
      // "alibi, head 3" -> "ALiBi, head 3"
      series.name.replace(0, named.label().size(), named.name());
      panel.push_back(std::move(series));
    }
  }
  Figure plot = curve_figure(all);
  std::vector<Picture> pictures;
  for (auto& [kind, series] : panels) {
    const PanelText text = text_of(kind, options);
    LinePanels chart{.title = text.title,
                     .x_label = "Distance in positions",
                     .y_label = text.y_label,
                     .panels = {{}}};
    chart.max_width = options.max_width.value_or(chart.max_width);
    if (schemes.size() == 1) {
      const std::string label = schemes[0].name();
      chart.title = capital(label) + ", by distance";
      if (series.size() > 1) {
        for (Series& head : series) head.name.erase(0, label.size() + 2);  // "head 3"
      }
    } else if (series.size() == 1) {
      chart.title = capital(series[0].name) + ", by distance";
    }
    chart.panels[0].series = std::move(series);
    pictures.push_back(draw(chart));
  }
  plot.labels.title = "Schemes by distance";
  plot.picture = pictures.size() == 1 ? pictures.front() : stack("", pictures);
  return plot;
}

}  // namespace sextant::figures
