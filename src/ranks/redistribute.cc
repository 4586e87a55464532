// Rows that change ranks.
#include <algorithm>
#include <string>

#include "core/arrays/each_dtype.h"
#include "ranks/rows.h"
#include "sextant/core/dtype.h"
#include "sextant/ranks/agreement.h"
#include "sextant/ranks/sharding.h"

namespace sextant::ranks {
namespace {

template <class T>
void check_part(const Communicator& comm, View<const T> part, const ShardLayout& layout, int axis) {
  run_or_fail_on_all(comm, [&] {
    if (axis < 0 || axis >= part.rank()) {
      throw Error("ranks.axis", "must be an axis of " + part.shape().to_string() + ", got " +
                                    std::to_string(axis));
    }
    const std::int64_t wanted = layout.count(comm.rank());
    if (layout.ranks() != comm.size() || part.size(axis) != wanted) {
      throw Error("ranks.part", "must have " + std::to_string(wanted) + " rows along axis " +
                                    std::to_string(axis) + ", got " + part.shape().to_string());
    }
  });
}

}  // namespace

template <class T>
Tensor<T> redistribute(const Communicator& comm, View<const T> part, const ShardLayout& from,
                       const ShardLayout& to, int axis) {
  check_part(comm, part, from, axis);
  if (from.length() != to.length() || to.ranks() != comm.size()) {
    throw Error("ranks.to", "must divide the same length among the same ranks");
  }
  const int me = comm.rank();
  std::vector<Tensor<T>> out, in;
  std::vector<std::vector<std::int64_t>> places;  // of the rows that come from each rank
  for (int r = 0; r < comm.size(); ++r) {
    std::vector<std::int64_t> rows, at;
    std::int64_t row = 0;
    for (const std::int64_t position : positions_of(from, me)) {
      if (to.rank_of(position) == r) rows.push_back(row);
      ++row;
    }
    for (const std::int64_t position : positions_of(from, r)) {
      if (to.rank_of(position) == me) at.push_back(to.index_of(position));
    }
    out.push_back(Tensor<T>::uninitialized(with_size(part.shape(), axis, std::ssize(rows))));
    take_rows<T>(part, rows, axis, out.back().view());
    in.push_back(Tensor<T>::uninitialized(with_size(part.shape(), axis, std::ssize(at))));
    places.push_back(std::move(at));
  }
  exchange(comm, out, in);
  auto result = Tensor<T>::uninitialized(with_size(part.shape(), axis, to.count(me)));
  for (std::size_t r = 0; r < in.size(); ++r) {
    put_rows<T>(std::as_const(in[r]).view(), places[r], axis, result.view());
  }
  return result;
}

template <class T>
Tensor<T> shard_of(View<const T> whole, const ShardLayout& layout, int rank, int axis) {
  auto part = Tensor<T>::uninitialized(with_size(whole.shape(), axis, layout.count(rank)));
  take_rows<T>(whole, positions_of(layout, rank), axis, part.view());
  return part;
}

template <class T>
Tensor<T> gather(const Communicator& comm, View<const T> part, const ShardLayout& from, int axis) {
  check_part(comm, part, from, axis);
  const Tensor<T> mine = copy_of(part);
  std::vector<Tensor<T>> parts;
  std::vector<std::span<std::byte>> in;
  for (int r = 0; r < comm.size(); ++r) {
    parts.push_back(Tensor<T>::uninitialized(with_size(part.shape(), axis, from.count(r))));
    in.push_back(std::as_writable_bytes(parts.back().span()));
  }
  comm.exchange(std::vector(in.size(), std::as_bytes(mine.span())), in);
  auto whole = Tensor<T>::uninitialized(with_size(part.shape(), axis, from.length()));
  for (int r = 0; r < comm.size(); ++r) {
    put_rows<T>(std::as_const(parts[static_cast<std::size_t>(r)]).view(), positions_of(from, r),
                axis, whole.view());
  }
  return whole;
}

#define SEXTANT_INSTANTIATE(T)                                                            \
  template Tensor<T> redistribute(const Communicator&, View<const T>, const ShardLayout&, \
                                  const ShardLayout&, int);                               \
  template Tensor<T> gather(const Communicator&, View<const T>, const ShardLayout&, int); \
  template Tensor<T> shard_of(View<const T>, const ShardLayout&, int, int);
SEXTANT_FOR_EACH_FLOATING(SEXTANT_INSTANTIATE)
SEXTANT_INSTANTIATE(std::int64_t)
SEXTANT_INSTANTIATE(std::int32_t)
SEXTANT_INSTANTIATE(bool)
#undef SEXTANT_INSTANTIATE

}  // namespace sextant::ranks
