// An array of any rank: which readings its shape allows, and which of them its numbers bear out.
#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/options/fields.h"
#include "core/threads/interruption.h"
#include "identify/bias/names.h"
#include "identify/numbers.h"
#include "identify/rotation/rotations.h"
#include "sextant/core/error.h"
#include "sextant/core/numbers.h"
#include "sextant/identify/identify.h"

namespace sextant {
namespace {

using namespace identify;

constexpr std::int64_t kMaxValues = std::int64_t{1} << 31;

struct Values {
  bool finite = true;
  bool whole = true;  // whole numbers of 0 .. 4095
};

Values look_at(View<const double> array) {
  Values found;
  in_parts(array.count(), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const double x = array.data()[i];
      if (std::isnan(x) || x == HUGE_VAL) {
        throw Error("identify_array.array",
                    "must have no NaN and no +infinity, which number " + std::to_string(i) + " is");
      }
      found.finite = found.finite && std::isfinite(x);
      found.whole = found.whole && x >= 0 && x < 4096 && x == std::trunc(x);
    }
  });
  return found;
}

bool is_known(const Identification& found) { return found.scheme != "unknown"; }
bool is_named(const Identification& found) {
  return is_known(found) && found.scheme != "rotary_unknown";
}

// One reading of columns as cosines and sines: pair k is in the columns first + k * step; -1 if
// there is no such function.
struct Reading {
  const char* form;
  std::int64_t cosines, sines, step;
};

// The first known of these readings.
Identification name_first(View<const double> table, std::int64_t pairs, double unit_roundoff,
                          std::initializer_list<Reading> readings) {
  for (const auto& [form, cosines, sines, step] : readings) {
    Rotations given{table, {}};
    for (std::int64_t k = 0; k < pairs; ++k) {
      given.steps.push_back({static_cast<double>(k), sines < 0 ? -1 : sines + k * step,
                             cosines < 0 ? -1 : cosines + k * step});
    }
    Identification found = name_rotations(given, unit_roundoff);
    if (!is_known(found)) continue;
    found.form = form;
    return found;
  }
  return {};
}

// Whether columns k * step and k * step + apart are the same, for k of 0 .. pairs - 1.
bool holds_twice(View<const double> table, std::int64_t pairs, std::int64_t step,
                 std::int64_t apart) {
  for (std::int64_t n = 0; n < table.size(0); ++n) {
    check_interruption();
    for (std::int64_t k = 0; k < pairs; ++k) {
      if (table(n, k * step) != table(n, k * step + apart)) return false;
    }
  }
  return true;
}

// A cache of one function, once or twice.
Identification name_cache(View<const double> table, double unit) {
  const std::int64_t width = table.size(1), half = width / 2;
  const bool even = width % 2 == 0 && width >= 4;
  if (even && holds_twice(table, half, 1, half)) {
    return name_first(
        table, half, unit,
        {{"cosines, twice side by side", 0, -1, 1}, {"sines, twice side by side", -1, 0, 1}});
  }
  if (even && holds_twice(table, half, 2, 1)) {
    Identification found = name_first(
        table, half, unit, {{"cosines, each twice", 0, -1, 2}, {"sines, each twice", -1, 0, 2}});
    if (is_known(found)) found.parameters["layout"] = "interleaved";
    return found;
  }
  return name_first(table, width, unit, {{"cosines", 0, -1, 1}, {"sines", -1, 0, 1}});
}

// A cache of both; plain ones are sinusoidal tables too.
Identification name_both(View<const double> table, double unit) {
  const std::int64_t half = table.size(1) / 2;
  if (table.size(1) % 2 != 0) return {};
  return name_first(table, half, unit,
                    {{"cosines, then sines", 0, half, 1},
                     {"sines, then cosines", half, 0, 1},
                     {"cosine and sine of each pair", 0, 1, 2},
                     {"sine and cosine of each pair", 1, 0, 2}});
}

// The defaults of a sinusoidal table are omitted.
std::map<std::string, std::string> parameters_of(const Sinusoidal& options) {
  const Sinusoidal plain;
  std::map<std::string, std::string> result;
  if (options.base != plain.base) result["base"] = shortest(options.base);
  if (options.layout != plain.layout) result["layout"] = name_of(options.layout);
  if (options.ladder != plain.ladder) result["ladder"] = name_of(options.ladder);
  if (options.exponent != plain.exponent) result["exponent"] = name_of(options.exponent);
  if (options.odd_width) result["odd_width"] = name_of(*options.odd_width);
  if (options.scale != plain.scale) result["scale"] = shortest(options.scale);
  if (options.precision != plain.precision) result["precision"] = name_of(options.precision);
  return result;
}

