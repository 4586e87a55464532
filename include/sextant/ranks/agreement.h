// Mistakes that only one rank sees, told to all: an error on one rank that another does not know of
// is a program that never ends.
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

// An Error that every rank throws: one of them may tell it for all.
class SharedError : public Error {
 public:
  using Error::Error;
};

// Runs `work`, which makes no call on the communicator, on every rank. If it threw on any, every
// rank throws SharedError: the same one, that of the lowest rank, with "on rank R" in the text.
void run_or_fail_on_all(const Communicator& comm, const std::function<void()>& work);

// What all ranks must have given alike. Add what a call depends on, then check(): every rank throws
// the same SharedError, which names the first thing that differs and the ranks and values, or none
// does. One round of short messages, however much was added: only when it finds a difference do
// ranks send all they have.
class Agreement {
 public:
  // `where` is the argument for the Error, as in "ranks.attention.softcap".
  Agreement& add(std::string where, std::string value);
  // Long ones, compared by checksum.
  Agreement& add(std::string where, std::span<const std::byte> bytes);
  Agreement& add(const Agreement& more);

  void check(const Communicator& comm) const;
  // In the same round, runs `work` as run_or_fail_on_all() does, whose problems go first, and tells
  // every rank the others' numbers, in the order of ranks.
  using Numbers = std::array<std::int64_t, 3>;
  std::vector<Numbers> check(const Communicator& comm, const std::function<void()>& work,
                             Numbers mine = {}) const;

 private:
  struct Item {
    std::string where, value;
  };
  std::vector<Item> items_;
};

// The same for one thing.
void same_everywhere(const Communicator& comm, std::string where, std::span<const std::byte> bytes);

}  // namespace sextant::ranks
