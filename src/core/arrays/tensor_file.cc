// Opening a file reads its headers; the data is read on request.
#include "sextant/core/tensor_file.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <deque>
#include <filesystem>
#include <system_error>
#include <type_traits>
#include <vector>

#include "core/arrays/convert.h"
#include "core/arrays/each_dtype.h"
#include "core/arrays/safetensors_header.h"
#include "core/arrays/tensor_index.h"
#include "core/files/file_bytes.h"
#include "core/threads/interruption.h"
#include "sextant/core/error.h"
#include "sextant/core/printable.h"

namespace sextant {
namespace {

static_assert(std::endian::native == std::endian::little, "the format's numbers are little-endian");
constexpr std::uint64_t kLengthBytes = 8;
constexpr std::size_t kPieceBytes = std::size_t{1} << 18;  // stays in the second cache

// Every byte of the data belongs to one tensor.
void check_places(std::vector<StoredTensor>& entries, std::uint64_t data, std::string_view where) {
  std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  std::uint64_t at = 0;
  for (const StoredTensor& entry : entries) {
    const auto fail = [&](const std::string& what) {
      throw Error(where, "tensor " + printable_quote(entry.name) + " " + what);
    };
    if (entry.end > data) {
      fail("ends at byte " + std::to_string(entry.end) + " of the data, but the file has only " +
           std::to_string(data) + ": it is cut off, or the offsets are wrong");
    }
    if (entry.begin < at) {
      fail("overlaps another: it begins at byte " + std::to_string(entry.begin) + ", must at " +
           std::to_string(at));
    }
    if (entry.begin > at) {
      fail("leaves a gap: it begins at byte " + std::to_string(entry.begin) + ", must at " +
           std::to_string(at));
    }
    at = entry.end;
  }
  if (at != data) {
    throw Error(where, "has " + std::to_string(data - at) + " bytes left over after its tensors");
  }
}

// One file: its bytes, where its data begins, and the checksum up to there.
struct Part {
  template <class... Source>
  explicit Part(const Source&... source) : bytes(source...) {}

  FileBytes bytes;
  std::uint64_t data = 0;
  Checksum checksum;
};

SafetensorsHeader read_header(Part& part) {
  const std::string& where = part.bytes.path();
  std::uint64_t length = 0;
  if (part.bytes.size() < kLengthBytes) {
    throw Error(
        where, "is not a .safetensors file: it is shorter than the 8 bytes of its header's length");
  }
  const std::uint64_t left = part.bytes.size() - kLengthBytes;
  const auto number = std::as_writable_bytes(std::span(&length, 1));
  part.bytes.read(0, number);
  if (length > kLargestSafetensorsHeader) {
    throw Error(where, "is not a .safetensors file: its header would be " + std::to_string(length) +
                           " bytes long, must be at most 100000000");
  }
  if (length > left) {
    throw Error(where, "is cut off inside its header: it says " + std::to_string(length) +
                           " bytes, but there are " + std::to_string(left));
  }
  std::string json(static_cast<std::size_t>(length), '\0');
  part.bytes.read(kLengthBytes, std::as_writable_bytes(std::span(json)));
  part.checksum.add(number);
  part.checksum.add(std::as_bytes(std::span<const char>(json)));
  part.data = kLengthBytes + length;
  SafetensorsHeader header = parse_safetensors_header(json, where);
  check_places(header.entries, left - length, where);
  return header;
}

std::string file_in(const std::string& folder) {
  std::error_code problem;
  for (const char* name : {"/model.safetensors", "/model.safetensors.index.json"}) {
    if (std::filesystem::exists(folder + name, problem)) return folder + name;
  }
  throw Error(folder + "/model.safetensors",
              "must be there, or model.safetensors.index.json in its place");
}

}  // namespace

struct TensorFile::Contents {
  explicit Contents(std::string where) : path(std::move(where)) {}

  template <class... Source>
  void add(const Source&... source) {
    const std::size_t number = parts.size();
    Part& part = parts.emplace_back(source...);
    const std::string& file = files.emplace_back(part.bytes.path());
    SafetensorsHeader header = read_header(part);
    for (auto& [key, text] : header.metadata) {
      const auto [known, is_new] = metadata.emplace(key, text);
      if (is_new || known->second == text) continue;
      throw Error(file, "must have the metadata " + printable_quote(key) + " of the other files");
    }
    for (StoredTensor& tensor : header.entries) {
      tensor.file = number;
      tensors.push_back(std::move(tensor));
    }
  }
  void add_files_of(const TensorIndex& index);
  void sort_names() {
    for (std::size_t i = 0; i < tensors.size(); ++i) by_name.emplace(tensors[i].name, i);
  }

