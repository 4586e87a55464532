// One call of mmap, and the checks of what the header says about it.
#include "text/files/mapped_tensors.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>

#include "core/arrays/safetensors_header.h"
#include "core/files/file_handle.h"
#include "core/text/quoted_text.h"
#include "sextant/core/error.h"
#include "sextant/core/files.h"

namespace sextant::text {
namespace {

static_assert(std::endian::native == std::endian::little, "the format's numbers are little-endian");
constexpr std::uint64_t kLengthBytes = 8;

struct Mapping {
  explicit Mapping(const std::string& path) {
    check_path(path);
    const FileHandle file(path, O_RDONLY);
    if (!file.is_open()) fail_file(path, "cannot be opened", errno);
    struct stat status {};
    if (::fstat(file.number(), &status) != 0) fail_file(path, "cannot be read", errno);
    if (!S_ISREG(status.st_mode)) throw Error(path, "must be a file, got a folder or a device");
    size = static_cast<std::size_t>(status.st_size);
    if (size < kLengthBytes) {
      throw Error(
          path,
          "is not a .safetensors file: it is shorter than the 8 bytes of its header's length");
    }
    data = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, file.number(), 0);
    if (data == MAP_FAILED) fail_file(path, "cannot be mapped", errno);
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() {
    if (data != MAP_FAILED) ::munmap(data, size);
  }

  void* data = MAP_FAILED;
  std::size_t size = 0;
};

// Every byte of the data belongs to one tensor.
void check_places(std::vector<SafetensorsEntry>& entries, std::uint64_t data,
                  const std::string& path) {
  std::ranges::sort(entries, {},
                    [](const auto& entry) { return std::pair(entry.begin, entry.end); });
  std::uint64_t at = 0;
  for (const SafetensorsEntry& entry : entries) {
    if (entry.end > data) {
      throw Error(path, "tensor " + quoted_text(entry.name) + " ends at byte " +
                            std::to_string(entry.end) + " of the data, but the file has only " +
                            std::to_string(data) + ": it is cut off, or the offsets are wrong");
    }
    if (entry.begin != at) {
      throw Error(path, "tensor " + quoted_text(entry.name) + " begins at byte " +
                            std::to_string(entry.begin) + " of the data, must at " +
                            std::to_string(at));
    }
    at = entry.end;
  }
  if (at != data) {
    throw Error(path, "has " + std::to_string(data - at) + " bytes left over after its tensors");
  }
}

}  // namespace

MappedTensors map_safetensors(const std::string& path) {
  auto mapping = std::make_shared<const Mapping>(path);
  const std::string_view bytes(static_cast<const char*>(mapping->data), mapping->size);
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), kLengthBytes);
  if (length > kLargestSafetensorsHeader) {
    throw Error(path, "is not a .safetensors file: its header would be " + std::to_string(length) +
                          " bytes long, must be at most 100000000");
  }
  if (length > bytes.size() - kLengthBytes) {
    throw Error(path, "is cut off inside its header: it says " + std::to_string(length) +
                          " bytes, but " + std::to_string(bytes.size() - kLengthBytes) +
                          " are there");
  }
  const auto header_bytes = static_cast<std::size_t>(length);
  SafetensorsHeader header =
      parse_safetensors_header(bytes.substr(kLengthBytes, header_bytes), path);
  const std::string_view data = bytes.substr(kLengthBytes + header_bytes);
  check_places(header.entries, data.size(), path);
  MappedTensors result{.owner = mapping, .metadata = std::move(header.metadata)};
  for (const SafetensorsEntry& entry : header.entries) {
    result.tensors[entry.name] = {entry.dtype, entry.shape, data.data() + entry.begin};
  }
  return result;
}

void forget_pages(const void* first, std::size_t bytes) noexcept {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto address = reinterpret_cast<std::uintptr_t>(first);
  const std::uintptr_t begin = address / page * page, end = (address + bytes) / page * page;
  if (begin < end) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

}  // namespace sextant::text
