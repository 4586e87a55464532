// Files of named tensors, .safetensors: one, or several with an index. Opening reads the headers
// alone; the data is borrowed or read tensor by tensor. Hostile files get a clear error, never a
// crash.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "sextant/core/dtype.h"
#include "sextant/core/files.h"
#include "sextant/core/lifetime.h"
#include "sextant/core/tensor.h"

namespace sextant {

struct StoredTensor {
  std::string name;
  DType dtype = DType::float32;
  Shape shape{0};
  std::uint64_t begin = 0, end = 0;  // bytes of the file's data, which comes after its header
  std::size_t file = 0;              // its number in TensorFile::files()

  std::int64_t count() const noexcept { return shape.count(); }
  std::uint64_t size() const noexcept { return end - begin; }  // bytes
};

// Copies share what is open. A const one may be used by any number of threads.
class TensorFile {
 public:
  // `path`: a .safetensors file; an index, .json, whose "weight_map" says which file beside it each
  // tensor is in; or a folder with model.safetensors or model.safetensors.index.json.
  //
  // Takes F64, F32, F16, BF16, I64, I32, I16, I8, U64, U32, U16, U8 and BOOL, up to 8 axes. The
  // data has to be what the header says, all of it once: tensors may be named in any order, but
  // leave no gap, do not overlap, and end with the file. Throws Error naming the file and the
  // tensor, a different text for each: no header, a header above 100 MB or cut off, JSON or UTF-8
  // that does not read, a name or a key that is there twice, a key that is missing or unknown, an
  // unknown dtype, a shape that overflows or has more than 8 axes, offsets that are out of order or
  // do not match the shape, data cut off or left over; of an index: a file that is missing or not
  // in the index's folder, also by a symbolic link, a tensor that is not in its file, and one in a
  // file that the index does not say it is in.
  static TensorFile open(const std::string& path);
  // Of a file's bytes that are in memory, borrowed; `where` stands for the path in errors.
  static TensorFile parse(std::string_view bytes, std::string_view where = "safetensors");

  const std::string& path() const noexcept SEXTANT_LIFETIME_BOUND;
  // The .safetensors files, in the order of their names.
  std::span<const std::string> files() const noexcept SEXTANT_LIFETIME_BOUND;
  // "__metadata__" of the headers.
  const std::map<std::string, std::string>& metadata() const noexcept SEXTANT_LIFETIME_BOUND;
  // File by file, and in a file as their bytes follow each other.
  std::span<const StoredTensor> tensors() const noexcept SEXTANT_LIFETIME_BOUND;
  // Null, or Error that names path() and the tensor, where there is none of that name.
  const StoredTensor* find(std::string_view name) const noexcept SEXTANT_LIFETIME_BOUND;
  const StoredTensor& at(std::string_view name) const SEXTANT_LIFETIME_BOUND;

  // The functions below take tensors() of this file.

  // Its elements as they are stored: little-endian, row-major, a byte of BOOL that is not 0 is
  // true; aligned to the dtype only where the file's header is. They are those of the file, mapped
  // (read, where files cannot be), and valid as long as a copy of this object. Throws Error where
  // the file became shorter since it was opened. If another process shortens it later, reading
  // what is gone ends this process (SIGBUS): read() does not.
  std::span<const std::byte> bytes(const StoredTensor& tensor) const SEXTANT_LIFETIME_BOUND;

  // Gives back the memory of a part of bytes() that will not be read soon, whole pages where the
  // file is mapped; they are read anew when they are used.
  void release(std::span<const std::byte> read) const noexcept;

  // Converts elements [first, first + to.size()) into `to`, as Array::to() does, with a buffer of
  // 256 KiB and no mapping. `checksum`, unless null, is given the bytes read. Throws Error for a
  // range outside the tensor, and naming the file where it became shorter or cannot be read.
  template <class T>
  void read(const StoredTensor& tensor, std::int64_t first, std::span<T> to,
            Checksum* checksum = nullptr) const;
  // The checksum of a file up to its data: given all its tensors in order, it is the file's.
  Checksum header_checksum(std::size_t file) const;

 private:
  struct Contents;
  explicit TensorFile(std::shared_ptr<const Contents> contents);
  std::shared_ptr<const Contents> contents_;
};

}  // namespace sextant
