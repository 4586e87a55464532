// How learned positions present themselves in the list of schemes: a table from a file or among the
// weights.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "schemes/descriptors.h"
#include "sextant/core/error.h"
#include "sextant/core/random.h"
#include "sextant/schemes/added/learned.h"

namespace sextant::descriptors {
namespace {

constexpr double kInitialDeviation = 0.02;  // BERT's

constexpr SchemeParameter kParameters[] = {
    {"file", "none", "none | a .npy file [rows, width]",
     "the trained table; none: the weights if given, else initial values"},
    {"offset", "0", "0 .. rows - 1",
     "the row of position 0: fairseq, RoBERTa, BART and OPT keep two rows, offset 2"},
    {"clamp", "no", "yes | no", "positions beyond the last row use the last row, as Marian's"},
    {"seed", "0", "0 .. 4294967295", "of the initial table"},
};

constexpr SchemeWeight kWeights[] = {
    {"table", "[rows, width]", "one vector per row; position p uses row p + offset"},
};

// Most numbers of a table that is made for a few of its rows: 2 GiB.
constexpr std::int64_t kMostMade = std::int64_t{1} << 28;

bool has_file(const Parameters& given) { return given.text("file") != "none"; }

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
  return given.weight("table", {rows, request.width});
}

SchemeTable from_weights(const Parameters& given, const SchemeRequest& request) {
  const Tensor<double>& table = table_of(given, request);
  const std::vector<std::int64_t> rows =
      learned_rows(request.positions, table.size(0), given.integer("offset"), given.flag("clamp"));
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
  if (!has_file(given)) {
    const std::int64_t last = last_of(request.positions);
    const std::int64_t most = kMostMade / std::max<std::int64_t>(request.width, 1);
    if (request.weights == nullptr && (last >= most || given.integer("offset") >= most - last)) {
      throw Error("learned.positions",
                  "must be in a table of at most 2^28 numbers if there is no file, got " +
                      std::to_string(last) + " with offset " + given.text("offset") +
                      " and width " + std::to_string(request.width));
    }
    return from_weights(given, request);
  }
  if (request.weights != nullptr) {
    throw Error("learned.file", "must not be given together with the weight table");
  }
  const LearnedPositions learned =
      LearnedPositions::load(given.text("file"), given.integer("offset"), given.flag("clamp"));
  if (learned.width() != request.width) {
    throw Error("learned.file", "must hold a table of width " + std::to_string(request.width) +
                                    ", got " + std::to_string(learned.width()));
  }
  const Tensor<float> rows = learned.rows(request.positions);
  Tensor<double> out = Tensor<double>::uninitialized(rows.shape());
  std::copy_n(rows.data(), rows.count(), out.data());
  return out;
}

// The file's table, or random numbers for the positions of the request.
SchemeWeights initial_weights(const SchemeRequest& request) {
  const Parameters given(kLearned, request);
  SchemeWeights weights;
  const std::int64_t offset = given.integer("offset");
  if (has_file(given)) {
    const LearnedPositions learned = LearnedPositions::load(given.text("file"), offset);
    Tensor<double> table = Tensor<double>::uninitialized(learned.table().shape());
    std::copy_n(learned.table().data(), table.count(), table.data());
    weights.emplace("table", std::move(table));
    return weights;
  }
  const std::int64_t last = last_of(request.positions);
  constexpr std::int64_t kMost = std::int64_t{1} << 40;
  if (offset < 0 || last >= kMost - offset || request.width < 1 ||
      request.width > kMost / (last + offset + 1)) {
    throw Error(given.where("table"), "must have at most 2^40 numbers, got the last position " +
                                          std::to_string(last) + ", offset " +
                                          std::to_string(offset) + ", width " +
                                          std::to_string(request.width));
  }
  const std::int64_t seed = given.integer("seed");
  if (seed < 0 || seed > 0xffffffff) {
    throw Error(given.where("seed"), "must be 0 .. 2^32 - 1, got " + std::to_string(seed));
  }
  NumpyRandom random(static_cast<std::uint32_t>(seed));
  Tensor<double> table = Tensor<double>::uninitialized({last + offset + 1, request.width});
  for (double& value : table.span()) value = kInitialDeviation * random.normal();
  weights.emplace("table", std::move(table));
  return weights;
}

SchemeWeights backward(const SchemeRequest& request, View<const double> gradient) {
  const Parameters given(kLearned, request);
  const std::int64_t rows = table_of(given, request).size(0);
  SchemeWeights result;
  result.emplace("table", learned_backward(request.positions, gradient, rows,
                                           given.integer("offset"), given.flag("clamp")));
  return result;
}

}  // namespace

constinit const Scheme kLearned = {
    .name = "learned",
    .kind = SchemeKind::added,
    .idea = "Adds one trained vector per position; there is nothing beyond the last one.",
    .paper = "Gehring et al. 2017, 1705.03122; BERT 1810.04805",
    .parameters = kParameters,
    .make = make,
    .weights = kWeights,
    .initial_weights = initial_weights,
    .backward = backward,
};

}  // namespace sextant::descriptors
