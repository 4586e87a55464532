// Buckets from the end of the parameters to their beginning.
#include "training/gradients/gradient_sum.h"

#include <algorithm>
#include <utility>

namespace sextant {

GradientSum::GradientSum(const Parameters<float>& gradients, std::int64_t parts,
                         TrainingGroup* group, std::int64_t bucket) {
  const auto [first_part, last_part] = group == nullptr
                                           ? std::pair{std::int64_t{0}, parts}
                                           : parts_of_rank(parts, group->rank(), group->size());
  last_part_ = last_part;
  for (const auto& each : gradients) data_.push_back(each.tensor->data());
  for (std::size_t end = gradients.size(); end > 0;) {
    std::size_t first = end;
    std::int64_t numbers = 0;
    while (first > 0 && numbers < bucket) numbers += gradients[--first].tensor->count();
    Parameters<float> those(gradients.begin() + static_cast<std::ptrdiff_t>(first),
                            gradients.begin() + static_cast<std::ptrdiff_t>(end));
    buckets_.push_back({GradientBucket(std::move(those), parts, group), first, first_part});
    end = first;
  }
  if (first_part == last_part) close();  // nothing to make here: others wait for its messages
}

void GradientSum::ready(std::int64_t part, const void* first) {
  const auto known = std::ranges::find(data_, first);
  const auto from =
      first == nullptr ? 0 : static_cast<std::size_t>(known - data_.begin());  // none: nothing
  for (Bucket& bucket : buckets_) {
    if (bucket.first < from) break;
    if (bucket.next_part != part) continue;
    bucket.sum.take(part);
    if (++bucket.next_part < last_part_) continue;
    bucket.sum.start();
    bucket.started = true;
  }
  advance();
}

void GradientSum::close() {
  for (Bucket& bucket : buckets_) {
    while (bucket.next_part < last_part_) bucket.sum.take(bucket.next_part++);
    if (!std::exchange(bucket.started, true)) bucket.sum.start();
  }
}

void GradientSum::advance() {
  for (Bucket& bucket : buckets_) {
    if (!bucket.started || !bucket.sum.advance()) return;
  }
}

void GradientSum::finish() {
  for (Bucket& bucket : buckets_) bucket.sum.add_up();
  for (Bucket& bucket : buckets_) bucket.sum.finish();
}

}  // namespace sextant
