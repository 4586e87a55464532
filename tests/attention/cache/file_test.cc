// Files of KV caches: what is read is what was written, and damaged files are refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "attention/cache/cache_cases.h"
#include "sextant/core/files.h"
#include "sextant/core/safetensors.h"
#include "support/error_of.h"
#include "support/temporary_folder.h"

namespace sextant::cache_file_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <class T>
class KvCacheFile : public ::testing::Test {};
using Elements = ::testing::Types<float, float16, bfloat16, std::int8_t>;
TYPED_TEST_SUITE(KvCacheFile, Elements);

TYPED_TEST(KvCacheFile, HoldsWhatWasStored) {
  using T = TypeParam;
  using F = FloatOf<T>;
  const TemporaryFolder folder;
  const std::string path = folder / "cache.safetensors";
  NumpyRandom random(1);
  KvCache<T> cache({3, 2, 12, 7, 256});
  append_random(cache, random, std::vector<std::int64_t>{300, 0, 513});
  cache.save(path);
  EXPECT_EQ(kv_cache_dtype(path), dtype_of<T>);
  KvCache<T> loaded = KvCache<T>::load(path);
  EXPECT_THAT(loaded.lengths(), ElementsAre(300, 0, 513));
  EXPECT_EQ(loaded.sizes().page_size, 256);
  EXPECT_EQ(loaded.bytes(), cache.bytes());
  EXPECT_TRUE(same_bits<F>(loaded.keys(), cache.keys()));
  EXPECT_TRUE(same_bits<F>(loaded.values(), cache.values()));
  append_random(loaded, random, std::vector<std::int64_t>{1, 1, 1});
  EXPECT_THAT(loaded.lengths(), ElementsAre(301, 1, 514));

  KvCache<T>({0, 1, 4, 0}).save(path);
  EXPECT_EQ(KvCache<T>::load(path).batch(), 0);
}

// A cache of two sequences as tensors, to be changed.
struct Stored {
  TemporaryFolder folder{};
  std::string path = folder / "cache.safetensors";
  SafetensorsFile file{};

  Stored() {
    NumpyRandom random(2);
    KvCache<float> cache({2, 1, 4, 3});
    append_random(cache, random, std::vector<std::int64_t>{5, 2});
    cache.save(path);
    file = load_safetensors(path);
  }
  std::string error_after_saving() {
    save_safetensors(path, file.tensors, file.metadata);
    return error_of([&] { KvCache<float>::load(path); });
  }
};

TEST(KvCacheFileErrors, NameWhatIsWrong) {
  EXPECT_EQ(Stored().error_after_saving(), "no error");
  const auto error = [](const auto& change) {
    Stored stored;
    change(stored.file);
    return stored.error_after_saving();
  };
  EXPECT_THAT(error([](auto& file) { file.metadata.erase("format"); }),
              HasSubstr("must be a file of a KV cache"));
  EXPECT_THAT(error([](auto& file) { file.metadata["page_size"] = "100"; }),
              HasSubstr("kv_cache.page_size"));
  EXPECT_THAT(error([](auto& file) { file.metadata["page_size"] = "128x"; }),
              HasSubstr("must have a number as page_size, got '128x'"));
  EXPECT_THAT(error([](auto& file) { file.metadata["page_size"] = "1099511627776"; }),
              HasSubstr("[kv_cache.page_size] must be a multiple of 128 in 128 .. 2^20"));
  EXPECT_THAT(error([](auto& file) { file.metadata["checksum"] = ""; }),
              HasSubstr("must have the checksum that its metadata says"));
  EXPECT_THAT(error([](auto& file) { file.tensors.erase("values"); }), HasSubstr("values"));
  EXPECT_THAT(error([](auto& file) {
                file.tensors["more"] = std::move(load_safetensors(Stored().path).tensors["keys"]);
              }),
              HasSubstr("must have keys [kv_heads, positions, head_dim]"));
  const auto lengths_error = [&](std::int64_t first, std::int64_t second) {
    return error([&](auto& file) {
      const std::int64_t lengths[] = {first, second};
      std::memcpy(file.tensors.at("lengths").bytes.data(), lengths, sizeof(lengths));
    });
  };
  for (const std::string& said : {lengths_error(5, 1), lengths_error(-1, 8), lengths_error(8, 0),
                                  lengths_error(std::numeric_limits<std::int64_t>::max(), 2)}) {
    EXPECT_THAT(said, HasSubstr("must have lengths that add up to the 7 positions of keys"));
  }
  EXPECT_THAT(lengths_error(2, 5), HasSubstr("checksum"));
  Stored stored;
  EXPECT_THAT(error_of([&] { KvCache<float16>::load(stored.path); }),
              HasSubstr("must hold a cache of float16, got float32"));
  EXPECT_THAT(error_of([&] { KvCache<float>::load(stored.folder / "none"); }), HasSubstr("none"));
}

// Whatever is cut off or changed, the file is refused, or only its metadata differ.
TEST(KvCacheFileErrors, ComeForDamage) {
  Stored stored;
  const std::string bytes = read_file(stored.path);
  for (std::size_t size = 0; size < bytes.size(); size += 13) {
    write_file(stored.path, bytes.substr(0, size));
    ASSERT_NE(error_of([&] { KvCache<float>::load(stored.path); }), "no error") << size;
  }
  const std::size_t data = bytes.size() - 8 * 2 - 4 * 7 * (4 + 3);
  for (std::size_t at = 0; at < bytes.size(); at += 7) {
    std::string changed = bytes;
    changed[at] = static_cast<char>(changed[at] ^ 0x10);
    write_file(stored.path, changed);
    const std::string said = error_of([&] { KvCache<float>::load(stored.path); });
    ASSERT_TRUE(at < data || said != "no error") << at;
  }
}

}  // namespace
}  // namespace sextant::cache_file_test
