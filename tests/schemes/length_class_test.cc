// Which schemes take something from the length of a text: lengths of one class have tables that
// agree in the rows they share, and some of different classes do not.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <variant>
#include <vector>

#include "sextant/core/error.h"
#include "sextant/schemes/scheme.h"

namespace sextant::length_class_test {
namespace {

using Texts = std::map<std::string, std::string>;

constexpr std::int64_t kLongest = 40;

SchemeRequest request(std::span<const std::int64_t> ids, const Texts& parameters,
                      const SchemeWeights* weights) {
  SchemeRequest asked;
  asked.width = 48;
  asked.heads = 2;
  asked.head_dim = 8;
  asked.positions = ids;
  asked.parameters = parameters;
  asked.weights = weights;
  return asked;
}

// What a table says of its first `rows` positions, as numbers.
struct Reader {
  std::int64_t rows;
  std::vector<double> values;

  void operator()(const std::monostate&) {}
  void operator()(const Tensor<double>& table) {
    values.insert(values.end(), table.data(), table.data() + rows * table.size(1));
  }
  void operator()(const RotationTable<double>& table) {
    for (const Tensor<double>* part : {&table.cos, &table.sin}) {
      const std::int64_t of_head = part->size(part->rank() - 2) * part->size(part->rank() - 1);
      for (const double* head = part->data(); head < part->data() + part->count();
           head += of_head) {
        values.insert(values.end(), head, head + rows * part->size(part->rank() - 1));
      }
    }
    if (table.keys) (*this)(*table.keys);
  }
  void operator()(const DistanceBias& bias) {
    for (std::int64_t head = 0; head < bias.values.size(0); ++head) {
      for (std::int64_t distance = 1 - rows; distance < rows; ++distance) {
        values.push_back(bias.values(head, distance + bias.origin));
      }
    }
  }
  void operator()(const std::shared_ptr<const ScoreTerm>& term) {
    if (term->needs().before_softcap) return;  // tests/models/text_length_test.cc
    std::vector<float> tile(static_cast<std::size_t>(rows * rows));
    for (const std::int64_t head : {0, 1}) {
      write_term(*term, {.head = head, .queries = rows, .keys = rows}, tile.data());
      values.insert(values.end(), tile.begin(), tile.end());
    }
  }
};

// The first `rows` positions of the table of a text of this length.
std::vector<double> read(const Scheme& scheme, const Texts& parameters,
                         const SchemeWeights* weights, std::int64_t length, std::int64_t rows) {
  std::vector<std::int64_t> ids(static_cast<std::size_t>(length));
  std::iota(ids.begin(), ids.end(), std::int64_t{0});
  Reader reader{rows, {}};
  std::visit(reader, scheme.make(request(ids, parameters, weights)));
  return reader.values;
}

void check(const Scheme& scheme, const Texts& parameters) {
  SchemeWeights weights;
  if (scheme.initial_weights != nullptr) {
    std::vector<std::int64_t> ids(kLongest);
    std::iota(ids.begin(), ids.end(), std::int64_t{0});
    weights = scheme.initial_weights(request(ids, parameters, nullptr));
  }
  const auto class_of = [&](std::int64_t length) {
    return scheme.length_class == nullptr
               ? 0
               : scheme.length_class(request({}, parameters, nullptr), length);
  };
  int different = 0;
  for (std::int64_t length = 1; length < kLongest; ++length) {
    for (const std::int64_t longer : {length + 1, kLongest}) {
      const bool same = class_of(length) == class_of(longer);
      EXPECT_TRUE(length == 1 || same || class_of(length - 1) != class_of(longer)) << "not a run";
      if (scheme.name == "swin" && !same) continue;  // its weights fit one window
      if (scheme.name == "swin" && class_of(length) != class_of(kLongest)) continue;
      const SchemeWeights* given = weights.empty() ? nullptr : &weights;
      const auto one = read(scheme, parameters, given, length, length),
                 other = read(scheme, parameters, given, longer, length);
      if (same) {
        EXPECT_EQ(one, other) << length << " and " << longer;
      } else if (one != other) {
        ++different;
      }
    }
  }
  // Short texts may lie in the first row of both grids; longer ones must show the difference.
  if (class_of(1) != class_of(kLongest) && scheme.name != "swin") {
    EXPECT_GT(different, 0);
  }
}

TEST(LengthClass, SaysWhereTablesDiffer) {
  // Where the default would show nothing on texts as short as these.
  const std::map<std::string, Texts> parameters = {
      {"rotary_dynamic_ntk", {{"max_length", "8"}}},
      {"rotary_longrope", {{"original_length", "12"}, {"long_factor", "1,2,3,4"}}}};
  for (const Scheme* scheme : schemes()) {
    if (scheme->kind == SchemeKind::content) continue;
    if (scheme->name == "gated_bias") continue;  // its gates are those of one text
    SCOPED_TRACE(scheme->name);
    const auto given = parameters.find(std::string(scheme->name));
    check(*scheme, given == parameters.end() ? Texts() : given->second);
  }
  check(find_scheme("rotary_axial"), {{"coordinates", "centered"}});
  check(find_scheme("rotary_axial"), {{"coordinates", "centered"}, {"columns", "5"}});
  check(find_scheme("rotary_axial"), {{"coordinates", "centered"}, {"rows", "9"}});
  check(find_scheme("sincos_2d"), {{"form", "detr_normalized"}});
  check(find_scheme("sincos_2d"), {{"normalized", "yes"}, {"columns", "5"}});
  check(find_scheme("sincos_2d"), {{"normalized", "yes"}, {"rows", "9"}});
  check(find_scheme("sincos_3d"), {{"columns", "2"}});
  check(find_scheme("alibi_2d"), {{"rows", "3"}});
  check(find_scheme("swin_v2"), {{"columns", "4"}});
  check(find_scheme("cape"), {{"normalize", "yes"}});
}

TEST(LengthClass, IsOneWhereParametersSayTheLength) {
  const std::map<std::string, Texts> parameters = {
      {"alibi_2d", {{"columns", "7"}}},
      {"cape", {{"normalize", "yes"}, {"length", "20"}}},
      {"decomposed_2d", {{"columns", "7"}, {"rows", "6"}}},
      {"fourier", {{"length", "20"}}},
      {"rotary_axial", {{"columns", "7"}}},
      {"rotary_dynamic_ntk", {{"max_length", "8"}, {"length", "20"}}},
      {"rotary_longrope",
       {{"original_length", "12"}, {"long_factor", "1,2,3,4"}, {"length", "20"}}},
      {"sincos_2d", {{"columns", "7"}}},
      {"sincos_3d", {{"columns", "4"}, {"rows", "4"}}},
      {"swin", {{"columns", "7"}, {"rows", "6"}}},
      {"swin_v2", {{"columns", "7"}, {"rows", "6"}}},
      {"tape", {{"length", "20"}}}};
  for (const Scheme* scheme : schemes()) {
    if (scheme->length_class == nullptr) continue;
    SCOPED_TRACE(scheme->name);
    const auto given = parameters.find(std::string(scheme->name));
    ASSERT_NE(given, parameters.end());
    const SchemeRequest asked = request({}, given->second, nullptr);
    EXPECT_EQ(scheme->length_class(asked, 1), scheme->length_class(asked, kLongest));
    check(*scheme, given->second);
  }
}

TEST(LengthClass, RefusesWhatTheTableRefuses) {
  const auto class_of = [](std::string_view scheme, const Texts& parameters, std::int64_t length) {
    return find_scheme(scheme).length_class(request({}, parameters, nullptr), length);
  };
  EXPECT_THROW(class_of("swin", {{"columns", "2"}, {"rows", "2"}}, 5), Error);
  EXPECT_THROW(class_of("alibi_2d", {{"columns", "-1"}}, 5), Error);
  EXPECT_THROW(class_of("sincos_2d", {{"columns", "0"}}, 5), Error);
  EXPECT_THROW(class_of("fourier", {{"lengths", "5"}}, 5), Error);
}

}  // namespace
}  // namespace sextant::length_class_test
