// T5's buckets: which numbers of buckets and distances, one direction or two, and whose sign.
#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/interruption.h"
#include "identify/bias/names.h"
#include "sextant/core/numbers.h"
#include "sextant/schemes/distance/t5.h"

namespace sextant::identify {
namespace {

constexpr std::int64_t kMaxBuckets = 4096;
constexpr std::int64_t kMaxDistances = 1 << 20;  // no model looks as far

using Buckets = std::map<std::int64_t, std::int64_t>;  // by distance, key - query

// A map that depends on the distance alone; key 0 is query 0's own, moved by `offset`.
std::optional<Buckets> by_distance(View<const double> matrix, std::int64_t offset) {
  Buckets result;
  for (std::int64_t q = 0; q < matrix.size(0); ++q) {
    check_interruption();
    for (std::int64_t k = 0; k < matrix.size(1); ++k) {
      const auto bucket = static_cast<std::int64_t>(matrix(q, k));
      const auto [known, added] = result.emplace(k - q - offset, bucket);
      if (!added && known->second != bucket) return std::nullopt;
    }
  }
  return result;
}

bool makes(const T5& options, const Buckets& given) {
  const T5Buckets buckets(options);
  return std::all_of(given.begin(), given.end(),
                     [&](const auto& entry) { return buckets(entry.first) == entry.second; });
}

// Settings of models first, then by roundness.
std::int64_t likeliest(std::int64_t least, std::int64_t most) {
  for (const std::int64_t usual : {128, 256, 512, 800, 64, 1024, 2048, 32, 20}) {
    if (usual >= least && usual <= most) return usual;
  }
  for (const std::int64_t unit : {100, 10}) {
    const std::int64_t round = (least + unit - 1) / unit * unit;
    if (round <= most) return round;
  }
  return least;
}

// The max_distances [least, end) up to `limit` that make these buckets: they only fall as it grows.
struct Distances {
  std::int64_t least, end;
};
Distances distances_of(std::int64_t count, bool both, std::int64_t limit, const Buckets& given) {
  const auto any = [&](std::int64_t max_distance, const auto& differs) {
    check_interruption();
    const T5Buckets buckets({count, max_distance, both});
    return std::ranges::any_of(
        given, [&](const auto& entry) { return differs(buckets(entry.first), entry.second); });
  };
  const std::int64_t first = (both ? count / 4 : count / 2) + 1;
  const auto where = [&](const auto& holds) {  // the first of first .. limit + 1 that does not hold
    std::int64_t low = first, high = limit + 1;
    while (low < high) {
      const std::int64_t middle = low + (high - low) / 2;
      if (holds(middle)) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  };
  return {where([&](std::int64_t m) { return any(m, std::greater<>()); }),
          where([&](std::int64_t m) { return !any(m, std::less<>()); })};
}

struct Found {
  T5 options;
  bool sure_of_distance;
  bool sure_of_buckets;
};

std::optional<Found> settings_of(const Buckets& given) {
  const std::int64_t farthest = std::max(-given.begin()->first, given.rbegin()->first);
  std::int64_t most = 0;
  for (const auto& [distance, bucket] : given) most = std::max(most, bucket);
  if (most < 3 || most >= kMaxBuckets || given.size() < 8) return std::nullopt;
  // Of two directions distance 1 is in the bucket after half of them. Of one, half the buckets are
  // exact: the count ends there; it may be cut off.
  std::vector<std::pair<std::int64_t, bool>> counts;
  const auto ahead = given.find(1);
  if (ahead != given.end() && ahead->second > 1) counts.emplace_back(2 * (ahead->second - 1), true);
  if (ahead == given.end() || ahead->second == 0) {
    for (const std::int64_t usual :
         {std::int64_t{32}, most + 1, std::int64_t{64}, std::int64_t{128}}) {
      if (usual > most) counts.emplace_back(usual, false);
    }
    for (std::int64_t d = 1; d <= farthest; ++d) {
      const auto entry = given.find(-d);
      if (entry == given.end() || entry->second == d) continue;
      for (std::int64_t half = std::max<std::int64_t>(1, d - 8); half <= d; ++half) {
        for (const std::int64_t odd : {0, 1}) counts.emplace_back(2 * half + odd, false);
      }
      break;
    }
  }
  for (const auto& [count, both] : counts) {
    if (count <= most || count > kMaxBuckets || (both && (count % 2 != 0 || count < 4)) ||
        count < 2)
      continue;
    const std::int64_t exact = both ? count / 4 : count / 2;
    const std::int64_t limit = std::max<std::int64_t>({4 * farthest, 2048, exact + 1});
    const auto [least, end] = distances_of(count, both, limit, given);
    if (least >= end) continue;
    const T5 options{count, likeliest(least, end - 1), both};
    // Whether a distance half as long again would be told from this one.
    const std::int64_t farther = options.max_distance + options.max_distance / 2 + 1;
    const bool narrow = end - exact < 6 || !makes({count, farther, both}, given);
    return Found{options, farthest > exact + 1 && narrow, both || most == count - 1};
  }
  return std::nullopt;
}

}  // namespace

Identification name_buckets(View<const double> buckets) {
  Identification result;
  const bool matrix = buckets.rank() == 2;
  if (buckets.size(0) + (matrix ? buckets.size(1) : 0) > kMaxDistances) return result;
  std::vector<std::pair<Buckets, std::string>> readings;
  if (matrix) {
    for (const std::int64_t offset : {std::int64_t{0}, buckets.size(1) - buckets.size(0)}) {
      if (auto map = by_distance(buckets, offset)) {
        readings.emplace_back(std::move(*map), offset == 0 ? "buckets [query, key]"
                                                           : "buckets [query, key], last key the "
                                                             "last query's own");
      }
      if (buckets.size(1) == buckets.size(0)) break;
    }
  } else {
    // By distance: the only bucket 0 of both directions, or the last or first one of the only run.
    const std::int64_t length = buckets.size(0);
    const auto at = [&](std::int64_t origin) {
      Buckets map;
      for (std::int64_t i = 0; i < length; ++i)
        map.emplace(i - origin, static_cast<std::int64_t>(buckets(i)));
      return map;
    };
    std::int64_t first = 0, last = length - 1;
    while (first <= last && buckets(first) != 0) ++first;
    while (first <= last && buckets(last) != 0) --last;
    bool one_run = true;
    for (std::int64_t i = first; i <= last; ++i) one_run = one_run && buckets(i) == 0;
    if (!one_run || first > last) return result;
    readings.emplace_back(at(first), "buckets [distance + " + std::to_string(first) + "]");
    if (last > first) {
      readings.emplace_back(at(last), "buckets [distance + " + std::to_string(last) + "]");
    }
  }
  for (const bool mirrored : {false, true}) {
    for (const auto& [map, form] : readings) {
      Buckets given;
      for (const auto& [distance, bucket] : map)
        given.emplace(mirrored ? -distance : distance, bucket);
      const auto found = settings_of(given);
      if (!found) continue;
      result.scheme = "t5";
      result.form = form;
      result.parameters["num_buckets"] = std::to_string(found->options.num_buckets);
      result.parameters["max_distance"] = std::to_string(found->options.max_distance);
      result.parameters["bidirectional"] = found->options.bidirectional ? "yes" : "no";
      result.explanation =
          "T5's buckets of " +
          std::string(found->options.bidirectional ? "both directions" : "the past") + ": " +
          std::to_string(found->options.num_buckets) + " buckets, distances from " +
          std::to_string(found->options.max_distance) + " on in the last one.";
      if (!found->sure_of_distance) {
        result.explanation += " The distances here are too short to be sure of the last one.";
      }
      if (!found->sure_of_buckets) {
        result.explanation += " They do not reach the last bucket, so there may be others.";
      }
      if (mirrored) {
        result.mistake = "transposed";
        result.explanation +=
            matrix ? " The distance is query minus key: rows and columns are "
                     "exchanged against T5's own map, whose distance is key minus query."
                   : " The distances run from the future to the past.";
      }
      result.confidence = found->sure_of_distance && found->sure_of_buckets ? 0.99 : 0.7;
      return result;
    }
  }
  return result;
}

}  // namespace sextant::identify
