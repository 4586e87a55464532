// Reads files of named tensors, .safetensors: one, or several with an index. Opening reads only the
// headers; the data is borrowed or read tensor by tensor. A hostile file gives a clear error, never
// a crash.
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
  // Offsets in bytes into the file's data, which follows its header.
  std::uint64_t begin = 0, end = 0;
  std::size_t file = 0;  // its index in TensorFile::files()

  std::int64_t count() const noexcept { return shape.count(); }
  std::uint64_t size() const noexcept { return end - begin; }  // bytes
};

// An open file. Copies share it. Any number of threads may use a const one.
class TensorFile {
 public:
  // Opens `path`: a .safetensors file; an index, .json, whose "weight_map" names the file of the
  // same folder for each tensor; or a folder with model.safetensors or
  // model.safetensors.index.json.
  //
  // Supports F64, F32, F16, BF16, I64, I32, I16, I8, U64, U32, U16, U8 and BOOL, up to 8 axes. The
  // data must match the header and be used exactly once: tensors may be named in any order, but
  // leave no gap, do not overlap, and end with the file. Throws an Error with the file and the
  // tensor and a different text for each mistake: no header, a header above 100 MB or cut off,
  // invalid JSON or UTF-8, a duplicate name or key, a missing or unknown key, an unknown dtype, a
  // shape that overflows or has more than 8 axes, offsets that are out of order or do not match the
  // shape, data cut off or left over; for an index: a file that is missing or outside the index's
  // folder, also by a symbolic link, a tensor that is not in its file, and one in a file that the
  // index does not name for it.
  static TensorFile open(const std::string& path);
  // Opens a file whose bytes are in memory, borrowed; errors show `where` as the path.
  static TensorFile parse(std::string_view bytes, std::string_view where = "safetensors");

  const std::string& path() const noexcept SEXTANT_LIFETIME_BOUND;
  // Returns the .safetensors files, in the order of their names.
  std::span<const std::string> files() const noexcept SEXTANT_LIFETIME_BOUND;
  // Returns "__metadata__" of the headers.
  const std::map<std::string, std::string>& metadata() const noexcept SEXTANT_LIFETIME_BOUND;
  // Returns the tensors file by file, and within a file in the order of their bytes.
  std::span<const StoredTensor> tensors() const noexcept SEXTANT_LIFETIME_BOUND;
  // Return the tensor of a name. If there is none, find() returns null, and at() throws an Error
  // with path() and the name.
  const StoredTensor* find(std::string_view name) const noexcept SEXTANT_LIFETIME_BOUND;
  const StoredTensor& at(std::string_view name) const SEXTANT_LIFETIME_BOUND;

  // The functions below take tensors() of this file.

  // Returns the elements as stored: little-endian, row-major, a byte of BOOL that is not 0 is true;
  // aligned to the dtype only if the file's header is. They are mapped (read, if the file cannot be
  // mapped), and valid as long as a copy of this object. Throws Error if the file has become
  // shorter since it was opened. If another process shortens it later, reading the missing part
  // ends this process (SIGBUS); read() does not.
  std::span<const std::byte> bytes(const StoredTensor& tensor) const SEXTANT_LIFETIME_BOUND;

  // Releases the memory of a part of bytes() that will not be read soon, in whole pages if the file
  // is mapped; they are read again when they are used.
  void release(std::span<const std::byte> read) const noexcept;

  // Converts elements [first, first + to.size()) into `to`, as Array::to() does, with a buffer of
  // 256 KiB and no mapping. Adds the read bytes to `checksum` unless it is null. Throws Error for a
  // range outside the tensor, and with the file's name if it has become shorter or cannot be read.
  template <class T>
  void read(const StoredTensor& tensor, std::int64_t first, std::span<T> to,
            Checksum* checksum = nullptr) const;
  // Returns the checksum of a file up to its data. After all its tensors are added in order, it is
  // the file's checksum.
  Checksum header_checksum(std::size_t file) const;

 private:
  struct Contents;
  explicit TensorFile(std::shared_ptr<const Contents> contents);
  std::shared_ptr<const Contents> contents_;
};

}  // namespace sextant
