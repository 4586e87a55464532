// Parses the header of a .npy file (numpy.lib.format, "Format Version 1.0" to "3.0"). A small
// strict parser, which accepts NumPy's output in any spacing, key order and quoting, and nothing
// that would have to be evaluated.
#include "core/arrays/npy_header.h"

#include <array>
#include <bit>
#include <charconv>

#include "sextant/core/error.h"
#include "sextant/core/printable.h"

namespace sextant {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr bool kLittle = std::endian::native == std::endian::little;

std::size_t little_endian(std::string_view bytes) noexcept {
  std::size_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;)
    value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

// Reads a Python literal from left to right. Every function skips spaces first and throws at
// unexpected input.
class Literal {
 public:
  Literal(std::string_view text, std::string_view where) : text_(text), where_(where) {}

  [[noreturn]] void fail(const std::string& what) const {
    throw Error(where_,
                "has an unreadable header: " + what + " at character " + std::to_string(at_));
  }

  // The next character that is no space, or 0 at the end.
  char peek() noexcept {
    while (at_ < text_.size() && (text_[at_] == ' ' || (text_[at_] >= '\t' && text_[at_] <= '\r')))
      ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool accept(char wanted) noexcept {
    if (peek() != wanted) return false;
    ++at_;
    return true;
  }
  void expect(char wanted) {
    if (!accept(wanted)) fail(std::string("expected ") + wanted);
  }
  void expect_end() {
    peek();
    if (at_ != text_.size()) fail("expected nothing after the dictionary");
  }

  std::string_view string() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') fail("expected a quoted name");
    const std::size_t begin = at_ + 1;
    const std::size_t end = text_.find_first_of(quote == '"' ? "\"\\\n" : "'\\\n", begin);
    if (end == std::string_view::npos || text_[end] != quote) fail("a quoted name does not end");
    at_ = end + 1;
    return text_.substr(begin, end - begin);
  }

  bool boolean() {
    peek();
    for (const bool value : {false, true}) {
      const std::string_view word = value ? "True" : "False";
      if (text_.substr(at_).starts_with(word)) {
        at_ += word.size();
        return value;
      }
    }
    fail("fortran_order must be True or False");
  }

  // (), (3,), (3, 4): a tuple of sizes. Python 2 wrote 3L for large ones.
  Shape shape() {
    std::array<std::int64_t, kMaxRank> sizes{};
    std::size_t rank = 0;
    std::int64_t product = 1;
    bool comma = true;
    if (!accept('(')) fail("shape must be a tuple");
    while (!accept(')')) {
      if (!comma) fail("expected , or )");
      const std::int64_t size = this->size();
      if (rank == sizes.size()) {
        throw Error(where_, "must have at most " + std::to_string(kMaxRank) + " axes");
      }
      if (size != 0 && product > (std::int64_t{1} << 62) / size) {
        throw Error(where_, "has a shape that overflows: more than 2^62 elements");
      }
      if (size != 0) product *= size;
      sizes[rank++] = size;
      accept('L');
      comma = accept(',');
    }
    if (rank == 1 && !comma) fail("shape must be a tuple, and one size alone needs a comma");
    return Shape(std::span<const std::int64_t>(sizes.data(), rank));
  }

 private:
  std::int64_t size() {
    peek();
    std::int64_t value = 0;
    const auto [end, problem] =
        std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (problem == std::errc::invalid_argument) fail("expected an integer size");
    if (problem != std::errc{})
      throw Error(where_, "has a shape that overflows: a size that does not fit 64 bits");
    if (value < 0)
      throw Error(where_, "has a negative size in its shape: " + std::to_string(value));
    at_ = static_cast<std::size_t>(end - text_.data());
    return value;
  }

  std::string_view text_;
  std::string_view where_;
  std::size_t at_ = 0;
};

// "<f4" and the like: byte order, kind, bytes per element.
void set_dtype(NpyHeader& header, std::string_view descr, std::string_view where) {
  const auto refuse = [&](const std::string& why) {
    throw Error(where, "has dtype " + printable_quote(descr) + ", " + why);
  };
  constexpr std::string_view kAllowed =
      "must be bool, an integer, float16, bfloat16, float32 or float64";
  std::string_view name = descr;
  char order = '=';
  if (!name.empty() && std::string_view("<>|=").find(name[0]) != std::string_view::npos) {
    order = name[0];
    name.remove_prefix(1);
  }
  header.swapped = order == (kLittle ? '>' : '<');

  struct Named {
    std::string_view name;
    DType dtype;
  };
  constexpr std::array<Named, 14> kNamed = {{{"b1", DType::boolean},
                                             {"i1", DType::int8},
                                             {"i2", DType::int16},
                                             {"i4", DType::int32},
                                             {"i8", DType::int64},
                                             {"u1", DType::uint8},
                                             {"u2", DType::uint16},
                                             {"u4", DType::uint32},
                                             {"u8", DType::uint64},
                                             {"f2", DType::float16},
                                             {"f4", DType::float32},
                                             {"f8", DType::float64},
                                             {"V2", DType::bfloat16},
                                             {"bfloat16", DType::bfloat16}}};
  for (const Named& each : kNamed) {
    if (each.name == name) {
      header.dtype = each.dtype;
      return;
    }
  }
  if (name.starts_with('O')) refuse("and pickled objects are refused: they can run any program");
  if (name.starts_with('c'))
    refuse("and complex numbers are not supported: " + std::string(kAllowed));
  if (name.starts_with('f'))
    refuse("and floats of this size are not supported: " + std::string(kAllowed));
  if (name.starts_with('S') || name.starts_with('U'))
    refuse("and strings are not supported: " + std::string(kAllowed));
  refuse("which is unknown: " + std::string(kAllowed));
}

}  // namespace

