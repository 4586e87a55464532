// All-to-all by heads.
#include "ranks/attention/heads.h"

#include "ranks/rows.h"
#include "sextant/core/dtype.h"

namespace sextant::ranks {
namespace {

Shape shape_with(const Shape& shape, std::int64_t heads, std::int64_t rows) {
  std::vector<std::int64_t> sizes(shape.begin(), shape.end());
  sizes[1] = heads;
  sizes[2] = rows;
  return Shape(std::span<const std::int64_t>(sizes));
}

// Copies between rows of the whole, by their positions, and a part, one run after the other.
template <class T>
void rows_to_whole(const Layout& layout, int rank, View<const T> part, View<T> whole) {
  std::int64_t row = 0;
  for (const Run& run : layout.runs(rank)) {
    std::vector<std::int64_t> places;
    for (std::int64_t n = 0; n < run.count; ++n) places.push_back(run.begin + n * run.step);
    put_rows<T>(part.narrow(2, row, run.count), places, 2, whole);
    row += run.count;
  }
}
template <class T>
void rows_of_whole(const Layout& layout, int rank, View<const T> whole, View<T> part) {
  std::int64_t row = 0;
  for (const Run& run : layout.runs(rank)) {
    std::vector<std::int64_t> places;
    for (std::int64_t n = 0; n < run.count; ++n) places.push_back(run.begin + n * run.step);
    take_rows<T>(whole, places, 2, part.narrow(2, row, run.count));
    row += run.count;
  }
}

}  // namespace

template <class T>
Tensor<T> to_heads(const Communicator& comm, View<const T> part, const Layout& layout,
                   const HeadShare& share, std::int64_t group) {
  const int me = comm.rank(), size = comm.size();
  const Heads mine = share.of(me);
  auto whole =
      Tensor<T>::uninitialized(shape_with(part.shape(), mine.size() * group, layout.length()));
  std::vector<Tensor<T>> sent, received;
  std::vector<Communicator::Outgoing> sends;
  std::vector<Communicator::Incoming> receives;
  for (int step = 1; step < size; ++step) {
    const int to = (me + step) % size, from = (me + size - step) % size;
    const Heads theirs = share.of(to);
    sent.push_back(copy_of(part.narrow(1, theirs.begin * group, theirs.size() * group)));
    received.push_back(Tensor<T>::uninitialized(
        shape_with(part.shape(), mine.size() * group, layout.count(from))));
    sends.push_back({to, std::as_bytes(std::as_const(sent.back()).span())});
    receives.push_back({from, std::as_writable_bytes(received.back().span())});
  }
  Exchange exchange = comm.start(sends, receives);
  rows_to_whole<T>(layout, me, part.narrow(1, mine.begin * group, mine.size() * group),
                   whole.view());
  exchange.finish();
  for (int step = 1; step < size; ++step) {
    rows_to_whole<T>(layout, (me + size - step) % size,
                     std::as_const(received[static_cast<std::size_t>(step - 1)]).view(),
                     whole.view());
  }
  return whole;
}

template <class T>
void from_heads(const Communicator& comm, View<const T> whole, const Layout& layout,
                const HeadShare& share, std::int64_t group, View<T> part) {
  const int me = comm.rank(), size = comm.size();
  const Heads mine = share.of(me);
  std::vector<Tensor<T>> sent, received;
  std::vector<Communicator::Outgoing> sends;
  std::vector<Communicator::Incoming> receives;
  for (int step = 1; step < size; ++step) {
    const int to = (me + step) % size, from = (me + size - step) % size;
    sent.push_back(
        Tensor<T>::uninitialized(shape_with(part.shape(), mine.size() * group, layout.count(to))));
    rows_of_whole<T>(layout, to, whole, sent.back().view());
    received.push_back(Tensor<T>::uninitialized(
        shape_with(part.shape(), share.of(from).size() * group, part.size(2))));
    sends.push_back({to, std::as_bytes(std::as_const(sent.back()).span())});
    receives.push_back({from, std::as_writable_bytes(received.back().span())});
  }
  Exchange exchange = comm.start(sends, receives);
  rows_of_whole<T>(layout, me, whole, part.narrow(1, mine.begin * group, mine.size() * group));
  exchange.finish();
  for (int step = 1; step < size; ++step) {
    const Heads theirs = share.of((me + size - step) % size);
    copy_view<T>(std::as_const(received[static_cast<std::size_t>(step - 1)]).view(),
                 part.narrow(1, theirs.begin * group, theirs.size() * group));
  }
}

#define SEXTANT_INSTANTIATE(T)                                                                     \
  template Tensor<T> to_heads(const Communicator&, View<const T>, const Layout&, const HeadShare&, \
                              std::int64_t);                                                       \
  template void from_heads(const Communicator&, View<const T>, const Layout&, const HeadShare&,    \
                           std::int64_t, View<T>);
SEXTANT_INSTANTIATE(float)
SEXTANT_INSTANTIATE(double)
SEXTANT_INSTANTIATE(float16)
SEXTANT_INSTANTIATE(bfloat16)
#undef SEXTANT_INSTANTIATE

}  // namespace sextant::ranks
