// Reports errors of one rank to all.
#include "sextant/ranks/agreement.h"

#include <algorithm>

#include "core/numbers/hash.h"
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

// Returns the reason of `work` not to continue; empty: none.
std::string problem_of(const std::function<void()>& work) {
  std::string problem;
  try {
    work();
  } catch (const Error& error) {
    append(problem, error.where());
    append(problem, std::string(error.what()).substr(error.where().size() + 3));  // "[where] "
  } catch (const std::exception& error) {
    append(problem, "ranks");
    append(problem, error.what());
  }
  return problem;
}

[[noreturn]] void throw_problem(const Communicator& comm, const std::string& mine) {
  const auto all = comm.all_gather(bytes_of_text(mine));
  std::size_t rank = 0;
  while (all[rank].empty()) ++rank;  // one has a problem
  std::string parts = text_of(all[rank]);
  const std::string where = take(parts), what = take(parts);
  bool everywhere = true;
  for (const auto& other : all) everywhere = everywhere && other == all[rank];
  throw SharedError(where, what + (everywhere ? "" : ", on rank " + std::to_string(rank)));
}

[[noreturn]] void throw_difference(const Communicator& comm, const std::string& mine) {
  const auto all = comm.all_gather(bytes_of_text(mine));
  std::size_t rank = 1;
  while (all[rank] == all[0]) ++rank;  // one differs
  std::string first = text_of(all[0]), other = text_of(all[rank]);
  while (!first.empty() && !other.empty()) {
    const std::string where = take(first), where_other = take(other);
    const std::string value = take(first), value_other = take(other);
    if (where != where_other) break;  // not even the same questions
    if (value == value_other) continue;
    const std::string on = " on rank " + std::to_string(rank);
    throw SharedError(where, "must be the same on all ranks, got " +
                                 (value[0] == kChecksum ? "other values"
                                                        : value + " on rank 0 and " + value_other) +
                                 on);
  }
  throw SharedError("ranks", "all ranks must make the same call, but rank " + std::to_string(rank) +
                                 " makes another one than rank 0");
}

// The message of a rank in a round: always the same length, so that rounds of different calls match
// and differ.
struct Message {
  std::int64_t failed;
  std::uint64_t hash;
  Agreement::Numbers numbers;
};

}  // namespace

void run_or_fail_on_all(const Communicator& comm, const std::function<void()>& work) {
  Agreement().check(comm, work);
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

Agreement& Agreement::add(const Agreement& more) {
  items_.insert(items_.end(), more.items_.begin(), more.items_.end());
  return *this;
}

void Agreement::check(const Communicator& comm) const {
  check(comm, [] {});
}

std::vector<Agreement::Numbers> Agreement::check(const Communicator& comm,
                                                 const std::function<void()>& work,
                                                 Numbers mine) const {
  const std::string problem = problem_of(work);
  std::string text;
  for (const Item& item : items_) {
    append(text, item.where);
    append(text, item.value);
  }
  const Message own{problem.empty() ? 0 : 1, fnv1a(text), mine};
  std::vector<Message> all(static_cast<std::size_t>(comm.size()));
  comm.all_gather(std::as_bytes(std::span(&own, 1)), std::as_writable_bytes(std::span(all)));
  const auto is = [&](auto condition) { return std::any_of(all.begin(), all.end(), condition); };
  if (is([](const Message& each) { return each.failed != 0; })) throw_problem(comm, problem);
  if (is([&](const Message& each) { return each.hash != all[0].hash; })) {
    throw_difference(comm, text);
  }
  std::vector<Numbers> numbers;
  for (const Message& each : all) numbers.push_back(each.numbers);
  return numbers;
}

void same_everywhere(const Communicator& comm, std::string where,
                     std::span<const std::byte> bytes) {
  Agreement().add(std::move(where), bytes).check(comm);
}

}  // namespace sextant::ranks
