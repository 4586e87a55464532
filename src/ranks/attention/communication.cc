// Slices of keys and values, and their bytes.
#include "ranks/attention/communication.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "core/arrays/each_dtype.h"
#include "sextant/core/parallel.h"

namespace sextant::ranks {
namespace {

constexpr std::int64_t kFewBytes = std::int64_t{4} << 20, kManyBytes = std::int64_t{16} << 20;
constexpr std::int64_t kKeyBlock = 128;

template <class To, class From>
To converted(From value) {
  if constexpr (std::is_same_v<To, From>) {
    return value;
  } else if constexpr (std::is_same_v<From, float> || std::is_same_v<From, double>) {
    return static_cast<To>(value);
  } else {
    return static_cast<To>(static_cast<float>(value));
  }
}

// Calls f(W{}) for the type in which numbers are sent.
template <class T, class F>
void with_wire_type(const Call<T>& call, const F& f) {
  if constexpr (sizeof(T) > 2) {
    if (call.ranks.wire_type == WireType::float16) return f(float16{});
    if (call.ranks.wire_type == WireType::bfloat16) return f(bfloat16{});
  }
  f(T{});
}

template <class W, class T>
W* pack_rows(const Call<T>& call, View<const T> rows, const Slice& slice, W* to) {
  const std::int64_t heads = rows.size(1), width = rows.size(3);
  parallel_for(rows.size(0) * heads, call.all.threads, [&](std::int64_t n) {
    W* out = to + n * slice.keys * width;
    for (const Piece& piece : slice.pieces) {
      for (std::int64_t j = 0; j < piece.size(); ++j) {
        const T* from = rows.data() + n / heads * rows.stride(0) + n % heads * rows.stride(1) +
                        (piece.row + j) * rows.stride(2);
        for (std::int64_t c = 0; c < width; ++c) {
          *out++ = converted<W>(from[c * rows.stride(3)]);
        }
      }
    }
  });
  return to + rows.size(0) * heads * slice.keys * width;
}

}  // namespace

template <class T>
std::vector<Piece> keys_to_send(const CallShape<T>& call, int reader, int owner) {
  std::vector<Piece> wanted;
  for (const Piece& queries : call.query_pieces(reader)) {
    const Piece keys = call.seen(queries);
    if (keys.size() > 0) wanted.push_back(keys);
  }
  std::stable_sort(wanted.begin(), wanted.end(), [](const Piece& a, const Piece& b) {
    return a.segment != b.segment ? a.segment < b.segment : a.begin < b.begin;
  });
  std::vector<Piece> result;
  for (const Piece& own : call.key_pieces(owner)) {
    auto at = std::lower_bound(wanted.begin(), wanted.end(), own.segment,
                               [](const Piece& a, std::int64_t s) { return a.segment < s; });
    std::int64_t done = own.begin;
    for (; at != wanted.end() && at->segment == own.segment; ++at) {
      const std::int64_t begin = std::max(done, at->begin), end = std::min(own.end, at->end);
      if (begin >= end) continue;
      if (!result.empty() && result.back().segment == own.segment && result.back().end == begin &&
          begin == done && done > own.begin) {
        result.back().end = end;
      } else {
        result.push_back({own.segment, begin, end, own.row + begin - own.begin});
      }
      done = end;
    }
  }
  return result;
}

template <class T>
std::int64_t wire_size(const CallShape<T>& call) noexcept {
  return call.ranks.wire_type == WireType::unchanged ? static_cast<std::int64_t>(sizeof(T)) : 2;
}

template <class T>
std::int64_t slice_bytes(const CallShape<T>& call, std::int64_t keys) noexcept {
  return call.all.batch * call.all.kv_heads * keys * (call.all.head_dim + call.v_dim) *
         wire_size(call);
}

template <class T>
std::int64_t slice_keys(const CallShape<T>& call) noexcept {
  const std::int64_t of_block = std::max<std::int64_t>(1, slice_bytes(call, kKeyBlock));
  const std::int64_t of_rank = slice_bytes(call, call.k_layout.length() / call.size());
  const std::int64_t most = call.ranks.slice_bytes > 0
                                ? call.ranks.slice_bytes
                                : std::clamp(of_rank / 8, kFewBytes, kManyBytes);
  return kKeyBlock * std::clamp<std::int64_t>(most / of_block, 1, 1 << 24);
}

template <class T>
std::vector<Slice> slices(const CallShape<T>& call, int reader, int owner) {
  const std::int64_t most = slice_keys(call);
  std::vector<Slice> result;
  for (Piece piece : keys_to_send(call, reader, owner)) {
    while (piece.size() > 0) {
      if (result.empty() || result.back().keys == most) result.emplace_back();
      const std::int64_t count = std::min(piece.size(), most - result.back().keys);
      result.back().pieces.push_back({piece.segment, piece.begin, piece.begin + count, piece.row});
      result.back().keys += count;
      piece.begin += count;
      piece.row += count;
    }
  }
  return result;
}

template <class T>
void pack(const Call<T>& call, const Slice& slice, std::byte* to) {
  with_wire_type(call, [&]<class W>(W) {
    W* numbers = pack_rows(call, call.k, slice, reinterpret_cast<W*>(to));
    pack_rows(call, call.v, slice, numbers);
  });
}

template <class T, class U>
void unpack(const Call<T>& call, const std::byte* from, std::int64_t keys, KeyArrays<U>& to) {
  const Shape k{call.all.batch, call.all.kv_heads, keys, call.all.head_dim};
  const Shape v{call.all.batch, call.all.kv_heads, keys, call.v_dim};
  to.k = Tensor<U>::uninitialized(k);
  to.v = Tensor<U>::uninitialized(v);
  with_wire_type(call, [&]<class W>(W) {
    const W* numbers = reinterpret_cast<const W*>(from);
    std::transform(numbers, numbers + k.count(), to.k.data(), converted<U, W>);
    std::transform(numbers + k.count(), numbers + k.count() + v.count(), to.v.data(),
                   converted<U, W>);
  });
}

#define SEXTANT_INSTANTIATE(T, U) \
  template void unpack(const Call<T>&, const std::byte*, std::int64_t, KeyArrays<U>&);
SEXTANT_INSTANTIATE(float, float)
SEXTANT_INSTANTIATE(double, double)
SEXTANT_INSTANTIATE(float16, float)
SEXTANT_INSTANTIATE(bfloat16, float)
SEXTANT_INSTANTIATE(float16, float16)
SEXTANT_INSTANTIATE(bfloat16, bfloat16)
#undef SEXTANT_INSTANTIATE
#define SEXTANT_INSTANTIATE(T)                                                   \
  template std::vector<Piece> keys_to_send(const CallShape<T>&, int, int);       \
  template std::vector<Slice> slices(const CallShape<T>&, int, int);             \
  template std::int64_t wire_size(const CallShape<T>&) noexcept;                 \
  template std::int64_t slice_keys(const CallShape<T>&) noexcept;                \
  template std::int64_t slice_bytes(const CallShape<T>&, std::int64_t) noexcept; \
  template void pack(const Call<T>&, const Slice&, std::byte*);
SEXTANT_FOR_EACH_FLOATING(SEXTANT_INSTANTIATE)
#undef SEXTANT_INSTANTIATE

}  // namespace sextant::ranks
