// Appending to a KV cache: rows of arrays, rounded, into pages.
#include <algorithm>
#include <string>
#include <vector>

#include "attention/cache/state.h"

namespace sextant {
namespace {

using attention_detail::PageLayout, attention_detail::refuse_in_cache;

// to[i, c] = from[i, c] for i < rows: one head of one sequence. Rounds wider numbers.
template <class T, class S>
void store_rows(View<const S> from, std::int64_t first, std::int64_t rows, T* to) {
  const std::int64_t channels = from.size(1), stride = from.stride(1);
  for (std::int64_t i = first; i < first + rows; ++i, to += channels) {
    const S* row = from.data() + i * from.stride(0);
    for (std::int64_t c = 0; c < channels; ++c) to[c] = static_cast<T>(row[c * stride]);
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
                store_rows(view.select(0, at.batch).select(0, h), row, run, to);
              },
              x);
        };
        store(k, state_->key(b, h, first));
        if (layout.v_dim > 0) store(v, state_->value(b, h, first));
      }
    });
    length += at.count;
  }
}

template void KvCache<float>::append(const Rows&, const Rows&, const AppendedRows&);
template void KvCache<bfloat16>::append(const Rows&, const Rows&, const AppendedRows&);
template void KvCache<float16>::append(const Rows&, const Rows&, const AppendedRows&);

}  // namespace sextant
