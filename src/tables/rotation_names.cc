// The names of the layouts of rotation tables.
#include "core/enum_names.h"
#include "sextant/tables/rotation_table.h"

namespace sextant {
namespace {

using namespace std::string_view_literals;

template <>
inline constexpr std::array kNames<RotaryLayout> = {"interleaved"sv, "half_split"sv};

}  // namespace

std::string_view name_of(RotaryLayout value) noexcept { return name(value); }

template RotaryLayout parse_name(std::string_view, std::string_view);

}  // namespace sextant
