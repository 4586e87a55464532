// Converts the results of schemes into the arguments of models and the operator.
#include "sextant/layers/applied_positions.h"

#include <type_traits>
#include <utility>
#include <variant>

#include "core/text/strings.h"
#include "layers/positions/scheme_tables.h"
#include "sextant/core/error.h"
#include "tables/rounded_rotation.h"

namespace sextant {
namespace {

template <class To>
Tensor<To> rounded(Tensor<double>&& table) {
  if constexpr (std::is_same_v<To, double>) return std::move(table);
  return converted<To>(table);
}

template <class To>
RotationTable<To> rounded(RotationTable<double>&& table) {
  if constexpr (std::is_same_v<To, double>) return std::move(table);
  return rounded_rotation<To>(table);
}

std::vector<SchemeTable> one(SchemeTable&& table) {
  std::vector<SchemeTable> list;
  list.push_back(std::move(table));
  return list;
}

std::vector<SchemeTable> tables_of(const PositionOptions& options, std::int64_t length,
                                   std::span<const SchemeWeights* const> weights) {
  std::vector<SchemeTable> tables;
  for (const SchemeSpec& scheme : options.schemes) {
    const std::size_t i = tables.size();
    tables.push_back(options.table(scheme, length, weights.empty() ? nullptr : weights[i]));
  }
  return tables;
}

// Puts a table to those of its kind.
struct TableMerger {
  AppliedPositions<double>& applied;

  template <class Table>
  static void add(std::optional<Table>& to, std::type_identity_t<Table>&& table) {
    if (to) return layers::merge(*to, table);
    to = std::move(table);
  }
  void operator()(std::monostate) const {}
  void operator()(Tensor<double>&& table) const { add(applied.added, std::move(table)); }
  void operator()(RotationTable<double>&& table) const { add(applied.rotation, std::move(table)); }
  void operator()(DistanceBias&& bias) const { add(applied.bias, std::move(bias)); }
  void operator()(std::shared_ptr<const ScoreTerm>&& term) const {
    const bool content = term->needs().before_softcap;
    std::shared_ptr<const ScoreTerm>& to = content ? applied.content : applied.indexed;
    if (to) {
      throw Error("positions.scheme", std::string("must have at most one ") +
                                          (content ? "content term" : "bias by query and key") +
                                          ", got two");
    }
    to = std::move(term);
  }
};

}  // namespace

std::string names_of(const SchemeSpecs& schemes) {
  return schemes.empty() ? "none" : joined(schemes, "+", &SchemeSpec::scheme);
}

std::string label_of(const SchemeSpecs& schemes) {
  std::string text;
  for (const SchemeSpec& each : schemes) {
    text += (text.empty() ? "" : "+") + each.scheme;
    for (const auto& [name, value] : each.parameters) text += " " + name + "=" + value;
  }
  return text.empty() ? "none" : text;
}

SchemeRequest PositionOptions::request(const SchemeSpec& scheme, std::span<const std::int64_t> ids,
                                       const SchemeWeights* weights) const {
  SchemeRequest request{.width = width, .heads = heads, .head_dim = head_dim};
  if (head_dim > 2 && find_scheme(scheme.scheme).kind == SchemeKind::rotated) {
    request.head_dim = head_dim / 2 * 2;
  }
  request.positions = ids;
  request.parameters = scheme.parameters;
  request.weights = weights;
  return request;
}

SchemeTable PositionOptions::table(const SchemeSpec& scheme, std::int64_t count,
                                   const SchemeWeights* weights) const {
  const Shape wanted{count, width};
  auto ids = layers::first_positions(count);
  for (std::int64_t& id : ids) id += first;
  SchemeTable made = find_scheme(scheme.scheme).make(request(scheme, ids, weights));
  const auto* rows = std::get_if<Tensor<double>>(&made);
  if (rows == nullptr || rows->shape() == wanted) return made;
  throw Error(scheme.scheme, "must make a table of shape " + wanted.to_string() + ", got " +
                                 rows->shape().to_string());
}

template <class T, class R>
AppliedPositions<T, R>::AppliedPositions(std::vector<SchemeTable> tables) {
  AppliedPositions<double> all;
  for (SchemeTable& table : tables) std::visit(TableMerger{all}, std::move(table));
  if (all.added) added = rounded<T>(std::move(*all.added));
  if (all.rotation) rotation = rounded<R>(std::move(*all.rotation));
  bias = std::move(all.bias);
  indexed = std::move(all.indexed);
  content = std::move(all.content);
}

template <class T, class R>
AppliedPositions<T, R>::AppliedPositions(SchemeTable table)
    : AppliedPositions(one(std::move(table))) {}

template <class T, class R>
AppliedPositions<T, R>::AppliedPositions(const PositionOptions& options, std::int64_t length,
                                         std::span<const SchemeWeights* const> weights)
    : AppliedPositions(tables_of(options, length, weights)) {}

template <class T, class R>
void AppliedPositions<T, R>::add_to(View<T> x) const {
  if (!added) return;
  for (std::int64_t row = 0; row < x.size(0); ++row) {
    for (std::int64_t column = 0; column < x.size(1); ++column) {
      x(row, column) += (*added)(row, column);
    }
  }
}

template struct AppliedPositions<float>;
template struct AppliedPositions<double>;
template struct AppliedPositions<double, float>;

}  // namespace sextant