  std::string path;
  std::deque<Part> parts;  // never move
  std::vector<std::string> files;
  std::map<std::string, std::string> metadata;
  std::vector<StoredTensor> tensors;
  std::map<std::string_view, std::size_t> by_name;
};

// Every tensor of the files is where the index says, and nowhere else.
void TensorFile::Contents::add_files_of(const TensorIndex& index) {
  std::vector<std::string> paths;
  for (const auto& [tensor, file] : index.file_of) paths.push_back(file);
  std::ranges::sort(paths);
  paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
  for (const std::string& each : paths) add(each);
  for (const StoredTensor& tensor : tensors) {
    const std::string& file = files[tensor.file];
    const auto said = index.file_of.find(tensor.name);
    if (said != index.file_of.end() && said->second == file) continue;
    throw Error(
        file, "must not hold tensor " + printable_quote(tensor.name) + ", which " + path +
                  (said == index.file_of.end() ? " does not name" : " says is in " + said->second));
  }
  sort_names();
  for (const auto& [tensor, file] : index.file_of) {
    if (by_name.contains(tensor)) continue;
    throw Error(file, "must hold tensor " + printable_quote(tensor) + ", as " + path + " says");
  }
}

TensorFile::TensorFile(std::shared_ptr<const Contents> contents) : contents_(std::move(contents)) {}

TensorFile TensorFile::open(const std::string& path) {
  std::error_code problem;
  const auto contents = std::make_shared<Contents>(
      std::filesystem::is_directory(path, problem) ? file_in(path) : path);
  if (contents->path.ends_with(".json")) {
    contents->add_files_of(read_tensor_index(contents->path));
  } else {
    contents->add(contents->path);
    contents->sort_names();
  }
  return TensorFile(contents);
}

TensorFile TensorFile::parse(std::string_view bytes, std::string_view where) {
  const auto contents = std::make_shared<Contents>(std::string(where));
  contents->add(bytes, where);
  contents->sort_names();
  return TensorFile(contents);
}

const std::string& TensorFile::path() const noexcept { return contents_->path; }
std::span<const std::string> TensorFile::files() const noexcept { return contents_->files; }
const std::map<std::string, std::string>& TensorFile::metadata() const noexcept {
  return contents_->metadata;
}
std::span<const StoredTensor> TensorFile::tensors() const noexcept { return contents_->tensors; }

const StoredTensor* TensorFile::find(std::string_view name) const noexcept {
  const auto found = contents_->by_name.find(name);
  return found == contents_->by_name.end() ? nullptr : &contents_->tensors[found->second];
}

const StoredTensor& TensorFile::at(std::string_view name) const {
  if (const StoredTensor* found = find(name)) return *found;
  throw Error(path(), "must hold the tensor " + printable_quote(name));
}

std::span<const std::byte> TensorFile::bytes(const StoredTensor& tensor) const {
  const Part& part = contents_->parts[tensor.file];
  return part.bytes.map().subspan(static_cast<std::size_t>(part.data + tensor.begin),
                                  static_cast<std::size_t>(tensor.size()));
}

void TensorFile::release(std::span<const std::byte> read) const noexcept {
  for (const Part& part : contents_->parts) part.bytes.release(read);
}

template <class T>
void TensorFile::read(const StoredTensor& tensor, std::int64_t first, std::span<T> to,
                      Checksum* checksum) const {
  const std::int64_t count = std::ssize(to);
  if (first < 0 || first > tensor.count() || count > tensor.count() - first) {
    throw Error("tensor_file.read", "must be elements of " + std::to_string(tensor.count()) +
                                        ", got " + std::to_string(count) + " from " +
                                        std::to_string(first));
  }
  const Part& part = contents_->parts[tensor.file];
  const std::size_t size = dtype_size(tensor.dtype), most = kPieceBytes / size;
  std::uint64_t at = part.data + tensor.begin + static_cast<std::uint64_t>(first) * size;
  const bool as_it_is = tensor.dtype == dtype_of<T> && !std::is_same_v<T, bool>;
  std::vector<std::byte> buffer(as_it_is ? 0 : std::min(to.size(), most) * size);
  while (!to.empty()) {
    check_interruption();
    const std::span<T> piece = to.first(std::min(to.size(), most));
    const std::span<std::byte> bytes =
        as_it_is ? std::as_writable_bytes(piece) : std::span(buffer.data(), piece.size() * size);
    part.bytes.read(at, bytes);
    if (checksum != nullptr) checksum->add(bytes);
    if (!as_it_is) convert_elements<T>(tensor.dtype, buffer.data(), piece);
    at += bytes.size();
    to = to.subspan(piece.size());
  }
}

Checksum TensorFile::header_checksum(std::size_t file) const {
  return contents_->parts[file].checksum;
}

#define SEXTANT_INSTANTIATE(T) \
  template void TensorFile::read(const StoredTensor&, std::int64_t, std::span<T>, Checksum*) const;
SEXTANT_FOR_EACH_DTYPE(SEXTANT_INSTANTIATE)
#undef SEXTANT_INSTANTIATE

}  // namespace sextant
