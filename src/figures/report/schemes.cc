// Shows every scheme: whether the output depends on the order, one head, and profiles by distance.
#include <algorithm>
#include <cmath>
#include <map>

#include "figures/report/parts.h"
#include "sextant/core/error.h"
#include "sextant/figures/named_scheme.h"
#include "sextant/figures/scheme_profiles.h"
#include "sextant/pictures/charts.h"
#include "sextant/pictures/dot_plot.h"
#include "sextant/schemes/scheme.h"

namespace sextant::figures {
namespace {

constexpr std::int64_t kDistances = 64;

std::string group_title(SchemeKind kind) {
  switch (kind) {
    case SchemeKind::none:
      return "no positions";
    case SchemeKind::added:
      return "added to the words";
    case SchemeKind::rotated:
      return "rotations of q and k";
    case SchemeKind::distance_bias:
      return "biases by distance";
    case SchemeKind::indexed_bias:
      return "biases by query and key";
    case SchemeKind::content:
      return "terms that depend on the words";
  }
  return "";
}

// True for biases without weights that only hide keys, or do nothing, in a text of this length.
bool is_mask(const Scheme& scheme, PositionEffect effect) {
  const bool bias =
      scheme.kind == SchemeKind::distance_bias || scheme.kind == SchemeKind::indexed_bias;
  return bias && scheme.weights.empty() && effect != PositionEffect::order;
}

// Every scheme that its defaults alone can make, the simplest first.
std::vector<const Scheme*> complete_schemes() {
  std::vector<const Scheme*> complete;
  for (const Scheme* scheme : schemes()) {
    if (std::ranges::none_of(scheme->parameters(),
                             [](const Option& option) { return option.default_text.empty(); })) {
      complete.push_back(scheme);
    }
  }
  return complete;
}

// A group of schemes of one kind that can be made for texts of this length.
struct Kind {
  std::string title;
  std::vector<NamedScheme> schemes;
  std::vector<Tensor<double>> maps;  // causal, head 0
  std::vector<DotPlot::Dot> dots;
  bool profiles = false;  // they are functions of the distance
};

// `idle` gets the titles of schemes that treat all positions of this text equally.
std::vector<Kind> kinds_of(const ReportText& text, std::string& idle, Json& numbers) {
  const std::vector<std::string> other = swapped(text.tokens, *text.swap);
  std::map<int, Kind> kinds;
  constexpr int kMasks = 100;
  for (const Scheme* scheme : complete_schemes()) {
    const std::string name(scheme->name);
    try {
      OrderVerdict verdict = compare_order(text.tokens, other, report_model(name));
      const bool mask = is_mask(*scheme, verdict.first.positions);
      Kind& kind = kinds[mask ? kMasks : static_cast<int>(scheme->kind)];
      kind.title = mask ? "masks alone" : group_title(scheme->kind);
      kind.profiles =
          !mask && scheme->kind != SchemeKind::none && scheme->kind != SchemeKind::content;
      kind.schemes.push_back({name, {}, nullptr});
      kind.maps.push_back(copy_of(verdict.first.masked_weights.view().select(0, 0)));
      if (scheme->kind != SchemeKind::none && verdict.first.positions == PositionEffect::alike) {
        idle += (idle.empty() ? "" : ", ") + std::string(scheme->title);
      } else {
        kind.dots.push_back(
            {std::string(scheme->title), verdict.same ? 0 : verdict.largest_difference});
      }
      numbers["order"][name] = {{"same", verdict.same},
                                {"largest_difference", verdict.largest_difference}};
    } catch (const Error&) {
      continue;  // this scheme cannot be made for texts of this length
    }
  }
  std::vector<Kind> list;
  for (auto& [key, kind] : kinds) list.push_back(std::move(kind));
  return list;
}

Tensor<double> maps_of(const Kind& kind, std::int64_t length) {
  Tensor<double> values({static_cast<std::int64_t>(kind.maps.size()), length, length});
  for (std::size_t i = 0; i < kind.maps.size(); ++i) {
    std::copy_n(kind.maps[i].data(), kind.maps[i].count(),
                values.data() + static_cast<std::int64_t>(i) * length * length);
  }
  return values;
}

HeatmapPanels chart_of_kind(const Kind& kind, const Tensor<double>& maps) {
  HeatmapPanels panels;
  for (const NamedScheme& scheme : kind.schemes) panels.titles.push_back(scheme.name());
  panels.values = maps.view();
  panels.title = "Causal attention, head 0: " + kind.title;
  panels.x_label = "Key";
  panels.y_label = "Query";
  panels.color_label = "Weight";
  panels.hides = true;
  panels.map = ColorMap::sequential;
  panels.low = 0;
  panels.high = 1;
  return panels;
}

}  // namespace

void report_schemes(ReportPage& page, const ReportText& text, Json& numbers) {
  if (!text.swap) return;
  page.fold("Does the output depend on the order? Every scheme");
  std::string idle;
  const std::vector<Kind> kinds = kinds_of(text, idle, numbers);
  page.paragraph(
      "The chart repeats the experiment of the first section with every scheme that needs no "
      "further parameter, before any training (" +
      random_weights() +
      "). All of them use a causal mask. A scheme with weights to train has little effect before "
      "its training." +
      (idle.empty() ? std::string()
                    : " These schemes are omitted, because with their default parameters they "
                      "change nothing in a text of this length: " +
                          idle + "."));
  DotPlot dots{.title = "Distance of the last token's outputs for the two orders",
               .x_label = "Largest difference of the output",
               .nothing = "the same"};
  for (const Kind& kind : kinds) {
    if (!kind.dots.empty()) dots.groups.push_back({kind.title, kind.dots});
  }
  page.chart(dots, "`sextant list` describes each of them.");
  page.unfold();
  page.fold("One head with every scheme, and the scores by distance");
  page.insert("<div class=\"narrow\">\n");
  for (const Kind& kind : kinds) {
    const Tensor<double> maps = maps_of(kind, static_cast<std::int64_t>(text.tokens.size()));
    page.chart(chart_of_kind(kind, maps), "");
    if (!kind.profiles) continue;
    page.picture(
        [&kind](double max_width) {
          return plot_profiles(kind.schemes, {.length = kDistances, .max_width = max_width})
              .picture;
        },
        "");
  }
  page.insert("</div>\n");
  page.unfold();
}

}  // namespace sextant::figures
