// Files of tokens as untrusted input.
#include "sextant/text/token_file.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <system_error>
#include <vector>

#include "core/files/file_filler.h"
#include "sextant/core/error.h"
#include "sextant/core/files.h"
#include "sextant/core/numbers.h"
#include "sextant/core/printable.h"
#include "sextant/core/tensor_file.h"
#include "text/files/token_file_writer.h"

namespace sextant {
namespace {

constexpr std::size_t kBlock = std::size_t{1}
                               << 20;  // ids that are read before memory is given back

TokenArray array_of(const TensorFile& file, const StoredTensor& tensor) {
  const void* const data = file.bytes(tensor).data();
  const auto size = static_cast<std::size_t>(tensor.count());
  if (reinterpret_cast<std::uintptr_t>(data) % dtype_size(tensor.dtype) != 0) {
    throw Error(file.path(), "must have its tensors aligned to their elements");
  }
  const auto owner = std::make_shared<const TensorFile>(file);
  switch (tensor.dtype) {
    case DType::uint16:
      return {owner, static_cast<const std::uint16_t*>(data), size};
    case DType::uint32:
      return {owner, static_cast<const std::uint32_t*>(data), size};
    default:
      return {owner, static_cast<const std::int64_t*>(data), size};
  }
}

std::string described(const StoredTensor& tensor) {
  return std::string(dtype_name(tensor.dtype)) + " of shape " + tensor.shape.to_string();
}

TokenArray tokens_of(const TensorFile& mapped, const std::string& path) {
  const StoredTensor* const found = mapped.find("tokens");
  if (found == nullptr) {
    throw Error(path, "must have the tensor 'tokens', [tokens] of uint16 or uint32");
  }
  const StoredTensor& tensor = *found;
  const bool known = tensor.dtype == DType::uint16 || tensor.dtype == DType::uint32;
  if (!known || tensor.shape.rank() != 1) {
    throw Error(
        path, "must have 'tokens' as uint16 or uint32 of shape [tokens], got " + described(tensor));
  }
  return array_of(mapped, tensor);
}

TokenArray ends_of(const TensorFile& mapped, std::size_t tokens, const std::string& path) {
  const StoredTensor* const found = mapped.find("document_ends");
  if (found == nullptr) return {};
  const StoredTensor& tensor = *found;
  if (tensor.dtype != DType::int64 || tensor.shape.rank() != 1) {
    throw Error(
        path, "must have 'document_ends' as int64 of shape [documents], got " + described(tensor));
  }
  TokenArray ends = array_of(mapped, tensor);
  std::int64_t before = 0;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    if (ends[i] < before) {
      throw Error(path, "must have 'document_ends' of 0 or more that ascend, got " +
                            std::to_string(ends[i]) + " after " + std::to_string(before) +
                            " at place " + std::to_string(i));
    }
    before = ends[i];
  }
  if (!ends.empty() && before != static_cast<std::int64_t>(tokens)) {
    throw Error(path, "must have the number of tokens, " + std::to_string(tokens) +
                          ", as the last of 'document_ends', got " + std::to_string(before));
  }
  return ends;
}

std::string text_of(const TensorFile& mapped, const char* key) {
  const auto found = mapped.metadata().find(key);
  return found == mapped.metadata().end() ? "" : found->second;
}

std::int64_t number_of(const TensorFile& mapped, const char* key, std::int64_t most,
                       const std::string& path) {
  const std::string text = text_of(mapped, key);
  if (text.empty()) return 0;
  const std::string where = path + ", metadata " + key;
  const std::int64_t number = parse_int64(text, where);
  if (number < 1 || number > most) {
    throw Error(where, "must be 1 .. " + std::to_string(most) + ", got " + text);
  }
  return number;
}

// Looks at every token once.
std::string check_tokens(const TensorFile& mapped, const TokenArray& tokens,
                         std::int64_t vocabulary, const std::string& path) {
  Checksum sum;
  for (std::size_t begin = 0; begin < tokens.size(); begin += kBlock) {
    const TokenArray block = tokens.part(begin, std::min(begin + kBlock, tokens.size()));
    const std::span bytes(static_cast<const std::byte*>(block.data()),
                          block.size() * block.bytes_each());
    sum.add(bytes);
    for (std::size_t i = 0; i < block.size() && vocabulary > 0; ++i) {
      if (block[i] < vocabulary) continue;
      throw Error(path, "must have tokens below the tokenizer's vocabulary of " +
                            std::to_string(vocabulary) + ", got " + std::to_string(block[i]) +
                            " at place " + std::to_string(begin + i));
    }
    mapped.release(bytes);
  }
  return sum.text();
}

}  // namespace

TokenFile load_token_file(const std::string& path, std::int64_t vocabulary) {
  std::error_code problem;
  if (std::filesystem::exists(path, problem) && !std::filesystem::is_regular_file(path, problem)) {
    throw Error(path, "must be a file, got a folder or a device");
  }
  const TensorFile mapped = TensorFile::open(path);
  TokenFile file;
  file.tokens = tokens_of(mapped, path);
  file.document_ends = ends_of(mapped, file.tokens.size(), path);
  file.tokenizer = text_of(mapped, "tokenizer");
  if (file.tokenizer.empty()) {
    throw Error(path,
                "must say which tokenizer made it: metadata with its checksum as 'tokenizer'");
  }
  file.vocabulary = number_of(mapped, "vocabulary_size", std::int64_t{1} << 32, path);
  file.training = static_cast<std::uint64_t>(
      number_of(mapped, "training_tokens", static_cast<std::int64_t>(file.tokens.size()), path));
  file.source = text_of(mapped, "source");
  file.checksum =
      check_tokens(mapped, file.tokens, vocabulary > 0 ? vocabulary : file.vocabulary, path);
  const std::string written = text_of(mapped, "checksum");
  if (!written.empty() && written != file.checksum) {
    throw Error(path, "is corrupt: checksum mismatch of its tokens");
  }
  return file;
}

void save_token_file(const std::string& path, const TokenFile& file) {
  std::int64_t largest = 0, before = 0;
  for (std::size_t i = 0; i < file.tokens.size(); ++i) {
    largest = std::max(largest, file.tokens[i]);
    if (file.tokens[i] >= 0 && file.tokens[i] < std::int64_t{1} << 32) continue;
    throw Error("save_token_file.tokens", "must be 0 .. 4294967295, got " +
                                              std::to_string(file.tokens[i]) + " at place " +
                                              std::to_string(i));
  }
  const TokenArray& ends = file.document_ends;
  for (std::size_t i = 0; i < ends.size(); before = ends[i++]) {
    const bool last = i + 1 == ends.size();
    const auto count = static_cast<std::int64_t>(file.tokens.size());
    if (ends[i] >= before && ends[i] <= count && (!last || ends[i] == count)) continue;
    throw Error("save_token_file.document_ends",
                "must ascend up to the number of tokens, " + std::to_string(count) + ", got " +
                    std::to_string(ends[i]) + " at place " + std::to_string(i));
  }
  write_file_with(path, [&](int descriptor) {
    text::TokenFileWriter writer(descriptor, path, std::max(file.vocabulary, largest + 1),
                                 ends.size());
    std::size_t document = 0;
    for (std::size_t i = 0; i <= file.tokens.size(); ++i) {
      while (document < ends.size() && ends[document] == static_cast<std::int64_t>(i)) {
        writer.end_document();
        ++document;
      }
      if (i == file.tokens.size()) break;
      const std::int64_t id = file.tokens[i];
      writer.add(std::span(&id, 1));
    }
    writer.finish(file);
    return 0;
  });
}

}  // namespace sextant
