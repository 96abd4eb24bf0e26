#ifndef PHASOR_CHECKPOINT_ROW_OFFSET_H_
#define PHASOR_CHECKPOINT_ROW_OFFSET_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace phasor::checkpoint {

/// Longest config.json that is read.
inline constexpr std::uint64_t kMaxConfigBytes = std::uint64_t{1} << 20;

/// The name of the file beside a checkpoint that describes its model.
std::string ConfigPathOf(const std::string& checkpoint_path);

/// How many rows of a learned table of `rows` rows stand before that of the
/// first token, by a model's config.json: its own key "row_offset" if there is
/// one, else by "model_type", as the models' code has it: OPT and BART 2,
/// RoBERTa pad_token_id + 1, GPT-2, BERT and ViT 0.
///
/// **Errors**: INVALID_ARGUMENT for what is no JSON object, a key that comes
/// twice or is of another kind; a model_type that is not known, or none; rows
/// that are not as many as max_position_embeddings asks for.
absl::StatusOr<std::int64_t> RowOffsetOf(absl::string_view config_json, std::int64_t rows);

/// RowOffsetOf the config.json beside the checkpoint at `path`; 0 if there is none.
///
/// **Errors**: those of ReadSmallFile and RowOffsetOf, with the path of
/// config.json.
absl::StatusOr<std::int64_t> RowOffsetBeside(const std::string& path, std::int64_t rows);

}  // namespace phasor::checkpoint

#endif  // PHASOR_CHECKPOINT_ROW_OFFSET_H_
