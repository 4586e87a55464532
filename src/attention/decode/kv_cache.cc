// The keys and values of the tokens so far.
#include "sextant/attention/kv_cache.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <string>
#include <utility>

#include "attention/call/run_attention.h"
#include "sextant/core/error.h"

namespace sextant {
namespace {

[[noreturn]] void refuse(const char* argument, const std::string& what) {
  throw Error(std::string("kv_cache.") + argument, what);
}

void check_size(const char* argument, std::int64_t value, std::int64_t min) {
  if (value < min) {
    refuse(argument, "must be at least " + std::to_string(min) + ", got " + std::to_string(value));
  }
}

template <class T, class S>
T rounded(S value) {
  if constexpr (std::same_as<T, S>) {
    return value;
  } else {
    return static_cast<T>(value);
  }
}

// to[i, c] = from[i, c] for i < rows: one head of one sequence.
template <class T, class S>
void copy_rows(View<const S> from, std::int64_t rows, T* to) {
  const std::int64_t channels = from.size(1), stride = from.stride(1);
  for (std::int64_t i = 0; i < rows; ++i, to += channels) {
    const S* row = from.data() + i * from.stride(0);
    for (std::int64_t c = 0; c < channels; ++c) to[c] = rounded<T>(row[c * stride]);
  }
}

}  // namespace

template <CacheElement T>
KvCache<T>::KvCache(std::int64_t batch, std::int64_t kv_heads, std::int64_t head_dim,
                    std::int64_t v_dim, std::int64_t capacity) {
  check_size("batch", batch, 0);
  check_size("kv_heads", kv_heads, 1);
  check_size("head_dim", head_dim, 1);
  check_size("v_dim", v_dim, 0);
  check_size("capacity", capacity, 0);
  try {
    lengths_.resize(static_cast<std::size_t>(batch));
  } catch (const std::exception&) {
    refuse("batch",
           "must be a number of lengths that fit into memory, got " + std::to_string(batch));
  }
  store_ = std::make_shared<Store>();
  store_->keys = Tensor<T>::uninitialized(Shape{batch, kv_heads, capacity, head_dim});
  store_->values = Tensor<T>::uninitialized(Shape{batch, kv_heads, capacity, v_dim});
}

template <CacheElement T>
std::int64_t KvCache<T>::length(std::int64_t sequence) const {
  if (sequence < 0 || sequence >= batch()) {
    refuse("sequence",
           "must be in 0 .. " + std::to_string(batch() - 1) + ", got " + std::to_string(sequence));
  }
  return lengths_[static_cast<std::size_t>(sequence)];
}

template <CacheElement T>
std::int64_t KvCache<T>::longest() const noexcept {
  return lengths_.empty() ? 0 : *std::max_element(lengths_.begin(), lengths_.end());
}

// Makes a store of another capacity with the contents of this cache.
template <CacheElement T>
std::shared_ptr<typename KvCache<T>::Store> KvCache<T>::new_store(std::int64_t capacity) const {
  auto store = std::make_shared<Store>();
  const auto moved = [&](const Tensor<T>& from) {
    auto to = Tensor<T>::uninitialized(Shape{batch(), kv_heads(), capacity, from.size(3)});
    for (std::int64_t b = 0; b < batch(); ++b) {
      for (std::int64_t h = 0; h < kv_heads(); ++h) {
        const std::int64_t count = lengths_[static_cast<std::size_t>(b)] * from.size(3);
        if (count > 0) std::copy_n(&from(b, h, 0, 0), count, &to(b, h, 0, 0));
      }
    }
    return to;
  };
  store->keys = moved(store_->keys);
  store->values = moved(store_->values);
  return store;
}

template <CacheElement T>
template <class S>
void KvCache<T>::append_from(View<const S> k, View<const S> v,
                             std::span<const std::int64_t> counts) {
  const auto check = [&](const char* argument, View<const S> view, std::int64_t count,
                         std::int64_t channels) {
    const Shape wanted{batch(), kv_heads(), count, channels};
    if (!(view.shape() == wanted)) {
      refuse(argument, "must be " + wanted.to_string() + ", got " + view.shape().to_string());
    }
  };
  if (k.rank() != 4) {
    refuse("k", "must be [batch, kv_heads, count, head_dim], got " + k.shape().to_string());
  }
  const std::int64_t count = k.size(2);
  check("k", k, count, head_dim());
  check("v", v, count, v_dim());
  if (!counts.empty() && static_cast<std::int64_t>(counts.size()) != batch()) {
    refuse("counts", "must have one entry per sequence, " + std::to_string(batch()) + ", got " +
                         std::to_string(counts.size()));
  }
  const auto count_of = [&](std::size_t b) { return counts.empty() ? count : counts[b]; };
  for (std::size_t b = 0; b < lengths_.size(); ++b) {
    if (count_of(b) < 0 || count_of(b) > count) {
      refuse("counts",
             "must be in 0 .. " + std::to_string(count) + ", got " + std::to_string(count_of(b)));
    }
    if (count_of(b) > capacity() - lengths_[b]) {
      refuse("capacity", "must hold " + std::to_string(lengths_[b] + count_of(b)) +
                             " positions of sequence " + std::to_string(b) + ", got " +
                             std::to_string(capacity()) + ": reserve() more first");
    }
  }

  if (is_shared()) {
    store_ = new_store(capacity());
  } else {
    // Those who shared the memory on other threads were done with it before they let it go.
    std::atomic_thread_fence(std::memory_order_acquire);
  }
  for (std::int64_t b = 0; b < batch(); ++b) {
    std::int64_t& length = lengths_[static_cast<std::size_t>(b)];
    const std::int64_t rows = count_of(static_cast<std::size_t>(b));
    if (rows == 0) continue;
    for (std::int64_t h = 0; h < kv_heads(); ++h) {
      copy_rows(k.select(0, b).select(0, h), rows, &store_->keys(b, h, length, 0));
      if (v_dim() > 0)
        copy_rows(v.select(0, b).select(0, h), rows, &store_->values(b, h, length, 0));
    }
    length += rows;
  }
}

template <CacheElement T>
void KvCache<T>::append(View<const T> k, View<const T> v, std::span<const std::int64_t> counts) {
  append_from(k, v, counts);
}

template <CacheElement T>
void KvCache<T>::append(View<const Wider> k, View<const Wider> v,
                        std::span<const std::int64_t> counts) {
  append_from(k, v, counts);
}

template <CacheElement T>
void KvCache<T>::reserve(std::int64_t capacity) {
  if (capacity > this->capacity()) store_ = new_store(capacity);
}

template <CacheElement T>
void KvCache<T>::rewind(std::int64_t length) {
  check_size("length", length, 0);
  for (std::int64_t& each : lengths_) each = std::min(each, length);
}

template <CacheElement T>
void KvCache<T>::rewind(std::int64_t sequence, std::int64_t length) {
  const std::int64_t before = this->length(sequence);
  if (length < 0 || length > before) {
    refuse("length", "must be in 0 .. " + std::to_string(before) + ", the length of sequence " +
                         std::to_string(sequence) + ", got " + std::to_string(length));
  }
  lengths_[static_cast<std::size_t>(sequence)] = length;
}

template <CacheElement T>
void KvCache<T>::clear() noexcept {
  std::fill(lengths_.begin(), lengths_.end(), 0);
}

template <CacheElement T>
KvCache<T> KvCache<T>::fork() const {
  KvCache other;
  other.store_ = store_;
  other.lengths_ = lengths_;
  return other;
}

template <CacheElement T>
std::int64_t KvCache<T>::bytes() const noexcept {
  return (store_->keys.count() + store_->values.count()) * static_cast<std::int64_t>(sizeof(T));
}

template <CacheElement T>
View<const T> KvCache<T>::keys() const {
  return std::as_const(store_->keys).view().narrow(2, 0, longest());
}

template <CacheElement T>
View<const T> KvCache<T>::values() const {
  return std::as_const(store_->values).view().narrow(2, 0, longest());
}

template <CacheElement T>
template <class Q>
void KvCache<T>::attend_from(View<const Q> q, View<Q> out, const AttentionOptions<T>& options,
                             View<float> log_sum_exp) const {
  if (!options.key_lengths.empty()) refuse("key_lengths", "must be empty: they are the lengths");
  if (!options.segments.empty()) refuse("segments", "must be empty: a cache has none");
  if (!options.key_segments.empty()) refuse("key_segments", "must be empty: a cache has none");
  const Causal causal = options.causal.value_or(Causal::at_offsets);
  if (causal != Causal::none && causal != Causal::at_offsets && causal != Causal::at_lengths) {
    refuse("causal",
           "must be unset, none, at_offsets or at_lengths, got " + std::string(name_of(causal)));
  }
  AttentionOptions<T> here = options;
  here.causal = causal;
  here.key_lengths = lengths_;
  std::vector<std::int64_t> offsets;
  if (options.query_offsets.empty() && causal != Causal::at_lengths && q.rank() == 4) {
    for (const std::int64_t length : lengths_) offsets.push_back(length - q.size(2));
    here.query_offsets = offsets;
  }
  attention_detail::run_attention(q, keys(), values(), out, here, log_sum_exp);
}

template <CacheElement T>
void KvCache<T>::attend(View<const T> q, View<T> out, const AttentionOptions<T>& options,
                        View<float> log_sum_exp) const {
  attend_from(q, out, options, log_sum_exp);
}

template <CacheElement T>
void KvCache<T>::attend(View<const Wider> q, View<Wider> out, const AttentionOptions<T>& options,
                        View<float> log_sum_exp) const {
  attend_from(q, out, options, log_sum_exp);
}

template class KvCache<float>;
template class KvCache<bfloat16>;
template class KvCache<float16>;

}  // namespace sextant
