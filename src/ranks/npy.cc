// Parts of .npy files, by reading and writing at their place.
#include "sextant/ranks/npy.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <optional>

#include "core/arrays/each_dtype.h"
#include "core/arrays/npy_header.h"
#include "core/files/file_handle.h"
#include "core/files/folder_sync.h"
#include "core/files/temporary_file.h"
#include "ranks/rows.h"
#include "sextant/ranks/agreement.h"

namespace sextant::ranks {
namespace {

constexpr std::size_t kAtOnce = std::size_t{1} << 30;  // bytes; some systems refuse more than 2 GiB

// Calls `move(offset in memory, bytes, place)` until all is moved; 0, or the reason why not.
template <class Move>
int move_all(std::size_t size, std::int64_t place, const Move& move) {
  for (std::size_t done = 0; done < size;) {
    const ssize_t moved = move(done, std::min(kAtOnce, size - done),
                               static_cast<off_t>(place + static_cast<std::int64_t>(done)));
    if (moved < 0 && errno == EINTR) continue;
    if (moved < 0) return errno;
    if (moved == 0) return EIO;  // the file has become shorter
    done += static_cast<std::size_t>(moved);
  }
  return 0;
}

// f(bytes of the part from .. , how many, place in the file's data) for each stretch that is one
// piece in both.
template <class F>
void each_stretch(const Shape& whole, std::size_t element, const ShardLayout& layout, int rank,
                  int axis, const F& f) {
  std::int64_t outer = 1, inner = static_cast<std::int64_t>(element);
  for (int a = 0; a < axis; ++a) outer *= whole[a];
  for (int a = axis + 1; a < whole.rank(); ++a) inner *= whole[a];
  std::int64_t from = 0;
  for (std::int64_t n = 0; n < outer; ++n) {
    for (const ShardRange& range : layout.ranges(rank)) {
      const std::int64_t rows = range.step == 1 ? range.count : 1;
      for (std::int64_t i = 0; i < range.count; i += rows) {
        f(from, rows * inner, (n * layout.length() + range.begin + i * range.step) * inner);
        from += rows * inner;
      }
    }
  }
}

}  // namespace

NpyFile open_npy(const std::string& path) {
  check_path(path);
  const FileHandle file(path, O_RDONLY);
  if (!file.is_open()) fail_file(path, "cannot be opened", errno);
  struct stat status {};
  if (::fstat(file.number(), &status) != 0) fail_file(path, "cannot be read", errno);
  if (!S_ISREG(status.st_mode)) throw Error(path, "must be a file that can be read in parts");
  constexpr std::int64_t kLongestHeader = 1 << 20;
  std::string head(static_cast<std::size_t>(std::min<std::int64_t>(kLongestHeader, status.st_size)),
                   '\0');
  const int problem = move_all(head.size(), 0, [&](std::size_t at, std::size_t count, off_t place) {
    return ::pread(file.number(), head.data() + at, count, place);
  });
  if (problem != 0) fail_file(path, "cannot be read", problem);
  const NpyHeader header = parse_npy_header(head, path);
  if (header.fortran && header.shape.rank() > 1) {
    throw Error(path, "must be in C order to be read in parts, got Fortran order");
  }
  if (header.swapped) {
    throw Error(path, "must have this machine's byte order to be read in parts");
  }
  const std::int64_t wanted =
      static_cast<std::int64_t>(header.data_begin) +
      header.shape.count() * static_cast<std::int64_t>(dtype_size(header.dtype));
  if (status.st_size != wanted) {
    throw Error(path, "must have " + std::to_string(wanted) + " bytes for shape " +
                          header.shape.to_string() + " of " +
                          std::string(dtype_name(header.dtype)) + ", got " +
                          std::to_string(status.st_size));
  }
  return {path, header.dtype, header.shape, header.data_begin};
}

Array load_shard(const NpyFile& file, const ShardLayout& layout, int rank, int axis) {
  if (axis < 0 || axis >= file.shape.rank() || file.shape[axis] != layout.length()) {
    throw Error(file.path, "must have " + std::to_string(layout.length()) + " rows along axis " +
                               std::to_string(axis) + ", got " + file.shape.to_string());
  }
  const FileHandle from(file.path, O_RDONLY);
  if (!from.is_open()) fail_file(file.path, "cannot be opened", errno);
  const std::size_t element = dtype_size(file.dtype);
  Array part;
  part.dtype = file.dtype;
  part.shape = with_size(file.shape, axis, layout.count(rank));
  part.bytes = Tensor<std::byte>::uninitialized(
      Shape{part.shape.count() * static_cast<std::int64_t>(element)});
  each_stretch(file.shape, element, layout, rank, axis,
               [&](std::int64_t to, std::int64_t count, std::int64_t place) {
                 const int problem = move_all(
                     static_cast<std::size_t>(count),
                     static_cast<std::int64_t>(file.data_begin) + place,
                     [&](std::size_t at, std::size_t bytes, off_t where) {
                       return ::pread(from.number(), part.bytes.data() + to + at, bytes, where);
                     });
                 if (problem != 0) fail_file(file.path, "cannot be read", problem);
               });
  if (file.dtype == DType::boolean) {
    for (std::byte& each : part.bytes.span()) each = std::byte{each != std::byte{0}};
  }
  return part;
}

namespace {

// The file that `path` leads to, which ranks may write in its place.
std::string target_of(const std::string& path) {
  check_path(path);
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0) {
    if (!S_ISREG(status.st_mode)) throw Error(path, "must be a file, whose parts ranks can write");
    // A folder that can be written would let us replace a file that cannot.
    if (::access(path.c_str(), W_OK) != 0) fail_file(path, "cannot be written", errno);
  }
  return follow_links(path);
}

// Makes `name` with the permissions of the file at `path`, room for `size` bytes and the header;
// returns 0, or the reason of a failure.
int begin_file(const std::string& name, const std::string& path, const std::string& header,
               std::int64_t size) {
  const FileHandle file(name, O_WRONLY | O_CREAT | O_EXCL, 0666);
  if (!file.is_open()) return errno;
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0 && ::fchmod(file.number(), status.st_mode & 07777) != 0) {
    return errno;
  }
  const int full = ::posix_fallocate(file.number(), 0, static_cast<off_t>(size));
  if (full != 0) return full;
  return move_all(header.size(), 0, [&](std::size_t at, std::size_t count, off_t place) {
    return ::pwrite(file.number(), header.data() + at, count, place);
  });
}

}  // namespace

