#include "attention/cache/pages.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>
#include <string>
#include <utility>

#include "sextant/core/error.h"

namespace sextant::attention_detail {
namespace {

using PageOwners = std::atomic<std::int64_t>;

PageOwners& owners_of(std::byte* page) noexcept {
  return *std::launder(reinterpret_cast<PageOwners*>(page));
}

void share_page(std::byte* page) noexcept {
  owners_of(page).fetch_add(1, std::memory_order_relaxed);
}

// The last owner frees the page after all others are done with it.
void release_page(std::byte* page) noexcept {
  if (owners_of(page).fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  owners_of(page).~PageOwners();
  ::operator delete (page, std::align_val_t{PageLayout::kLine});
}

// Those who shared a page on other threads were done with it before they let it go.
bool page_is_shared(std::byte* page) noexcept {
  return owners_of(page).load(std::memory_order_acquire) > 1;
}

std::byte* new_page(const PageLayout& layout) {
  const std::int64_t bytes = layout.bytes();
  void* memory = ::operator new (static_cast<std::size_t>(bytes),
                                 std::align_val_t{PageLayout::kLine}, std::nothrow);
  if (memory == nullptr) {
    throw Error("kv_cache", "needs memory for a page of " + std::to_string(bytes) +
                                " bytes, which is not available");
  }
  new (memory) PageOwners(1);
  return static_cast<std::byte*>(memory);
}

// Copies `count` positions of all heads from one page to another.
void copy_positions(const PageLayout& layout, const std::byte* from, std::int64_t from_row,
                    std::int64_t count, std::byte* to, std::int64_t to_row) noexcept {
  const auto copy = [&](std::int64_t offset, std::int64_t channels) {
    const std::int64_t row = layout.row_bytes(channels), begin = offset - layout.row_head;
    if (row == 0) return;
    std::memcpy(to + begin + to_row * row, from + begin + from_row * row,
                static_cast<std::size_t>(count * row));
  };
  for (std::int64_t head = 0; head < layout.kv_heads; ++head) {
    copy(layout.key_offset(head), layout.head_dim);
    copy(layout.value_offset(head), layout.v_dim);
  }
}

}  // namespace

PageList::PageList(const PageList& other) : pages_(other.pages_) {
  for (std::byte* page : pages_) share_page(page);
}

PageList::~PageList() {
  for (std::byte* page : pages_) release_page(page);
}

bool PageList::is_shared() const noexcept { return std::ranges::any_of(pages_, page_is_shared); }

void PageList::own_page(const PageLayout& layout, std::int64_t page) {
  std::byte*& mine = pages_[static_cast<std::size_t>(page)];
  if (!page_is_shared(mine)) return;
  std::byte* copy = new_page(layout);
  copy_positions(layout, mine, 0, layout.page_size, copy, 0);
  release_page(std::exchange(mine, copy));
}

void PageList::own(const PageLayout& layout, std::int64_t begin, std::int64_t end) {
  if (begin >= end) return;
  for (std::int64_t page = begin / layout.page_size; page < layout.pages(end); ++page) {
    own_page(layout, page);
  }
}

void PageList::extend(const PageLayout& layout, std::int64_t length, std::int64_t count) {
  if (count == 0) return;
  const std::int64_t begin = length % layout.page_size;
  if (begin > 0) own_page(layout, length / layout.page_size);
  const std::int64_t wanted = layout.pages(length + count);
  try {
    pages_.reserve(static_cast<std::size_t>(wanted));
    while (size() < wanted) pages_.push_back(new_page(layout));
  } catch (...) {
    truncate(layout, length);
    throw;
  }
}

void PageList::truncate(const PageLayout& layout, std::int64_t length) noexcept {
  const std::int64_t kept = layout.pages(length);
  while (size() > kept) {
    release_page(pages_.back());
    pages_.pop_back();
  }
}

void PageList::take(const PageLayout& layout, std::int64_t length, const PageList& from,
                    std::int64_t first, std::int64_t count) {
  const std::int64_t page_size = layout.page_size;
  while (count > 0) {
    const std::int64_t from_row = first % page_size, to_row = length % page_size;
    std::byte* page = from.pages_[static_cast<std::size_t>(first / page_size)];
    std::int64_t rows = std::min(count, page_size - from_row);
    if (from_row == 0 && to_row == 0) {
      pages_.push_back(page);
      share_page(page);
    } else {
      rows = std::min(rows, page_size - to_row);
      extend(layout, length, rows);
      copy_positions(layout, page, from_row, rows, pages_.back(), to_row);
    }
    length += rows;
    first += rows;
    count -= rows;
  }
}

}  // namespace sextant::attention_detail
