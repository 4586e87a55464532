// Holds a table of positions that grows on demand, for any number of concurrent readers.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>

#include "sextant/schemes/added/sinusoidal.h"

namespace sextant {

// Rows 0 .. n-1 of a sinusoidal table, computed on demand and only once. Any thread may call all
// members.
template <Floating T = float>
class PositionTable {
 public:
  // Makes `options.length` rows at once (0 is allowed).
  explicit PositionTable(Sinusoidal options);

  // Returns at least `length` rows; grows (doubling) if there are fewer. Earlier results stay valid
  // and unchanged.
  std::shared_ptr<const Tensor<T>> rows(std::int64_t length);
  std::int64_t length() const;  // returns the number of rows computed so far
  const Sinusoidal& options() const noexcept { return options_; }

 private:
  Sinusoidal options_;
  mutable std::mutex mutex_;
  std::shared_ptr<const Tensor<T>> table_;
};

}  // namespace sextant
