// T5's buckets: candidates of both directions and of likely numbers of buckets, whose max_distance
// is fitted by bisection.
#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/threads/interruption.h"
#include "identify/bias/names.h"
#include "sextant/schemes/distance/t5.h"

namespace sextant::identify {
namespace {

constexpr std::int64_t kMaxBuckets = 4096;
constexpr std::int64_t kMaxDistances = 1 << 20;  // no model looks as far

using Buckets = std::map<std::int64_t, std::int64_t>;  // by distance, key - query

// A map that depends on the distance alone, times `sign`; key `offset` is query 0's own.
std::optional<Buckets> by_distance(View<const double> matrix, std::int64_t offset, int sign) {
  Buckets result;
  for (std::int64_t q = 0; q < matrix.size(0); ++q) {
    check_interruption();
    for (std::int64_t k = 0; k < matrix.size(1); ++k) {
      const auto bucket = static_cast<std::int64_t>(matrix(q, k));
      const auto [known, added] = result.emplace(sign * (k - q - offset), bucket);
      if (!added && known->second != bucket) return std::nullopt;
    }
  }
  return result;
}

// Returns keys that may be at distance 0 of the first query: its own or, after a cache, the one
// that makes the last key the last query's own; for one row of distances, the first or the last 0.
std::vector<std::int64_t> offsets_of(View<const double> matrix) {
  const std::int64_t queries = matrix.size(0), keys = matrix.size(1);
  if (queries > 1 && queries == keys) return {0};
  if (queries > 1) return {0, keys - queries};
  std::vector<std::int64_t> zeros;
  for (std::int64_t k = 0; k < keys; ++k) {
    if (matrix(0, k) == 0) zeros.push_back(k);
  }
  if (zeros.size() > 1) zeros = {zeros.front(), zeros.back()};
  return zeros;
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

// How the buckets of these settings differ from the given ones: some are above, some below.
std::pair<bool, bool> differences(const T5& settings, const Buckets& given) {
  check_interruption();
  const T5Buckets buckets(settings);
  std::pair<bool, bool> result{false, false};
  for (const auto& [distance, bucket] : given) {
    result.first |= buckets(distance) > bucket;
    result.second |= buckets(distance) < bucket;
  }
  return result;
}

// The first of begin .. end that does not hold, where those that hold come first.
template <class Holds>
std::int64_t first_without(std::int64_t begin, std::int64_t end, const Holds& holds) {
  while (begin < end) {
    const std::int64_t middle = begin + (end - begin) / 2;
    if (holds(middle)) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return begin;
}

struct Found {
  T5 settings;
  bool sure_of_distance, sure_of_buckets;
};

// Numbers of buckets that the distances near 0 allow. Of two directions distance 1 is in the bucket
// after half of them. Of one, half the buckets are exact: the count ends there; it may be cut off.
std::vector<std::pair<std::int64_t, bool>> counts_of(const Buckets& given, std::int64_t most) {
  std::vector<std::pair<std::int64_t, bool>> counts;
  const auto ahead = given.find(1);
  if (ahead != given.end() && ahead->second > 0) {
    counts.emplace_back(2 * (ahead->second - 1), true);
    return counts;
  }
  for (const std::int64_t usual : {std::int64_t{32}, most + 1, std::int64_t{64}, std::int64_t{128}})
    counts.emplace_back(usual, false);
  for (auto entry = std::make_reverse_iterator(given.upper_bound(-1)); entry != given.rend();
       ++entry) {
    const std::int64_t distance = -entry->first;
    if (entry->second == distance) continue;
    for (std::int64_t half = std::max<std::int64_t>(1, distance - 8); half <= distance; ++half) {
      for (const std::int64_t odd : {0, 1}) counts.emplace_back(2 * half + odd, false);
    }
    break;
  }
  return counts;
}

std::optional<Found> settings_of(const Buckets& given) {
  const std::int64_t farthest = std::max(-given.begin()->first, given.rbegin()->first);
  std::int64_t most = 0;
  for (const auto& [distance, bucket] : given) most = std::max(most, bucket);
  if (most < 3 || most >= kMaxBuckets || given.size() < 8) return std::nullopt;
  for (const auto& likely : counts_of(given, most)) {
    const std::int64_t count = likely.first;
    const bool both = likely.second;
    if (count <= most || count > kMaxBuckets || (both && count < 4)) continue;
    const std::int64_t exact = both ? count / 4 : count / 2;
    const std::int64_t limit = std::max<std::int64_t>({4 * farthest, 2048, exact + 1}) + 1;
    // Buckets only fall as max_distance grows: too high before it, too low after it.
    const std::int64_t least = first_without(exact + 1, limit, [&](auto m) {
      return differences({count, m, both}, given).first;
    });
    const std::int64_t end = first_without(exact + 1, limit, [&](auto m) {
      return !differences({count, m, both}, given).second;
    });
    if (least >= end) continue;
    const T5 settings{count, likeliest(least, end - 1), both};
    // Whether a distance 1.5 times as long could be distinguished from this one.
    const std::int64_t farther = settings.max_distance + settings.max_distance / 2 + 1;
    const bool told = differences({count, farther, both}, given) != std::pair{false, false};
    return Found{settings, farthest > exact + 1 && (end - exact < 6 || told),
                 both || most == count - 1};
  }
  return std::nullopt;
}

}  // namespace

Identification name_buckets(View<const double> buckets) {
  const bool matrix = buckets.rank() == 2;
  if (!matrix) buckets = {buckets.data(), Shape{1, buckets.size(0)}};
  if (buckets.size(0) + buckets.size(1) > kMaxDistances) return {};
  for (const bool mirrored : {false, true}) {
    for (const std::int64_t offset : offsets_of(buckets)) {
      const auto given = by_distance(buckets, offset, mirrored ? -1 : 1);
      const auto found = given ? settings_of(*given) : std::nullopt;
      if (!found) continue;
      const auto& [num_buckets, max_distance, both] = found->settings;
      Identification result;
      result.scheme = "t5";
      result.form = !matrix       ? "buckets [distance + " + std::to_string(offset) + "]"
                    : offset == 0 ? "buckets [query, key]"
                                  : "buckets [query, key], last key the last query's own";
      result.parameters = {{"num_buckets", std::to_string(num_buckets)},
                           {"max_distance", std::to_string(max_distance)},
                           {"bidirectional", both ? "yes" : "no"}};
      result.explanation = std::string("T5's buckets of ") +
                           (both ? "both directions" : "the past") + ": " +
                           std::to_string(num_buckets) + " buckets, distances from " +
                           std::to_string(max_distance) + " on in the last one.";
      if (!found->sure_of_distance) {
        result.explanation += " The distances here are too short to be sure of the last one.";
      }
      if (!found->sure_of_buckets) {
        result.explanation += " They do not reach the last bucket, so there may be others.";
      }
      if (mirrored) {
        result.mistake = "transposed";
        result.explanation +=
            matrix ? " The distance is query minus key: rows and columns are exchanged against "
                     "T5's own map, whose distance is key minus query."
                   : " The distances run from the future to the past.";
      }
      result.confidence = found->sure_of_distance && found->sure_of_buckets ? 0.99 : 0.7;
      return result;
    }
  }
  return {};
}

}  // namespace sextant::identify
