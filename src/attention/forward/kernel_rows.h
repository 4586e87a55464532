// Arrays and rotation tables as kernels take them.
#pragma once

#include <cstdint>

#include "attention/call/arguments.h"
#include "kernels/rotate/rotate_rows.h"
#include "kernels/simd/stored_rows.h"

namespace sextant::attention_detail {

// Row `row` of a head and those after it, to be read or written.
template <class Rows, class Void>
Rows rows_from(const BasicAnyView<Void>& x, std::int64_t batch, std::int64_t head,
               std::int64_t row) {
  return {x.row(batch, head, row).data, x.stride(2), x.stride(3), storage_of(x.dtype())};
}

// The rows of one head of a sequence, from its query `first` on.
inline kernels::StoredRows query_rows(const AnyView& x, const Sequence& at, std::int64_t head,
                                      std::int64_t first) {
  return rows_from<kernels::StoredRows>(x, at.batch, head, at.q_begin + first);
}

// The same for results, of keys from key 0 on.
inline kernels::StoredOutput query_output(const AnyOutput& x, const Sequence& at, std::int64_t head,
                                          std::int64_t first) {
  return rows_from<kernels::StoredOutput>(x, at.batch, head, at.q_begin + first);
}
inline kernels::StoredOutput key_output(const AnyOutput& x, const Sequence& at,
                                        std::int64_t key_head) {
  return rows_from<kernels::StoredOutput>(x, at.batch, key_head, at.k_begin);
}

// The rows of a head in a table, which heads may share.
inline kernels::RotationRows rotation_rows(const RotationTable<float>& table, std::int64_t head) {
  const int last = table.cos.rank() - 1;
  const std::int64_t pairs = table.cos.size(last);
  const std::int64_t begin = last == 2 ? head * table.cos.size(1) * pairs : 0;
  return {.cos = table.cos.data() + begin,
          .sin = table.sin.data() + begin,
          .stride = pairs,
          .pairs = pairs,
          .first_channel = table.first_channel,
          .interleaved = table.layout == RotaryLayout::interleaved};
}

// The rotation of the queries of a head, from query 0 of the sequence on, and of the keys of a key
// head; cos null: none.
inline kernels::RotationRows query_rotation(const AttentionCall& a, const Sequence& at,
                                            std::int64_t head) {
  if (a.rotation == nullptr) return {};
  kernels::RotationRows rows = rotation_rows(*a.rotation, head);
  if (!a.by_ids) return rows.from(a.diagonal_key(at, 0));
  rows.row_indices = a.query_rows.at(at.batch, at.q_begin);
  return rows;
}
inline kernels::RotationRows key_rotation(const AttentionCall& a, const Sequence& at,
                                          std::int64_t key_head) {
  if (a.rotation == nullptr) return {};
  kernels::RotationRows rows = rotation_rows(a.rotation->for_keys(), key_head);
  if (a.by_ids) rows.row_indices = a.key_rows.at(at.k_batch, at.k_begin);
  return rows;
}

}  // namespace sextant::attention_detail
