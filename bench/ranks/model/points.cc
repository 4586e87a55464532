// Points from files, least squares, errors.
#include "ranks/model/points.h"

#include <algorithm>
#include <cmath>
#include <fstream>

#include "core/json/json.h"

namespace sextant::ranks::model {
namespace {

constexpr double kSmallBytes = 8192, kLargeBytes = 131072;

bool is_fitted(std::size_t n) { return n % 2 == 0; }

double median_of(std::vector<double> values) {
  if (values.empty())
    throw Error("points", "must have messages of up to 8 KiB and from 128 KiB on");
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// f(index, point) for the calls of one rank.
template <class F>
void each_alone(const std::vector<Measured>& all, const F& f) {
  for (const Measured& measured : all) {
    std::size_t n = 0;
    for (const CallPoint& point : measured.calls) {
      if (point.ranks == 1) f(n++, point);
    }
  }
}

}  // namespace

Measured read_points(const std::string& network, const std::string& path) {
  std::ifstream file(path);
  if (!file) throw Error(path, "must be a file that can be read");
  Measured measured{.network = network, .messages = {}, .calls = {}};
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] != '{') continue;  // what a launcher says
    const Json point = Json::parse(line);
    const double seconds = point.at("seconds").get<double>();
    if (point.contains("bytes")) {
      measured.messages.push_back({point.at("bytes").get<double>(), seconds});
    } else {
      measured.calls.push_back(
          {point.at("ranks").get<int>(), point.at("length").get<std::int64_t>(), seconds});
    }
  }
  if (measured.messages.size() < 4 || measured.calls.size() < 4) {
    throw Error(path, "must have four messages and four calls or more, as --points prints them");
  }
  return measured;
}

Errors errors_of(std::vector<double> ratios) {
  Errors errors{.count = ratios.size()};
  if (ratios.empty()) return errors;
  for (double& ratio : ratios) ratio = std::fabs(ratio - 1);
  std::sort(ratios.begin(), ratios.end());
  errors.median = ratios[ratios.size() / 2];
  errors.largest = ratios.back();
  return errors;
}

double predicted(const CallPoint& point, const Machine& machine) {
  const AttentionPlan plan = plan_for<float>(
      point.ranks, {.q_len = point.length, .k_len = point.length}, {.causal = Causal::top_left},
      {.algorithm = Algorithm::ring, .sharding = Sharding::zigzag, .machine = machine});
  return plan.costs[0].seconds;
}

double fit_arithmetic(const std::vector<Measured>& all) {
  double sum = 0, count = 0;
  each_alone(all, [&](std::size_t n, const CallPoint& point) {
    if (!is_fitted(n)) return;
    sum += std::log(predicted(point, {.multiply_adds = 1}) / point.seconds);
    ++count;
  });
  return std::exp(sum / count);
}

Machine fit_network(const Measured& measured, double multiply_adds) {
  // Small messages cost the latency alone. What large ones cost above it is the bytes' share.
  std::vector<double> small, slopes;
  for (std::size_t n = 0; n < measured.messages.size(); ++n) {
    const auto& [bytes, seconds] = measured.messages[n];
    if (is_fitted(n) && bytes <= kSmallBytes) small.push_back(seconds);
  }
  const double latency = median_of(small);
  for (std::size_t n = 0; n < measured.messages.size(); ++n) {
    const auto& [bytes, seconds] = measured.messages[n];
    if (is_fitted(n) && bytes >= kLargeBytes) slopes.push_back((seconds - latency) / bytes);
  }
  return {.multiply_adds = multiply_adds, .bytes = 1 / median_of(slopes), .latency = latency};
}

Errors held_back_arithmetic(const std::vector<Measured>& all, double multiply_adds) {
  std::vector<double> ratios;
  each_alone(all, [&](std::size_t n, const CallPoint& point) {
    if (is_fitted(n)) return;
    ratios.push_back(predicted(point, {.multiply_adds = multiply_adds}) / point.seconds);
  });
  return errors_of(std::move(ratios));
}

Errors held_back_messages(const Measured& measured, const Machine& machine) {
  std::vector<double> ratios;
  for (std::size_t n = 0; n < measured.messages.size(); ++n) {
    const auto& [bytes, seconds] = measured.messages[n];
    if (!is_fitted(n)) ratios.push_back((machine.latency + bytes / machine.bytes) / seconds);
  }
  return errors_of(std::move(ratios));
}

Errors held_back_calls(const Measured& measured, const Machine& machine) {
  std::vector<double> ratios;
  for (const CallPoint& point : measured.calls) {
    if (point.ranks > 1) ratios.push_back(predicted(point, machine) / point.seconds);
  }
  return errors_of(std::move(ratios));
}

}  // namespace sextant::ranks::model
