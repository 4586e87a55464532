// What content terms share: rows of any type as float64, and defaults of optional functions.
#include "sextant/tables/content_term.h"

namespace sextant {
namespace {

template <class T>
void load_as(const ContentTerm::Rows& rows, std::int64_t row, std::int64_t channels, double* to) {
  const T* from = static_cast<const T*>(rows.data) + row * rows.row_stride;
  for (std::int64_t c = 0; c < channels; ++c) {
    to[c] = static_cast<double>(from[c * rows.channel_stride]);
  }
}

}  // namespace

void ContentTerm::Rows::load(std::int64_t row, std::int64_t channels, double* to) const noexcept {
  switch (type) {
    case DType::float16:
      return load_as<float16>(*this, row, channels, to);
    case DType::bfloat16:
      return load_as<bfloat16>(*this, row, channels, to);
    case DType::float32:
      return load_as<float>(*this, row, channels, to);
    default:
      return load_as<double>(*this, row, channels, to);
  }
}

std::int64_t ContentTerm::scratch_size(std::int64_t, std::int64_t) const noexcept { return 0; }

std::int64_t ContentTerm::tile_scratch_size(std::int64_t) const noexcept { return 0; }

void ContentTerm::add_tile(const Tile&, float*, std::int64_t, float*) const noexcept {}

void ContentTerm::add_values(const Row&, const double*, double*) const noexcept {}

void ContentTerm::values_backward(const Row&, const double*, const double*, double*,
                                  double*) const noexcept {}

}  // namespace sextant
