// Computes the inputs and the scratch of a decode block.
#include <algorithm>
#include <limits>

#include "kernels/decode/decode_scratch.h"

namespace sextant::kernels {

std::int64_t DecodeBlock::first_key() const noexcept {
  std::int64_t first = std::numeric_limits<std::int32_t>::max();
  for (int row = 0; row < count; ++row) {
    if (rows[row].key_begin < rows[row].key_end)
      first = std::min<std::int64_t>(first, rows[row].key_begin);
  }
  return std::min(first, end_key());
}

std::int64_t DecodeBlock::end_key() const noexcept {
  std::int64_t last = 0;
  for (int row = 0; row < count; ++row) {
    if (rows[row].key_begin < rows[row].key_end)
      last = std::max<std::int64_t>(last, rows[row].key_end);
  }
  return last;
}

DecodeScratchShape decode_needs(int rows, std::int64_t keys, const StoredRows& k,
                                std::int64_t head_dim, const StoredRows& v, std::int64_t v_dim,
                                bool rotates) noexcept {
  // Tiles need contiguous channels, a multiple of 16, and of 8 words of keys.
  const auto in_place = [](const StoredRows& x, std::int64_t channels, std::int64_t multiple_of) {
    return x.channel_stride == 1 && channels % multiple_of == 0;
  };
  const std::int64_t words = k.storage == Storage::int8 ? 2 * kQueryGroup : kQueryGroup;
  return {.rows = rows,
          .head_dim = head_dim,
          .v_dim = v_dim,
          .spans = keys > kSpan,
          .copies_k = rotates || !in_place(k, head_dim, words),
          .copies_v = !in_place(v, v_dim, kQueryGroup)};
}

DecodeScratchShape scratch_shape_of(const DecodeBlock& b) noexcept {
  return decode_needs(b.count, b.end_key(), b.k, b.head_dim, b.v, b.v_dim,
                      b.k_rotation.cos != nullptr);
}

std::int64_t decode_block_scratch(const DecodeScratchShape& needs) noexcept {
  return divide_shared(needs, 0, 1, nullptr).size + decode_thread_scratch(needs);
}

std::int64_t decode_shared_scratch(const DecodeScratchShape& needs,
                                   std::int64_t key_blocks) noexcept {
  return divide_shared(needs, 0, key_blocks, nullptr).size;
}

std::int64_t decode_thread_scratch(const DecodeScratchShape& needs) noexcept {
  return divide_thread_scratch(needs, nullptr).size;
}

}  // namespace sextant::kernels
