// Reads and writes arrays in .npy files in parallel: every rank its part.
#pragma once

#include <string>

#include "sextant/core/npy.h"
#include "sextant/ranks/communicator.h"
#include "sextant/ranks/sharding.h"

namespace sextant::ranks {

// An array in a file, without its elements.
struct NpyFile {
  std::string path;
  DType dtype = DType::float32;
  Shape shape{0};
  std::size_t data_begin = 0;  // bytes
};

// Reads the header and checks that the file has all bytes. The file must be in C order and in this
// machine's byte order. Throws Error as load_npy() does.
NpyFile open_npy(const std::string& path);

// Reads the part of `rank` along an axis, and no other bytes. Throws an Error with the path.
Array load_shard(const NpyFile& file, const ShardLayout& layout, int rank, int axis = 2);

// Writes the parts of all ranks as one array. Rank 0 makes the file under a temporary name and
// reserves its size, every rank writes and flushes its part, and rank 0 gives it its name: the file
// is complete or absent. All ranks must see the same folder. Throws the same Error on all.
template <class T>
void save_shards(const Communicator& comm, const std::string& path, View<const T> part,
                 const ShardLayout& layout, int axis = 2);

}  // namespace sextant::ranks
