// Which maps of a model are computed, checked.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sextant/figures/model_attention.h"
#include "sextant/models/token_model.h"

namespace sextant::figures {

struct ChosenMaps {
  std::vector<std::int64_t> layers;  // empty: all
  WeightsOptions parts;              // heads, empty: all; rows, all of them listed

  // Borrows this.
  MapSelection selection() const {
    return {.layers = layers, .heads = parts.heads, .rows = parts.rows};
  }
};

// Throws Error for choices that do not exist, and with `where` for more than kMaxMapWeights
// weights.
ChosenMaps choose_maps(const MapChoice& chosen, std::int64_t layers, std::int64_t heads,
                       std::int64_t tokens, const std::string& where);
// Leaves the queries of the chosen rows, and says which layer, head and query are the first.
void name_chosen(const ChosenMaps& chosen, ModelAttention& part);

// Throws Error for more than kMaxMapWeights; `choose` says what makes them fewer.
void check_weights(const std::string& where, std::int64_t maps, std::int64_t rows,
                   std::int64_t columns, const std::string& choose);

}  // namespace sextant::figures
