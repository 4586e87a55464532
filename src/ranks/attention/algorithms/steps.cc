// Alternates two buffers: one is used while the other is sent.
#include "ranks/attention/algorithms/steps.h"

#include <algorithm>

namespace sextant::ranks {

template <class T>
Steps<T>::Steps(const Call<T>& call) : call_(call) {
  const int me = call.rank(), size = call.size();
  std::int64_t most_in = 0, most_out = 0;
  for (int t = 1; t < size; ++t) {
    const int from = (me + size - t) % size, to = (me + t) % size;
    std::vector<Slice> in = slices(call, me, from), out = slices(call, to, me);
    for (std::size_t n = 0; n < std::max(in.size(), out.size()); ++n) {
      Step step{.from = from, .to = to, .in = {}, .out = {}};
      if (n < in.size()) step.in = std::move(in[n]);
      if (n < out.size()) step.out = std::move(out[n]);
      most_in = std::max(most_in, step.in.keys);
      most_out = std::max(most_out, step.out.keys);
      steps_.push_back(std::move(step));
    }
  }
  for (Buffers& each : buffers_) {
    each.in = Tensor<std::byte>::uninitialized(Shape{slice_bytes(call, most_in)});
    each.out = Tensor<std::byte>::uninitialized(Shape{slice_bytes(call, most_out)});
  }
}

template <class T>
void Steps<T>::start(std::size_t n) {
  if (n >= steps_.size()) return;
  const Step& step = steps_[n];
  Buffers& room = buffers_[n % 2];
  std::vector<Communicator::Outgoing> sends;
  std::vector<Communicator::Incoming> receives;
  const auto size = [&](const Slice& slice) {
    return static_cast<std::size_t>(slice_bytes(call_, slice.keys));
  };
  if (step.in.keys > 0) receives.push_back({step.from, room.in.span().first(size(step.in))});
  if (step.out.keys > 0) {
    pack(call_, step.out, room.out.data());
    sends.push_back({step.to, std::as_const(room.out).span().first(size(step.out))});
  }
  room.exchange = call_.comm.start(sends, receives);
}

template <class T>
void Steps<T>::begin() {
  start(0);
}

template <class T>
const std::byte* Steps<T>::fetch(std::size_t n) {
  start(n + 1);
  buffers_[n % 2].exchange.finish();
  return buffers_[n % 2].in.data();
}

template class Steps<float>;
template class Steps<double>;
template class Steps<float16>;
template class Steps<bfloat16>;

}  // namespace sextant::ranks
