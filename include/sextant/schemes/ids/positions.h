// Position ids: the number of each token, patch or frame that schemes use. Every scheme takes ids,
// so padding, caches, packing and training methods are lists made here.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sextant/core/tensor.h"

namespace sextant {

// All of these throw Error when a count is out of its range, an id would be beyond 2^53, or more
// than 2^30 ids would come out.

// first, first + 1, ...; `length` of them, 0 or more.
std::vector<std::int64_t> position_range(std::int64_t first, std::int64_t length);

// Behind caches of past[b] tokens: row b is past[b] .. past[b] + length - 1. [batch, length]
Tensor<std::int64_t> cached_positions(std::span<const std::int64_t> past, std::int64_t length);

// Of padded sequences, mask [batch, length], true for a token: the number of tokens before it in
// its sequence; padding gets `pad_id`, which must be a legal id of the scheme (0 .. 2^53). Works
// for padding on either side. While decoding, give the mask of the cache and the new tokens and
// keep the last columns of the result: cutting the mask first restarts the count.
Tensor<std::int64_t> padded_positions(View<const bool> mask, std::int64_t pad_id = 0);

// fairseq's ids (RoBERTa, XLM-R, BART, M2M100): padding_idx + 1 for the first token, one more for
// each following one; padding has padding_idx. For a table that keeps rows for padding: `learned`
// with offset 0. padding_idx is 0 or more.
Tensor<std::int64_t> fairseq_positions(View<const bool> mask, std::int64_t padding_idx = 1);

// Of sequences packed into one row: ids restart at 0 where a segment starts. `boundaries` as
// everywhere: where each begins, then the length (cu_seqlens), from 0 and never falling.
std::vector<std::int64_t> packed_positions(std::span<const std::int64_t> boundaries);

// `length` different ids of 0 .. max_length - 1 in ascending order, all choices equally likely
// (Ruoss et al. 2023, 2305.16843). The same for the same seed on every machine. 0 <= length <=
// max_length <= 2^53.
std::vector<std::int64_t> random_positions(std::int64_t length, std::int64_t max_length,
                                           std::uint32_t seed);

// o, o + 1, ... with one o of 0 .. max_shift for the whole sequence (SHAPE: Kiyono et al. 2021,
// 2109.05644); for training, at test o is 0.
std::vector<std::int64_t> shifted_positions(std::int64_t length, std::int64_t max_shift,
                                            std::uint32_t seed);

// Row and column of the patches of an image, row by row: [rows * columns, 2].
Tensor<std::int64_t> grid_positions(std::int64_t rows, std::int64_t columns);

// Frame, row and column of the patches of a video: [frames * rows * columns, 3].
Tensor<std::int64_t> video_positions(std::int64_t frames, std::int64_t rows, std::int64_t columns);

// A segment of a prompt of text and images, for multi-section rotations (M-RoPE: Qwen2-VL, Wang et
// al. 2024, 2409.12191).
struct MropeSegment {
  enum class Kind { text, vision, padding };
  Kind kind = Kind::text;
  std::int64_t length = 0;  // tokens of text or padding, 0 or more
  std::int64_t frames = 1;  // of vision, in merged patches, each at least 1; an image has one frame
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  // Ids from frame to frame, 0 or more: frame f has floor(f * frame_step). Qwen2-VL 1; Qwen2.5-VL
  // seconds per frame x tokens per second; 0 for Qwen3-VL, which dates frames in the text.
  double frame_step = 1;

  static MropeSegment text(std::int64_t length) { return {Kind::text, length, 1, 0, 0, 1}; }
  static MropeSegment image(std::int64_t rows, std::int64_t columns) {
    return {Kind::vision, 0, 1, rows, columns, 1};
  }
  static MropeSegment video(std::int64_t frames, std::int64_t rows, std::int64_t columns,
                            double frame_step = 1) {
    return {Kind::vision, 0, frames, rows, columns, frame_step};
  }
  static MropeSegment padding(std::int64_t length) { return {Kind::padding, length, 1, 0, 0, 1}; }
};

struct MropePositions {
  Tensor<std::int64_t> ids;  // [tokens, 3]: time, height, width
  std::int64_t next = 0;     // the id of the next text token, on all axes
  // next less the number of tokens, padding included (Qwen's rope_delta): while decoding, the token
  // at index n of the row has id n + delta.
  std::int64_t delta = 0;
};

// Text has one id on all three axes. Vision that starts at id s: s + the frame's id, s + row, s +
// column; the next id is 1 + the largest so far. Padding is not counted and has `pad_id` (HF: 1).
MropePositions mrope_positions(std::span<const MropeSegment> segments, std::int64_t pad_id = 1);

// Whether layer `layer` (from 0) rotates q and k in models where every `interval`-th does not
// (Llama 4, SmolLM3: 4). layer >= 0, interval >= 1.
bool rotates(std::int64_t layer, std::int64_t interval = 4);

}  // namespace sextant
