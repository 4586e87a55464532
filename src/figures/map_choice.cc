// Checks choices of maps.
#include "figures/map_choice.h"

#include "sextant/core/error.h"

namespace sextant::figures {
namespace {

// The numbers first, first + 1, ... that are chosen; empty: all.
std::vector<std::int64_t> one_or_all(std::optional<std::int64_t> chosen, std::int64_t count,
                                     const std::string& where) {
  if (!chosen) return {};
  if (*chosen >= 0 && *chosen < count) return {*chosen};
  throw Error(where,
              "must be 0 .. " + std::to_string(count - 1) + ", got " + std::to_string(*chosen));
}

// Queries [first, end), of all.
std::vector<std::int64_t> rows_of(const MapChoice& chosen, std::int64_t tokens) {
  const std::int64_t first = chosen.first_row, end = chosen.end_row.value_or(tokens);
  if (first < 0 || first >= end || end > tokens) {
    throw Error("figure.rows", "must be BEGIN,END with 0 <= BEGIN < END <= " +
                                   std::to_string(tokens) + ", the number of tokens, got " +
                                   std::to_string(first) + "," + std::to_string(end));
  }
  std::vector<std::int64_t> rows;
  for (std::int64_t row = first; row < end; ++row) rows.push_back(row);
  return rows;
}

}  // namespace

void check_weights(const std::string& where, std::int64_t maps, std::int64_t rows,
                   std::int64_t columns, const std::string& choose) {
  const double weights =
      static_cast<double>(maps) * static_cast<double>(rows) * static_cast<double>(columns);
  if (weights <= static_cast<double>(kMaxMapWeights)) return;
  throw Error(where, "must have at most 2^25 attention weights in the maps, got " +
                         std::to_string(maps) + " maps of " + std::to_string(rows) + " x " +
                         std::to_string(columns) + "; choose " + choose);
}

ChosenMaps choose_maps(const MapChoice& chosen, std::int64_t layers, std::int64_t heads,
                       std::int64_t tokens, const std::string& where) {
  ChosenMaps maps{.layers = one_or_all(chosen.layer, layers, "figure.layer"),
                  .parts = {.heads = one_or_all(chosen.head, heads, "figure.head"),
                            .rows = rows_of(chosen, tokens)}};
  check_weights(where, (maps.layers.empty() ? layers : 1) * (maps.parts.heads.empty() ? heads : 1),
                std::ssize(maps.parts.rows), tokens, "a layer, a head or fewer rows");
  return maps;
}

void name_chosen(const ChosenMaps& chosen, ModelAttention& part) {
  const auto& rows = chosen.parts.rows;
  part.queries.assign(part.keys.begin() + rows.front(), part.keys.begin() + rows.back() + 1);
  part.first_layer = chosen.layers.empty() ? 0 : chosen.layers.front();
  part.first_head = chosen.parts.heads.empty() ? 0 : chosen.parts.heads.front();
  part.first_query = rows.front();
}

}  // namespace sextant::figures
