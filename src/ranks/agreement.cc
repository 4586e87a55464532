// Mistakes of one rank, told to all.
#include "sextant/ranks/agreement.h"

#include <cstring>
#include <optional>

#include "sextant/core/error.h"
#include "sextant/core/files.h"

namespace sextant::ranks {
namespace {

constexpr char kChecksum = '#';

std::span<const std::byte> bytes_of_text(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

std::string text_of(std::span<const std::byte> bytes) {
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

// Texts as one: each with its length before it.
void append(std::string& to, const std::string& text) {
  to += std::to_string(text.size()) + ":" + text;
}

std::string take(std::string& from) {
  const auto colon = from.find(':');
  const auto size = std::stoull(from.substr(0, colon));
  std::string text = from.substr(colon + 1, size);
  from.erase(0, colon + 1 + size);
  return text;
}

}  // namespace

void together(const Communicator& comm, const std::function<void()>& work) {
  std::string problem;  // empty: none
  try {
    work();
  } catch (const Error& error) {
    append(problem, error.where());
    append(problem, std::string(error.what()).substr(error.where().size() + 3));  // "[where] "
  } catch (const std::exception& error) {
    append(problem, "ranks");
    append(problem, error.what());
  }
  if (comm.largest(std::int64_t{!problem.empty()}) == 0) return;
  const auto all = comm.all_gather(bytes_of_text(problem));
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    if (all[rank].empty()) continue;
    std::string parts = text_of(all[rank]);
    const std::string where = take(parts), what = take(parts);
    bool everywhere = true;
    for (const auto& other : all) everywhere = everywhere && other == all[rank];
    throw SharedError(where, what + (everywhere ? "" : ", on rank " + std::to_string(rank)));
  }
}

Agreement& Agreement::add(std::string where, std::string value) {
  items_.push_back({std::move(where), std::move(value)});
  return *this;
}

Agreement& Agreement::add(std::string where, std::span<const std::byte> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  items_.push_back(
      {std::move(where), kChecksum + std::to_string(bytes.size()) + " " + checksum_of(text)});
  return *this;
}

void Agreement::check(const Communicator& comm) const {
  std::string mine;
  for (const Item& item : items_) {
    append(mine, item.where);
    append(mine, item.value);
  }
  auto all = comm.all_gather(bytes_of_text(mine));
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    if (all[rank] == all[0]) continue;
    std::string first = text_of(all[0]), other = text_of(all[rank]);
    while (!first.empty() && !other.empty()) {
      const std::string where = take(first), where_other = take(other);
      const std::string value = take(first), value_other = take(other);
      if (where != where_other) break;  // not even the same questions
      if (value == value_other) continue;
      const std::string on = " on rank " + std::to_string(rank);
      throw SharedError(
          where,
          "must be the same on all ranks, got " +
              (value[0] == kChecksum ? "other values" : value + " on rank 0 and " + value_other) +
              on);
    }
    throw SharedError("ranks", "all ranks must make the same call, but rank " +
                                   std::to_string(rank) + " makes another one than rank 0");
  }
}

void same_everywhere(const Communicator& comm, std::string where,
                     std::span<const std::byte> bytes) {
  Agreement().add(std::move(where), bytes).check(comm);
}

}  // namespace sextant::ranks
