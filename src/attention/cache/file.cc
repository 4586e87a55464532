// Files of KV caches: what is stored, packed, as tensors of a .safetensors file.
#include <algorithm>
#include <charconv>
#include <map>
#include <string>
#include <vector>

#include "attention/cache/state.h"
#include "sextant/core/numbers.h"
#include "sextant/core/printable.h"
#include "sextant/core/safetensors.h"

namespace sextant {
namespace {

constexpr const char* kFormat = "sextant.kv_cache.1";

[[noreturn]] void refuse_file(const TensorFile& file, const std::string& what) {
  throw Error(file.path(), what);
}

std::string metadata_of(const TensorFile& file, const std::string& key) {
  const auto found = file.metadata().find(key);
  return found == file.metadata().end() ? "" : found->second;
}

// What the header says of a cache, checked. Scales are of int8.
struct CacheHeader {
  const StoredTensor &keys, &values, &lengths;
  const StoredTensor *key_scales = nullptr, *value_scales = nullptr;
  KvCacheSizes sizes{};
};

CacheHeader header_of(const TensorFile& file) {
  if (metadata_of(file, "format") != kFormat) {
    refuse_file(file, "must be a file of a KV cache, with format " + std::string(kFormat) +
                          " in its metadata, got " + printable_quote(metadata_of(file, "format")));
  }
  CacheHeader header{file.at("keys"), file.at("values"), file.at("lengths")};
  const Shape &keys = header.keys.shape, &values = header.values.shape;
  const DType dtype = header.keys.dtype;
  const bool scaled = dtype == DType::int8;
  const bool is_element =
      scaled || dtype == DType::float32 || dtype == DType::float16 || dtype == DType::bfloat16;
  if (file.tensors().size() != (scaled ? 5 : 3) || keys.rank() != 3 || values.rank() != 3 ||
      header.lengths.shape.rank() != 1 || header.lengths.dtype != DType::int64 || !is_element ||
      header.values.dtype != dtype || keys[0] != values[0] || keys[1] != values[1]) {
    refuse_file(file,
                "must have keys [kv_heads, positions, head_dim] and values [kv_heads, positions, "
                "v_dim] of float32, bfloat16, float16 or int8, and lengths I64 [batch], got keys " +
                    keys.to_string() + ", values " + values.to_string() + ", lengths " +
                    header.lengths.shape.to_string());
  }
  const auto scales = [&](const char* name) {
    const StoredTensor& stored = file.at(name);
    if (stored.dtype != DType::float32 || !(stored.shape == Shape{keys[0], keys[1]})) {
      refuse_file(file, "must have " + std::string(name) + " float32 " +
                            Shape{keys[0], keys[1]}.to_string() + ", got " +
                            std::string(dtype_name(stored.dtype)) + " " + stored.shape.to_string());
    }
    return &stored;
  };
  if (scaled) {
    header.key_scales = scales("key_scales");
    header.value_scales = scales("value_scales");
  }
  const std::string size = metadata_of(file, "page_size");
  std::int64_t page_size = 0;
  const auto [end, error] = std::from_chars(size.data(), size.data() + size.size(), page_size);
  if (error != std::errc() || end != size.data() + size.size()) {
    refuse_file(file, "must have a number as page_size, got " + printable_quote(size));
  }
  header.sizes = {header.lengths.shape[0], keys[0], keys[2], values[2], page_size};
  return header;
}

}  // namespace

template <CacheElement T>
void KvCache<T>::save(const std::string& path) const {
  const auto& lengths = state_->lengths;
  const attention_detail::PageLayout& layout = state_->layout;
  std::int64_t positions = 0;
  for (const std::int64_t length : lengths) positions += length;
  Checksum sum;
  std::map<std::string, TensorBytes> tensors;
  const auto add = [&](const char* name, DType dtype, const Shape& shape,
                       std::span<const std::byte> bytes) {
    sum.add(bytes);
    tensors.emplace(name, TensorBytes{dtype, shape, bytes});
  };
  const auto packed = [&](std::int64_t channels, auto at) {
    auto all = Tensor<T>::uninitialized(Shape{layout.kv_heads, positions, channels});
    T* to = all.data();
    state_->for_each_stored(at, [&](const T* from, std::int64_t count) {
      for (std::int64_t i = 0; i < count; ++i, from += State::step(channels)) {
        to = std::copy_n(from, channels, to);
      }
    });
    return all;
  };
  const auto keys = packed(layout.head_dim, &State::key);
  const auto values = packed(layout.v_dim, &State::value);
  add("lengths", DType::int64, Shape{batch()}, std::as_bytes(std::span(lengths)));
  add("keys", dtype_of<T>, keys.shape(), std::as_bytes(keys.span()));
  add("values", dtype_of<T>, values.shape(), std::as_bytes(values.span()));
  Tensor<float> key_scales, value_scales;
  if constexpr (State::kQuantized) {
    const auto scales = [&](std::int64_t channels, auto at) {
      auto all = Tensor<float>::uninitialized(Shape{layout.kv_heads, positions});
      float* to = all.data();
      state_->for_each_stored(at, [&](const T* from, std::int64_t count) {
        for (std::int64_t i = 0; i < count; ++i, from += State::step(channels)) {
          *to++ = kernels::row_scale(from);
        }
      });
      return all;
    };
    key_scales = scales(layout.head_dim, &State::key);
    value_scales = scales(layout.v_dim, &State::value);
    add("key_scales", DType::float32, key_scales.shape(), std::as_bytes(key_scales.span()));
    add("value_scales", DType::float32, value_scales.shape(), std::as_bytes(value_scales.span()));
  }
  save_safetensors(path, tensors,
                   {{"format", kFormat},
                    {"page_size", std::to_string(layout.page_size)},
                    {"checksum", sum.text()}});
}

template <CacheElement T>
KvCache<T> KvCache<T>::load(const std::string& path) {
  const TensorFile file = TensorFile::open(path);
  const CacheHeader header = header_of(file);
  if (header.keys.dtype != dtype_of<T>) {
    refuse_file(file, "must hold a cache of " + std::string(dtype_name(dtype_of<T>)) + ", got " +
                          std::string(dtype_name(header.keys.dtype)));
  }
  Checksum sum;
  std::vector<std::int64_t> lengths(static_cast<std::size_t>(header.sizes.batch));
  file.read(header.lengths, 0, std::span(lengths), &sum);
  std::int64_t left = header.keys.shape[1];
  for (const std::int64_t length : lengths) {
    if (length < 0 || length > left) {
      refuse_file(file, "must have lengths that add up to the " +
                            std::to_string(header.keys.shape[1]) + " positions of keys");
    }
    left -= length;
  }
  if (left != 0) {
    refuse_file(file, "must have lengths that add up to the " +
                          std::to_string(header.keys.shape[1]) + " positions of keys, got " +
                          std::to_string(header.keys.shape[1] - left));
  }
  KvCache cache(header.sizes);
  State& state = *cache.state_;
  for (std::int64_t b = 0; b < cache.batch(); ++b) {
    state.length(b) = lengths[static_cast<std::size_t>(b)];
    state.list(b).extend(state.layout, 0, state.length(b));
  }
  const auto read = [&](const StoredTensor& from, auto at) {
    const std::int64_t channels = from.shape[2];
    std::int64_t done = 0;
    std::vector<T> packed;
    state.for_each_stored(at, [&](T* to, std::int64_t count) {
      const auto numbers = static_cast<std::size_t>(count * channels);
      if constexpr (State::kQuantized) packed.resize(numbers);
      const std::span<T> rows(State::kQuantized ? packed.data() : to, numbers);
      file.read(from, done, rows, &sum);
      done += count * channels;
      if constexpr (State::kQuantized) {
        for (std::int64_t i = 0; i < count; ++i, to += State::step(channels)) {
          std::copy_n(packed.data() + i * channels, channels, to);
        }
      }
    });
  };
  read(header.keys, &State::key);
  read(header.values, &State::value);
  if constexpr (State::kQuantized) {
    const auto read_scales = [&](const StoredTensor& from, std::int64_t channels, auto at) {
      std::int64_t done = 0;
      std::vector<float> scales;
      state.for_each_stored(at, [&](T* to, std::int64_t count) {
        scales.resize(static_cast<std::size_t>(count));
        file.read(from, done, std::span(scales), &sum);
        done += count;
        for (const float scale : scales) {
          if (!attention_detail::is_scale(scale)) {
            refuse_file(file, "must have scales of 0 or 2^-126 .. 2^120, got " + shortest(scale));
          }
          attention_detail::set_row_scale(to, scale);
          to += State::step(channels);
        }
      });
    };
    read_scales(*header.key_scales, header.sizes.head_dim, &State::key);
    read_scales(*header.value_scales, header.sizes.v_dim, &State::value);
  }
  if (metadata_of(file, "checksum") != sum.text()) {
    refuse_file(file, "must have the checksum that its metadata says, " +
                          printable_quote(metadata_of(file, "checksum")) + ", got \"" + sum.text() +
                          "\": it was damaged");
  }
  return cache;
}

DType kv_cache_dtype(const std::string& path) {
  return header_of(TensorFile::open(path)).keys.dtype;
}

#define SEXTANT_INSTANTIATE(T)                              \
  template void KvCache<T>::save(const std::string&) const; \
  template KvCache<T> KvCache<T>::load(const std::string&);
SEXTANT_INSTANTIATE(float)
SEXTANT_INSTANTIATE(bfloat16)
SEXTANT_INSTANTIATE(float16)
SEXTANT_INSTANTIATE(std::int8_t)
#undef SEXTANT_INSTANTIATE

}  // namespace sextant
