// Keys and values that ranks send to one another: which ones, in which slices, in which type.
#pragma once

#include <cstdint>
#include <vector>

#include "ranks/attention/call.h"

namespace sextant::ranks {

// Keys of one rank that another needs, at most some MiB of them: [pieces] one after the other.
struct Slice {
  std::vector<Piece> pieces;
  std::int64_t keys = 0;
};

// The keys of `owner` that a query of `reader` sees, in the order of the owner's rows.
template <class T>
std::vector<Piece> keys_to_send(const CallShape<T>& call, int reader, int owner);

// The same in slices of at most slice_keys().
template <class T>
std::vector<Slice> slices(const CallShape<T>& call, int reader, int owner);

// Returns the bytes of one sent number, and the keys in a slice: multiples of 128, the operator's
// block.
template <class T>
std::int64_t wire_size(const CallShape<T>& call) noexcept;
template <class T>
std::int64_t slice_keys(const CallShape<T>& call) noexcept;

// Bytes of a slice: keys [batch, kv_heads, keys, head_dim], then values.
template <class T>
std::int64_t slice_bytes(const CallShape<T>& call, std::int64_t keys) noexcept;

// The numbers of rows [row, row + size) of the pieces of own keys and values, rounded to the type
// in which they are sent.
template <class T>
void pack(const Call<T>& call, const Slice& slice, std::byte* to);

// A slice as arrays of U.
template <class U>
struct KeyArrays {
  Tensor<U> k, v;
};
template <class T, class U>
void unpack(const Call<T>& call, const std::byte* from, std::int64_t keys, KeyArrays<U>& to);

}  // namespace sextant::ranks
