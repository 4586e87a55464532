// Loads a block of keys and their values for the forward kernel. Included again for each
// instruction set.
#if defined(SEXTANT_KERNELS_ATTENTION_KEY_BLOCK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_KERNELS_ATTENTION_KEY_BLOCK_INL_H_
#undef SEXTANT_KERNELS_ATTENTION_KEY_BLOCK_INL_H_
#else
#define SEXTANT_KERNELS_ATTENTION_KEY_BLOCK_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>

#include "kernels/attention/forward_scratch.h"
#include "kernels/attention/scores-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::kernels::HWY_NAMESPACE {

// A block of keys and their values, as the products take them.
struct KeyBlock {
  std::int64_t begin, end;
  const float *k = nullptr, *v = nullptr;  // rows; may be null with rounded products
  std::int64_t k_stride = 0, v_stride = 0;
  const bfloat16* k16 = nullptr;  // rows of rounded products; their values are in scratch.v16
  std::int64_t k16_stride = 0;
};

HWY_INLINE bool is_stored_rounded(const StoredRows& rows) {
  return rows.storage == Storage::bfloat16 && rows.channel_stride == 1;
}

// Whole tiles of keys stored in bfloat16 are read in place.
HWY_INLINE void round_keys(const AttentionBlock& b, const ForwardScratch& scratch,
                           KeyBlock& block) {
  const std::int64_t keys = block.end - block.begin;
  if (is_stored_rounded(b.k) && b.k_rotation.cos == nullptr && b.head_dim % kBf16Steps == 0 &&
      keys % kBf16Rows == 0) {
    block.k16 = static_cast<const bfloat16*>(b.k.from(block.begin).data);
    block.k16_stride = b.k.row_stride;
    return;
  }
  const float* k = load_keys(b, block.begin, keys, scratch.k);
  const std::int64_t k_stride = scratch.k != nullptr ? b.head_dim : b.k.row_stride;
  block.k16 = scratch.k16;
  block.k16_stride = bf16_steps(b.head_dim);
  b.rounded->round_rows(k, k_stride, keys, b.head_dim, scratch.k16, block.k16_stride);
}

HWY_INLINE void load_values(const AttentionBlock& b, const ForwardScratch& scratch,
                            KeyBlock& block) {
  const std::int64_t keys = block.end - block.begin;
  const StoredRows stored = b.v.from(block.begin);
  block.v = scratch.v;
  block.v_stride = b.v_dim;
  if (scratch.v != nullptr) return load_rows(stored, 0, keys, b.v_dim, scratch.v);
  block.v = static_cast<const float*>(stored.data);
  block.v_stride = b.v.row_stride;
  prefetch_rows(block.v, block.v_stride, keys, b.v_dim);
}

HWY_INLINE void round_values(const AttentionBlock& b, bool nan_safe, const ForwardScratch& scratch,
                             KeyBlock& block) {
  const std::int64_t keys = block.end - block.begin;
  if (is_stored_rounded(b.v) && !nan_safe) {
    const auto* rows = static_cast<const bfloat16*>(b.v.from(block.begin).data);
    b.rounded->transpose(rows, b.v.row_stride, b.v_dim, keys, scratch.v16, kKeyBlock);
    return;
  }
  load_values(b, scratch, block);
  b.rounded->round_columns(block.v, block.v_stride, b.v_dim, keys, nan_safe, scratch.v16,
                           kKeyBlock);
}

HWY_INLINE KeyBlock load_block(const AttentionBlock& b, bool nan_safe, std::int64_t begin,
                               std::int64_t end, const ForwardScratch& scratch) {
  KeyBlock block{.begin = begin, .end = end};
  if (b.rounded != nullptr) {
    round_keys(b, scratch, block);
    round_values(b, nan_safe, scratch, block);
    return block;
  }
  block.k = load_keys(b, begin, end - begin, scratch.k);
  block.k_stride = scratch.k != nullptr ? b.head_dim : b.k.row_stride;
  load_values(b, scratch, block);
  return block;
}

}  // namespace sextant::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
