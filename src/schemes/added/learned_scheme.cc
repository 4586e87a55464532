// How learned positions present themselves in the list of schemes: a table from a file or among the
// weights.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "schemes/ids/grid.h"
#include "schemes/initial_weights.h"
#include "sextant/core/error.h"
#include "sextant/schemes/added/learned.h"

namespace sextant {
namespace {

struct Learned {
  std::optional<std::string> file;
  std::int64_t offset = 0;
  bool clamp = false;
};

}  // namespace

template <>
inline constexpr auto kFields<Learned> = std::tuple{
    field(&Learned::file, "file", TextRange{"a .npy file [rows, width] of floats"},
          "the trained table; none: the given weights, or initial values")
        .unset("none"),
    field(&Learned::offset, "offset", at_least(0),
          "row of position 0; 2 in fairseq, RoBERTa, BART and OPT, which reserve two rows")
        .with_condition("below the rows of the table"),
    field(&Learned::clamp, "clamp", "use the last row for positions beyond it, as Marian does")};

namespace descriptors {
namespace {

constexpr double kInitialDeviation = 0.02;  // BERT's

constexpr SchemeWeight kWeights[] = {
    {"table", "[rows, width]", "one vector per row; position p uses row p + offset"},
};

// Most numbers of a table that is made for a few of its rows: 2 GiB.
constexpr std::int64_t kMaxMade = std::int64_t{1} << 28;

std::int64_t last_of(std::span<const std::int64_t> positions) {
  std::int64_t last = 0;
  for (const std::int64_t position : positions) last = std::max(last, position);
  return last;
}

// The checked table among the weights of the request.
const Tensor<double>& table_of(const Parameters& given, const SchemeRequest& request) {
  const Tensor<double>& table = given.weights().at("table");
  const std::int64_t rows = table.rank() == 2 ? table.size(0) : 0;
  if (rows < 1 || table.size(1) != request.width) {
    throw Error(given.where("table"), "must be [rows, " + std::to_string(request.width) +
                                          "] with at least one row, got " +
                                          table.shape().to_string());
  }
  return given.weight("table");
}

Learned options_of(const Parameters& given, const SchemeRequest& request) {
  check_one_id(request, kLearned.name);
  return given.options<Learned>();
}

SchemeTable from_weights(const Parameters& given, const Learned& options,
                         const SchemeRequest& request) {
  const Tensor<double>& table = table_of(given, request);
  const std::vector<std::int64_t> rows =
      learned_rows(request.positions, table.size(0), options.offset, options.clamp);
  Tensor<double> out =
      Tensor<double>::uninitialized({static_cast<std::int64_t>(rows.size()), request.width});
  double* to = out.data();
  for (const std::int64_t row : rows) {
    to = std::copy_n(table.data() + row * request.width, request.width, to);
  }
  return out;
}

SchemeTable make(const SchemeRequest& request) {
  const Parameters given(kLearned, request);
  const Learned options = options_of(given, request);
  if (!options.file) {
    const std::int64_t last = last_of(request.positions);
    const std::int64_t max = kMaxMade / std::max<std::int64_t>(request.width, 1);
    if (request.weights == nullptr && (last >= max || options.offset >= max - last)) {
      throw Error("learned.positions",
                  "must be in a table of at most 2^28 numbers if there is no file, got " +
                      std::to_string(last) + " with offset " + std::to_string(options.offset) +
                      " and width " + std::to_string(request.width));
    }
    return from_weights(given, options, request);
  }
  if (request.weights != nullptr) {
    throw Error("learned.file", "must not be given together with the weight table");
  }
  const LearnedPositions learned =
      LearnedPositions::load(*options.file, options.offset, options.clamp);
  if (learned.width() != request.width) {
    throw Error("learned.file", "must hold a table of width " + std::to_string(request.width) +
                                    ", got " + std::to_string(learned.width()));
  }
  const Tensor<float> rows = learned.rows(request.positions);
  Tensor<double> out = Tensor<double>::uninitialized(rows.shape());
  std::copy_n(rows.data(), rows.count(), out.data());
  return out;
}

// How many rows there are is for the maker of the table to say.
WeightSizes weight_sizes(const SchemeRequest& request) {
  return {{"table", {kAnySize, request.width}}};
}

// The file's table, or random numbers for the positions of the request.
SchemeWeights initial_weights(const SchemeRequest& request) {
  const Parameters given(kLearned, request);
  const Learned options = options_of(given, request);
  if (options.file) {
    SchemeWeights weights;
    const LearnedPositions learned = LearnedPositions::load(*options.file, options.offset);
    Tensor<double> table = Tensor<double>::uninitialized(learned.table().shape());
    std::copy_n(learned.table().data(), table.count(), table.data());
    weights.emplace("table", std::move(table));
    return weights;
  }
  const std::int64_t last = last_of(request.positions);
  constexpr std::int64_t kMax = std::int64_t{1} << 40;
  if (last >= kMax - options.offset || request.width < 1 ||
      request.width > kMax / (last + options.offset + 1)) {
    throw Error(given.where("table"), "must have at most 2^40 numbers, got the last position " +
                                          std::to_string(last) + ", offset " +
                                          std::to_string(options.offset) + ", width " +
                                          std::to_string(request.width));
  }
  InitialWeights weights(kLearned, request);
  weights.resize("table", {last + options.offset + 1, request.width});
  weights.normal("table", kInitialDeviation);
  return weights.take();
}

std::int64_t max_length(const SchemeRequest& request) {
  const Learned options = options_of(Parameters(kLearned, request), request);
  return options.clamp ? kAnyLength : last_of(request.positions) + 1;
}

SchemeWeights backward(const SchemeRequest& request, View<const double> gradient) {
  const Parameters given(kLearned, request);
  const Learned options = options_of(given, request);
  const std::int64_t rows = table_of(given, request).size(0);
  SchemeWeights result;
  result.emplace(
      "table", learned_backward(request.positions, gradient, rows, options.offset, options.clamp));
  return result;
}

}  // namespace

constinit const Scheme kLearned = {
    .name = "learned",
    .title = "learned",
    .kind = SchemeKind::added,
    .idea = "Adds one trained vector per position; there is nothing beyond the last one.",
    .paper = "Gehring et al. 2017, 1705.03122; BERT 1810.04805",
    .parameters = parameters_of<Learned, InitialSeed>,
    .make = make,
    .weights = kWeights,
    .weight_sizes = weight_sizes,
    .initial_weights = initial_weights,
    .backward = backward,
    .max_length = max_length,
};

}  // namespace descriptors
}  // namespace sextant
