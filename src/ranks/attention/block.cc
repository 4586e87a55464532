// Offsets, lengths, ids and masks of a block.
#include "ranks/attention/block.h"

#include <algorithm>

namespace sextant::ranks {

template <class M>
View<M> part_of_mask(View<M> mask, const Piece& queries, const Piece& keys) {
  const int last = mask.rank() - 1;
  if (mask.size(last) != 1) mask = mask.narrow(last, keys.begin, keys.size());
  if (last > 0 && mask.size(last - 1) != 1) {
    mask = mask.narrow(last - 1, queries.row, queries.size());
  }
  return mask;
}

template <class T, class U>
BlockOptions<T, U>::BlockOptions(const Call<T>& call, const Piece& queries, const Piece& keys,
                                 bool whole_rows) {
  const AttentionOptions<T>& from = call.options;
  const AttentionCall& all = call.all;
  const Sequence first = call.sequence(0, queries.segment);
  const std::int64_t query_shift = queries.begin - first.q_begin;
  const std::int64_t key_shift = keys.begin - first.k_begin;
  options.causal = all.causal ? Causal::at_offsets : Causal::none;
  options.window = from.window;
  options.bias = from.bias;
  options.rotation = from.rotation;
  options.softcap = all.numbers.softcap;
  options.scale = all.numbers.scale;
  options.matmul_precision = from.matmul_precision;
  options.threads = all.threads;
  if (whole_rows) options.sinks = from.sinks;
  const TermPlace place{.segment = queries.segment,
                        .segments = all.segment_count(),
                        .query = query_shift,
                        .key = key_shift,
                        .key_begin = first.k_begin,
                        .gives_ids = all.by_ids};
  for (const ScoreTerm* term : from.terms) {
    if (!whole_rows && term->needs().before_softcap) continue;
    options.terms.push_back(&terms_.emplace_back(*term, place));
  }
  for (std::int64_t b = 0; b < all.batch; ++b) {
    const Sequence at = call.sequence(b, queries.segment);
    offsets_.push_back(query_shift + at.offset - key_shift);
    lengths_.push_back(std::clamp<std::int64_t>(at.k_len - key_shift, 0, keys.size()));
  }
  options.query_offsets = offsets_;
  if (all.key_lengths != nullptr) options.key_lengths = lengths_;
  if (const auto* mask = std::get_if<BoolMask>(&from.mask)) {
    options.mask = part_of_mask(*mask, queries, keys);
  } else if (const auto* floats = std::get_if<FloatMask<T>>(&from.mask)) {
    if constexpr (std::is_same_v<FloatMask<T>, FloatMask<U>>) {
      options.mask = part_of_mask(*floats, queries, keys);
    }
  }
  if (all.by_ids) {
    options.query_positions = from.query_positions.narrow(1, queries.begin, queries.size());
    options.key_positions = from.key_positions.narrow(1, keys.begin, keys.size());
  } else if (all.rotation != nullptr && key_shift != 0) {
    query_ids_ = Tensor<std::int64_t>::uninitialized(Shape{all.batch, queries.size()});
    key_ids_ = Tensor<std::int64_t>::uninitialized(Shape{1, keys.size()});
    for (std::int64_t b = 0; b < all.batch; ++b) {
      const std::int64_t diagonal = query_shift + call.sequence(b, queries.segment).offset;
      for (std::int64_t i = 0; i < queries.size(); ++i) query_ids_(b, i) = diagonal + i;
    }
    for (std::int64_t j = 0; j < keys.size(); ++j) key_ids_(0, j) = key_shift + j;
    options.query_positions = query_ids_;
    options.key_positions = key_ids_;
  }
}

template <class T, class U>
void BlockOptions<T, U>::shift_rows(View<const float> shift) {
  options.terms.push_back(&row_shift_.emplace(shift));
}

template struct BlockOptions<float, float>;
template struct BlockOptions<double, double>;
template struct BlockOptions<float16, float>;
template struct BlockOptions<bfloat16, float>;
template struct BlockOptions<float16, float16>;
template struct BlockOptions<bfloat16, bfloat16>;
template View<const bool> part_of_mask(View<const bool>, const Piece&, const Piece&);
template View<const float> part_of_mask(View<const float>, const Piece&, const Piece&);
template View<float> part_of_mask(View<float>, const Piece&, const Piece&);
template View<const double> part_of_mask(View<const double>, const Piece&, const Piece&);
template View<double> part_of_mask(View<double>, const Piece&, const Piece&);

}  // namespace sextant::ranks