// `of_waves`: the unit roundoff of cosines and sines, which may be those of a shorter type.
Identification name_table(View<const double> table, const Values& values, double unit_roundoff,
                          double of_waves, int threads) {
  if (values.whole) {
    Identification found = name_buckets(table);
    if (is_known(found)) return found;
  }
  Identification unknown;
  if (values.finite && table.size(1) >= 2) {
    // Any smooth columns fit some list of frequencies: that reading is the last one to take.
    Identification cache = name_cache(table, of_waves);
    if (is_named(cache)) return cache;
    Identification found = identify_table(table, unit_roundoff, threads);
    if (is_known(found)) {
      found.parameters = parameters_of(found.options);
      const bool twin = found.options.layout == SinusoidalLayout::cos_first &&
                        found.options.ladder == Ladder::d && found.options.scale == 1 &&
                        found.options.exponent == Exponent::standard && table.size(1) % 2 == 0;
      if (twin) {
        found.explanation += " A rotation's cosines and sines side by side (rotary, head_dim " +
                             std::to_string(table.size(1)) + ") are the same numbers.";
      }
      return found;
    }
    unknown = std::move(found);
    found = name_both(table, of_waves);
    if (is_named(found)) return found;
    if (is_known(cache)) return cache;
    if (is_known(found)) return found;
  }
  Identification found = name_alibi(table, unit_roundoff);
  if (!is_known(found) && table.size(0) == table.size(1)) {  // one head's queries and keys
    const Shape shape{1, table.size(0), table.size(1)};
    const std::int64_t strides[] = {0, table.stride(0), table.stride(1)};
    found = name_alibi({table.data(), shape, strides}, unit_roundoff);
  }
  if (is_known(found)) return found;
  return unknown;
}

Identification name_block(View<const double> block, const Values& values, double unit_roundoff,
                          double of_waves) {
  if (values.finite && block.size(2) == 2) {
    const std::int64_t pairs = block.size(1);
    Identification found =
        name_first({block.data(), Shape{block.size(0), 2 * pairs}}, pairs, of_waves,
                   {{"[position, pair, cosine and sine]", 0, 1, 2},
                    {"[position, pair, sine and cosine]", 1, 0, 2}});
    if (is_known(found)) return found;
  }
  if (values.finite && block.size(0) == 2) {
    const std::int64_t rows = block.size(1), pairs = block.size(2);
    Tensor<double> beside({rows, 2 * pairs});  // the sines next to the cosines
    for (std::int64_t n = 0; n < rows; ++n) {
      check_interruption();
      for (std::int64_t c = 0; c < 2 * pairs; ++c) beside(n, c) = block(c / pairs, n, c % pairs);
    }
    Identification found = name_first(std::as_const(beside).view(), pairs, of_waves,
                                      {{"[cosines and sines, position, pair]", 0, pairs, 1}});
    if (is_known(found)) return found;
  }
  return name_alibi(block, unit_roundoff);
}

}  // namespace

Identification identify_array(View<const double> array, double unit_roundoff, int threads) {
  check_range(kThreads, "identify_array.threads", threads);
  check_unit_roundoff("identify_array.unit_roundoff", unit_roundoff);
  if (array.count() < 1 || array.count() > kMaxValues) {
    throw Error("identify_array.array",
                "must hold 1 .. 2^31 numbers, got shape " + array.shape().to_string());
  }
  const Tensor<double> copied = copy_of(array);
  std::vector<std::int64_t> sizes;
  for (const std::int64_t size : array.shape()) {
    if (size != 1) sizes.push_back(size);
  }
  if (sizes.empty()) sizes.push_back(1);
  const View<const double> values(copied.data(), Shape(sizes));
  const Values seen = look_at(values);
  const ShortType* shorter = short_type_of(copied.span(), unit_roundoff);
  const double of_waves = shorter != nullptr ? shorter->unit_roundoff : unit_roundoff;
  Identification found;
  if (sizes.size() == 1) {
    if (seen.whole && sizes[0] > 1) found = name_buckets(values);
    if (!is_known(found) && seen.finite) found = name_slopes(values, unit_roundoff);
    if (!is_known(found) && seen.finite) found = name_frequencies(values, unit_roundoff);
    if (!is_known(found) && array.rank() >= 2 && sizes[0] > 1) {
      const bool row = array.size(array.rank() - 1) == sizes[0];
      const Shape shape = row ? Shape{1, sizes[0]} : Shape{sizes[0], 1};
      found = name_table({copied.data(), shape}, seen, unit_roundoff, of_waves, threads);
    }
  } else if (sizes.size() == 2) {
    found = name_table(values, seen, unit_roundoff, of_waves, threads);
  } else if (sizes.size() == 3) {
    found = name_block(values, seen, unit_roundoff, of_waves);
  }
  const bool waves = found.scheme == "sinusoidal" || found.head_dim > 0;
  if (shorter != nullptr && is_named(found) && found.mistake.empty() && waves) {
    found.mistake = std::string("values_rounded_to_") + shorter->name;
    found.explanation += std::string(" Every value is one of ") + shorter->name +
                         ", stored in a wider type: it has the precision of 16 bits.";
  }
  if (!is_known(found) && found.explanation.empty()) {
    found.explanation =
        "Neither a table of positions nor a cache of rotations, slopes, biases or buckets that is "
        "known here.";
  }
  return found;
}

}  // namespace sextant
