// Implements the tables of a pass: finds the table of a sequence and applies it.
#include "sextant/layers/position_tables.h"

#include <algorithm>
#include <string>
#include <utility>

#include "layers/sequence_pieces.h"
#include "sextant/core/error.h"
#include "sextant/core/parallel.h"
#include "sextant/layers/position_module.h"

namespace sextant {
namespace {

template <class T>
void add(const T* from, std::int64_t count, T* to) {
  for (std::int64_t i = 0; i < count; ++i) to[i] += from[i];
}

}  // namespace

template <class T>
TableKey PositionTables<T>::table_key(std::int64_t length) const {
  const auto known = keys_.find(length);
  return known != keys_.end() ? known->second : positions_->table_key(length);
}

template <class T>
bool PositionTables<T>::has(std::int64_t length) const {
  const auto found = tables_.find(table_key(length));
  return found != tables_.end() && found->second->length >= length;
}

template <class T>
const typename PositionTables<T>::Tables& PositionTables<T>::tables_of(std::int64_t length) const {
  const auto found = tables_.find(table_key(length));
  if (found == tables_.end() || found->second->length < length) {
    throw Error("positions.length", "must be one that has tables, got a sequence of " +
                                        std::to_string(length) + " tokens");
  }
  return *found->second;
}

template <class T>
std::vector<typename PositionTables<T>::Run> PositionTables<T>::runs(
    std::span<const std::int64_t> segments, std::span<const std::int64_t> key_segments) const {
  std::vector<Run> runs;
  TableKey last;
  for (std::size_t s = 0; s + 1 < segments.size(); ++s) {
    const std::int64_t length =
        std::max(segments[s + 1] - segments[s], key_segments[s + 1] - key_segments[s]);
    TableKey key = table_key(length);
    if (runs.empty() || key != last) {
      runs.push_back({s, s + 1, length});
    } else {
      runs.back().last = s + 1;
      runs.back().length = std::max(runs.back().length, length);
    }
    last = std::move(key);
  }
  return runs;
}

template <class T>
void PositionTables<T>::add_row(std::int64_t position, std::int64_t length, T* x) const {
  if (!positions_->has(SchemeKind::added)) return;
  const Tensor<T>& rows = *tables_of(length).applied[0].added;
  add(&rows(position, 0), rows.size(1), x);
}

template <class T>
void PositionTables<T>::add_to(View<T> x, std::span<const std::int64_t> segments,
                               std::span<const RowRange> rows, const Pass& pass) const {
  if (!positions_->has(SchemeKind::added)) return;
  const auto pieces = layers::sequence_pieces(segments, rows);
  parallel_for(static_cast<std::int64_t>(pieces.size()), pass.threads, [&](std::int64_t i) {
    const auto& [length, position, row, count] = pieces[static_cast<std::size_t>(i)];
    const Tensor<T>& table = *tables_of(length).applied[0].added;
    const std::int64_t width = table.size(1);
    add(table.data() + position * width, count * width, x.data() + row * width);
  });
}

template <class T>
void PositionTables<T>::set(AttentionOptions<T>& options, std::int64_t length,
                            std::size_t kind) const {
  tables_of(length).applied.at(kind).set(options);
}

template class PositionTables<float>;
template class PositionTables<double>;

}  // namespace sextant
