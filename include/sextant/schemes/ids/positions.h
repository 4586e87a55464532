// Makes position ids: the number of each token, patch or frame for schemes. Every scheme takes ids,
// so padding, caches, packing and training methods are lists made here.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sextant/core/tensor.h"

namespace sextant {

// All functions throw Error if a count is out of its range, an id would be beyond 2^53, or the
// result would have more than 2^30 ids.

// Returns first, first + 1, ...; `length` of them, 0 or more.
std::vector<std::int64_t> position_range(std::int64_t first, std::int64_t length);

// Returns ids after caches of past[b] tokens, [batch, length]: row b is past[b] .. past[b] + length
// - 1.
Tensor<std::int64_t> cached_positions(std::span<const std::int64_t> past, std::int64_t length);

// Returns ids for padded sequences, mask [batch, length], true for a token: the number of tokens
// before it in its sequence; padding gets `pad_id`, which must be a legal id of the scheme (0 ..
// 2^53). It works for padding on either side. While decoding, give the mask of the cache and the
// new tokens and keep the last columns of the result: cutting the mask first restarts the count.
Tensor<std::int64_t> padded_positions(View<const bool> mask, std::int64_t pad_id = 0);

// Returns fairseq's ids (RoBERTa, XLM-R, BART, M2M100): padding_idx + 1 for the first token, one
// more for each following one; padding has padding_idx. They are for a table with rows for padding:
// `learned` with offset 0. padding_idx is 0 or more.
Tensor<std::int64_t> fairseq_positions(View<const bool> mask, std::int64_t padding_idx = 1);

// Returns ids for sequences packed into one row: they restart at 0 at the start of each segment.
// `boundaries`: where each segment begins, then the length (cu_seqlens), from 0 and never falling.
std::vector<std::int64_t> packed_positions(std::span<const std::int64_t> boundaries);

// Returns `length` different ids of 0 .. max_length - 1 in ascending order, all choices equally
// likely (Ruoss et al. 2023, 2305.16843). They are the same for the same seed on every machine. 0
// <= length <= max_length <= 2^53.
std::vector<std::int64_t> random_positions(std::int64_t length, std::int64_t max_length,
                                           std::uint32_t seed);

// Returns o, o + 1, ... with one o of 0 .. max_shift for the whole sequence (SHAPE: Kiyono et al.
// 2021, 2109.05644), for training; at test o is 0.
std::vector<std::int64_t> shifted_positions(std::int64_t length, std::int64_t max_shift,
                                            std::uint32_t seed);

// Returns row and column of the patches of an image, row by row: [rows * columns, 2].
Tensor<std::int64_t> grid_positions(std::int64_t rows, std::int64_t columns);

// Returns frame, row and column of the patches of a video: [frames * rows * columns, 3].
Tensor<std::int64_t> video_positions(std::int64_t frames, std::int64_t rows, std::int64_t columns);

// A segment of a prompt of text and images, for multi-section rotations (M-RoPE: Qwen2-VL, Wang et
// al. 2024, 2409.12191).
struct MropeSegment {
  enum class Kind { text, vision, padding };
  Kind kind = Kind::text;
  std::int64_t length = 0;  // tokens of text or padding, 0 or more
  // Size of vision, in merged patches, each at least 1; an image has one frame.
  std::int64_t frames = 1;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  // The step of ids from frame to frame, 0 or more: frame f has floor(f * frame_step). Qwen2-VL has
  // 1; Qwen2.5-VL seconds per frame x tokens per second; Qwen3-VL 0, because it writes times into
  // the text.
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
  // next minus the number of tokens, with padding (Qwen's rope_delta): while decoding, the token at
  // index n of the row has id n + delta.
  std::int64_t delta = 0;
};

// Returns ids for a prompt. Text has one id on all three axes. Vision that starts at id s has s +
// the frame's id, s + row, s + column; the next id is 1 + the largest so far. Padding is not
// counted and has `pad_id` (HF: 1).
MropePositions mrope_positions(std::span<const MropeSegment> segments, std::int64_t pad_id = 1);

// Returns whether layer `layer` (from 0) rotates q and k in models in which every `interval`-th
// does not (Llama 4, SmolLM3: 4). layer >= 0, interval >= 1.
bool rotates(std::int64_t layer, std::int64_t interval = 4);

}  // namespace sextant
