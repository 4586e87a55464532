// A term of the scores of a whole call, asked by a call on a part of its heads, queries or keys.
#pragma once

#include "sextant/core/tensor.h"
#include "sextant/tables/score_term.h"

namespace sextant::ranks {

// The place of a part in the whole: the segment, the first of its heads, and the first of its
// queries and keys, counted in the segment.
struct TermPlace {
  std::int64_t segment = 0, segments = 1;
  std::int64_t head = 0, query = 0, key = 0;
  std::int64_t key_begin = 0;  // where the keys of the segment begin in the batch row
  bool gives_ids = true;       // false: the part's ids are ours, and the term must not see them

  void move(ScoreRect& rect) const noexcept;
};

class ShiftedTerm final : public ScoreTerm {
 public:
  ShiftedTerm(const ScoreTerm& whole, TermPlace place) : whole_(whole), place_(place) {}

  TermNeeds needs() const override { return whole_.needs(); }
  // The term has checked the whole call; a check of a part has no meaning.
  void check(const CallExtents&) const override {}
  TermEffect effect(const ScoreRect& rect) const noexcept override {
    return whole_.effect(moved(rect));
  }
  void add(const ScoreTile<float>& tile) const noexcept override { whole_.add(moved(tile)); }
  void add(const ScoreTile<double>& tile) const noexcept override { whole_.add(moved(tile)); }
  void backward(const ScoreGradient<double>& tile) const noexcept override {
    whole_.backward(moved(tile));
  }
  void backward(const ScoreGradient<float>& tile) const noexcept override {
    whole_.backward(moved(tile));
  }
  // Distances of a part are those of the whole.
  ValueVectors value_vectors(std::int64_t head) const noexcept override {
    return whole_.value_vectors(place_.head + head);
  }
  void add_values(const ScoreRect& row, const double* weights,
                  double* out) const noexcept override {
    whole_.add_values(moved(row), weights, out);
  }
  void values_backward(const ScoreRect& row, const double* weights, const double* dout,
                       double* dweights, double* parameters) const noexcept override {
    whole_.values_backward(moved(row), weights, dout, dweights, parameters);
  }

 private:
  template <class Rect>
  Rect moved(Rect rect) const noexcept {
    place_.move(rect);
    return rect;
  }

  const ScoreTerm& whole_;
  TermPlace place_;
};

// A number for each row of scores, [batch, heads, queries].
class RowShift final : public ScoreTerm {
 public:
  explicit RowShift(View<const float> of_rows) : of_rows_(of_rows) {}

  void check(const CallExtents&) const override {}
  void add(const ScoreTile<float>& tile) const noexcept override;

 private:
  View<const float> of_rows_;
};

}  // namespace sextant::ranks
