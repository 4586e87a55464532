// The memory of a KV cache: pages of a fixed number of positions of one sequence, which sequences
// and caches share until they write.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace sextant::attention_detail {

// Where a page has its numbers: keys [kv_heads, page_size, head_dim], then values [kv_heads,
// page_size, v_dim], in elements of `element` bytes; `row_head` bytes come before those of a row.
struct PageLayout {
  std::int64_t kv_heads = 1, head_dim = 1, v_dim = 0, page_size = 0, element = 4, row_head = 0;

  std::int64_t row_bytes(std::int64_t channels) const noexcept {
    return row_head + channels * element;
  }
  // Bytes from the address of a page to the first number of a head.
  std::int64_t key_offset(std::int64_t head) const noexcept {
    return kLine + head * page_size * row_bytes(head_dim) + row_head;
  }
  std::int64_t value_offset(std::int64_t head) const noexcept {
    const std::int64_t keys = kv_heads * page_size * row_bytes(head_dim);
    return kLine + (keys + kLine - 1) / kLine * kLine + head * page_size * row_bytes(v_dim) +
           row_head;
  }
  std::int64_t bytes() const noexcept { return value_offset(kv_heads) - row_head; }
  // Those of the rows alone.
  std::int64_t stored_bytes() const noexcept {
    return kv_heads * page_size * (row_bytes(head_dim) + row_bytes(v_dim));
  }
  std::int64_t pages(std::int64_t length) const noexcept {
    return (length + page_size - 1) / page_size;
  }

  static constexpr std::int64_t kLine = 64;  // the first line of a page counts its owners
};

// The pages of one sequence. A copy shares them. Each page counts its lists, so that lists which
// share pages can be used and destroyed on different threads; one list is used by one thread at a
// time, or by any number that only read.
class PageList {
 public:
  PageList() = default;
  PageList(const PageList& other);
  PageList(PageList&& other) noexcept : pages_(std::move(other.pages_)) { other.pages_.clear(); }
  PageList& operator=(PageList other) noexcept {
    pages_.swap(other.pages_);
    return *this;
  }
  ~PageList();

  const std::byte* const* data() const noexcept { return pages_.data(); }
  std::int64_t size() const noexcept { return static_cast<std::int64_t>(pages_.size()); }
  bool is_shared() const noexcept;  // whether another list has one of the pages
  // The address of the numbers at `offset` of a page, which the caller owns alone if it writes.
  std::byte* at(std::int64_t page, std::int64_t offset) const noexcept {
    return pages_[static_cast<std::size_t>(page)] + offset;
  }

  // Makes room for `count` positions after `length`, in pages that no other list has: the page of
  // an incomplete end is copied if it is shared. Throws Error without memory; then nothing changes.
  void extend(const PageLayout& layout, std::int64_t length, std::int64_t count);
  // Releases the pages that hold none of the first `length` positions.
  void truncate(const PageLayout& layout, std::int64_t length) noexcept;
  // Copies the shared ones of the pages that hold positions [begin, end).
  void own(const PageLayout& layout, std::int64_t begin, std::int64_t end);
  // Adds positions [first, first + count) of `from` after `length`. Whole pages are shared where
  // both begin a page, else the positions are copied.
  void take(const PageLayout& layout, std::int64_t length, const PageList& from, std::int64_t first,
            std::int64_t count);

 private:
  void own_page(const PageLayout& layout, std::int64_t page);

  std::vector<std::byte*> pages_;
};

}  // namespace sextant::attention_detail
