#ifndef PHASOR_MODELS_MODEL_H_
#define PHASOR_MODELS_MODEL_H_

/// \file
/// The position tables of a model, from its config.json.
///
/// What transformers makes of a configuration, key by key: docs/models.md has
/// the list of model types and rules, and where each was read.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "phasor/core/export.h"
#include "phasor/core/spec.h"

namespace phasor {

/// Versions of transformers that read configurations differently.
enum class TransformersVersion : std::uint8_t {
  k4_46,
  k5_0,
  k5_16,  ///< the default
};

/// "4.46", "5.0", "5.16".
PHASOR_EXPORT absl::string_view TransformersVersionName(TransformersVersion version);

struct ModelOptions {
  /// Whose reading of the configuration is asked for.
  TransformersVersion version = TransformersVersion::k5_16;
  /// The length that length-dependent tables (dynamic NTK, LongRoPE) are for:
  /// 1 ... 2^53. Without it such a model has one table up to the length that it
  /// was trained for, and LongRoPE one more beyond.
  std::optional<std::int64_t> sequence_length;
  /// Order of the elements in rotary rows.
  Layout rotary_layout = Layout::kCosSinHalves;
  ElementType element_type = ElementType::kFloat32;
};

/// What a model does with a table's rows.
enum class TableUse : std::uint8_t {
  kAdd,             ///< added to the token embeddings
  kRotateHalves,    ///< turn elements i and i + h of queries and keys (half-split)
  kRotatePairs,     ///< turn elements 2i and 2i + 1 (interleaved)
  kRotateToHalves,  ///< turn elements 2i and 2i + 1, leave them at i and i + h
  kNothing,         ///< these layers know no positions (NoPE); rows that change nothing
  kAddToScores,     ///< added to attention scores (ALiBi)
  kLookUp,          ///< numbers of rows in the model's own table (T5)
};

/// "add", "rotate_halves", ...
PHASOR_EXPORT absl::string_view TableUseName(TableUse use);

/// A learned table, whose values are in the model's checkpoint.
struct CheckpointTable {
  std::vector<std::string> tensors;  ///< how the tensor's name may end
  std::int64_t rows = 0;             ///< of the tensor
  std::int64_t width = 0;
  std::int64_t row_offset = 0;  ///< the row of position 0
};

struct ModelTable {
  std::string name;         ///< unique in the model: "rotary", "sliding_attention", "encoder"
  std::string description;  ///< in words
  TableUse use = TableUse::kAdd;
  /// The table as Client::Open takes it; none for learned ones.
  std::optional<TableSpec> spec;
  std::optional<CheckpointTable> checkpoint;
  /// Layers that use it, counted from 0, ascending; empty for all, or where the
  /// configuration does not tell.
  std::vector<std::int64_t> layers;
  /// Where in the head the turned channels begin.
  std::int64_t first_channel = 0;
  /// What attention scores are multiplied by on top (DeepSeek's YaRN): no part
  /// of the table. Rounded to binary64 more than once.
  std::optional<double> softmax_factor;
};

struct ModelDescription {
  std::string model_type;
  std::vector<ModelTable> tables;
  /// Keys that decided something, and those about positions that decided
  /// nothing, by path ("rope_scaling.factor"), sorted.
  std::vector<std::string> keys_used;
  std::vector<std::string> keys_ignored;
  /// What a reader should know: versions that disagree, guesses made.
  std::vector<std::string> warnings;

  /// The table of that name; nullptr if there is none.
  PHASOR_EXPORT const ModelTable* Find(absl::string_view name) const;

  /// The spec of the table of that name; an empty one stands for the only table
  /// that has a spec.
  ///
  /// **Errors**: INVALID_ARGUMENT (table), listing the names, for one that is not
  /// there, or none where there are several; for one whose values are in a
  /// checkpoint.
  PHASOR_EXPORT absl::StatusOr<TableSpec> SpecOf(absl::string_view name) const;
};

/// Most bytes of a config.json, and most layers of a model.
inline constexpr std::size_t kMaxConfigBytes = std::size_t{1} << 20;
inline constexpr std::int64_t kMaxLayers = 10000;

/// Reads a configuration. Every spec in the result has passed
/// CanonicalSpec::Create. A model type that is not known, with RoPE's keys, is
/// read as llama is, and a warning says so.
///
/// **Errors**: INVALID_ARGUMENT naming the key (config_json.rope_scaling.factor)
/// and its value: text that is no JSON object or too large, a value of the wrong
/// kind, a key that is missing, a table that does not exist; (sequence_length) for one
/// that is out of range.
///
/// **Thread safety**: a pure function.
PHASOR_EXPORT absl::StatusOr<ModelDescription> DescribeModel(absl::string_view config_json,
                                                             const ModelOptions& options = {});

}  // namespace phasor

#endif  // PHASOR_MODELS_MODEL_H_
