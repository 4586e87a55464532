// Lists the schemes: each is one descriptor in one file, and everything that shows or runs schemes
// iterates this list.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sextant/core/options.h"
#include "sextant/core/tensor.h"
#include "sextant/schemes/rotated/rotary.h"
#include "sextant/tables/distance_bias.h"
#include "sextant/tables/score_term.h"

namespace sextant {

inline constexpr std::int64_t kAnyLength = std::numeric_limits<std::int64_t>::max();

// The effect of a scheme on attention; kernels use only these tables.
enum class SchemeKind { none, added, rotated, distance_bias, indexed_bias, content };
std::string_view name_of(SchemeKind) noexcept;

// A learned weight of a scheme.
struct SchemeWeight {
  std::string_view name;     // "table", as in a file of weights
  std::string_view shape;    // "[num_buckets, heads]"
  std::string_view meaning;  // one line
};
using SchemeWeights = std::map<std::string, Tensor<double>>;  // by name

// The sizes of the axes of weights, by name.
using WeightSizes = std::map<std::string, std::vector<std::int64_t>, std::less<>>;
inline constexpr std::int64_t kAnySize = -1;  // any size is allowed

// A request for the table of a scheme.
struct SchemeRequest {
  std::int64_t width = 0;                         // width of the embeddings, for added schemes
  std::int64_t heads = 1;                         // for biases
  std::int64_t head_dim = 0;                      // for rotations and content terms
  std::span<const std::int64_t> positions;        // ids of the rows, [rows, axes]
  std::span<const double> times;                  // or real positions, if Scheme::real_positions
  std::int64_t axes = 1;                          // number of ids per row: image rows and columns
  std::map<std::string, std::string> parameters;  // by name; absent ones have their defaults
  const SchemeWeights* weights = nullptr;         // null: the scheme's initial_weights()

  std::int64_t rows() const noexcept {
    return static_cast<std::int64_t>(times.empty() ? positions.size() : times.size()) / axes;
  }
};

using SchemeTable =
    std::variant<std::monostate,                     // none: no position information
                 Tensor<double>,                     // added: [position, width]
                 RotationTable<double>,              // rotated: [position, pairs], or per head
                 DistanceBias,                       // distance_bias: [heads, distances]
                 std::shared_ptr<const ScoreTerm>>;  // indexed_bias: by query and key; content: by
                                                     // their contents as well

struct Scheme {
  std::string_view name;   // "swin_v2": on the command line, in files and in C++
  std::string_view title;  // "Swin v2": as people write it, in pictures, pages and lists
  SchemeKind kind;
  std::string_view idea;                    // one sentence
  std::string_view paper;                   // authors, year, arXiv id
  std::span<const Option> (*parameters)();  // in the order of display
  SchemeTable (*make)(
      const SchemeRequest& request);  // in float64; throws Error for a bad or unknown parameter

  // For schemes with weights: the weights, their sizes for a request, their initial values (random
  // by the parameter `seed`), and the loss's gradient of each weight from that of the table:
  // [position, width] for added tables, [heads, distances] for distance biases, [2, heads,
  // position, pairs] of the cosines and then of the sines for rotations, and for the others the
  // gradient of attention_backward(), [1, n].
  std::span<const SchemeWeight> weights = {};
  WeightSizes (*weight_sizes)(const SchemeRequest& request) = nullptr;
  SchemeWeights (*initial_weights)(const SchemeRequest& request) = nullptr;
  SchemeWeights (*backward)(const SchemeRequest& request, View<const double> gradient) = nullptr;

  // For schemes whose rows depend on the length of the text, unless a parameter gives it: a number
  // for the table of a text with the ids 0 .. length - 1. Lengths with the same number have tables
  // that agree in the rows they share. Null: rows depend only on their ids.
  std::int64_t (*length_class)(const SchemeRequest& request, std::int64_t length) = nullptr;
  // For schemes whose table may end: the largest length of a text, with the weights that are made
  // for the request's positions. Null: no table of the scheme ends.
  std::int64_t (*max_length)(const SchemeRequest& request) = nullptr;

  // For rotations: the frequencies and the factor of the request's table.
  RotationFrequencies (*frequencies)(const SchemeRequest& request) = nullptr;

  bool real_positions = false;  // whether a request may have times
  // Whether a weight is computed from the tokens, by a layer of the model: models of this library
  // cannot learn it.
  bool weights_of_tokens = false;
};

// Returns all schemes, by name, or one of them; throws an Error that lists the names.
std::span<const Scheme* const> schemes() noexcept;
const Scheme& find_scheme(std::string_view name);

}  // namespace sextant
