// Checksums: FNV-1a over 64-bit words. Each step can be undone, so a change within one word always
// shows.
#include <algorithm>
#include <cstring>
#include <vector>

#include "core/files/file_bytes.h"
#include "core/threads/interruption.h"
#include "sextant/core/files.h"

namespace sextant {
namespace {

constexpr std::size_t kWord = 8;

std::uint64_t mixed(std::uint64_t hash, std::uint64_t word) {
  hash = (hash ^ word) * 0x100000001b3U;
  return hash ^ hash >> 29;
}

}  // namespace

void Checksum::add(std::span<const std::byte> bytes) noexcept {
  const auto put = [this](std::size_t place, std::span<const std::byte> few) {
    std::uint64_t word = 0;
    std::memcpy(&word, few.data(), few.size());
    word_ |= word << (8 * place);
  };
  const auto begun = static_cast<std::size_t>(length_ % kWord);
  length_ += bytes.size();
  if (begun > 0) {
    const std::size_t count = std::min(bytes.size(), kWord - begun);
    put(begun, bytes.first(count));
    bytes = bytes.subspan(count);
    if (begun + count < kWord) return;
    hash_ = mixed(hash_, word_);
    word_ = 0;
  }
  std::uint64_t hash = hash_;
  for (; bytes.size() >= kWord; bytes = bytes.subspan(kWord)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), kWord);
    hash = mixed(hash, word);
  }
  hash_ = hash;
  if (!bytes.empty()) put(0, bytes);
}

std::string Checksum::text() const {
  std::uint64_t hash = length_ % kWord > 0 ? mixed(hash_, word_) : hash_;
  hash = (hash ^ length_) * 0x100000001b3U;
  std::string text(16, '0');
  for (std::size_t i = 16; i-- > 0; hash >>= 4) text[i] = "0123456789abcdef"[hash & 15];
  return text;
}

std::string checksum_of(std::string_view bytes) {
  Checksum sum;
  sum.add(std::as_bytes(std::span<const char>(bytes)));
  return sum.text();
}

FileChecksum checksum_of_file(const std::string& path) {
  const FileBytes file(path);
  constexpr std::uint64_t kPiece = std::uint64_t{1} << 18;
  std::vector<std::byte> piece(static_cast<std::size_t>(std::min(file.size(), kPiece)));
  Checksum sum;
  for (std::uint64_t at = 0; at < file.size(); at += kPiece) {
    check_interruption();
    const std::span<std::byte> part(piece.data(), std::min(file.size() - at, kPiece));
    file.read(at, part);
    sum.add(part);
  }
  return {file.size(), sum.text()};
}

}  // namespace sextant
