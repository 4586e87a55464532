// Runs the ring backwards: slices of keys and values arrive, gradients of the queries stay, and
// those of a slice return to its rank while the next slice is used.
#include "ranks/attention/algorithms/algorithms.h"
#include "ranks/attention/algorithms/steps.h"
#include "ranks/attention/block_gradients.h"

namespace sextant::ranks {
namespace {

constexpr int kBackTag = 1;

std::span<const std::byte> bytes_of(const Tensor<float>& numbers) {
  return std::as_bytes(numbers.span());
}

template <class T>
void go_round(const Call<T>& call, BlockGradients<T>& own) {
  Steps<T> steps(call);
  steps.begin();
  for (const Slice& slice : slices(call, call.rank(), call.rank())) {
    auto bytes = Tensor<std::byte>::uninitialized(Shape{slice_bytes(call, slice.keys)});
    pack(call, slice, bytes.data());
    own.take(slice, own.work_on(slice, bytes.data()));
  }
  using OfKeys = typename BlockGradients<T>::OfKeys;
  OfKeys sent[2], received[2];
  Exchange exchanges[2];
  const auto finish = [&](std::size_t n) {
    exchanges[n % 2].finish();
    own.take(steps[n].out, received[n % 2]);
  };
  for (std::size_t n = 0; n < steps.count(); ++n) {
    const std::byte* bytes = steps.fetch(n);
    const auto& step = steps[n];
    if (step.in.keys > 0) sent[n % 2] = own.work_on(step.in, bytes);
    if (n > 0) finish(n - 1);
    received[n % 2] = OfKeys(call, step.out.keys);
    std::vector<Communicator::Outgoing> sends;
    std::vector<Communicator::Incoming> receives;
    if (step.in.keys > 0) sends.push_back({step.from, bytes_of(sent[n % 2].k), kBackTag});
    if (step.in.keys > 0) sends.push_back({step.from, bytes_of(sent[n % 2].v), kBackTag});
    if (step.out.keys > 0) {
      for (Tensor<float>* each : {&received[n % 2].k, &received[n % 2].v}) {
        receives.push_back({step.to, std::as_writable_bytes(each->span()), kBackTag});
      }
    }
    exchanges[n % 2] = call.comm.start(sends, receives);
  }
  if (steps.count() > 0) finish(steps.count() - 1);
}

}  // namespace

template <class T>
bool ring_backward(const BackwardCall<T>& b) {
  BlockGradients<T> own(b);
  const auto everywhere = [&](bool finite) {
    return b.call.comm.largest(std::int64_t{!finite}) == 0;
  };
  if (!everywhere(own.is_finite())) return false;
  go_round(b.call, own);
  if (!everywhere(own.results_are_finite())) return false;
  own.give();
  return true;
}

template bool ring_backward(const BackwardCall<float>&);
template bool ring_backward(const BackwardCall<float16>&);
template bool ring_backward(const BackwardCall<bfloat16>&);

}  // namespace sextant::ranks
