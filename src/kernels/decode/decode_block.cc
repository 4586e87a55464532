// The decode kernel, keys in lanes. A key or value is read once for all rows, a row being one query
// of one head:
//
//   for each block of 128 keys:
//     S[row][key] = Q K^T        squares of keys and channels are transposed, so that keys
//                                are lanes, and used for all rows (score_tiles-inl.h)
//     finish S                   softcap, biases, hidden pairs
//     raise the maximum m        of the rows that need it
//     S = 2^(S - m)              in place
//     O[row][channel] += S V     channels are lanes; l += sum of S on the way
//   out = O / l
//
// Every number goes through the operations of the forward kernel (attention/block.cc) in the same
// order, so the bits are the same. Here the order of keys and channels is kept by each lane.
#include "kernels/decode/decode_block.h"

#include <limits>

#include "kernels/simd/processor_state.h"
#include "kernels/simd/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/decode/decode_block.cc"

#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include "kernels/decode/decode_rows-inl.h"
#include "kernels/decode/decode_scores-inl.h"
#include "kernels/decode/decode_scratch.h"
#include "kernels/decode/decode_values-inl.h"
#include "kernels/simd/bounds-inl.h"
#include "kernels/simd/exp2-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::kernels::HWY_NAMESPACE {

SharedScratch all_blocks(const DecodeBlock& b, float* memory, bool holds_data = true) {
  return divide_shared(scratch_shape_of(b), b.first_block(), b.end_block() - b.first_block(),
                       memory, holds_data);
}

// The whole computation on one thread, with scratch for the scores of one block.
std::uint32_t decode_block(const DecodeBlock& b, bool nan_safe, std::uint32_t wanted,
                           float* memory) {
  SharedScratch s = divide_shared(scratch_shape_of(b), 0, 1, memory);
  const ThreadScratch thread_scratch = divide_thread_scratch(scratch_shape_of(b), memory + s.size);
  start(b, s);
  for (std::int64_t block = b.first_block(); block < b.end_block(); ++block) {
    s.first_block = block;
    score(b, s, thread_scratch, nan_safe, block);
    softmax(b, s, block);
    add_values(b, s, thread_scratch, nan_safe, block, 0, b.v_dim);
  }
  return finish(b, s, nan_safe, wanted);
}

void decode_begin(const DecodeBlock& b, float* shared) { start(b, all_blocks(b, shared, false)); }

void decode_scores(const DecodeBlock& b, std::int64_t begin, std::int64_t end, float* shared,
                   float* thread_scratch) {
  const SharedScratch s = all_blocks(b, shared);
  const ThreadScratch scratch = divide_thread_scratch(scratch_shape_of(b), thread_scratch);
  for (std::int64_t block = begin; block < end; ++block) score(b, s, scratch, false, block);
}

void decode_softmax(const DecodeBlock& b, float* shared) {
  const SharedScratch s = all_blocks(b, shared);
  for (std::int64_t block = b.first_block(); block < b.end_block(); ++block) {
    softmax(b, s, block);
  }
}

void decode_values(const DecodeBlock& b, std::int64_t begin, std::int64_t end, float* shared,
                   float* thread_scratch) {
  const SharedScratch s = all_blocks(b, shared);
  const ThreadScratch scratch = divide_thread_scratch(scratch_shape_of(b), thread_scratch);
  for (std::int64_t block = b.first_block(); block < b.end_block(); ++block) {
    add_values(b, s, scratch, false, block, begin, end);
  }
}

std::uint32_t decode_finish(const DecodeBlock& b, float* shared) {
  return finish(b, all_blocks(b, shared), false, ~std::uint32_t{0});
}

TileShape decode_tile() { return {4, max_squares(4) * kSimdWidth}; }

void biases_to_log2(float* biases, std::int64_t count) {
  const auto run = [&](auto d, std::int64_t i) HWY_ATTR {
    const auto none = hn::Set(d, -std::numeric_limits<float>::infinity());
    const auto lowest = hn::Set(d, std::numeric_limits<float>::lowest());
    const auto x = hn::LoadU(d, biases + i);
    const auto y = at_least(lowest, hn::Mul(x, hn::Set(d, static_cast<float>(kLog2E))));
    hn::StoreU(hn::IfThenElse(hn::Eq(x, none), none, y), d, biases + i);
  };
  std::int64_t i = 0;
  for (; i + kSimdWidth <= count; i += kSimdWidth) run(TileTag(), i);
  for (; i < count; ++i) run(hn::CappedTag<float, 1>(), i);
}

}  // namespace sextant::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant::kernels {

HWY_EXPORT(decode_block);
HWY_EXPORT(decode_begin);
HWY_EXPORT(decode_scores);
HWY_EXPORT(decode_softmax);
HWY_EXPORT(decode_values);
HWY_EXPORT(decode_finish);
HWY_EXPORT(biases_to_log2);
HWY_EXPORT(decode_tile);

void biases_to_log2(float* biases, std::int64_t count) noexcept {
  apply_requested_target();
  HWY_DYNAMIC_DISPATCH(biases_to_log2)(biases, count);
}

TileShape decode_tile() noexcept {
  apply_requested_target();
  return HWY_DYNAMIC_DISPATCH(decode_tile)();
}

std::uint32_t decode_block(const DecodeBlock& block, float* scratch) noexcept {
  apply_requested_target();
  const DenormalsOff denormals_off;
  const std::uint32_t rows =
      HWY_DYNAMIC_DISPATCH(decode_block)(block, false, ~std::uint32_t{0}, scratch);
  return rows == 0 ? 0 : decode_nan_safe(block, rows, scratch);
}

std::uint32_t decode_nan_safe(const DecodeBlock& block, std::uint32_t rows,
                              float* scratch) noexcept {
  const DenormalsOff denormals_off;
  return HWY_DYNAMIC_DISPATCH(decode_block)(block, true, rows, scratch);
}

void decode_begin(const DecodeBlock& block, float* shared) noexcept {
  apply_requested_target();
  const DenormalsOff denormals_off;
  HWY_DYNAMIC_DISPATCH(decode_begin)(block, shared);
}

void decode_scores(const DecodeBlock& block, std::int64_t begin, std::int64_t end, float* shared,
                   float* thread_scratch) noexcept {
  const DenormalsOff denormals_off;
  HWY_DYNAMIC_DISPATCH(decode_scores)(block, begin, end, shared, thread_scratch);
}

void decode_softmax(const DecodeBlock& block, float* shared) noexcept {
  const DenormalsOff denormals_off;
  HWY_DYNAMIC_DISPATCH(decode_softmax)(block, shared);
}

void decode_values(const DecodeBlock& block, std::int64_t begin, std::int64_t end, float* shared,
                   float* thread_scratch) noexcept {
  const DenormalsOff denormals_off;
  HWY_DYNAMIC_DISPATCH(decode_values)(block, begin, end, shared, thread_scratch);
}

std::uint32_t decode_finish(const DecodeBlock& block, float* shared) noexcept {
  const DenormalsOff denormals_off;
  return HWY_DYNAMIC_DISPATCH(decode_finish)(block, shared);
}

}  // namespace sextant::kernels
#endif  // HWY_ONCE
