// The growing table: readers hold a shared pointer, so growth replaces the table and never moves
// one in use.
#include "sextant/schemes/position_table.h"

#include <algorithm>
#include <string>
#include <utility>

#include "sextant/core/error.h"

namespace sextant {

template <Floating T>
PositionTable<T>::PositionTable(Sinusoidal options)
    : options_(std::move(options)),
      table_(std::make_shared<const Tensor<T>>(sinusoidal<T>(options_))) {}

template <Floating T>
std::shared_ptr<const Tensor<T>> PositionTable<T>::rows(std::int64_t length) {
  if (length < 0) {
    throw Error("position_table.length", "must be 0 or more, got " + std::to_string(length));
  }
  // One caller makes the rows while the others wait for them: nobody makes the same rows twice.
  const std::lock_guard lock(mutex_);
  const std::int64_t have = table_->size(0);
  if (length <= have) return table_;
  Sinusoidal longer = options_;
  longer.length = std::max(length, std::min(2 * have, std::int64_t{1} << 52));
  auto grown = std::make_shared<Tensor<T>>(Tensor<T>::uninitialized({longer.length, longer.width}));
  std::copy(table_->span().begin(), table_->span().end(), grown->data());
  Sinusoidal added = options_;
  added.first += have;
  added.length = longer.length - have;
  sinusoidal_into(grown->view().narrow(0, have, added.length), added);
  table_ = std::move(grown);
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
