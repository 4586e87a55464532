// Files of KV caches: what is stored, packed, as tensors of a .safetensors file.
#include <algorithm>
#include <charconv>
#include <map>
#include <string>
#include <vector>

#include "attention/cache/state.h"
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

// What the header says of a cache, checked.
struct CacheHeader {
  const StoredTensor &keys, &values, &lengths;
  KvCacheSizes sizes;
};

CacheHeader header_of(const TensorFile& file) {
  if (metadata_of(file, "format") != kFormat) {
    refuse_file(file, "must be a file of a KV cache, with format " + std::string(kFormat) +
                          " in its metadata, got " + printable_quote(metadata_of(file, "format")));
  }
  CacheHeader header{file.at("keys"), file.at("values"), file.at("lengths"), {}};
  const Shape &keys = header.keys.shape, &values = header.values.shape;
  const DType dtype = header.keys.dtype;
  const bool is_element =
      dtype == DType::float32 || dtype == DType::float16 || dtype == DType::bfloat16;
  if (file.tensors().size() != 3 || keys.rank() != 3 || values.rank() != 3 ||
      header.lengths.shape.rank() != 1 || header.lengths.dtype != DType::int64 || !is_element ||
      header.values.dtype != dtype || keys[0] != values[0] || keys[1] != values[1]) {
    refuse_file(file,
                "must have keys [kv_heads, positions, head_dim] and values [kv_heads, positions, "
                "v_dim] of float32, bfloat16 or float16, and lengths I64 [batch], got keys " +
                    keys.to_string() + ", values " + values.to_string() + ", lengths " +
                    header.lengths.shape.to_string());
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
  const auto packed = [&](std::int64_t channels, const auto& at) {
    auto all = Tensor<T>::uninitialized(Shape{layout.kv_heads, positions, channels});
    T* to = all.data();
    for (std::int64_t h = 0; h < layout.kv_heads && channels > 0; ++h) {
      for (std::int64_t b = 0; b < batch(); ++b) {
        state_->for_each_run(0, lengths[static_cast<std::size_t>(b)],
                             [&](std::int64_t first, std::int64_t count) {
                               to = std::copy_n(at(b, h, first), count * channels, to);
                             });
      }
    }
    return all;
  };
  const auto keys = packed(layout.head_dim, [&](auto... place) { return state_->key(place...); });
  const auto values = packed(layout.v_dim, [&](auto... place) { return state_->value(place...); });
  add("lengths", DType::int64, Shape{batch()}, std::as_bytes(std::span(lengths)));
  add("keys", dtype_of<T>, keys.shape(), std::as_bytes(keys.span()));
  add("values", dtype_of<T>, values.shape(), std::as_bytes(values.span()));
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
  const auto read = [&](const StoredTensor& from, const auto& at) {
    const std::int64_t channels = from.shape[2];
    std::int64_t done = 0;
    for (std::int64_t h = 0; h < state.layout.kv_heads && channels > 0; ++h) {
      for (std::int64_t b = 0; b < cache.batch(); ++b) {
        state.for_each_run(0, state.length(b), [&](std::int64_t first, std::int64_t count) {
          const std::span<T> to(at(b, h, first), static_cast<std::size_t>(count * channels));
          file.read(from, done, to, &sum);
          done += count * channels;
        });
      }
    }
  };
  read(header.keys, [&](auto... place) { return state.key(place...); });
  read(header.values, [&](auto... place) { return state.value(place...); });
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
#undef SEXTANT_INSTANTIATE

}  // namespace sextant
