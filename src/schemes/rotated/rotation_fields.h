// The fields that all rotations share.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <tuple>

#include "core/numbers/max_position.h"
#include "core/options/fields.h"
#include "schemes/choices.h"
#include "schemes/descriptors.h"
#include "sextant/core/error.h"
#include "sextant/core/parallel.h"
#include "sextant/schemes/rotated/rotary.h"

namespace sextant {

template <class Options>
constexpr auto rotation_fields() {
  return std::tuple{
      field(&Options::head_dim, "head_dim", IntegerRange{2, 1 << 30}, "channels of a head")
          .of_request(),
      field(&Options::base, "base", kAboveZero, "wavelengths run from 2 pi to about 2 pi * base"),
      field(&Options::layout, "layout", "channels of pair k, for n rotated channels"),
      field(&Options::rotary_dim, "rotary_dim", IntegerRange{0, 1 << 30, 2},
            "number of rotated channels per head; 0: all")
          .with_condition("at most head_dim"),
      field(&Options::span, "span", "rotated channels if rotary_dim is below head_dim"),
      field(&Options::precision, "precision", "arithmetic of angles, cosines and sines"),
      field(&Options::threads, "threads", IntegerRange{0, kMaxThreads}, "0: default_threads()")
          .of_request()};
}

template <>
inline constexpr auto kFields<Rotary> = rotation_fields<Rotary>();

// For position p.
template <>
inline constexpr auto kMeanings<QueryGrowth> =
    meanings("by attn_scale, every floor_scale positions", "max(1, ln(p + 1) / ln(train_length))");

template <>
inline constexpr auto kFields<QueryScale> =
    std::tuple{field(&QueryScale::attn_scale, "attn_scale", NumberRange{0, 1000},
                     "growth of queries with the logarithm of the position; 0: none"),
               field(&QueryScale::floor_scale, "floor_scale", at_least_number(1),
                     "positions per step of the growth"),
               field(&QueryScale::floor_offset, "floor_offset", IntegerRange{0, 1},
                     "added to positions; 1 in Llama 4, 0 in Ministral 3"),
               field(&QueryScale::growth, "growth", "factor of queries at position p"),
               field(&QueryScale::train_length, "train_length", IntegerRange{2, kMaxPosition},
                     "log_n: tokens of the training texts; queries grow beyond")};

// Returns tau of a position, in float64 or step by step as frameworks do. In float64 it is within 4
// units in the last place.
double query_scale_at(const QueryScale& scale, std::int64_t position, Precision precision);

// The ids of a request, [rows, axes].
inline View<const std::int64_t> ids_of(const SchemeRequest& request) {
  return {request.positions.data(), {request.rows(), request.axes}};
}

}  // namespace sextant
