// Rows of terms of scores, in vectors of the processor's width.
#include "kernels/attention/bias_rows.h"

#include <limits>

#include "kernels/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/attention/bias_rows.cc"

#include <hwy/foreach_target.h>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace sextant::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Calls one(d, n) for whole vectors of `count` numbers, then narrower ones, with the tag of each.
template <class D, class One>
HWY_INLINE void each_vector(D d, std::int64_t count, const One& one, std::int64_t n = 0) {
  const auto width = static_cast<std::int64_t>(hn::Lanes(d));
  for (; n + width <= count; n += width) one(d, n);
  if constexpr (hn::MaxLanes(d) > 1) {
    if (n < count) each_vector(hn::Half<D>(), count, one, n);
  }
}

void add_rows(const BiasRow* rows, std::int64_t count) {
  for (const BiasRow* row = rows; row < rows + count; ++row) {
    each_vector(hn::ScalableTag<float>(), row->count, [row](auto d, std::int64_t n) HWY_ATTR {
      float* const to = row->to + n;
      hn::StoreU(hn::Add(hn::LoadU(d, to), hn::LoadU(d, row->from + n)), d, to);
    });
  }
}

void add_lines(const BiasLine* lines, std::int64_t count) {
  for (const BiasLine* line = lines; line < lines + count; ++line) {
#if HWY_HAVE_FLOAT64
    each_vector(hn::ScalableTag<double>(), line->count, [line](auto d, std::int64_t n) HWY_ATTR {
      const hn::Rebind<float, decltype(d)> narrow;
      const auto product = hn::Mul(hn::Set(d, line->slope), hn::LoadU(d, line->from + n));
      const auto number = hn::DemoteTo(narrow, hn::Add(product, hn::Set(d, line->intercept)));
      float* const to = line->to + n;
      hn::StoreU(hn::Add(hn::LoadU(narrow, to), number), narrow, to);
    });
#else
    for (std::int64_t n = 0; n < line->count; ++n) {
      line->to[n] += static_cast<float>(line->slope * line->from[n] + line->intercept);
    }
#endif
  }
}

template <class D>
HWY_INLINE void add_visible(D d, hn::Vec<D> numbers, float factor, float* to) {
  const auto hidden = hn::Set(d, -std::numeric_limits<float>::infinity());
  const auto score = hn::LoadU(d, to);
  const auto sum = hn::Add(score, hn::Mul(hn::Set(d, factor), numbers));
  hn::StoreU(hn::IfThenElse(hn::Eq(score, hidden), hidden, sum), d, to);
}

void add_to_visible(const BiasRow* rows, std::int64_t count, float factor) {
  const hn::ScalableTag<float> all;
  for (const BiasRow* row = rows; row < rows + count; ++row) {
    if (row->step == 1) {
      each_vector(all, row->count, [row, factor](auto d, std::int64_t n) HWY_ATTR {
        add_visible(d, hn::LoadU(d, row->from + n), factor, row->to + n);
      });
    } else if (row->step == 0) {
      each_vector(all, row->count, [row, factor](auto d, std::int64_t n) HWY_ATTR {
        add_visible(d, hn::Set(d, *row->from), factor, row->to + n);
      });
    } else {
      each_vector(all, row->count, [row, factor](auto d, std::int64_t n) HWY_ATTR {
        const auto last = n + static_cast<std::int64_t>(hn::Lanes(d)) - 1;
        add_visible(d, hn::Reverse(d, hn::LoadU(d, row->from - last)), factor, row->to + n);
      });
    }
  }
}

void add_diagonals_to_visible(const BiasDiagonals& tile, float factor) {
  for (std::int64_t i = 0; i < tile.queries; ++i) {
    const std::int32_t* const columns = tile.columns + (tile.queries - 1 - i);
    const float* const products = tile.products + i * tile.by_query;
    float* const to = tile.to + i * tile.to_row;
    each_vector(hn::ScalableTag<float>(), tile.keys, [&](auto d, std::int64_t n) HWY_ATTR {
      const hn::RebindToSigned<decltype(d)> di;
      const auto key = hn::Iota(di, static_cast<std::int32_t>(n));
      const auto index =
          hn::Add(hn::LoadU(di, columns + n), hn::Mul(key, hn::Set(di, tile.by_key)));
      add_visible(d, hn::GatherIndex(d, products, index), factor, to + n);
    });
  }
}

}  // namespace sextant::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant::kernels {

HWY_EXPORT(add_rows);
HWY_EXPORT(add_to_visible);
HWY_EXPORT(add_lines);
HWY_EXPORT(add_diagonals_to_visible);

void add_rows(const BiasRow* rows, std::int64_t count) noexcept {
  apply_requested_target();
  HWY_DYNAMIC_DISPATCH(add_rows)(rows, count);
}

void add_to_visible(const BiasRow* rows, std::int64_t count, float factor) noexcept {
  apply_requested_target();
  HWY_DYNAMIC_DISPATCH(add_to_visible)(rows, count, factor);
}

void add_lines(const BiasLine* lines, std::int64_t count) noexcept {
  apply_requested_target();
  HWY_DYNAMIC_DISPATCH(add_lines)(lines, count);
}

void add_diagonals_to_visible(const BiasDiagonals& tile, float factor) noexcept {
  apply_requested_target();
  HWY_DYNAMIC_DISPATCH(add_diagonals_to_visible)(tile, factor);
}

}  // namespace sextant::kernels
#endif  // HWY_ONCE
