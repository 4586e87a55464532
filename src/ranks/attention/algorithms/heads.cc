// All-to-all by heads.
#include "ranks/attention/algorithms/heads.h"

#include "core/arrays/each_dtype.h"
#include "ranks/rows.h"
#include "sextant/core/dtype.h"

namespace sextant::ranks {
namespace {

Shape shape_with(const Shape& shape, std::int64_t heads, std::int64_t rows) {
  return with_size(with_size(shape, 1, heads), 2, rows);
}

}  // namespace

template <class T>
Tensor<T> to_heads(const Communicator& comm, View<const T> part, const ShardLayout& layout,
                   const HeadShare& share, std::int64_t group) {
  const std::int64_t mine = share.of(comm.rank()).size() * group;
  std::vector<Tensor<T>> out, in;
  for (int r = 0; r < comm.size(); ++r) {
    const Heads theirs = share.of(r);
    out.push_back(copy_of(part.narrow(1, theirs.begin * group, theirs.size() * group)));
    in.push_back(Tensor<T>::uninitialized(shape_with(part.shape(), mine, layout.count(r))));
  }
  exchange(comm, out, in);
  auto whole = Tensor<T>::uninitialized(shape_with(part.shape(), mine, layout.length()));
  for (int r = 0; r < comm.size(); ++r) {
    put_rows<T>(std::as_const(in[static_cast<std::size_t>(r)]).view(), positions_of(layout, r), 2,
                whole.view());
  }
  return whole;
}

template <class T>
void from_heads(const Communicator& comm, View<const T> whole, const ShardLayout& layout,
                const HeadShare& share, std::int64_t group, View<T> part) {
  const std::int64_t mine = share.of(comm.rank()).size() * group;
  std::vector<Tensor<T>> out, in;
  for (int r = 0; r < comm.size(); ++r) {
    out.push_back(Tensor<T>::uninitialized(shape_with(part.shape(), mine, layout.count(r))));
    take_rows<T>(whole, positions_of(layout, r), 2, out.back().view());
    in.push_back(Tensor<T>::uninitialized(
        shape_with(part.shape(), share.of(r).size() * group, part.size(2))));
  }
  exchange(comm, out, in);
  for (int r = 0; r < comm.size(); ++r) {
    const Heads theirs = share.of(r);
    copy_view<T>(std::as_const(in[static_cast<std::size_t>(r)]).view(),
                 part.narrow(1, theirs.begin * group, theirs.size() * group));
  }
}

#define SEXTANT_INSTANTIATE(T)                                                        \
  template Tensor<T> to_heads(const Communicator&, View<const T>, const ShardLayout&, \
                              const HeadShare&, std::int64_t);                        \
  template void from_heads(const Communicator&, View<const T>, const ShardLayout&,    \
                           const HeadShare&, std::int64_t, View<T>);
SEXTANT_FOR_EACH_FLOATING(SEXTANT_INSTANTIATE)
#undef SEXTANT_INSTANTIATE

}  // namespace sextant::ranks
