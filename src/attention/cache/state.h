// What a KV cache holds.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attention/cache/pages.h"
#include "attention/cache/quantized.h"
#include "sextant/attention/kv_cache.h"
#include "sextant/core/error.h"

namespace sextant {

namespace attention_detail {

[[noreturn]] inline void refuse_in_cache(std::string_view argument, const std::string& what) {
  throw Error("kv_cache." + std::string(argument), what);
}

// Sequences [first, last) that a call changes: one, or all.
struct SequenceRange {
  std::int64_t first, last;
};

}  // namespace attention_detail

template <CacheElement T>
struct KvCache<T>::State {
  static constexpr bool kQuantized = std::same_as<T, std::int8_t>;

  attention_detail::PageLayout layout;
  std::vector<attention_detail::PageList> lists{};  // [batch]
  std::vector<std::int64_t> lengths{};              // [batch]

  attention_detail::PageList& list(std::int64_t sequence) noexcept {
    return lists[static_cast<std::size_t>(sequence)];
  }
  std::int64_t& length(std::int64_t sequence) noexcept {
    return lengths[static_cast<std::size_t>(sequence)];
  }
  T* key(std::int64_t sequence, std::int64_t head, std::int64_t position) const noexcept {
    return row(sequence, position, layout.key_offset(head), layout.head_dim);
  }
  T* value(std::int64_t sequence, std::int64_t head, std::int64_t position) const noexcept {
    return row(sequence, position, layout.value_offset(head), layout.v_dim);
  }

  // Elements from a row to the next one.
  static constexpr std::int64_t step(std::int64_t channels) noexcept {
    return attention_detail::kRowHead<T> + channels;
  }

  // Copies rows of a page to contiguous ones.
  static void load(const T* from, std::int64_t rows, std::int64_t channels, Float* to) {
    if constexpr (kQuantized) {
      for (std::int64_t i = 0; i < rows; ++i, from += step(channels), to += channels) {
        attention_detail::dequantize_row(from, channels, to);
      }
    } else {
      std::copy_n(from, rows * channels, to);
    }
  }

  // Checks positions [begin, end) of a call: returns the sequences that it is for.
  attention_detail::SequenceRange range_of(std::int64_t begin, std::int64_t end,
                                           std::optional<std::int64_t> sequence) const;

  // Calls use(first position, count) for the parts of positions [begin, end) that lie in one page.
  template <class Use>
  void for_each_run(std::int64_t begin, std::int64_t end, const Use& use) const {
    while (begin < end) {
      const std::int64_t next = (begin / layout.page_size + 1) * layout.page_size;
      const std::int64_t count = (next < end ? next : end) - begin;
      use(begin, count);
      begin += count;
    }
  }

  // Calls use(first row, rows) for all runs of keys or of values, head by head and sequence by
  // sequence: the order of files. `at` is key() or value().
  template <class Use>
  void for_each_stored(T* (State::*at)(std::int64_t, std::int64_t, std::int64_t) const noexcept,
                       const Use& use) const {
    for (std::int64_t h = 0; h < layout.kv_heads; ++h) {
      for (std::size_t b = 0; b < lengths.size(); ++b) {
        const auto sequence = static_cast<std::int64_t>(b);
        for_each_run(0, lengths[b], [&](std::int64_t first, std::int64_t count) {
          use((this->*at)(sequence, h, first), count);
        });
      }
    }
  }

  // Copies what is stored, [batch, kv_heads, the longest length, channels], 0 from a length on;
  // `at` is key() or value().
  Tensor<Float> stored(std::int64_t channels, T* (State::*at)(std::int64_t, std::int64_t,
                                                              std::int64_t) const noexcept) const {
    const auto batch = static_cast<std::int64_t>(lengths.size());
    const std::int64_t longest = batch == 0 ? 0 : *std::ranges::max_element(lengths);
    Tensor<Float> all(Shape{batch, layout.kv_heads, longest, channels});
    for (std::int64_t b = 0; b < batch && channels > 0; ++b) {
      for_each_run(0, lengths[static_cast<std::size_t>(b)],
                   [&](std::int64_t first, std::int64_t count) {
                     for (std::int64_t h = 0; h < layout.kv_heads; ++h) {
                       load((this->*at)(b, h, first), count, channels, &all(b, h, first, 0));
                     }
                   });
    }
    return all;
  }

 private:
  T* row(std::int64_t sequence, std::int64_t position, std::int64_t offset,
         std::int64_t channels) const noexcept {
    const auto& pages = lists[static_cast<std::size_t>(sequence)];
    return reinterpret_cast<T*>(pages.at(position / layout.page_size, offset)) +
           position % layout.page_size * step(channels);
  }
};

}  // namespace sextant
