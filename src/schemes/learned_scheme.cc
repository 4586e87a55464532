// How learned positions present themselves in the list of schemes: a table from a file or among the
// weights.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "schemes/descriptors.h"
#include "sextant/core/error.h"
#include "sextant/core/random.h"
#include "sextant/schemes/learned.h"

namespace sextant::descriptors {
namespace {

constexpr double kInitialDeviation = 0.02;  // BERT's

constexpr SchemeParameter kParameters[] = {
    {"file", "", "a .npy file [rows, width]",
     "the trained table; not needed when it is among the weights"},
    {"offset", "0", "0 .. rows - 1",
     "the row of position 0: fairseq, RoBERTa, BART and OPT keep two rows, offset 2"},
    {"clamp", "no", "yes | no", "positions beyond the last row use the last row, as Marian's"},
    {"seed", "0", "0 .. 4294967295", "of the table where training starts"},
};

constexpr SchemeWeight kWeights[] = {
    {"table", "[rows, width]", "one vector per row; position p uses row p + offset"},
};

// Without a file, the parameters are read as if there were one.
SchemeRequest with_file(const SchemeRequest& request) {
  SchemeRequest result = request;
  result.parameters.emplace("file", "");
  if (result.parameters["file"].empty()) result.parameters["file"] = "the weights";
  return result;
}

bool has_file(const SchemeRequest& request) {
  const auto file = request.parameters.find("file");
  return file != request.parameters.end() && !file->second.empty();
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

SchemeTable from_weights(const SchemeRequest& request) {
  if (has_file(request)) {
    throw Error("learned.file", "must not be given beside the weight table");
  }
  const SchemeRequest filled = with_file(request);
  const Parameters given(kLearned, filled);
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
  if (request.weights != nullptr) return from_weights(request);
  const Parameters given(kLearned, request);
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
  const SchemeRequest filled = with_file(request);
  const Parameters given(kLearned, filled);
  SchemeWeights weights;
  const std::int64_t offset = given.integer("offset");
  if (has_file(request)) {
    const LearnedPositions learned = LearnedPositions::load(given.text("file"), offset);
    Tensor<double> table = Tensor<double>::uninitialized(learned.table().shape());
    std::copy_n(learned.table().data(), table.count(), table.data());
    weights.emplace("table", std::move(table));
    return weights;
  }
  std::int64_t last = 0;
  for (const std::int64_t position : request.positions) last = std::max(last, position);
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
  const SchemeRequest filled = with_file(request);
  const Parameters given(kLearned, filled);
  const SchemeWeights initial =
      request.weights == nullptr ? initial_weights(request) : SchemeWeights();
  const std::int64_t rows =
      request.weights == nullptr ? initial.at("table").size(0) : table_of(given, request).size(0);
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
