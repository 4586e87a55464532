// Position ids of several axes: images, videos, and prompts that hold them.
#include <algorithm>
#include <cmath>
#include <string>

#include "schemes/ids/position_checks.h"
#include "sextant/core/error.h"
#include "sextant/core/numbers.h"
#include "sextant/schemes/ids/positions.h"

namespace sextant {
namespace {

void check_side(std::string_view where, std::int64_t side) {
  if (side < 1 || side > kMaxIds) {
    throw Error(where, "must be 1 .. 2^30, got " + std::to_string(side));
  }
}

// The number of tokens of a checked segment.
std::int64_t tokens_of(const MropeSegment& segment) {
  if (segment.kind != MropeSegment::Kind::vision) {
    check_count("mrope_positions.length", segment.length);
    return segment.length;
  }
  check_side("mrope_positions.frames", segment.frames);
  check_side("mrope_positions.rows", segment.rows);
  check_side("mrope_positions.columns", segment.columns);
  if (!(segment.frame_step >= 0 && segment.frame_step <= static_cast<double>(kMaxIds))) {
    throw Error("mrope_positions.frame_step",
                "must be 0 .. 2^30, got " + shortest(segment.frame_step));
  }
  const std::int64_t tokens =
      checked_product(checked_product(segment.frames, segment.rows), segment.columns);
  check_count("mrope_positions.rows", tokens);
  return tokens;
}

}  // namespace

Tensor<std::int64_t> grid_positions(std::int64_t rows, std::int64_t columns) {
  check_side("grid_positions.rows", rows);
  check_side("grid_positions.columns", columns);
  check_count("grid_positions.rows", checked_product(rows, columns));
  Tensor<std::int64_t> ids = Tensor<std::int64_t>::uninitialized({rows * columns, 2});
  for (std::int64_t i = 0; i < rows * columns; ++i) {
    ids(i, 0) = i / columns;
    ids(i, 1) = i % columns;
  }
  return ids;
}

Tensor<std::int64_t> video_positions(std::int64_t frames, std::int64_t rows, std::int64_t columns) {
  check_side("video_positions.frames", frames);
  check_side("video_positions.rows", rows);
  check_side("video_positions.columns", columns);
  const std::int64_t count = checked_product(checked_product(frames, rows), columns);
  check_count("video_positions.frames", count);
  Tensor<std::int64_t> ids = Tensor<std::int64_t>::uninitialized({count, 3});
  for (std::int64_t i = 0; i < count; ++i) {
    ids(i, 0) = i / columns / rows;
    ids(i, 1) = i / columns % rows;
    ids(i, 2) = i % columns;
  }
  return ids;
}

MropePositions mrope_positions(std::span<const MropeSegment> segments, std::int64_t pad_id) {
  check_id("mrope_positions.pad_id", pad_id);
  std::int64_t tokens = 0;
  for (const MropeSegment& segment : segments) {
    tokens += tokens_of(segment);
    check_count("mrope_positions.segments", tokens);
  }
  MropePositions result;
  result.ids = Tensor<std::int64_t>::uninitialized({tokens, 3});
  std::int64_t row = 0;
  const auto add = [&](std::int64_t time, std::int64_t height, std::int64_t width) {
    result.ids(row, 0) = time;
    result.ids(row, 1) = height;
    result.ids(row, 2) = width;
    ++row;
  };
  for (const MropeSegment& segment : segments) {
    if (segment.kind == MropeSegment::Kind::padding) {
      for (std::int64_t i = 0; i < segment.length; ++i) add(pad_id, pad_id, pad_id);
    } else if (segment.kind == MropeSegment::Kind::text) {
      for (std::int64_t i = 0; i < segment.length; ++i, ++result.next)
        add(result.next, result.next, result.next);
    } else {
      const std::int64_t start = result.next;
      for (std::int64_t f = 0; f < segment.frames; ++f) {
        const double frame = std::floor(static_cast<double>(f) * segment.frame_step);
        check_id("mrope_positions.frame_step", frame < kMaxCoordinate
                                                   ? start + static_cast<std::int64_t>(frame)
                                                   : kMaxPosition + 1);
        const std::int64_t time = start + static_cast<std::int64_t>(frame);
        for (std::int64_t h = 0; h < segment.rows; ++h) {
          for (std::int64_t w = 0; w < segment.columns; ++w) add(time, start + h, start + w);
        }
        result.next = 1 + std::max({time, start + segment.rows - 1, start + segment.columns - 1});
      }
    }
  }
  result.delta = result.next - tokens;
  return result;
}

}  // namespace sextant
