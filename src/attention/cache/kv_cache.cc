// The keys and values of the tokens so far: sizes and attention.
#include "sextant/attention/kv_cache.h"

#include <algorithm>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "attention/cache/state.h"
#include "attention/call/run_attention.h"

namespace sextant {
namespace {

using attention_detail::KeyArray, attention_detail::PageLayout, attention_detail::refuse_in_cache;

constexpr std::int64_t kMaxSize = std::int64_t{1} << 40;

std::int64_t checked_size(const char* argument, std::int64_t value, std::int64_t min) {
  if (value < min || value > kMaxSize) {
    refuse_in_cache(argument,
                    "must be in " + std::to_string(min) + " .. 2^40, got " + std::to_string(value));
  }
  return value;
}

PageLayout layout_of(const KvCacheSizes& sizes, std::int64_t element, std::int64_t row_head) {
  const PageLayout layout{.kv_heads = checked_size("kv_heads", sizes.kv_heads, 1),
                          .head_dim = checked_size("head_dim", sizes.head_dim, 1),
                          .v_dim = checked_size("v_dim", sizes.v_dim, 0),
                          .page_size = sizes.page_size,
                          .element = element,
                          .row_head = row_head};
  constexpr std::int64_t kBlock = KvCacheSizes::kPageSize, kMaxPage = std::int64_t{1} << 20;
  if (sizes.page_size < kBlock || sizes.page_size > kMaxPage || sizes.page_size % kBlock != 0) {
    refuse_in_cache("page_size", "must be a multiple of 128 in 128 .. 2^20, got " +
                                     std::to_string(sizes.page_size));
  }
  const double bytes = static_cast<double>(sizes.kv_heads) * static_cast<double>(sizes.page_size) *
                       static_cast<double>(sizes.head_dim + sizes.v_dim + 2 * row_head) * 4;
  if (bytes > 0x1p62) {
    refuse_in_cache("page_size", "must give pages of at most 2^62 bytes with " +
                                     std::to_string(sizes.kv_heads) + " heads of " +
                                     std::to_string(sizes.head_dim) + " and " +
                                     std::to_string(sizes.v_dim) + " channels, got " +
                                     std::to_string(sizes.page_size));
  }
  return layout;
}

}  // namespace

template <CacheElement T>
KvCache<T>::KvCache(const KvCacheSizes& sizes)
    : state_(std::make_unique<State>(
          State{layout_of(sizes, sizeof(T), attention_detail::kRowHead<T>)})) {
  const std::int64_t batch = checked_size("batch", sizes.batch, 0);
  try {
    state_->lists.resize(static_cast<std::size_t>(batch));
    state_->lengths.resize(static_cast<std::size_t>(batch));
  } catch (const std::exception&) {
    refuse_in_cache("batch", "must be a number of sequences that fit into memory, got " +
                                 std::to_string(batch));
  }
}

template <CacheElement T>
KvCache<T>::KvCache(KvCache&&) noexcept = default;
template <CacheElement T>
KvCache<T>& KvCache<T>::operator=(KvCache&&) noexcept = default;
template <CacheElement T>
KvCache<T>::~KvCache() = default;

template <CacheElement T>
KvCacheSizes KvCache<T>::sizes() const noexcept {
  const PageLayout& layout = state_->layout;
  return {batch(), layout.kv_heads, layout.head_dim, layout.v_dim, layout.page_size};
}

template <CacheElement T>
std::span<const std::int64_t> KvCache<T>::lengths() const noexcept {
  return state_->lengths;
}

template <CacheElement T>
std::int64_t KvCache<T>::length(std::int64_t sequence) const {
  state_->range_of(0, 0, sequence);
  return state_->length(sequence);
}

template <CacheElement T>
std::int64_t KvCache<T>::longest() const noexcept {
  return batch() == 0 ? 0 : *std::ranges::max_element(lengths());
}

template <CacheElement T>
template <class Q>
void KvCache<T>::attend_from(View<const Q> q, View<Q> out, const AttentionOptions<Float>& options,
                             View<float> log_sum_exp) const {
  if (!options.key_lengths.empty()) {
    refuse_in_cache("key_lengths", "must be empty: they are the lengths");
  }
  if (!options.key_segments.empty()) {
    refuse_in_cache("key_segments", "must be empty: each sequence has its own keys");
  }
  const auto segments = options.segments;
  if (!segments.empty() && std::ssize(segments) != batch() + 1) {
    refuse_in_cache("segments", "must have one entry more than the " + std::to_string(batch()) +
                                    " sequences, got " + std::to_string(segments.size()));
  }
  const Causal causal = options.causal.value_or(Causal::at_offsets);
  if (causal != Causal::none && causal != Causal::at_offsets && causal != Causal::at_lengths) {
    refuse_in_cache("causal", "must be unset, none, at_offsets or at_lengths, got " +
                                  std::string(name_of(causal)));
  }
  AttentionOptions<Float> here = options;
  here.key_lengths = lengths();
  here.causal = causal;
  std::vector<std::int64_t> offsets;
  if (options.query_offsets.empty()) {
    if (causal == Causal::at_offsets) here.causal = Causal::at_lengths;
    if (causal == Causal::none && q.rank() == 4) {
      for (std::size_t b = 0; b < lengths().size(); ++b) {
        const std::int64_t rows = segments.empty() ? q.size(2) : segments[b + 1] - segments[b];
        offsets.push_back(lengths()[b] - rows);
      }
      here.query_offsets = offsets;
    }
  }
  const PageLayout& layout = state_->layout;
  const auto array = [&](std::int64_t channels, std::int64_t offset) {
    const std::int64_t row = State::step(channels);
    const std::int64_t strides[] = {0, layout.page_size * row, row, 1};
    const View<const Float> page(
        nullptr,
        Shape{segments.empty() ? batch() : std::int64_t{1}, layout.kv_heads, longest(), channels},
        strides);
    return KeyArray(page, dtype_of<T>, state_->lists.data(), layout.page_size, offset);
  };
  if (state_->lists.empty()) {  // nothing has pages
    const Tensor<Float> k = keys(), v = values();
    return attention_detail::run_attention(q, k.view(), v.view(), out, here, log_sum_exp);
  }
  attention_detail::run_attention(q, array(layout.head_dim, layout.key_offset(0)),
                                  array(layout.v_dim, layout.value_offset(0)), out, here,
                                  log_sum_exp);
}

template <CacheElement T>
void KvCache<T>::attend(View<const Float> q, View<Float> out,
                        const AttentionOptions<Float>& options, View<float> log_sum_exp) const {
  attend_from(q, out, options, log_sum_exp);
}

template <CacheElement T>
void KvCache<T>::attend(View<const Wider> q, View<Wider> out,
                        const AttentionOptions<Float>& options, View<float> log_sum_exp) const {
  attend_from(q, out, options, log_sum_exp);
}

// With the members that are defined here; those of the other files are instantiated there, so that
// this file is compiled alone: clang refuses both in one.
template class KvCache<float>;
template class KvCache<bfloat16>;
template class KvCache<float16>;
template class KvCache<std::int8_t>;

}  // namespace sextant
