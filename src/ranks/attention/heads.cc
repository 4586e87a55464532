// All-to-all by heads, and tables of some heads.
#include "ranks/attention/heads.h"

#include "ranks/rows.h"

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

template <class T>
Tensor<T> rows_of_table(const Tensor<T>& table, Heads heads) {
  return copy_of(table.view().narrow(0, heads.begin, heads.size()));
}

RotationTable<float> table_of(const RotationTable<float>& from, Heads heads) {
  RotationTable<float> table;
  const bool by_head = from.cos.rank() == 3;
  table.cos = by_head ? rows_of_table(from.cos, heads) : from.cos.clone();
  table.sin = by_head ? rows_of_table(from.sin, heads) : from.sin.clone();
  table.layout = from.layout;
  table.first_channel = from.first_channel;
  return table;
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

template <class T>
HeadOptions<T>::HeadOptions(const ranks::Call<T>& call, Heads heads) : options(call.options) {
  const std::int64_t group = call.group();
  queries = {heads.begin * group, heads.end * group};
  options.scale = call.all.scale;
  const auto take_mask = [&](const auto& mask, auto& whole) {
    using M = std::remove_cvref_t<decltype(whole)>;
    using Element = std::remove_cvref_t<decltype(*whole.data())>;
    View<const Element> own = mask;
    const int rows = mask.rank() - 2, by_head = mask.rank() - 3;
    if (rows >= 0 && call.q_layout.length() != 1 && mask.size(rows) != 1) {
      whole = gather<Element>(call.comm, mask, call.q_layout, rows);
      own = std::as_const(whole).view();
    } else if (rows >= 0 && call.q_layout.length() == 1) {
      whole = M();
    }
    if (by_head >= 0 && own.size(by_head) != 1) {
      own = own.narrow(by_head, queries.begin, queries.size());
    }
    options.mask = own;
  };
  if (const auto* mask = std::get_if<BoolMask>(&call.options.mask)) {
    take_mask(BoolMask(*mask), bool_mask_);
  } else if (const auto* floats = std::get_if<FloatMask<T>>(&call.options.mask)) {
    take_mask(FloatMask<T>(*floats), float_mask_);
  }
  if (heads.size() == 0) return;
  const auto first = static_cast<std::size_t>(queries.begin);
  const auto count = static_cast<std::size_t>(queries.size());
  if (!options.sinks.empty()) options.sinks = options.sinks.subspan(first, count);
  if (const DistanceBias* from = call.options.bias) {
    bias_.origin = from->origin;
    if (from->has_table()) {
      bias_.values =
          from->values.size(0) == 1 ? from->values.clone() : rows_of_table(from->values, queries);
    }
    if (!from->slopes.empty()) {
      const auto begin = from->slopes.begin() + queries.begin;
      bias_.slopes.assign(begin, begin + queries.size());
    }
    options.bias = &bias_;
  }
  const RotationTable<float>* rotation = call.options.rotation;
  if (rotation != nullptr &&
      (rotation->cos.rank() == 3 || (rotation->keys && rotation->keys->cos.rank() == 3))) {
    rotation_ = table_of(*rotation, queries);
    if (rotation->keys) {
      rotation_.keys =
          std::make_shared<const RotationTable<float>>(table_of(*rotation->keys, heads));
    }
    options.rotation = &rotation_;
  }
  if (call.options.indexed != nullptr) {
    indexed_.inner = call.options.indexed;
    indexed_.head_shift = queries.begin;
    options.indexed = &indexed_;
  }
  if (call.options.content != nullptr) {
    options.content =
        &content_.emplace(*call.options.content, ShiftedContent::Place{.head = queries.begin});
  }
}

#define SEXTANT_INSTANTIATE(T)                                                                     \
  template Tensor<T> to_heads(const Communicator&, View<const T>, const Layout&, const HeadShare&, \
                              std::int64_t);                                                       \
  template void from_heads(const Communicator&, View<const T>, const Layout&, const HeadShare&,    \
                           std::int64_t, View<T>);                                                 \
  template struct HeadOptions<T>;
SEXTANT_INSTANTIATE(float)
SEXTANT_INSTANTIATE(double)
SEXTANT_INSTANTIATE(float16)
SEXTANT_INSTANTIATE(bfloat16)
#undef SEXTANT_INSTANTIATE

}  // namespace sextant::ranks
