// The growing table: readers hold a shared pointer, so growth replaces the table and never moves
// one in use.
#include "sextant/schemes/added/position_table.h"

#include <algorithm>
#include <utility>

#include "core/numbers/max_position.h"
#include "schemes/added/sinusoidal_positions.h"
#include "sextant/core/error.h"

namespace sextant {
namespace {

// Rows from `first` up to the last position that there is.
std::int64_t max_rows(std::int64_t first) noexcept { return kMaxPosition - first + 1; }

// If there is not enough memory for doubling, the requested rows may still fit.
template <Floating T>
Tensor<T> rows_between(std::int64_t needed, std::int64_t wished, std::int64_t width) {
  if (wished > needed) {
    try {
      return Tensor<T>::uninitialized({wished, width});
    } catch (const Error&) {
    }
  }
  return Tensor<T>::uninitialized({needed, width});
}

}  // namespace

template <Floating T>
PositionTable<T>::PositionTable(Sinusoidal options)
    : options_(options), table_(std::make_shared<const Tensor<T>>(sinusoidal<T>(options_))) {}

template <Floating T>
std::shared_ptr<const Tensor<T>> PositionTable<T>::rows(std::int64_t length) {
  consecutive_positions(options_.first, length, "position_table.first", "position_table.length");
  // One caller computes the rows while the others wait: no rows are computed twice.
  const std::lock_guard lock(mutex_);
  const std::int64_t have = table_->size(0);
  if (length <= have) return table_;
  const std::int64_t wished = std::max(length, std::min(2 * have, max_rows(options_.first)));
  const auto grown = std::make_shared<Tensor<T>>(rows_between<T>(length, wished, options_.width));
  std::copy(table_->span().begin(), table_->span().end(), grown->data());
  Sinusoidal added = options_;
  added.first += have;
  added.length = grown->size(0) - have;
  sinusoidal_into(grown->view().narrow(0, have, added.length), added);
  table_ = grown;
  return table_;
}

template <Floating T>
std::int64_t PositionTable<T>::length() const {
  const std::lock_guard lock(mutex_);
  return table_->size(0);
}

template class PositionTable<float>;
template class PositionTable<double>;
template class PositionTable<bfloat16>;
template class PositionTable<float16>;

}  // namespace sextant
