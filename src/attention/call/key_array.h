// Keys or values of a call: an array, or the pages of a KV cache.
#pragma once

#include <cstdint>

#include "attention/cache/pages.h"
#include "attention/call/sequence.h"
#include "core/arrays/any_view.h"
#include "kernels/simd/stored_rows.h"

namespace sextant::attention_detail {

inline kernels::Storage storage_of(DType dtype) {
  return dtype == DType::float32   ? kernels::Storage::float32
         : dtype == DType::float16 ? kernels::Storage::float16
         : dtype == DType::int8    ? kernels::Storage::int8
                                   : kernels::Storage::bfloat16;
}

class KeyArray {
 public:
  KeyArray() = default;
  // [batch, kv_heads, k_len, channels], any strides.
  KeyArray(const AnyView& view) : view_(view), dtype_(view.dtype()) {}
  template <class T>
  KeyArray(const View<T>& view) : KeyArray(AnyView(view)) {}
  // The keys or the values of a cache: those of sequence s are in the pages lists[s], of the heads
  // one after the other from `offset` on. `page` has the shape of the array, and the strides of the
  // rows in a page, in elements of `dtype`.
  KeyArray(const AnyView& page, DType dtype, const PageList* lists, std::int64_t page_size,
           std::int64_t offset)
      : view_(page), dtype_(dtype), lists_(lists), page_size_(page_size), offset_(offset) {}

  bool is_paged() const noexcept { return lists_ != nullptr; }
  // The array; of pages only shape and strides.
  const AnyView& view() const noexcept { return view_; }
  const Shape& shape() const noexcept { return view_.shape(); }
  DType dtype() const noexcept { return dtype_; }
  std::int64_t size(int axis) const noexcept { return view_.size(axis); }
  std::int64_t stride(int axis) const noexcept { return view_.stride(axis); }

  // Row `key` of a sequence.
  AnyRow<const void> row(const Sequence& at, std::int64_t head, std::int64_t key) const noexcept {
    if (!is_paged()) return view_.row(at.batch, head, at.k_begin + key);
    const void* data = rows(at, head).from(key).data;
    const bool scaled = dtype_ == DType::int8;
    return {data, view_.stride(3), view_.size(3), dtype_,
            scaled ? kernels::row_scale(static_cast<const std::int8_t*>(data)) : 1};
  }
  // The rows of a sequence, from its first key on.
  kernels::KeyRows rows(const Sequence& at, std::int64_t head) const noexcept {
    kernels::KeyRows rows{};
    rows.row_stride = view_.stride(2);
    rows.channel_stride = view_.stride(3);
    rows.storage = storage_of(dtype_);
    if (!is_paged()) {
      rows.data = view_.row(at.batch, head, at.k_begin).data;
      return rows;
    }
    rows.pages = lists_[at.number].data();
    rows.page_rows = page_size_;
    rows.page_offset = offset_ + head * page_size_ * view_.stride(2) *
                                     static_cast<std::int64_t>(dtype_size(dtype_));
    return rows;
  }

 private:
  AnyView view_{};
  DType dtype_ = DType::float32;
  const PageList* lists_ = nullptr;  // [sequences]; null: the array is in one piece
  std::int64_t page_size_ = 0, offset_ = 0;
};

}  // namespace sextant::attention_detail
