// Provides what decoders share: KV caches of an element type that is chosen at run time, attention
// with them, and the reach of tables.
#pragma once

#include <cstdint>
#include <utility>
#include <variant>

#include "sextant/attention/kv_cache.h"
#include "sextant/layers/attention_layer.h"
#include "sextant/layers/position_module.h"
#include "sextant/layers/stack_decoder.h"

namespace sextant::layers {

using AnyKvCache =
    std::variant<KvCache<float>, KvCache<bfloat16>, KvCache<float16>, KvCache<std::int8_t>>;

inline AnyKvCache empty_cache(const AttentionLayerOptions& o, CacheType type, std::int64_t rows) {
  const auto of = [&]<class T>(T) {
    return AnyKvCache(std::in_place_type<KvCache<T>>,
                      KvCacheSizes{rows, o.kv_heads, o.head_dim, o.head_dim});
  };
  if (type == CacheType::bfloat16) return of(bfloat16());
  if (type == CacheType::int8) return of(std::int8_t());
  return type == CacheType::float16 ? of(float16()) : of(0.0F);
}

// Appends the keys and values of `rows` sequences, each with the same number of new tokens, and
// attends: `all` [rows * count, (heads + 2 kv_heads) head_dim] is the result of
// AttentionLayer::project(), `mixed` [rows * count, heads head_dim] is written.
inline void attend_cached(const AttentionLayerOptions& o, View<float> all, std::int64_t rows,
                          const AttentionOptions<float>& options, AnyKvCache& cache,
                          View<float> mixed) {
  // [rows * count, columns] as [rows, heads, count, head_dim].
  const auto by_row = [rows](View<float> x, std::int64_t heads) {
    return x.split(0, rows).split(2, heads).transpose(1, 2);
  };
  const auto part = [&](std::int64_t first, std::int64_t heads) {
    return by_row(all.narrow(1, first * o.head_dim, heads * o.head_dim), heads);
  };
  std::visit(
      [&](auto& of) {
        of.append(View<const float>(part(o.heads, o.kv_heads)),
                  View<const float>(part(o.heads + o.kv_heads, o.kv_heads)));
        of.attend(View<const float>(part(0, o.heads)), by_row(mixed, o.heads), options);
      },
      cache);
}

// Returns the largest length up to `longest` that has the tables of this length, so that few are
// made.
inline std::int64_t reach_of_tables(const PositionModule<float>& positions, std::int64_t length,
                                    std::int64_t longest) {
  std::int64_t least = length, most = longest;
  while (least < most) {
    const std::int64_t middle = least + (most - least + 1) / 2;
    if (positions.table_key(middle) == positions.table_key(length)) {
      least = middle;
    } else {
      most = middle - 1;
    }
  }
  return least;
}

}  // namespace sextant::layers
