// The text of every argument, which must be the same on all ranks.
#include "ranks/attention/agree.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include "core/arrays/each_dtype.h"
#include "core/numbers/hash.h"
#include "core/options/enum_names.h"
#include "sextant/core/numbers.h"

namespace sextant::ranks {
namespace {

template <class T>
std::span<const std::byte> bytes(std::span<const T> values) {
  return std::as_bytes(values);
}

// Samples a large table: its shape and every n-th element.
template <class T>
std::string sample_of(const Tensor<T>& table) {
  constexpr std::int64_t kSample = 1024;
  std::string text = table.shape().to_string();
  const std::int64_t step = std::max<std::int64_t>(1, table.count() / kSample);
  std::uint64_t hash = fnv1a(text);
  for (std::int64_t i = 0; i < table.count(); i += step) {
    hash = fnv1a({reinterpret_cast<const char*>(table.data() + i), sizeof(T)}, hash);
  }
  return text + " " + std::to_string(hash);
}

std::string text_of(const RotationTable<float>& table) {
  const auto own = [](const RotationTable<float>& of) {
    return sample_of(of.cos) + " " + sample_of(of.sin) + " " + std::string(name_of(of.layout)) +
           " " + std::to_string(of.first_channel) + " " + std::to_string(of.first_position) + " " +
           std::to_string(fnv1a({reinterpret_cast<const char*>(of.positions.data()),
                                 of.positions.size() * sizeof(std::int64_t)}));
  };
  return own(table) + (table.keys ? " " + own(*table.keys) : "");
}

template <class M>
std::string mask_of(const AttentionOptionsOf<M>& options) {
  const auto shape = [](const auto& mask) {
    std::string text;
    for (int axis = 0; axis < mask.rank(); ++axis) {
      text += axis + 2 == mask.rank() ? "rows " : std::to_string(mask.size(axis)) + " ";
    }
    return text;
  };
  if (const auto* mask = std::get_if<BoolMask>(&options.mask)) return "bool " + shape(*mask);
  if (const auto* mask = std::get_if<View<const M>>(&options.mask)) return "float " + shape(*mask);
  return "none";
}

std::string text_of_ids(View<const std::int64_t> ids) {
  return ids.rank() == 2 ? "[" + std::to_string(ids.size(0)) + ", positions]"
                         : ids.shape().to_string();
}

}  // namespace

template <class T>
Agreement agreement_on(const char* function, View<const T> q, View<const T> k, View<const T> v,
                       const AttentionOptions<T>& o, const Options& ranks) {
  Agreement all;
  const auto add = [&](const char* argument, std::string value) {
    all.add(name_in(function, argument), std::move(value));
  };
  const auto shape = [](View<const T> x) {
    std::string text;
    for (int axis = 0; axis < x.rank(); ++axis) {
      text += (axis == 0 ? "[" : ", ") + (axis == 2 ? "own" : std::to_string(x.size(axis)));
    }
    return text + "]";
  };
  add("dtype", std::string(dtype_name(dtype_of<T>)));
  add("q", shape(q));
  add("k", shape(k));
  add("v", shape(v));
  add("algorithm", std::string(name_of(ranks.algorithm)));
  add("sharding", std::string(name_of(ranks.sharding)));
  add("wire_type", std::string(name_of(ranks.wire_type)));
  add("reproducible", ranks.reproducible ? "yes" : "no");
  add("slice_bytes", std::to_string(ranks.slice_bytes));
  add("machine", shortest(ranks.machine.multiply_adds) + " " + shortest(ranks.machine.bytes) + " " +
                     shortest(ranks.machine.latency));
  add("causal", o.causal ? std::string(name_of(*o.causal)) : "unset");
  add("window", std::to_string(o.window.left) + "," + std::to_string(o.window.right));
  add("softcap", shortest(o.softcap));
  add("dropout", shortest(o.dropout));
  add("scale", o.scale ? shortest(*o.scale) : "unset");
  add("matmul_precision", std::string(name_of(o.matmul_precision)));
  add("mask", mask_of(o));
  add("query_positions", text_of_ids(o.query_positions));
  add("key_positions", text_of_ids(o.key_positions));
  all.add(name_in(function, "query_offsets"), bytes(o.query_offsets));
  all.add(name_in(function, "key_lengths"), bytes(o.key_lengths));
  all.add(name_in(function, "segments"), bytes(o.segments));
  all.add(name_in(function, "key_segments"), bytes(o.key_segments));
  all.add(name_in(function, "sinks"), bytes(o.sinks));
  add("bias", o.bias == nullptr ? "none"
                                : sample_of(o.bias->values) + " " + std::to_string(o.bias->origin));
  if (o.bias != nullptr) {
    all.add(name_in(function, "bias.slopes"), bytes(std::span<const double>(o.bias->slopes)));
  }
  std::string terms;
  for (const ScoreTerm* term : o.terms) {
    terms += term == nullptr ? " null" : " " + std::to_string(term->needs().parameters);
  }
  add("terms", terms.empty() ? "none" : terms);
  add("rotation", o.rotation == nullptr ? "none" : text_of(*o.rotation));
  return all;
}

#define SEXTANT_INSTANTIATE(T)                                                              \
  template Agreement agreement_on(const char*, View<const T>, View<const T>, View<const T>, \
                                  const AttentionOptions<T>&, const Options&);
SEXTANT_FOR_EACH_FLOATING(SEXTANT_INSTANTIATE)
#undef SEXTANT_INSTANTIATE

}  // namespace sextant::ranks
