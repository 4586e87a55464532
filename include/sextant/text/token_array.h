// Stores ids of tokens in 16, 32 or 64 bits each, in memory or in a mapped file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace sextant {

// The contents never change: copies and parts share them. Several threads may read a const one.
class TokenArray {
 public:
  TokenArray() = default;
  TokenArray(std::vector<std::uint16_t> ids) : TokenArray(keep(std::move(ids))) {}
  TokenArray(std::vector<std::uint32_t> ids) : TokenArray(keep(std::move(ids))) {}
  TokenArray(std::vector<std::int64_t> ids) : TokenArray(keep(std::move(ids))) {}
  // Borrows `size` ids of uint16, uint32 or int64 at `first`, aligned, as long as `owner` lives.
  template <class T>
  TokenArray(std::shared_ptr<const void> owner, const T* first, std::size_t size)
      : owner_(std::move(owner)), first_(first), size_(size), bytes_(sizeof(T)) {
    static_assert(std::is_same_v<T, std::uint16_t> || std::is_same_v<T, std::uint32_t> ||
                  std::is_same_v<T, std::int64_t>);
  }

  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  std::size_t bytes_each() const noexcept { return bytes_; }
  const void* data() const noexcept { return first_; }
  // 0 <= i < size().
  std::int64_t operator[](std::size_t i) const noexcept {
    if (bytes_ == 2) return static_cast<const std::uint16_t*>(first_)[i];
    if (bytes_ == 4) return static_cast<const std::uint32_t*>(first_)[i];
    return static_cast<const std::int64_t*>(first_)[i];
  }
  // Returns the ids [begin, end), begin <= end <= size().
  TokenArray part(std::size_t begin, std::size_t end) const {
    TokenArray result = *this;
    result.first_ = static_cast<const char*>(first_) + begin * bytes_;
    result.size_ = end - begin;
    return result;
  }

 private:
  template <class T>
  static TokenArray keep(std::vector<T> ids) {
    auto owner = std::make_shared<const std::vector<T>>(std::move(ids));
    return TokenArray(owner, owner->data(), owner->size());
  }

  std::shared_ptr<const void> owner_;
  const void* first_ = nullptr;
  std::size_t size_ = 0, bytes_ = 8;
};

}  // namespace sextant
