// One function for all tasks without a file.
#include "sextant/training/tasks/built_in_data.h"

#include <functional>
#include <string>

#include "sextant/core/error.h"
#include "sextant/training/tasks/dates.h"
#include "sextant/training/tasks/letters.h"

namespace sextant {
namespace {

constexpr LetterTask kLetterTasks[] = {LetterTask::copy, LetterTask::reverse, LetterTask::sort};

// draw(held_out, count, seed): each purpose has its own seed.
BuiltInData drawn(std::uint64_t seed,
                  const std::function<SentencePairs(bool, std::int64_t, std::uint32_t)>& draw) {
  const auto stream = [seed](std::uint64_t i) { return static_cast<std::uint32_t>(3 * seed + i); };
  return {draw(false, 20000, stream(0)), draw(true, 500, stream(1)), draw(true, 1000, stream(2))};
}

}  // namespace

bool is_built_in(std::string_view task) noexcept {
  if (task == "dates") return true;
  for (const LetterTask each : kLetterTasks) {
    if (task == name_of(each)) return true;
  }
  return false;
}

BuiltInData built_in_data(std::string_view task, std::uint64_t seed) {
  if (task == "dates") {
    return drawn(seed, [](bool held_out, std::int64_t count, std::uint32_t stream) {
      return date_pairs({.count = count,
                         .set = held_out ? DateSet::held_out : DateSet::training,
                         .seed = stream});
    });
  }
  for (const LetterTask each : kLetterTasks) {
    if (task != name_of(each)) continue;
    return drawn(seed, [each](bool held_out, std::int64_t count, std::uint32_t stream) {
      return letter_pairs({.task = each, .count = count, .held_out = held_out, .seed = stream});
    });
  }
  throw Error("built_in_data.task",
              "must be dates, copy, reverse or sort, got '" + std::string(task) + "'");
}

}  // namespace sextant
