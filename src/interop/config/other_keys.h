// The keys of a config.json that no reader asked for.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "interop/config/object.h"
#include "sextant/interop/model_config.h"

namespace sextant::interop {

// Whether the value switches its key off or multiplies by 1: null, false, 0, "", {}, [], and of a
// factor 1.
bool has_no_effect(std::string_view key, const Json& value);

// The values read from a model, for keys that repeat them under another name.
class OtherKeys {
 public:
  explicit OtherKeys(const ModelConfig& config);

  // Throws an Error with the first key of `object` about positions that was not read and would be
  // lost: it contradicts a read value, or no read value has its meaning.
  void check(const ConfigObject& object) const;
  // Checks the keys outside the text model: the same, and keys that `text` has must have equal
  // values there.
  void check_beside(const ConfigObject& outer, const ConfigObject& text) const;

 private:
  void add(const LayerPositions& layer);
  void check_key(const ConfigObject& object, const Json::Member& member,
                 const std::string& why) const;
  bool repeats_number(const ConfigObject& object, const Json::Member& member,
                      const std::string& words) const;
  bool repeats_flag(const ConfigObject& object, const Json::Member& member,
                    const std::string& words) const;
  bool repeats_name(std::string_view name) const;
  bool has_windows() const { return !windows_.empty(); }
  bool rotates() const { return !layouts_.empty(); }
  bool has(std::string_view scheme) const { return schemes_.contains(scheme); }

  std::string model_type_;
  std::int64_t max_positions_;
  std::set<double> windows_, bases_, factors_, channels_, parts_, original_lengths_;
  std::set<std::string, std::less<>> schemes_, layouts_;
};

}  // namespace sextant::interop
