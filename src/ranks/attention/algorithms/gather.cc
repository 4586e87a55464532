// Fetches the keys and values that a rank's queries see, then calls the operator on its rows: a
// row's bits depend on the same data as in one process.
#include "ranks/attention/algorithms/algorithms.h"
#include "ranks/attention/algorithms/steps.h"
#include "ranks/attention/block.h"
#include "ranks/rows.h"

namespace sextant::ranks {
namespace {

// Copies a slice into the arrays of all keys. Keys that no query sees stay uninitialised, and are
// not read.
template <class T>
void place(const Call<T>& call, const Slice& slice, const std::byte* bytes,
           const KeyArrays<T>& whole, KeyArrays<T>& room) {
  unpack(call, bytes, slice.keys, room);
  std::int64_t row = 0;
  for (const Piece& piece : slice.pieces) {
    const auto put = [&](const Tensor<T>& from, const Tensor<T>& to) {
      const View<T> all(const_cast<T*>(to.data()), to.shape());
      copy_view<T>(from.view().narrow(2, row, piece.size()),
                   all.narrow(2, piece.begin, piece.size()));
    };
    put(room.k, whole.k);
    put(room.v, whole.v);
    row += piece.size();
  }
}

}  // namespace

template <class T>
void gather_attention(const Call<T>& call, View<T> out, View<float> log_sum_exp) {
  const std::int64_t k_len = call.k_layout.length();
  KeyArrays<T> room;
  const KeyArrays<T> whole{
      Tensor<T>::uninitialized(Shape{call.all.batch, call.all.kv_heads, k_len, call.all.head_dim}),
      Tensor<T>::uninitialized(Shape{call.all.batch, call.all.kv_heads, k_len, call.v_dim})};
  Steps<T> steps(call);
  steps.begin();
  for (const Slice& slice : slices(call, call.rank(), call.rank())) {
    auto bytes = Tensor<std::byte>::uninitialized(Shape{slice_bytes(call, slice.keys)});
    pack(call, slice, bytes.data());
    place(call, slice, bytes.data(), whole, room);
  }
  for (std::size_t n = 0; n < steps.count(); ++n) {
    const std::byte* bytes = steps.fetch(n);
    if (steps[n].in.keys > 0) place(call, steps[n].in, bytes, whole, room);
  }
  for (const Piece& queries : call.query_pieces(call.rank())) {
    const auto segment = static_cast<std::size_t>(queries.segment);
    const auto borders = call.all.key_segments;
    const Piece keys = borders.empty()
                           ? Piece{0, 0, k_len}
                           : Piece{queries.segment, borders[segment], borders[segment + 1]};
    const BlockOptions<T, T> block(call, queries, keys, true);
    sextant::attention<T>(call.q.narrow(2, queries.row, queries.size()),
                          whole.k.view().narrow(2, keys.begin, keys.size()),
                          whole.v.view().narrow(2, keys.begin, keys.size()),
                          out.narrow(2, queries.row, queries.size()), block.options,
                          log_sum_exp.rank() == 3
                              ? log_sum_exp.narrow(2, queries.row, queries.size())
                              : View<float>());
  }
}

template void gather_attention(const Call<float>&, View<float>, View<float>);
template void gather_attention(const Call<double>&, View<double>, View<float>);
template void gather_attention(const Call<float16>&, View<float16>, View<float>);
template void gather_attention(const Call<bfloat16>&, View<bfloat16>, View<float>);

}  // namespace sextant::ranks
