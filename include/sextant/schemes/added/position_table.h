// A table of positions that grows on demand, for any number of concurrent readers.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>

#include "sextant/schemes/added/sinusoidal.h"

namespace sextant {

// Rows 0 .. n-1 of a sinusoidal table, computed on demand and only once. All members may
// be called from any thread.
template <Floating T = float>
class PositionTable {
 public:
  // `options.length` rows are made at once (0 is fine).
  explicit PositionTable(Sinusoidal options);

  // At least `length` rows; grows (doubling) when there are fewer. Earlier results stay valid and
  // unchanged.
  std::shared_ptr<const Tensor<T>> rows(std::int64_t length);
  std::int64_t length() const;  // rows computed so far
  const Sinusoidal& options() const noexcept { return options_; }

 private:
  Sinusoidal options_;
  mutable std::mutex mutex_;
  std::shared_ptr<const Tensor<T>> table_;
};

}  // namespace sextant
