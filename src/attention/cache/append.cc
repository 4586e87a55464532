// Appending to a KV cache: rows of arrays, rounded, into pages.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "attention/cache/state.h"
#include "sextant/core/numbers.h"

namespace sextant {
namespace {

using attention_detail::kLargestQuantized, attention_detail::kRowHead, attention_detail::PageLayout,
    attention_detail::quantize_row, attention_detail::refuse_in_cache;

// to[i, c] = from[i, c] for i < rows: one head of one sequence. Rounds wider numbers.
template <class T, class S>
void round_rows(View<const S> from, std::int64_t first, std::int64_t rows, T* to) {
  const std::int64_t channels = from.size(1), stride = from.stride(1);
  for (std::int64_t i = first; i < first + rows; ++i, to += channels) {
    const S* row = from.data() + i * from.stride(0);
    for (std::int64_t c = 0; c < channels; ++c) to[c] = static_cast<T>(row[c * stride]);
  }
}

// The same into the rows of a page. `line` has room for one row.
template <class T, class S>
void store_rows(View<const S> from, std::int64_t first, std::int64_t rows, T* to, float* line) {
  if constexpr (std::same_as<T, std::int8_t>) {
    const std::int64_t channels = from.size(1);
    for (std::int64_t i = first; i < first + rows; ++i) {
      round_rows(from, i, 1, line);
      quantize_row(line, channels, to);
      to += kRowHead<T> + channels;
    }
  } else {
    round_rows(from, first, rows, to);
  }
}

// Rows [begin, begin + count) of a batch row, which are appended to a sequence.
struct NewRows {
  std::int64_t batch, begin, count;
};

void check_shape(const char* argument, const Shape& shape, const Shape& wanted) {
  if (!(shape == wanted)) {
    refuse_in_cache(argument, "must be " + wanted.to_string() + ", got " + shape.to_string());
  }
}

// Rows of 8 bits have no infinities.
template <class S>
void check_quantizable(const char* argument, View<const S> x, std::span<const NewRows> added) {
  for (const NewRows& rows : added) {
    for (std::int64_t h = 0; h < x.size(1); ++h) {
      for (std::int64_t i = rows.begin; i < rows.begin + rows.count; ++i) {
        for (std::int64_t c = 0; c < x.size(3); ++c) {
          const S value = x(rows.batch, h, i, c);
          if (std::abs(value) <= S{kLargestQuantized}) continue;
          refuse_in_cache(argument, "must be within +-1e38 for a cache of int8, got " +
                                        shortest(value) + " in row " + std::to_string(i) +
                                        " of head " + std::to_string(h));
        }
      }
    }
  }
}

std::vector<NewRows> rows_of(const AppendedRows& rows, std::int64_t batch, std::int64_t count) {
  std::vector<NewRows> of(static_cast<std::size_t>(batch));
  const auto check_entries = [&](const char* argument, std::span<const std::int64_t> list,
                                 std::int64_t wanted) {
    if (std::ssize(list) == wanted) return;
    refuse_in_cache(argument, "must have " + std::to_string(wanted) + " entries for " +
                                  std::to_string(batch) + " sequences, got " +
                                  std::to_string(list.size()));
  };
  if (!rows.segments.empty()) {
    const auto segments = rows.segments;
    if (!rows.counts.empty()) refuse_in_cache("counts", "must not be given with segments");
    check_entries("segments", segments, batch + 1);
    if (segments.front() != 0 || segments.back() != count ||
        !std::is_sorted(segments.begin(), segments.end())) {
      refuse_in_cache("segments", "must ascend from 0 to the number of rows " +
                                      std::to_string(count) + ", got " +
                                      std::to_string(segments.front()) + " .. " +
                                      std::to_string(segments.back()));
    }
    for (std::size_t s = 0; s < of.size(); ++s) {
      of[s] = {0, segments[s], segments[s + 1] - segments[s]};
    }
    return of;
  }
  if (!rows.counts.empty()) check_entries("counts", rows.counts, batch);
  for (std::size_t s = 0; s < of.size(); ++s) {
    const std::int64_t own = rows.counts.empty() ? count : rows.counts[s];
    if (own < 0 || own > count) {
      refuse_in_cache("counts",
                      "must be in 0 .. " + std::to_string(count) + ", got " + std::to_string(own));
    }
    of[s] = {static_cast<std::int64_t>(s), 0, own};
  }
  return of;
}

}  // namespace

template <CacheElement T>
void KvCache<T>::append(const Rows& k, const Rows& v, const AppendedRows& rows) {
  const PageLayout& layout = state_->layout;
  const auto shape_of = [](const Rows& x) {
    return std::visit([](const auto& view) { return view.shape(); }, x);
  };
  const Shape shape = shape_of(k);
  if (shape.rank() != 4) {
    refuse_in_cache("k", "must be [batch, kv_heads, count, head_dim], got " + shape.to_string());
  }
  const std::int64_t count = shape[2], lead = rows.segments.empty() ? batch() : 1;
  check_shape("k", shape, Shape{lead, layout.kv_heads, count, layout.head_dim});
  check_shape("v", shape_of(v), Shape{lead, layout.kv_heads, count, layout.v_dim});
  const std::vector<NewRows> added = rows_of(rows, batch(), count);

  std::vector<float> line;
  if constexpr (State::kQuantized) {
    line.resize(static_cast<std::size_t>(std::max(layout.head_dim, layout.v_dim)));
    std::visit([&](const auto& view) { check_quantizable("k", view, added); }, k);
    std::visit([&](const auto& view) { check_quantizable("v", view, added); }, v);
  }

  std::int64_t extended = 0;
  try {
    for (; extended < batch(); ++extended) {
      state_->list(extended).extend(layout, state_->length(extended),
                                    added[static_cast<std::size_t>(extended)].count);
    }
  } catch (...) {
    while (extended-- > 0) state_->list(extended).truncate(layout, state_->length(extended));
    throw;
  }
  for (std::int64_t b = 0; b < batch(); ++b) {
    const NewRows& at = added[static_cast<std::size_t>(b)];
    std::int64_t& length = state_->length(b);
    state_->for_each_run(length, length + at.count, [&](std::int64_t first, std::int64_t run) {
      const std::int64_t row = at.begin + first - length;
      for (std::int64_t h = 0; h < layout.kv_heads; ++h) {
        const auto store = [&](const Rows& x, T* to) {
          std::visit(
              [&](const auto& view) {
                store_rows(view.select(0, at.batch).select(0, h), row, run, to, line.data());
              },
              x);
        };
        store(k, state_->key(b, h, first));
        if (layout.row_bytes(layout.v_dim) > 0) store(v, state_->value(b, h, first));
      }
    });
    length += at.count;
  }
}

template void KvCache<float>::append(const Rows&, const Rows&, const AppendedRows&);
template void KvCache<bfloat16>::append(const Rows&, const Rows&, const AppendedRows&);
template void KvCache<float16>::append(const Rows&, const Rows&, const AppendedRows&);
template void KvCache<std::int8_t>::append(const Rows&, const Rows&, const AppendedRows&);

}  // namespace sextant
