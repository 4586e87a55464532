// The values that frameworks give, from golden/*.json: golden/make_golden.py says which ones and
// how far off they may be.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "core/json/json.h"
#include "sextant/core/files.h"
#include "sextant/schemes/scheme.h"
#include "support/folders.h"

namespace sextant {
namespace {

std::vector<std::filesystem::path> golden_files() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry :
       std::filesystem::directory_iterator(sextant::tests::data_folder() + "/schemes/golden")) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

struct Case {
  std::string scheme, source;
  SchemeRequest request;
  std::vector<std::int64_t> positions;
  SchemeWeights weights;
  std::vector<double> values;
  double tolerance = 0;
};

std::vector<double> numbers_of(const Json& json) { return json.get<std::vector<double>>(); }

std::int64_t integer_of(const Json& json, const char* name, std::int64_t otherwise) {
  return json.contains(name) ? json[name].get<std::int64_t>() : otherwise;
}

Case case_of(const std::string& scheme, const Json& json) {
  Case golden;
  golden.scheme = scheme;
  golden.source = json["source"].get<std::string>();
  golden.tolerance = json["tolerance"].get<double>();
  golden.positions = json["positions"].get<std::vector<std::int64_t>>();
  golden.values = numbers_of(json["values"]);
  golden.request.axes = json["axes"].get<std::int64_t>();
  golden.request.parameters = json["parameters"].get<std::map<std::string, std::string>>();
  golden.request.width = integer_of(json["request"], "width", 8);
  golden.request.heads = integer_of(json["request"], "heads", 1);
  golden.request.head_dim = integer_of(json["request"], "head_dim", 8);
  if (json.contains("weights")) {
    for (const auto& [name, entry] : json["weights"].items()) {
      const auto sizes = entry["shape"].get<std::vector<std::int64_t>>();
      Tensor<double> weight{Shape(sizes)};
      const auto values = numbers_of(entry["values"]);
      std::copy(values.begin(), values.end(), weight.data());
      golden.weights.emplace(name, std::move(weight));
    }
  }
  return golden;
}

// Every kind of table as the list of numbers that the files hold.
struct Flat {
  const Case& golden;

  std::vector<double> operator()(std::monostate) const { return {}; }
  std::vector<double> operator()(const Tensor<double>& table) const {
    return {table.span().begin(), table.span().end()};
  }
  std::vector<double> operator()(const RotationTable<double>& table) const {
    std::vector<double> values;
    for (std::int64_t i = 0; i < table.cos.count(); ++i) {
      values.push_back(table.cos.data()[i]);
      values.push_back(table.sin.data()[i]);
    }
    return values;
  }
  std::vector<double> operator()(const DistanceBias& bias) const {
    return {bias.values.span().begin(), bias.values.span().end()};
  }
  std::vector<double> operator()(const std::shared_ptr<const ScoreTerm>& term) const {
    if (term->needs().reads_rows()) return {};
    const std::int64_t n = golden.request.rows();
    std::vector<double> values;
    std::vector<float> tile(static_cast<std::size_t>(n * n));
    for (std::int64_t head = 0; head < golden.request.heads; ++head) {
      write_term(*term, {.head = head, .queries = n, .keys = n}, tile.data());
      values.insert(values.end(), tile.begin(), tile.end());
    }
    return values;
  }
};

void expect_golden(Case& golden) {
  golden.request.positions = golden.positions;
  if (!golden.weights.empty()) golden.request.weights = &golden.weights;
  const SchemeTable made = find_scheme(golden.scheme).make(golden.request);
  const std::vector<double> values = std::visit(Flat{golden}, made);
  ASSERT_EQ(values.size(), golden.values.size());
  double largest = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    // What is stored as float32 here and there was rounded once more on both sides.
    const double rounding = std::abs(golden.values[i]) * 0x1p-23;
    largest = std::max(largest, std::abs(values[i] - golden.values[i]) - rounding);
    if (std::isnan(values[i])) largest = std::numeric_limits<double>::infinity();
  }
  EXPECT_LE(largest, golden.tolerance);
}

// Centered coordinates have the exact precision only.
bool has_both_precisions(const Case& golden) {
  if (golden.request.parameters.contains("coordinates")) return false;
  const Scheme& scheme = find_scheme(golden.scheme);
  return std::ranges::any_of(scheme.parameters(),
                             [](const Option& p) { return p.name == "precision"; });
}

TEST(GoldenValues, AgreeWithFrameworksInBothPrecisions) {
  int cases = 0;
  for (const auto& file : golden_files()) {
    for (const Json& json : Json::parse(read_file(file))) {
      if (json.contains("arrays")) continue;  // a content term: tests/attention/golden_test.cc
      Case golden = case_of(file.stem().string(), json);
      SCOPED_TRACE(golden.scheme + ": " + golden.source + " " + json["parameters"].dump());
      expect_golden(golden);
      ++cases;
      if (json.contains("exact_only") || !has_both_precisions(golden)) continue;
      SCOPED_TRACE("precision framework");
      golden.request.parameters["precision"] = "framework";
      expect_golden(golden);
    }
  }
  EXPECT_GE(cases, 40);
}

}  // namespace
}  // namespace sextant
