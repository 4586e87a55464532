// Shared by the losses over a vocabulary.
#pragma once

#include <cstdint>
#include <span>

#include "sextant/layers/token_loss.h"

namespace sextant::layers {

// Throws Error for sizes, targets or options that do not fit.
void check_token_loss(const Shape& h, const Shape& weight, std::span<const std::int64_t> targets,
                      const TokenLossOptions& options);

// Rows whose logits exist together: at most 32 MiB of float32 where 64 rows take no more. Fewer
// rows would pack the weight more often.
std::int64_t logit_rows(std::int64_t vocabulary) noexcept;

}  // namespace sextant::layers
