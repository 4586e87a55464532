// The list of schemes: each is one descriptor in one file, and everything that shows or runs
// schemes iterates this list.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "sextant/core/tensor.h"
#include "sextant/schemes/distance_bias.h"
#include "sextant/schemes/rotary.h"

namespace sextant {

// What a scheme does to attention; kernels know these tables and nothing else.
enum class SchemeKind { none, added, rotated, distance_bias };
std::string_view name_of(SchemeKind) noexcept;

struct SchemeParameter {
  std::string_view name;  // as in C++, on the command line and in Python
  std::string_view
      default_text;        // as one would write it on the command line; empty when it must be given
  std::string_view range;  // "> 0", "interleaved | half_split", ...
  std::string_view meaning;  // one line
};

// What a scheme is asked to make a table for.
struct SchemeRequest {
  std::int64_t width = 0;                         // of the embeddings, for added schemes
  std::int64_t heads = 1;                         // for biases
  std::int64_t head_dim = 0;                      // for rotations
  std::span<const std::int64_t> positions;        // ids of the rows
  std::map<std::string, std::string> parameters;  // by name; what is absent takes its default
};

using SchemeTable = std::variant<std::monostate,         // none: order stays invisible
                                 Tensor<double>,         // added: [position, width]
                                 RotationTable<double>,  // rotated: [position, pairs]
                                 DistanceBias>;          // distance_bias: [heads, distances]

struct Scheme {
  std::string_view name;  // "sinusoidal"
  SchemeKind kind;
  std::string_view idea;   // one sentence
  std::string_view paper;  // authors, year, arXiv id
  std::span<const SchemeParameter> parameters;
  SchemeTable (*make)(
      const SchemeRequest& request);  // in float64; throws Error for a bad or unknown parameter
};

// All schemes, by name, and one of them; throws Error that lists the names.
std::span<const Scheme* const> schemes() noexcept;
const Scheme& find_scheme(std::string_view name);

}  // namespace sextant
