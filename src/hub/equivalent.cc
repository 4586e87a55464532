// The factor of an embedding moves into its rows, and positions become a table.
#include "hub/equivalent.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "sextant/core/error.h"
#include "sextant/schemes/scheme.h"

namespace sextant::hub {
namespace {

bool is_learned(const TransformerConfig& c) {
  return c.schemes.size() == 1 && c.schemes.front().scheme == "learned";
}

// Rows that are added to embeddings and that nothing was learned for, or none.
bool becomes_table(const TransformerConfig& c) {
  if (c.schemes.size() > 1 || is_learned(c)) return false;
  if (c.schemes.empty()) return true;
  const Scheme& scheme = find_scheme(c.schemes.front().scheme);
  return scheme.weights.empty() &&
         (scheme.kind == SchemeKind::none || scheme.kind == SchemeKind::added);
}

Tensor<double> rows_of(const TransformerConfig& c) {
  if (c.schemes.empty()) return Tensor<double>({c.length, c.width});
  std::vector<std::int64_t> ids(static_cast<std::size_t>(c.length));
  std::iota(ids.begin(), ids.end(), 0);
  SchemeRequest request{
      .width = c.width, .positions = ids, .parameters = c.schemes.front().parameters};
  SchemeTable table = find_scheme(c.schemes.front().scheme).make(request);
  auto* rows = std::get_if<Tensor<double>>(&table);
  return rows == nullptr ? Tensor<double>({c.length, c.width}) : std::move(*rows);
}

void copy(std::span<const float> from, double factor, std::span<float> to) {
  std::ranges::transform(from, to.begin(), [factor](float x) {
    return static_cast<float>(factor * static_cast<double>(x));
  });
}

}  // namespace

std::vector<TransformerConfig> equivalents(const TransformerConfig& given) {
  TransformerConfig c = given;
  if (c.kv_heads == 0) c.kv_heads = c.heads;
  c.head_dim = c.attention_head_dim();
  if (c.ffn_width == 0) c.ffn_width = 4 * c.width;
  c.embedding_scale = c.embedding_factor();
  std::vector<TransformerConfig> all = {c};
  if (c.embedding_scale != 1) {
    c.embedding_scale = 1;
    c.tied = c.tied && !c.logits;
    all.push_back(c);
  }
  if (becomes_table(c)) {
    c.schemes = {"learned"};
    all.push_back(c);
  }
  return all;
}

LanguageModel<float> equivalent(const LanguageModel<float>& model, const TransformerConfig& to) {
  const TransformerConfig& from = model.config;
  const double factor = from.embedding_factor() / to.embedding_factor();
  const bool had_table = is_learned(from), split = from.tied && !to.tied;
  const auto fill = [&](const Parameters<float>& parameters) {
    const Parameters<const float> ours = model.parameters();
    for (const auto& [name, tensor, decays] : parameters) {
      if (name == "positions.table" && !had_table) {
        const Tensor<double> rows = rows_of(from);
        std::ranges::transform(rows.span(), tensor->data(),
                               [](double x) { return static_cast<float>(x); });
        continue;
      }
      const std::string source = split && name == "output.weight" ? "embedding.weight" : name;
      const auto found =
          std::ranges::find(ours, source, [](const auto& each) { return each.name; });
      if (found == ours.end()) throw Error("hub.equivalent", "must have no weight " + name);
      copy(found->tensor->span(), name == "embedding.weight" ? factor : 1, tensor->span());
    }
  };
  return make_filled([&](UnsetWeights unset) { return LanguageModel<float>(to, unset); }, fill);
}

}  // namespace sextant::hub
