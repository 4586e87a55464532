// Attention with content terms as frameworks compute it, from tests/schemes/golden/*.json:
// make_golden.py there says which modules and how far off they may be.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <variant>
#include <vector>

#include "core/arrays/converted.h"
#include "core/json/json.h"
#include "sextant/attention/attention.h"
#include "sextant/core/files.h"
#include "sextant/schemes/scheme.h"
#include "sextant/tables/score_term.h"
#include "support/folders.h"

namespace sextant::golden_test {
namespace {

Tensor<double> tensor_of(const Json& json) {
  const auto sizes = json["shape"].get<std::vector<std::int64_t>>();
  const auto values = json["values"].get<std::vector<double>>();
  Shape shape{};
  switch (sizes.size()) {
    case 2:
      shape = {sizes[0], sizes[1]};
      break;
    case 3:
      shape = {sizes[0], sizes[1], sizes[2]};
      break;
    default:
      shape = {sizes.at(0), sizes.at(1), sizes.at(2), sizes.at(3)};
  }
  Tensor<double> tensor(shape);
  std::copy(values.begin(), values.end(), tensor.data());
  return tensor;
}

template <class T>
double largest_difference(const Json& json, const ScoreTerm& term) {
  const Json& arrays = json["arrays"];
  const Tensor<double> expected = tensor_of(arrays["out"]);
  AttentionOptions<T> options;
  options.terms = {&term};
  if (json["causal"].get<bool>()) options.causal = Causal::top_left;
  Tensor<T> out(expected.shape());
  attention<T>(converted<T>(tensor_of(arrays["q"])), converted<T>(tensor_of(arrays["k"])),
               converted<T>(tensor_of(arrays["v"])), out, options);
  double largest = 0;
  for (std::int64_t i = 0; i < out.count(); ++i) {
    const double off = std::abs(static_cast<double>(out.data()[i]) - expected.data()[i]);
    largest = std::isnan(off) ? off : std::max(largest, off);
  }
  return largest;
}

TEST(GoldenAttention, AgreesWithFrameworksOnContentTerms) {
  int cases = 0;
  for (const auto& file :
       std::filesystem::directory_iterator(sextant::tests::data_folder() + "/schemes/golden")) {
    if (file.path().extension() != ".json") continue;
    for (const Json& json : Json::parse(read_file(file.path()))) {
      if (!json.contains("arrays")) continue;  // a table: tests/schemes/golden_test.cc
      SCOPED_TRACE(json["source"].get<std::string>());
      SchemeWeights weights;
      for (const auto& [name, entry] : json["weights"].items()) {
        weights.emplace(name, tensor_of(entry));
      }
      const auto shape = json["arrays"]["q"]["shape"].get<std::vector<std::int64_t>>();
      std::vector<std::int64_t> positions(static_cast<std::size_t>(shape[2]));
      std::iota(positions.begin(), positions.end(), 0);
      SchemeRequest request;
      request.width = json["width"].get<std::int64_t>();
      request.heads = shape[1];
      request.head_dim = shape[3];
      request.positions = positions;
      request.parameters = json["parameters"].get<std::map<std::string, std::string>>();
      request.weights = &weights;
      const SchemeTable made = find_scheme(file.path().stem().string()).make(request);
      const auto& term = *std::get<std::shared_ptr<const ScoreTerm>>(made);
      const double tolerance = json["tolerance"].get<double>();
      EXPECT_LE(largest_difference<double>(json, term), tolerance);
      EXPECT_LE(largest_difference<float>(json, term), 2 * tolerance);  // float32 here, too
      ++cases;
    }
  }
  EXPECT_GE(cases, 4);
}

}  // namespace
}  // namespace sextant::golden_test
