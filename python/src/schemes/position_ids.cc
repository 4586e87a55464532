// Position ids: packed, padded, of caches, images and prompts with images.
#include "sextant/schemes/ids/positions.h"

#include <algorithm>
#include <string>
#include <vector>

#include "arrays.h"
#include "bindings.h"

namespace sextant::python {
namespace {

nb::object array_of_ids(const std::vector<std::int64_t>& ids) {
  Tensor<std::int64_t> array({static_cast<std::int64_t>(ids.size())});
  std::ranges::copy(ids, array.data());
  return to_python(std::move(array));
}

// A mask [length] or [batch, length], of bool or of whole numbers of which 0 is padding; f of it as
// [batch, length].
template <class F>
nb::object with_mask(const char* call, nb::handle given, const F& f) {
  const InputArray array({given, call, "mask"});
  if (array.shape().rank() != 1) array.expect_rank(2, "[batch, length] or [length]");
  if (is_float(array.dtype())) throw_type_error(array.argument(), "an array of bool or integers");
  const Tensor<bool> seen = array.copy().to<bool>();
  const View<const bool> mask = seen;
  Tensor<std::int64_t> ids = f(mask.rank() == 2 ? mask : mask.unsqueeze(0));
  return to_python(std::move(ids), array.shape());
}

std::int64_t whole(nb::handle value, const char* call, const char* name) {
  return Argument{value, call, name}.integer();
}

// A segment of mrope(): ("text", length), ("image", rows, columns), ("video", frames, rows,
// columns[, frame_step]) or ("padding", length).
MropeSegment segment_of(nb::handle given) {
  const Argument argument{given, "mrope", "segments"};
  constexpr const char* kForms =
      "tuples (\"text\", length), (\"image\", rows, columns), (\"video\", frames, rows, columns) "
      "with frame_step where it is not 1, or (\"padding\", length)";
  if (!nb::isinstance<nb::tuple>(given) && !nb::isinstance<nb::list>(given)) {
    throw_type_error(argument, kForms);
  }
  const nb::tuple parts(nb::borrow(given));
  const auto fail = [&] { return Error(argument.where(), "must be " + std::string(kForms)); };
  if (parts.size() == 0) throw fail();
  const nb::object kind_object = parts[0];
  const std::string kind = Argument{kind_object, "mrope", "segments"}.text();
  const auto number = [&](std::size_t n) {
    const nb::object value = parts[n];
    return Argument{value, "mrope", "segments"}.integer();
  };
  if (kind == "text" && parts.size() == 2) return MropeSegment::text(number(1));
  if (kind == "padding" && parts.size() == 2) return MropeSegment::padding(number(1));
  if (kind == "image" && parts.size() == 3) return MropeSegment::image(number(1), number(2));
  if (kind == "video" && (parts.size() == 4 || parts.size() == 5)) {
    double step = 1;
    if (parts.size() == 5) {
      const nb::object value = parts[4];
      step = Argument{value, "mrope", "segments"}.number();
    }
    return MropeSegment::video(number(1), number(2), number(3), step);
  }
  throw fail();
}

nb::tuple mrope(nb::handle given, nb::handle pad_id) {
  const Argument list{given, "mrope", "segments"};
  if (!nb::isinstance<nb::list>(given) && !nb::isinstance<nb::tuple>(given)) {
    throw_type_error(list, "a list of segments");
  }
  std::vector<MropeSegment> segments;
  const nb::tuple items(nb::borrow(given));  // taken out first
  for (const nb::handle one : items) segments.push_back(segment_of(one));
  MropePositions made = mrope_positions(segments, whole(pad_id, "mrope", "pad_id"));
  return nb::make_tuple(to_python(std::move(made.ids)), made.next, made.delta);
}

// An error of `<name>_positions` as one of `<name>`.
template <class F>
auto in_words_of(const char* call, const F& f) {
  try {
    return f();
  } catch (const Error& error) {
    const std::string& where = error.where();
    const auto dot = where.find('.');
    if (dot == std::string::npos || !where.substr(0, dot).ends_with("_positions")) throw;
    const std::string name =
        where.substr(dot + 1) == "boundaries" ? "segments" : where.substr(dot + 1);
    throw Error(call + ("." + name), std::string(error.what()).substr(where.size() + 3));
  }
}

}  // namespace

void bind_positions(nb::module_& module) {
  module.def(
      "packed_positions",
      [](nb::handle boundaries) {
        return in_words_of("packed", [&] {
          return array_of_ids(
              packed_positions(Argument{boundaries, "packed", "segments"}.integers()));
        });
      },
      nb::arg("segments").none(), nb::sig("def packed_positions(segments: object) -> typing.Any"));
  module.def(
      "padded_positions",
      [](nb::handle mask, nb::handle pad_id) {
        return in_words_of("padded", [&] {
          const std::int64_t id = whole(pad_id, "padded", "pad_id");
          return with_mask("padded", mask,
                           [&](View<const bool> seen) { return padded_positions(seen, id); });
        });
      },
      nb::arg("mask").none(), nb::arg("pad_id").none(),
      nb::sig("def padded_positions(mask: object, pad_id: object) -> typing.Any"));
  module.def(
      "fairseq_positions",
      [](nb::handle mask, nb::handle padding_idx) {
        return in_words_of("fairseq", [&] {
          const std::int64_t id = whole(padding_idx, "fairseq", "padding_idx");
          return with_mask("fairseq", mask,
                           [&](View<const bool> seen) { return fairseq_positions(seen, id); });
        });
      },
      nb::arg("mask").none(), nb::arg("padding_idx").none(),
      nb::sig("def fairseq_positions(mask: object, padding_idx: object) -> typing.Any"));
  module.def(
      "cached_positions",
      [](nb::handle past, nb::handle length) {
        return in_words_of("cached", [&] {
          return to_python(cached_positions(Argument{past, "cached", "past"}.integers(),
                                            whole(length, "cached", "length")));
        });
      },
      nb::arg("past").none(), nb::arg("length").none(),
      nb::sig("def cached_positions(past: object, length: object) -> typing.Any"));
  module.def(
      "grid_positions",
      [](nb::handle rows, nb::handle columns) {
        return in_words_of("grid", [&] {
          return to_python(
              grid_positions(whole(rows, "grid", "rows"), whole(columns, "grid", "columns")));
        });
      },
      nb::arg("rows").none(), nb::arg("columns").none(),
      nb::sig("def grid_positions(rows: object, columns: object) -> typing.Any"));
  module.def(
      "video_positions",
      [](nb::handle frames, nb::handle rows, nb::handle columns) {
        return in_words_of("video", [&] {
          return to_python(video_positions(whole(frames, "video", "frames"),
                                           whole(rows, "video", "rows"),
                                           whole(columns, "video", "columns")));
        });
      },
      nb::arg("frames").none(), nb::arg("rows").none(), nb::arg("columns").none(),
      nb::sig("def video_positions(frames: object, rows: object, columns: object) -> typing.Any"));
  module.def(
      "random_positions",
      [](nb::handle length, nb::handle max_length, nb::handle seed) {
        return in_words_of("random", [&] {
          return array_of_ids(random_positions(
              whole(length, "random", "length"), whole(max_length, "random", "max_length"),
              static_cast<std::uint32_t>(
                  Argument{seed, "random", "seed"}.integer_in({0, 0xffffffff}))));
        });
      },
      nb::arg("length").none(), nb::arg("max_length").none(), nb::arg("seed").none(),
      nb::sig(
          "def random_positions(length: object, max_length: object, seed: object) -> typing.Any"));
  module.def(
      "shifted_positions",
      [](nb::handle length, nb::handle max_shift, nb::handle seed) {
        return in_words_of("shifted", [&] {
          return array_of_ids(shifted_positions(
              whole(length, "shifted", "length"), whole(max_shift, "shifted", "max_shift"),
              static_cast<std::uint32_t>(
                  Argument{seed, "shifted", "seed"}.integer_in({0, 0xffffffff}))));
        });
      },
      nb::arg("length").none(), nb::arg("max_shift").none(), nb::arg("seed").none(),
      nb::sig(
          "def shifted_positions(length: object, max_shift: object, seed: object) -> typing.Any"));
  module.def(
      "mrope_positions",
      [](nb::handle segments, nb::handle pad_id) {
        return in_words_of("mrope", [&] { return mrope(segments, pad_id); });
      },
      nb::arg("segments").none(), nb::arg("pad_id").none(),
      nb::sig(
          "def mrope_positions(segments: object, pad_id: object) -> tuple[typing.Any, int, int]"));
}

}  // namespace sextant::python
