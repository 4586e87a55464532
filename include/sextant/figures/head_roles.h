// Finds the roles of the heads of a trained model on a text, and draws all heads.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/figures/model_attention.h"
#include "sextant/pictures/canvas.h"

namespace sextant::figures {

// What a head attends to (Voita et al. 2019, 1905.09418, section 5; Clark et al. 2019, 1906.04341,
// section 3): the token before, after or the same; the text's first or last token; tokens at some
// distance, for all words; or none of them.
enum class HeadRole { previous, next, same, first, last, distance, content };
std::string_view name_of(HeadRole role) noexcept;

// The numbers of one head over one text.
struct HeadSummary {
  std::int64_t layer = 0, head = 0;
  HeadRole role = HeadRole::content;
  double score = 0;  // of the role; for content, that of distance
  // The mean weight of that key, over the queries that have it and another key.
  double previous = 0, next = 0, same = 0, first = 0, last = 0;
  // The share of the weights' variance that their distance alone explains, 0 .. 1.
  double distance = 0;
};

// Returns all heads of all layers: by role, in the order above, then by falling score. A role needs
// a score of 0.5. Throws an Error with figure.part for attention to another text, which has no such
// places.
std::vector<HeadSummary> head_roles(const ModelAttention& part);

// Draws the maps in that order, each with its layer, head, role and score.
Picture draw_head_roles(const ModelAttention& part, std::span<const HeadSummary> heads,
                        std::optional<double> max_width = {});

// Returns a line for each head, with the numbers above as columns.
std::vector<std::vector<std::string>> head_role_rows(std::span<const HeadSummary> heads);
std::string head_roles_json(std::span<const HeadSummary> heads);

}  // namespace sextant::figures
