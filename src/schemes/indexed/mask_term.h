// Terms that hide pairs and add nothing, from where they hide.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>

#include "schemes/indexed/position_runs.h"
#include "sextant/tables/score_term.h"

namespace sextant::schemes_detail {

// `Mask` has check(call), as a term, and each_hidden(rect, row_stride, hide), which calls hide(at,
// keys) for each range of hidden keys of a row once: elements at .. at + keys - 1 of an array of
// the rectangle with this row stride.
template <class Mask>
class MaskTerm final : public ScoreTerm {
 public:
  explicit MaskTerm(Mask mask) : mask_(std::move(mask)) {}

  void check(const CallExtents& call) const override { mask_.check(call); }
  TermEffect effect(const ScoreRect& rect) const noexcept override {
    std::int64_t hidden = 0;
    mask_.each_hidden(rect, rect.keys, [&](std::int64_t, std::int64_t keys) { hidden += keys; });
    if (hidden == 0) return TermEffect::none;
    return hidden == rect.queries * rect.keys ? TermEffect::hides : TermEffect::some;
  }
  void add(const ScoreTile<float>& tile) const noexcept override {
    mask_.each_hidden(tile, tile.stride, [&](std::int64_t at, std::int64_t keys) {
      std::fill_n(tile.scores + at, keys, kHiddenScore);
    });
  }

 private:
  Mask mask_;
};

template <class Mask>
std::shared_ptr<const ScoreTerm> mask_term(Mask mask) {
  return std::make_shared<MaskTerm<Mask>>(std::move(mask));
}

// The ids of the keys that a query sees: first .. last, and those up to `last` that are below
// `also_below`.
struct IdRange {
  std::int64_t first, last;
  std::int64_t also_below = std::numeric_limits<std::int64_t>::min() / 2;
};

// A mask by ids: range(query id) is the IdRange of a query.
template <class Range>
struct IdMask {
  PositionRuns ids;
  Range range;

  void check(const CallExtents& call) const { ids.check(call); }
  template <class Hide>
  void each_hidden(const ScoreRect& rect, std::int64_t row_stride,
                   const Hide& hide) const noexcept {
    for_each_run(
        ids, rect, row_stride,
        [&](std::int64_t query_id, std::int64_t key_id, std::int64_t at, std::int64_t keys) {
          const IdRange visible = range(query_id);
          const std::int64_t end = std::clamp<std::int64_t>(visible.last - key_id + 1, 0, keys);
          const std::int64_t begin = std::clamp<std::int64_t>(visible.first - key_id, 0, end);
          const std::int64_t also = std::clamp<std::int64_t>(visible.also_below - key_id, 0, begin);
          hide(at + also, begin - also);
          hide(at + end, keys - end);
        },
        hide);
  }
};

template <class Range>
std::shared_ptr<const ScoreTerm> id_mask(PositionRuns ids, Range range) {
  return mask_term(IdMask<Range>{std::move(ids), std::move(range)});
}

}  // namespace sextant::schemes_detail
