#ifndef PHASOR_MODELS_CONFIG_H_
#define PHASOR_MODELS_CONFIG_H_

/// \file
/// A config.json, read key by key.

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace phasor::models {

/// One object of a configuration. Getters give nothing where a key is absent or
/// null; a value of another kind gives nothing too, and is remembered: who has
/// read everything asks status(). So readers have no branch an error.
///
/// **Thread safety**: none; getters take notes.
class Config {
 public:
  /// **Errors**: INVALID_ARGUMENT (config_json): no JSON object, more than
  /// kMaxConfigBytes, nested deeper than 32, a key twice in one object.
  /// Python's NaN and Infinity, no JSON, are read as null.
  static absl::StatusOr<Config> Parse(absl::string_view text);

  bool Has(absl::string_view key) const;
  std::optional<double> Number(absl::string_view key) const;
  /// Also 8192.0.
  std::optional<std::int64_t> Integer(absl::string_view key) const;
  std::optional<bool> Boolean(absl::string_view key) const;
  std::optional<std::string> Text(absl::string_view key) const;
  std::optional<std::vector<double>> Numbers(absl::string_view key) const;
  std::optional<std::vector<std::int64_t>> Integers(absl::string_view key) const;
  std::optional<std::vector<std::string>> Texts(absl::string_view key) const;
  std::optional<Config> Object(absl::string_view key) const;
  /// As Object(), of a key that may be something else or empty.
  std::optional<Config> ObjectIfAny(absl::string_view key) const;
  std::vector<std::string> keys() const;

  /// Remembers that `key`, or with "" this object, is wrong, unless something was
  /// before.
  void Refuse(absl::string_view key, absl::string_view what) const;
  /// As its getter, of a key that has to be there.
  double RequiredNumber(absl::string_view key, absl::string_view for_what) const;
  std::int64_t RequiredInteger(absl::string_view key, absl::string_view for_what) const;
  std::vector<double> RequiredNumbers(absl::string_view key, absl::string_view for_what) const;

  /// The first thing that was wrong, in all objects of this configuration.
  const absl::Status& status() const;
  /// Paths of the keys that were there when they were asked for, sorted.
  std::vector<std::string> used() const;
  /// Paths of keys about positions that nobody asked for, sorted.
  std::vector<std::string> ignored() const;
  /// Notes for people.
  void Warn(std::string warning) const;
  const std::vector<std::string>& warnings() const;

 private:
  struct Shared;
  Config(std::shared_ptr<Shared> shared, const nlohmann::json* object, std::string path);
  std::string PathOf(absl::string_view key) const;
  // Notes that it was asked for; nullptr where absent or null.
  const nlohmann::json* Find(absl::string_view key) const;
  template <typename T, typename Read>
  std::optional<T> Get(absl::string_view key, absl::string_view kind, Read read) const;
  template <typename T, typename Read>
  std::optional<std::vector<T>> GetList(absl::string_view key, absl::string_view kind,
                                        Read read) const;

  std::shared_ptr<Shared> shared_;
  const nlohmann::json* object_;
  std::string path_;  // "" or "rope_scaling."
};

}  // namespace phasor::models

#endif  // PHASOR_MODELS_CONFIG_H_
