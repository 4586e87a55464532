// The operations of a KV cache on its sequences: dropping, rotating, forking, selecting, joining.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "attention/cache/state.h"
#include "attention/forward/kernel_rows.h"
#include "kernels/rotate/rotate_rows.h"

namespace sextant {
namespace {

using attention_detail::PageLayout, attention_detail::PageList, attention_detail::refuse_in_cache,
    attention_detail::SequenceRange;

// The row of a table that rotates the keys of each head by `shift` positions.
void check_shift(const RotationTable<float>& table, std::int64_t shift, const PageLayout& layout) {
  const Shape& shape = table.cos.shape();
  const int rank = shape.rank();
  if ((rank != 2 && rank != 3) || !(shape == table.sin.shape()) ||
      (rank == 3 && shape[0] != layout.kv_heads)) {
    refuse_in_cache("table", "must have cos and sin [positions, pairs] or [" +
                                 std::to_string(layout.kv_heads) + ", positions, pairs], got " +
                                 shape.to_string() + " and " + table.sin.shape().to_string());
  }
  const std::int64_t rows = shape[rank - 2], span = 2 * shape[rank - 1];
  if (table.first_channel < 0 || table.first_channel > layout.head_dim - span) {
    refuse_in_cache("table", "must rotate channels of the " + std::to_string(layout.head_dim) +
                                 " a key has, got " + std::to_string(span) + " from channel " +
                                 std::to_string(table.first_channel));
  }
  if (shift <= -rows || shift >= rows) {
    refuse_in_cache("shift", "must be within +-" + std::to_string(rows - 1) +
                                 ", the rows of the table, got " + std::to_string(shift));
  }
  const std::int64_t heads = rank == 3 ? shape[0] : 1;
  for (std::int64_t head = 0; head < heads; ++head) {
    const std::int64_t begin = (head * rows + std::abs(shift)) * (span / 2);
    for (std::int64_t p = begin; p < begin + span / 2; ++p) {
      const double cos = static_cast<double>(table.cos.data()[p]);
      const double sin = static_cast<double>(table.sin.data()[p]);
      // Cosine and sine are rounded to 2^-24 each.
      if (std::abs(cos * cos + sin * sin - 1) <= 0x1p-21) continue;
      refuse_in_cache("table", "must have rows without an amplitude, got cos " +
                                   std::to_string(cos) + " and sin " + std::to_string(sin));
    }
  }
}

}  // namespace

template <CacheElement T>
SequenceRange KvCache<T>::State::range_of(std::int64_t begin, std::int64_t end,
                                          std::optional<std::int64_t> sequence) const {
  const auto batch = static_cast<std::int64_t>(lengths.size());
  if (sequence && (*sequence < 0 || *sequence >= batch)) {
    refuse_in_cache("sequence", "must be in 0 .. " + std::to_string(batch - 1) + ", got " +
                                    std::to_string(*sequence));
  }
  if (begin < 0 || begin > end) {
    refuse_in_cache(
        "begin", "must be in 0 .. end = " + std::to_string(end) + ", got " + std::to_string(begin));
  }
  if (!sequence) return {0, batch};
  const std::int64_t length = lengths[static_cast<std::size_t>(*sequence)];
  if (end > length && (end != kEnd || begin > length)) {
    refuse_in_cache("end", "must be in 0 .. " + std::to_string(length) +
                               ", the length of sequence " + std::to_string(*sequence) + ", got " +
                               std::to_string(end == kEnd ? begin : end));
  }
  return {*sequence, *sequence + 1};
}

template <CacheElement T>
void KvCache<T>::rewind(std::int64_t length, std::optional<std::int64_t> sequence) {
  if (length < 0) {
    refuse_in_cache("length", "must be at least 0, got " + std::to_string(length));
  }
  const auto [first, last] = state_->range_of(0, 0, sequence);
  if (sequence && length > state_->length(first)) {
    refuse_in_cache("length", "must be in 0 .. " + std::to_string(state_->length(first)) +
                                  ", the length of sequence " + std::to_string(first) + ", got " +
                                  std::to_string(length));
  }
  for (std::int64_t b = first; b < last; ++b) {
    state_->length(b) = std::min(state_->length(b), length);
    state_->list(b).truncate(state_->layout, state_->length(b));
  }
}

template <CacheElement T>
void KvCache<T>::drop(std::int64_t begin, std::int64_t end, std::optional<std::int64_t> sequence) {
  const auto [first, last] = state_->range_of(begin, end, sequence);
  std::vector<PageList> kept;
  for (std::int64_t b = first; b < last; ++b) {
    const std::int64_t length = state_->length(b), from = std::min(begin, length);
    const std::int64_t to = std::min(end, length);
    PageList& list = kept.emplace_back();
    list.take(state_->layout, 0, state_->list(b), 0, from);
    list.take(state_->layout, from, state_->list(b), to, length - to);
  }
  for (std::int64_t b = first; b < last; ++b) {
    std::int64_t& length = state_->length(b);
    length -= std::min(end, length) - std::min(begin, length);
    state_->list(b) = std::move(kept[static_cast<std::size_t>(b - first)]);
  }
}

template <CacheElement T>
void KvCache<T>::rotate(const RotationTable<float>& table, std::int64_t shift, std::int64_t begin,
                        std::int64_t end, std::optional<std::int64_t> sequence) {
  const auto [first, last] = state_->range_of(begin, end, sequence);
  const PageLayout& layout = state_->layout;
  const RotationTable<float>& of_keys = table.for_keys();
  check_shift(of_keys, shift, layout);
  if (shift == 0) return;
  Tensor<Float> line(State::kQuantized ? Shape{layout.page_size, layout.head_dim} : Shape{0});
  for (std::int64_t b = first; b < last; ++b) {
    state_->list(b).own(layout, begin, std::min(end, state_->length(b)));
  }
  for (std::int64_t b = first; b < last; ++b) {
    const std::int64_t to = std::min(end, state_->length(b));
    state_->for_each_run(begin, to, [&](std::int64_t position, std::int64_t count) {
      for (std::int64_t head = 0; head < layout.kv_heads; ++head) {
        auto row = attention_detail::rotation_rows(of_keys, head).from(std::abs(shift));
        row.stride = 0;
        row.inverse = shift < 0;
        T* stored = state_->key(b, head, position);
        const auto rotate_rows = [&](Float* keys) {
          kernels::RotatedHeads<Float> heads{.x = keys,
                                             .out = keys,
                                             .heads = 1,
                                             .rows = count,
                                             .head_dim = layout.head_dim,
                                             .x_strides = {0, layout.head_dim, 1},
                                             .out_strides = {0, layout.head_dim, 1}};
          kernels::rotate_heads(heads, row);
        };
        if constexpr (State::kQuantized) {
          state_->load(stored, count, layout.head_dim, line.data());
          rotate_rows(line.data());
          for (std::int64_t i = 0; i < count; ++i) {
            attention_detail::quantize_row(line.data() + i * layout.head_dim, layout.head_dim,
                                           stored + i * state_->step(layout.head_dim));
          }
        } else {
          rotate_rows(stored);
        }
      }
    });
  }
}

template <CacheElement T>
void KvCache<T>::clear() noexcept {
  for (std::int64_t b = 0; b < batch(); ++b) {
    state_->length(b) = 0;
    state_->list(b).truncate(state_->layout, 0);
  }
}

template <CacheElement T>
KvCache<T> KvCache<T>::fork() const {
  KvCache other;
  other.state_ = std::make_unique<State>(*state_);
  return other;
}

template <CacheElement T>
void KvCache<T>::select(std::span<const std::int64_t> sequences) {
  State next{state_->layout};
  for (const std::int64_t sequence : sequences) {
    state_->range_of(0, 0, sequence);
    next.lists.push_back(state_->list(sequence));
    next.lengths.push_back(state_->length(sequence));
  }
  *state_ = std::move(next);
}

template <CacheElement T>
void KvCache<T>::join(const KvCache& other) {
  KvCacheSizes mine = sizes(), theirs = other.sizes();
  const auto check = [](const char* name, std::int64_t wanted, std::int64_t got) {
    if (wanted == got) return;
    refuse_in_cache("other", "must have " + std::string(name) + " " + std::to_string(wanted) +
                                 " as this cache, got " + std::to_string(got));
  };
  check("kv_heads", mine.kv_heads, theirs.kv_heads);
  check("head_dim", mine.head_dim, theirs.head_dim);
  check("v_dim", mine.v_dim, theirs.v_dim);
  check("page_size", mine.page_size, theirs.page_size);
  State next = *state_;
  const State& added = *other.state_;
  next.lists.insert(next.lists.end(), added.lists.begin(), added.lists.end());
  next.lengths.insert(next.lengths.end(), added.lengths.begin(), added.lengths.end());
  *state_ = std::move(next);
}

template <CacheElement T>
bool KvCache<T>::is_shared() const noexcept {
  return std::ranges::any_of(state_->lists, &PageList::is_shared);
}

template <CacheElement T>
std::int64_t KvCache<T>::bytes() const {
  std::vector<const std::byte*> pages;
  for (const PageList& list : state_->lists) {
    pages.insert(pages.end(), list.data(), list.data() + list.size());
  }
  std::ranges::sort(pages);
  const auto end = std::unique(pages.begin(), pages.end());
  return (end - pages.begin()) * state_->layout.stored_bytes();
}

template <CacheElement T>
Tensor<typename KvCache<T>::Float> KvCache<T>::keys() const {
  return state_->stored(state_->layout.head_dim, &State::key);
}

template <CacheElement T>
Tensor<typename KvCache<T>::Float> KvCache<T>::values() const {
  return state_->stored(state_->layout.v_dim, &State::value);
}

#define SEXTANT_INSTANTIATE(T)                                                              \
  template SequenceRange KvCache<T>::State::range_of(std::int64_t, std::int64_t,            \
                                                     std::optional<std::int64_t>) const;    \
  template void KvCache<T>::rewind(std::int64_t, std::optional<std::int64_t>);              \
  template void KvCache<T>::drop(std::int64_t, std::int64_t, std::optional<std::int64_t>);  \
  template void KvCache<T>::rotate(const RotationTable<float>&, std::int64_t, std::int64_t, \
                                   std::int64_t, std::optional<std::int64_t>);              \
  template void KvCache<T>::clear() noexcept;                                               \
  template KvCache<T> KvCache<T>::fork() const;                                             \
  template void KvCache<T>::select(std::span<const std::int64_t>);                          \
  template void KvCache<T>::join(const KvCache&);                                           \
  template bool KvCache<T>::is_shared() const noexcept;                                     \
  template std::int64_t KvCache<T>::bytes() const;                                          \
  template Tensor<KvCache<T>::Float> KvCache<T>::keys() const;                              \
  template Tensor<KvCache<T>::Float> KvCache<T>::values() const;
SEXTANT_INSTANTIATE(float)
SEXTANT_INSTANTIATE(bfloat16)
SEXTANT_INSTANTIATE(float16)
SEXTANT_INSTANTIATE(std::int8_t)
#undef SEXTANT_INSTANTIATE

}  // namespace sextant