NpyHeader parse_npy_header(std::string_view bytes, std::string_view where) {
  if (!bytes.starts_with(kMagic))
    throw Error(where, "is not a .npy file: it does not begin with \\x93NUMPY");
  const std::string_view version = bytes.substr(kMagic.size(), 2);
  if (version.size() < 2) throw Error(where, "is cut off inside its header");
  const int major = static_cast<unsigned char>(version[0]);
  const int minor = static_cast<unsigned char>(version[1]);
  if (major < 1 || major > 3 || minor != 0) {
    throw Error(where, "has .npy version " + std::to_string(major) + "." + std::to_string(minor) +
                           ", must be 1.0, 2.0 or 3.0");
  }
  const std::size_t length_begin = kMagic.size() + 2;
  const std::size_t length_bytes = major == 1 ? 2 : 4;
  if (bytes.size() < length_begin + length_bytes)
    throw Error(where, "is cut off inside its header");
  const std::size_t length = little_endian(bytes.substr(length_begin, length_bytes));
  const std::size_t begin = length_begin + length_bytes;
  if (length > bytes.size() - begin) {
    throw Error(where, "is cut off inside its header: it says " + std::to_string(length) +
                           " bytes, but there are " + std::to_string(bytes.size() - begin));
  }

  NpyHeader header;
  header.data_begin = begin + length;
  Literal literal(bytes.substr(begin, length), where);
  bool has_descr = false;
  bool has_order = false;
  bool has_shape = false;
  const auto once = [&](bool& seen, const char* key) {
    if (seen) literal.fail(std::string("two entries ") + key);
    seen = true;
  };
  if (!literal.accept('{')) literal.fail("expected a dictionary");
  bool comma = true;
  while (!literal.accept('}')) {
    if (!comma) literal.fail("expected , or }");
    const std::string_view key = literal.string();
    literal.expect(':');
    if (key == "descr") {
      once(has_descr, "descr");
      if (literal.peek() == '[' || literal.peek() == '(') {
        throw Error(where, "has a structured dtype, must be one plain number per element");
      }
      set_dtype(header, literal.string(), where);
    } else if (key == "fortran_order") {
      once(has_order, "fortran_order");
      header.fortran = literal.boolean();
    } else if (key == "shape") {
      once(has_shape, "shape");
      header.shape = literal.shape();
    } else {
      literal.fail("unknown entry " + printable_quote(key));
    }
    comma = literal.accept(',');
  }
  literal.expect_end();
  for (const auto& [seen, key] :
       {std::pair(has_descr, "descr"), std::pair(has_order, "fortran_order"),
        std::pair(has_shape, "shape")}) {
    if (!seen) literal.fail(std::string("no entry ") + key);
  }
  return header;
}

std::string format_npy_header(DType dtype, const Shape& shape) {
  // NumPy has no bfloat16; its users exchange two bytes without a type.
  const DType stored = dtype == DType::bfloat16 ? DType::uint16 : dtype;
  const std::string_view name = dtype_name(stored);
  const char kind = name.front();  // b, i, u, f
  const std::size_t size = dtype_size(stored);
  std::string text = "{'descr': '";
  text += size == 1 ? '|' : kLittle ? '<' : '>';
  text += kind + std::to_string(size) + "', 'fortran_order': False, 'shape': (";
  for (const std::int64_t each : shape) text += std::to_string(each) + ", ";
  if (shape.rank() > 1) text.erase(text.size() - 2);
  if (shape.rank() == 1) text.pop_back();
  text += "), }";

  constexpr std::size_t kBefore = kMagic.size() + 4;
  text.append(63 - (kBefore + text.size()) % 64, ' ');
  text += '\n';
  std::string header(kMagic);
  header += {1, 0, static_cast<char>(text.size() & 0xff), static_cast<char>(text.size() >> 8)};
  return header + text;
}

}  // namespace sextant