template <class T>
void save_shards(const Communicator& comm, const std::string& path, View<const T> part,
                 const ShardLayout& layout, int axis) {
  const Shape whole = with_size(part.shape(), axis, layout.length());
  const std::string header = format_npy_header(dtype_of<T>, whole);
  std::string target;
  std::array<char, 4096> name{};
  std::optional<TemporaryName> temporary;
  run_or_fail_on_all(comm, [&] {
    if (comm.rank() != 0) return;
    target = target_of(path);
    const std::int64_t size = static_cast<std::int64_t>(header.size()) +
                              whole.count() * static_cast<std::int64_t>(sizeof(T));
    int problem = EEXIST;
    while (problem == EEXIST) {
      temporary.emplace(temporary_beside(target));
      problem = begin_file(temporary->path(), path, header, size);
      if (problem == EEXIST) temporary->forget();  // another process's
    }
    if (problem != 0) fail_file(path, "cannot be written", problem);
    const std::string& beside = temporary->path();
    if (beside.size() >= name.size()) throw Error(path, "must be a shorter path");
    std::copy(beside.begin(), beside.end(), name.begin());
  });
  comm.broadcast(0, std::as_writable_bytes(std::span(name)));
  // On every rank, so that any rank that ends removes it.
  if (comm.rank() != 0) temporary.emplace(name.data());
  run_or_fail_on_all(comm, [&] {
    const Tensor<T> rows = copy_of(part);
    const auto* bytes = reinterpret_cast<const std::byte*>(rows.data());
    FileHandle file(name.data(), O_WRONLY);
    if (!file.is_open()) fail_file(path, "cannot be written by all ranks", errno);
    each_stretch(whole, sizeof(T), layout, comm.rank(), axis,
                 [&](std::int64_t from, std::int64_t count, std::int64_t place) {
                   const int problem =
                       move_all(static_cast<std::size_t>(count),
                                static_cast<std::int64_t>(header.size()) + place,
                                [&](std::size_t at, std::size_t size, off_t where) {
                                  return ::pwrite(file.number(), bytes + from + at, size, where);
                                });
                   if (problem != 0) fail_file(path, "cannot be written", problem);
                 });
    if (::fsync(file.number()) != 0) fail_file(path, "cannot be written", errno);
  });
  run_or_fail_on_all(comm, [&] {
    if (comm.rank() != 0) return;
    if (::rename(name.data(), target.c_str()) != 0) fail_file(path, "cannot be written", errno);
    const int problem = sync_names(parent_folder(target));
    if (problem != 0) fail_file(path, "cannot be written", problem);
  });
  temporary->forget();
}

#define SEXTANT_INSTANTIATE(T)                                                      \
  template void save_shards(const Communicator&, const std::string&, View<const T>, \
                            const ShardLayout&, int);
SEXTANT_FOR_EACH_FLOATING(SEXTANT_INSTANTIATE)
#undef SEXTANT_INSTANTIATE

}  // namespace sextant::ranks
