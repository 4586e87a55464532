// Rows that change ranks.
#include <algorithm>
#include <string>

#include "ranks/rows.h"
#include "sextant/core/dtype.h"
#include "sextant/ranks/agreement.h"
#include "sextant/ranks/division.h"

namespace sextant::ranks {
namespace {

Shape with_rows(const Shape& shape, int axis, std::int64_t rows) {
  std::vector<std::int64_t> sizes(shape.begin(), shape.end());
  sizes[static_cast<std::size_t>(axis)] = rows;
  return Shape(std::span<const std::int64_t>(sizes));
}

// Of the positions that a rank holds, those that `other` gives to rank `to`, as rows of the part.
std::vector<std::int64_t> rows_for(const Layout& layout, int rank, const Layout& other, int to) {
  std::vector<std::int64_t> rows;
  std::int64_t row = 0;
  for (const Run& run : layout.runs(rank)) {
    for (std::int64_t n = 0; n < run.count; ++n, ++row) {
      if (other.rank_of(run.begin + n * run.step) == to) rows.push_back(row);
    }
  }
  return rows;
}

// The same positions as rows of the part that `other` makes of them, in the order of rows_for().
std::vector<std::int64_t> rows_from(const Layout& layout, int from, const Layout& other, int rank) {
  std::vector<std::int64_t> rows;
  for (const Run& run : layout.runs(from)) {
    for (std::int64_t n = 0; n < run.count; ++n) {
      const std::int64_t position = run.begin + n * run.step;
      if (other.rank_of(position) == rank) rows.push_back(other.index_of(position));
    }
  }
  return rows;
}

template <class T>
void check_part(const Communicator& comm, View<const T> part, const Layout& layout, int axis) {
  together(comm, [&] {
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
Tensor<T> redistribute(const Communicator& comm, View<const T> part, const Layout& from,
                       const Layout& to, int axis) {
  check_part(comm, part, from, axis);
  if (from.length() != to.length() || to.ranks() != comm.size()) {
    throw Error("ranks.to", "must divide the same length among the same ranks");
  }
  const int me = comm.rank();
  auto result = Tensor<T>::uninitialized(with_rows(part.shape(), axis, to.count(me)));
  std::vector<Tensor<T>> sent, received;
  std::vector<std::vector<std::int64_t>> places;
  std::vector<Communicator::Outgoing> sends;
  std::vector<Communicator::Incoming> receives;
  for (int step = 0; step < comm.size(); ++step) {
    const int target = (me + step) % comm.size(), source = (me + comm.size() - step) % comm.size();
    const auto rows = rows_for(from, me, to, target);
    sent.push_back(Tensor<T>::uninitialized(
        with_rows(part.shape(), axis, static_cast<std::int64_t>(rows.size()))));
    take_rows<T>(part, rows, axis, sent.back().view());
    places.push_back(rows_from(from, source, to, me));
    if (step == 0) {
      put_rows<T>(std::as_const(sent.back()).view(), places.back(), axis, result.view());
      received.emplace_back();
      continue;
    }
    received.push_back(Tensor<T>::uninitialized(
        with_rows(part.shape(), axis, static_cast<std::int64_t>(places.back().size()))));
    sends.push_back({target, std::as_bytes(std::as_const(sent.back()).span())});
    receives.push_back({source, std::as_writable_bytes(received.back().span())});
  }
  comm.start(sends, receives).finish();
  for (std::size_t step = 1; step < received.size(); ++step) {
    put_rows<T>(std::as_const(received[step]).view(), places[step], axis, result.view());
  }
  return result;
}

template <class T>
Tensor<T> part_of(View<const T> whole, const Layout& layout, int rank, int axis) {
  std::vector<std::int64_t> rows;
  for (const Run& run : layout.runs(rank)) {
    for (std::int64_t n = 0; n < run.count; ++n) rows.push_back(run.begin + n * run.step);
  }
  auto part = Tensor<T>::uninitialized(with_rows(whole.shape(), axis, layout.count(rank)));
  take_rows<T>(whole, rows, axis, part.view());
  return part;
}

template <class T>
Tensor<T> gather(const Communicator& comm, View<const T> part, const Layout& from, int axis) {
  check_part(comm, part, from, axis);
  const Tensor<T> mine = copy_of(part);
  auto whole = Tensor<T>::uninitialized(with_rows(part.shape(), axis, from.length()));
  std::vector<Tensor<T>> parts;
  std::vector<Communicator::Outgoing> sends;
  std::vector<Communicator::Incoming> receives;
  for (int step = 1; step < comm.size(); ++step) {
    const int target = (comm.rank() + step) % comm.size();
    const int source = (comm.rank() + comm.size() - step) % comm.size();
    parts.push_back(Tensor<T>::uninitialized(with_rows(part.shape(), axis, from.count(source))));
    sends.push_back({target, std::as_bytes(mine.span())});
    receives.push_back({source, std::as_writable_bytes(parts.back().span())});
  }
  Exchange exchange = comm.start(sends, receives);
  const auto put = [&](View<const T> rows, int rank) {
    std::int64_t at = 0;
    for (const Run& run : from.runs(rank)) {
      std::vector<std::int64_t> places;
      for (std::int64_t n = 0; n < run.count; ++n) places.push_back(run.begin + n * run.step);
      put_rows<T>(rows.narrow(axis, at, run.count), places, axis, whole.view());
      at += run.count;
    }
  };
  put(mine.view(), comm.rank());
  exchange.finish();
  for (int step = 1; step < comm.size(); ++step) {
    put(std::as_const(parts[static_cast<std::size_t>(step - 1)]).view(),
        (comm.rank() + comm.size() - step) % comm.size());
  }
  return whole;
}

#define SEXTANT_INSTANTIATE(T)                                                       \
  template Tensor<T> redistribute(const Communicator&, View<const T>, const Layout&, \
                                  const Layout&, int);                               \
  template Tensor<T> gather(const Communicator&, View<const T>, const Layout&, int); \
  template Tensor<T> part_of(View<const T>, const Layout&, int, int);
SEXTANT_INSTANTIATE(float)
SEXTANT_INSTANTIATE(double)
SEXTANT_INSTANTIATE(float16)
SEXTANT_INSTANTIATE(bfloat16)
SEXTANT_INSTANTIATE(std::int64_t)
SEXTANT_INSTANTIATE(std::int32_t)
SEXTANT_INSTANTIATE(bool)
#undef SEXTANT_INSTANTIATE

}  // namespace sextant::ranks
