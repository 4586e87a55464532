// Memory of a pass: a stack of blocks, each twice as large as all before, so that few are ever
// made.
#include "sextant/layers/pass.h"

#include <algorithm>
#include <string>

#include "core/arrays/large_pages.h"
#include "sextant/core/error.h"

namespace sextant {
namespace {

constexpr std::size_t kFirstBlock = std::size_t{1} << 20;  // bytes

}  // namespace

std::byte* Workspace::take_bytes(std::size_t count) {
  const std::size_t wanted = (count + kAlignment - 1) / kAlignment * kAlignment;
  while (at_.block < blocks_.size()) {
    Tensor<std::byte>& block = blocks_[at_.block];
    if (wanted <= static_cast<std::size_t>(block.count()) - at_.used) {
      std::byte* piece = block.data() + at_.used;
      at_.used += wanted;
      return piece;
    }
    at_ = {at_.block + 1, 0};
  }
  const std::size_t size = std::max({wanted, kFirstBlock, bytes()});
  blocks_.push_back(Tensor<std::byte>::uninitialized({static_cast<std::int64_t>(size)}));
  ask_for_large_pages(blocks_.back().data(), size);
  at_ = {blocks_.size() - 1, wanted};
  return blocks_.back().data();
}

std::size_t Workspace::bytes() const noexcept {
  std::size_t total = 0;
  for (const auto& block : blocks_) total += static_cast<std::size_t>(block.count());
  return total;
}

template <class T>
View<T> Workspace::take(const Shape& shape) {
  return View<T>(
      reinterpret_cast<T*>(take_bytes(static_cast<std::size_t>(shape.count()) * sizeof(T))), shape);
}

template <class T>
View<T> Workspace::zeros(const Shape& shape) {
  const View<T> piece = take<T>(shape);
  std::fill_n(piece.data(), piece.count(), T{});
  return piece;
}

template View<float> Workspace::take(const Shape&);
template View<double> Workspace::take(const Shape&);
template View<std::int64_t> Workspace::take(const Shape&);
template View<float> Workspace::zeros(const Shape&);
template View<double> Workspace::zeros(const Shape&);
template View<std::int64_t> Workspace::zeros(const Shape&);

}  // namespace sextant
