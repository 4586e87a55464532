// Lines of the model.
#include "ranks/model/pictures.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "sextant/pictures/charts.h"

namespace sextant::ranks::model {
namespace {

struct Network {
  const char* name;
  double bytes, latency;
};
constexpr Network kNetworks[] = {{"InfiniBand 400 Gbit/s", 50e9, 2e-6},
                                 {"Ethernet 25 Gbit/s", 3.125e9, 10e-6},
                                 {"Ethernet 1 Gbit/s", 0.125e9, 50e-6}};
constexpr int kMostRanks = 1024;
constexpr double kLeastSeconds = 1e-4;  // what is shorter has no place in the picture

// Seconds of a ring of a layer of 32 heads, 8 key heads, 128 channels.
double layer_seconds(int ranks, std::int64_t length, const Machine& machine) {
  const AttentionPlan plan = plan_for<float>(ranks,
                                             {.heads_q = 32,
                                              .kv_heads = 8,
                                              .q_len = length,
                                              .k_len = length,
                                              .head_dim = 128,
                                              .v_dim = 128},
                                             {.causal = Causal::top_left},
                                             {.algorithm = Algorithm::ring,
                                              .sharding = Sharding::zigzag,
                                              .wire_type = WireType::bfloat16,
                                              .machine = machine});
  return plan.costs[0].seconds;
}

}  // namespace

Picture links(const std::vector<Fitted>& networks) {
  LinePanels chart{.title =
                       "A causal call on two ranks: points are measured, lines are the model; "
                       "grey: computing and messages alone",
                   .x_label = "Tokens",
                   .y_label = "Seconds",
                   .panels = {},
                   .markers = true,
                   .log_x = true,
                   .log_y = true,
                   .x_ticks = {1024, 2048, 4096, 8192},
                   .panel_width = 330,
                   .panel_height = 260};
  for (const Fitted& each : networks) {
    LinePanel& panel = chart.panels.emplace_back();
    panel.title = each.measured.network;
    Series measured{.name = "measured", .x = {}, .y = {}}, line = measured, computing = measured,
                                                           messages = measured;
    Machine still = each.machine;
    still.bytes = 1e30;
    still.latency = 0;
    Machine quick = each.machine;
    quick.multiply_adds = 1e30;
    double shortest_text = 1e300, longest_text = 0;
    for (const CallPoint& point : each.measured.calls) {
      if (point.ranks == 1) continue;
      measured.x.push_back(static_cast<double>(point.length));
      measured.y.push_back(point.seconds);
      shortest_text = std::min(shortest_text, measured.x.back());
      longest_text = std::max(longest_text, measured.x.back());
    }
    for (double x = shortest_text; x <= longest_text * 1.001; x *= std::pow(2, 0.125)) {
      const CallPoint at{2, std::llround(x / 256) * 256, 0};
      for (auto* series : {&line, &computing, &messages})
        series->x.push_back(static_cast<double>(at.length));
      line.y.push_back(predicted(at, each.machine));
      computing.y.push_back(predicted(at, still));
      messages.y.push_back(predicted(at, quick));
    }
    panel.series.push_back(std::move(measured));
    panel.curve = std::move(line);
    for (Series* grey : {&computing, &messages}) {
      for (double& y : grey->y) {
        if (y < kLeastSeconds) y = std::numeric_limits<double>::quiet_NaN();
      }
    }
    panel.behind = {std::move(computing), std::move(messages)};
  }
  return draw(chart);
}

Picture to_a_thousand(double multiply_adds, int cores) {
  LinePanels chart{.title =
                       "Efficiency of a causal layer in a ring: 32 heads, 8 key heads, 128 "
                       "channels; a rank is a machine of " +
                       std::to_string(cores) + " cores like the one measured",
                   .x_label = "Ranks",
                   .y_label = "Efficiency (%)",
                   .panels = {},
                   .log_x = true,
                   .panel_width = 330,
                   .panel_height = 260};
  for (int count = 1; count <= kMostRanks; count *= 8) chart.x_ticks.push_back(count);
  for (const std::int64_t kibi : {256, 2048, 16384}) {
    LinePanel& panel = chart.panels.emplace_back();
    panel.title = std::to_string(kibi) + " x 1,024 tokens";
    for (const Network& network : kNetworks) {
      const Machine machine{.multiply_adds = multiply_adds * cores,
                            .bytes = network.bytes,
                            .latency = network.latency};
      const std::int64_t length = kibi << 10;
      const double alone = layer_seconds(1, length, machine);
      Series& line = panel.series.emplace_back();
      line.name = network.name;
      for (int count = 1; count <= kMostRanks; count *= 2) {
        line.x.push_back(count);
        line.y.push_back(100 * alone / layer_seconds(count, length, machine) / count);
      }
    }
  }
  return draw(chart);
}

}  // namespace sextant::ranks::model
