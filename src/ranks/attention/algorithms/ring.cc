// The ring: slices of keys and values come by, and each adds to the sums of own queries.
#include <type_traits>

#include "core/threads/useful_threads.h"
#include "ranks/attention/algorithms/algorithms.h"
#include "ranks/attention/algorithms/steps.h"
#include "ranks/attention/block.h"
#include "ranks/attention/merge.h"
#include "ranks/attention/query_blocks.h"

namespace sextant::ranks {
namespace {

constexpr std::int64_t kBlockBytes = std::int64_t{8} << 20;  // of partial results

template <class T>
class Ring {
 public:
  Ring(const Call<T>& call, View<float> out)
      : call_(call),
        q_(call.q),
        sums_out_(out),
        logs_(
            Tensor<double>::uninitialized(Shape{call.all.batch, call.all.heads_q, call.q.size(2)})),
        blocks_(query_blocks(call, call.v_dim, kBlockBytes)),
        begun_(blocks_.size(), false),
        threads_(allowed_threads(call.all.threads)) {
    std::fill_n(logs_.data(), logs_.count(), -std::numeric_limits<double>::infinity());
  }

  // Keys and values [batch, kv_heads, keys, ...]; key `piece.row` of them is the piece's first.
  void add(const Piece& piece, View<const float> k, View<const float> v) {
    for (std::size_t n = 0; n < blocks_.size(); ++n) {
      const Piece keys = seen_of(call_, blocks_[n], piece);
      if (keys.size() > 0) add_block(n, keys, k, v);
    }
  }

  View<double> finish(std::span<const double> sinks) {
    ranks::finish({sums_out_, logs_}, sinks);
    return logs_;
  }

 private:
  void add_block(std::size_t n, const Piece& keys, View<const float> k, View<const float> v) {
    const Piece& queries = blocks_[n];
    const BlockOptions<T, float> block(call_, queries, keys, false);
    const Sums sums{sums_out_.narrow(2, queries.row, queries.size()),
                    logs_.view().narrow(2, queries.row, queries.size())};
    const Shape rows{call_.all.batch, call_.all.heads_q, queries.size()};
    auto logs = Tensor<float>::uninitialized(rows);
    Tensor<float> partial;
    if (begun_[n]) {
      partial = Tensor<float>::uninitialized(Shape{rows[0], rows[1], rows[2], call_.v_dim});
    }
    const View<float> to = begun_[n] ? partial.view() : sums.out;
    sextant::attention<float>(q_.view().narrow(2, queries.row, queries.size()),
                              k.narrow(2, keys.row, keys.size()),
                              v.narrow(2, keys.row, keys.size()), to, block.options, logs.view());
    if (begun_[n]) {
      merge(sums, std::as_const(partial).view(), std::as_const(logs).view(), threads_);
    } else {
      ranks::begin(sums, std::as_const(logs).view());
    }
    begun_[n] = true;
  }

  const Call<T>& call_;
  AsFloat<T> q_;
  View<float> sums_out_;
  Tensor<double> logs_;
  std::vector<Piece> blocks_;
  std::vector<bool> begun_;
  int threads_;
};

template <class T>
void add_slice(Ring<T>& ring, const Call<T>& call, const Slice& slice, const std::byte* bytes) {
  KeyArrays<float> arrays;
  View<const float> k, v;
  if (std::is_same_v<T, float> && call.ranks.wire_type == WireType::unchanged) {
    const auto* numbers = reinterpret_cast<const float*>(bytes);
    k = {numbers, Shape{call.all.batch, call.all.kv_heads, slice.keys, call.all.head_dim}};
    v = {numbers + k.count(), Shape{call.all.batch, call.all.kv_heads, slice.keys, call.v_dim}};
  } else {
    unpack(call, bytes, slice.keys, arrays);
    k = std::as_const(arrays.k).view();
    v = std::as_const(arrays.v).view();
  }
  std::int64_t row = 0;
  for (Piece piece : slice.pieces) {
    piece.row = row;
    row += piece.size();
    ring.add(piece, k, v);
  }
}

// Those that are not sent are rounded as if they were.
template <class T>
void add_own(Ring<T>& ring, const Call<T>& call) {
  if constexpr (std::is_same_v<T, float>) {
    if (call.ranks.wire_type == WireType::unchanged) {
      for (const Piece& piece : keys_to_send(call, call.rank(), call.rank())) {
        ring.add(piece, call.k, call.v);
      }
      return;
    }
  }
  for (const Slice& slice : slices(call, call.rank(), call.rank())) {
    auto bytes = Tensor<std::byte>::uninitialized(Shape{slice_bytes(call, slice.keys)});
    pack(call, slice, bytes.data());
    add_slice(ring, call, slice, bytes.data());
  }
}

}  // namespace

template <class T>
void ring_attention(const Call<T>& call, View<T> out, View<float> log_sum_exp) {
  Tensor<float> wide;
  View<float> sums;
  if constexpr (std::is_same_v<T, float>) {
    sums = out;
  } else {
    wide = Tensor<float>::uninitialized(out.shape());
    sums = wide.view();
  }
  Steps<T> steps(call);
  steps.begin();
  Ring<T> ring(call, sums);
  add_own(ring, call);
  for (std::size_t n = 0; n < steps.count(); ++n) {
    const std::byte* bytes = steps.fetch(n);
    if (steps[n].in.keys > 0) add_slice(ring, call, steps[n].in, bytes);
  }
  const View<double> logs = ring.finish(call.options.sinks);
  for (std::int64_t b = 0; b < out.size(0); ++b) {
    for (std::int64_t h = 0; h < out.size(1); ++h) {
      for (std::int64_t i = 0; i < out.size(2); ++i) {
        if (log_sum_exp.rank() == 3) log_sum_exp(b, h, i) = static_cast<float>(logs(b, h, i));
        if constexpr (!std::is_same_v<T, float>) {
          for (std::int64_t c = 0; c < out.size(3); ++c) {
            out(b, h, i, c) = static_cast<T>(sums(b, h, i, c));
          }
        }
      }
    }
  }
}

template void ring_attention(const Call<float>&, View<float>, View<float>);
template void ring_attention(const Call<float16>&, View<float16>, View<float>);
template void ring_attention(const Call<bfloat16>&, View<bfloat16>, View<float>);

}  // namespace sextant::ranks
