// Turns an error of one rank into the same error on all ranks. Otherwise the other ranks would wait
// forever.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/core/error.h"
#include "sextant/ranks/communicator.h"

namespace sextant::ranks {

// An Error that every rank throws; one of them can report it for all.
class SharedError : public Error {
 public:
  using Error::Error;
};

// Runs `work` on every rank; it makes no call on the communicator. If it throws on any rank, every
// rank throws the same SharedError, that of the lowest rank, with "on rank R" in the text.
void run_or_fail_on_all(const Communicator& comm, const std::function<void()>& work);

// Checks values that must be equal on all ranks. Add everything that a call depends on, then call
// check(): every rank throws the same SharedError, with the first difference and the ranks and
// values, or none does. It takes one round of short messages for any number of values: ranks send
// all their values only if they differ.
class Agreement {
 public:
  // `where` is the argument for the Error, as in "ranks.attention.softcap".
  Agreement& add(std::string where, std::string value);
  // Long values are compared by checksum.
  Agreement& add(std::string where, std::span<const std::byte> bytes);
  Agreement& add(const Agreement& more);

  void check(const Communicator& comm) const;
  // Runs `work` in the same round, as run_or_fail_on_all() does; its errors come first. Returns the
  // others' numbers on every rank, in the order of ranks.
  using Numbers = std::array<std::int64_t, 3>;
  std::vector<Numbers> check(const Communicator& comm, const std::function<void()>& work,
                             Numbers mine = {}) const;

 private:
  struct Item {
    std::string where, value;
  };
  std::vector<Item> items_;
};

// Checks one value.
void same_everywhere(const Communicator& comm, std::string where, std::span<const std::byte> bytes);

}  // namespace sextant::ranks
