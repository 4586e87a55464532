// A cache whose positions ranks hold in turns.
#include "sextant/ranks/kv_cache.h"

#include <algorithm>
#include <limits>
#include <string>

#include "core/options/enum_names.h"
#include "ranks/attention/merge.h"
#include "ranks/attention/query_blocks.h"
#include "ranks/attention/rotation_by_index.h"
#include "ranks/rows.h"
#include "sextant/core/parallel.h"
#include "sextant/ranks/agreement.h"

namespace sextant::ranks {
namespace {

// How many of positions 0 .. length - 1 a rank holds.
std::int64_t held(std::int64_t length, int rank, int size, std::int64_t turn) {
  const std::int64_t round = turn * size, rest = length % round - rank * turn;
  return length / round * turn + std::clamp<std::int64_t>(rest, 0, turn);
}

std::int64_t position_of(std::int64_t index, int rank, int size, std::int64_t turn) {
  return index / turn * turn * size + rank * turn + index % turn;
}

[[noreturn]] void refuse(const char* argument, const std::string& what) {
  throw Error(std::string("ranks.kv_cache.") + argument, what);
}

template <class T>
void check_options(const AttentionOptions<T>& o) {
  const Causal causal = o.causal.value_or(Causal::at_offsets);
  if (causal != Causal::none && causal != Causal::at_offsets) {
    refuse("causal", "must be unset, none or at_offsets, got " + std::string(name_of(causal)));
  }
  if (!o.key_lengths.empty()) refuse("key_lengths", "must be empty: they are the lengths");
  if (!o.segments.empty() || !o.key_segments.empty()) refuse("segments", "must be empty");
  if (!std::holds_alternative<std::monostate>(o.mask)) refuse("mask", "must be unset");
  if (attention_detail::is_given(o.query_positions) ||
      attention_detail::is_given(o.key_positions)) {
    refuse("query_positions", "must be unset: they are those of the cache");
  }
  if (logit_term_of(o) != nullptr) refuse("terms", "must have none before the softcap");
}

}  // namespace

template <CacheElement T>
KvCache<T>::KvCache(const Communicator& comm, std::int64_t batch, std::int64_t kv_heads,
                    std::int64_t head_dim, std::int64_t v_dim, std::int64_t capacity)
    : comm_(comm),
      capacity_(capacity),
      own_(batch, kv_heads, head_dim, v_dim, held(capacity, comm.rank(), comm.size(), kTurn)),
      lengths_(static_cast<std::size_t>(batch)) {
  const std::int64_t sizes[] = {batch, kv_heads, head_dim, v_dim, capacity};
  same_everywhere(comm, "ranks.kv_cache.sizes", std::as_bytes(std::span(sizes)));
}

template <CacheElement T>
void KvCache<T>::append(View<const T> k, View<const T> v) {
  std::vector<std::int64_t> rows, counts;
  together(comm_, [&] {
    if (k.rank() != 4 || v.rank() != 4 || k.size(2) != v.size(2)) {
      refuse("k", "must be [batch, kv_heads, count, head_dim] and v likewise, got " +
                      k.shape().to_string() + " and " + v.shape().to_string());
    }
    const std::int64_t longest =
        lengths_.empty() ? 0 : *std::max_element(lengths_.begin(), lengths_.end());
    if (longest + k.size(2) > capacity_) {
      refuse("capacity", "must hold " + std::to_string(longest + k.size(2)) + " positions, got " +
                             std::to_string(capacity_));
    }
    for (std::int64_t i = 0; i < k.size(2); ++i) {
      if ((longest + i) / kTurn % comm_.size() == comm_.rank()) rows.push_back(i);
    }
    const auto count = static_cast<std::int64_t>(rows.size());
    auto own_k = Tensor<T>::uninitialized(Shape{k.size(0), k.size(1), count, k.size(3)});
    auto own_v = Tensor<T>::uninitialized(Shape{v.size(0), v.size(1), count, v.size(3)});
    take_rows<T>(k, rows, 2, own_k.view());
    take_rows<T>(v, rows, 2, own_v.view());
    own_.append(View<const T>(own_k), View<const T>(own_v));
  });
  for (std::int64_t& length : lengths_) length += k.size(2);
}

template <CacheElement T>
void KvCache<T>::attend(View<const T> q, View<T> out, const AttentionOptions<T>& options,
                        View<float> log_sum_exp) const {
  const std::int64_t length = lengths_.empty() ? 0 : lengths_[0];
  const int rank = comm_.rank(), size = comm_.size();
  const auto keys = own_.keys(), values = own_.values();
  const std::int64_t q_len = q.rank() == 4 ? q.size(2) : 0;
  const Shape out_shape{q.rank() == 4 ? q.size(0) : 0, q.rank() == 4 ? q.size(1) : 0, q_len,
                        values.size(3)};
  Tensor<float> partial, logs;
  together(comm_, [&] {
    check_options(options);
    if (q.rank() != 4 || q.size(0) != batch() || q.size(3) != keys.size(3) || q.size(1) == 0 ||
        q.size(1) % keys.size(1) != 0) {
      refuse("q", "must be [batch, heads_q, q_len, head_dim] for keys " + keys.shape().to_string() +
                      ", got " + q.shape().to_string());
    }
    if (!(out.shape() == out_shape)) {
      refuse("out", "must be " + out_shape.to_string() + ", got " + out.shape().to_string());
    }
    partial = Tensor<float>(out_shape);
    logs = Tensor<float>(Shape{out_shape[0], out_shape[1], q_len});
    std::fill_n(logs.data(), logs.count(), -std::numeric_limits<float>::infinity());
    const AsFloat<T> q_wide(q), k_wide(keys), v_wide(values);
    const auto by_index = rotation_by_index(options.rotation);
    for (std::int64_t b = 0; b < batch(); ++b) {
      const std::int64_t offset = options.query_offsets.empty()
                                      ? length - q_len
                                      : options.query_offsets[static_cast<std::size_t>(b)];
      for (std::int64_t i = 0; i < q_len; ++i) {  // each sees a range of the own keys
        const std::int64_t at = offset + i;
        const bool causal = options.causal.value_or(Causal::at_offsets) != Causal::none;
        std::int64_t right = options.window.right < 0 ? length : options.window.right;
        if (causal) right = 0;
        const std::int64_t end = std::clamp<std::int64_t>(at + right + 1, 0, length);
        const std::int64_t begin = options.window.left < 0
                                       ? 0
                                       : std::clamp<std::int64_t>(at - options.window.left, 0, end);
        const std::int64_t first = held(begin, rank, size, kTurn);
        const std::int64_t last = held(end, rank, size, kTurn);
        if (first >= last) continue;
        Tensor<std::int64_t> query_id(Shape{1, 1}), key_ids(Shape{1, last - first});
        query_id(0, 0) = at;
        for (std::int64_t j = first; j < last; ++j) {
          key_ids(0, j - first) = position_of(j, rank, size, kTurn);
        }
        AttentionOptions<float> one;
        one.softcap = options.softcap;
        one.scale = options.scale;
        one.bias = options.bias;
        one.terms = options.terms;
        one.rotation = by_index ? by_index.get() : options.rotation;
        one.threads = options.threads;
        one.query_positions = query_id;
        one.key_positions = key_ids;
        const auto row = [&](View<const float> x, std::int64_t from, std::int64_t count) {
          return x.narrow(0, b, 1).narrow(2, from, count);
        };
        sextant::attention<float>(row(q_wide.view(), i, 1), row(k_wide.view(), first, last - first),
                                  row(v_wide.view(), first, last - first),
                                  partial.view().narrow(0, b, 1).narrow(2, i, 1), one,
                                  logs.view().narrow(0, b, 1).narrow(2, i, 1));
      }
    }
  });
  const auto numbers = static_cast<std::size_t>(partial.count());
  const auto rows = static_cast<std::size_t>(logs.count());
  std::vector<float> mine(partial.data(), partial.data() + numbers);
  mine.insert(mine.end(), logs.data(), logs.data() + rows);
  std::vector<float> all((numbers + rows) * static_cast<std::size_t>(size));
  comm_.all_gather(std::as_bytes(std::span(std::as_const(mine))),
                   std::as_writable_bytes(std::span(all)));
  Tensor<float> sum(out_shape);
  Tensor<double> log(logs.shape());
  std::fill_n(log.data(), log.count(), -std::numeric_limits<double>::infinity());
  const Sums sums{sum.view(), log.view()};
  for (int r = 0; r < size; ++r) {
    const float* from = all.data() + static_cast<std::size_t>(r) * (numbers + rows);
    merge(sums, View<const float>(from, out_shape), View<const float>(from + numbers, logs.shape()),
          1);
  }
  finish(sums, options.sinks);
  Tensor<T> rounded = Tensor<T>::uninitialized(out_shape);
  std::transform(sum.data(), sum.data() + sum.count(), rounded.data(),
                 [](float x) { return static_cast<T>(x); });
  copy_view<T>(std::as_const(rounded).view(), out);
  if (log_sum_exp.rank() != 3) return;
  for (std::int64_t n = 0; n < log.count(); ++n) logs.data()[n] = static_cast<float>(log.data()[n]);
  copy_view<float>(std::as_const(logs).view(), log_sum_exp);
}

template class KvCache<float>;
template class KvCache<bfloat16>;
template class KvCache<float16>;

}  // namespace sextant::ranks
