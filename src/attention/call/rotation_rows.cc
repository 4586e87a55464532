#include "attention/call/rotation_rows.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "attention/call/refuse.h"

namespace sextant::attention_detail {
namespace {

// Rows by a list of positions. Ids mostly come in the order of the list: the row after the last one
// is tried first, and the list is sorted when that first fails.
class ListedRows {
 public:
  explicit ListedRows(std::span<const std::int64_t> positions) : positions_(positions) {}

  // -1: the list lacks it.
  std::int64_t row_of(std::int64_t id) {
    if (next_ < std::ssize(positions_) && at(next_) == id) return next_++;
    if (sorted_.empty()) {
      sorted_.resize(positions_.size());
      std::iota(sorted_.begin(), sorted_.end(), 0);
      std::stable_sort(sorted_.begin(), sorted_.end(),
                       [this](std::int64_t a, std::int64_t b) { return at(a) < at(b); });
    }
    const auto found = std::lower_bound(
        sorted_.begin(), sorted_.end(), id,
        [this](std::int64_t row, std::int64_t wanted) { return at(row) < wanted; });
    if (found == sorted_.end() || at(*found) != id) return -1;
    next_ = *found + 1;
    return *found;
  }
  void begin_again() noexcept { next_ = 0; }

 private:
  std::int64_t at(std::int64_t row) const { return positions_[static_cast<std::size_t>(row)]; }

  std::span<const std::int64_t> positions_;
  std::vector<std::int64_t> sorted_;  // rows by their positions
  std::int64_t next_ = 0;
};

// Rows [batch, length] of a table, filled sequence by sequence.
class Rows {
 public:
  Rows(std::string where, const RotationTable<float>& table, const PositionIds& ids,
       std::int64_t batch, std::int64_t length)
      : where_(std::move(where)), table_(table), ids_(ids), listed_(table.positions) {
    if (is_needed()) rows_ = std::make_shared<Tensor<std::int64_t>>(Shape{batch, length});
  }

  void add(std::int64_t batch, std::int64_t first, std::int64_t count) {
    if (!is_needed()) return;
    const std::int64_t* ids = ids_.at(batch, first);
    listed_.begin_again();
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t row =
          table_.positions.empty() ? ids[i] - table_.first_position : listed_.row_of(ids[i]);
      if (row < 0) {
        throw Error(where_, "must have a row for each position id, got none for " +
                                std::to_string(ids[i]) + " among " +
                                std::to_string(table_.positions.size()) + " listed positions");
      }
      (*rows_)(batch, first + i) = row;
    }
  }

  PositionIds finished() && {
    if (!is_needed()) return ids_;
    return {rows_->data(), rows_->size(1), std::move(rows_)};
  }

 private:
  bool is_needed() const noexcept {
    return !table_.positions.empty() || table_.first_position != 0;
  }

  std::string where_;
  const RotationTable<float>& table_;
  const PositionIds& ids_;
  ListedRows listed_;
  std::shared_ptr<Tensor<std::int64_t>> rows_;
};

}  // namespace

void read_rotation_rows(std::string_view function, AttentionCall& a) {
  const RotationTable<float>& of_queries = *a.rotation;
  const bool two = of_queries.keys != nullptr;
  Rows queries(name_in(function, "rotation"), of_queries, a.query_ids, a.batch, a.q_len);
  Rows keys(name_in(function, two ? "rotation.keys" : "rotation"), of_queries.for_keys(), a.key_ids,
            a.key_batch(), a.k_len);
  const std::int64_t sequences = a.distinct_sequences();
  for (std::int64_t n = 0; n < sequences; ++n) {
    const Sequence at = a.sequence(n);
    if (at.q_len == 0) continue;
    queries.add(at.batch, at.q_begin, at.q_len);
    keys.add(at.k_batch, at.k_begin, at.k_len);
  }
  a.query_rows = std::move(queries).finished();
  a.key_rows = std::move(keys).finished();
}

}  // namespace sextant::attention_detail
