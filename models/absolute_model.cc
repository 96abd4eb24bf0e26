#include "models/absolute_model.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace phasor::models {
namespace {

// Where position 0 stands, in tables with rows before it.
enum class First : std::uint8_t {
  kRow0,
  kRow2,          // rows 0 and 1 come on top of the number of positions
  kAfterPadding,  // row pad_token_id + 1, within the number of rows
};

struct LearnedFamily {
  absl::string_view model_type;
  absl::string_view table;    // its name
  absl::string_view tensors;  // how their names may end, separated by spaces
  absl::string_view rows_keys;
  std::int64_t rows;  // where no key says
  absl::string_view width_keys;
  First first = First::kRow0;
};

constexpr char kBertTensor[] = "embeddings.position_embeddings.weight";
constexpr char kEncoder[] = "encoder.embed_positions.weight";
constexpr char kDecoder[] = "decoder.embed_positions.weight";
constexpr char kWidth[] = "hidden_size d_model n_embd dim";
constexpr char kPositions[] = "max_position_embeddings";
constexpr LearnedFamily kLearned[] = {
    {"gpt2", "learned", "wpe.weight", "n_positions max_position_embeddings", 1024, kWidth},
    {"gpt_bigcode", "learned", "wpe.weight", "n_positions max_position_embeddings", 1024, kWidth},
    {"imagegpt", "learned", "wpe.weight", "n_positions max_position_embeddings", 1024, kWidth},
    {"decision_transformer", "learned", "wpe.weight", "n_positions max_position_embeddings", 1024,
     kWidth},
    {"gpt_neo", "learned", "wpe.weight", kPositions, 2048, kWidth},
    {"bert", "learned", kBertTensor, kPositions, 512, kWidth},
    {"layoutlm", "learned", kBertTensor, kPositions, 512, kWidth},
    {"distilbert", "learned", kBertTensor, kPositions, 512, kWidth},
    {"electra", "learned", kBertTensor, kPositions, 512, "embedding_size"},
    {"albert", "learned", kBertTensor, kPositions, 512, "embedding_size"},
    {"convbert", "learned", kBertTensor, kPositions, 512, "embedding_size"},
    {"deberta", "learned", kBertTensor, kPositions, 512, "embedding_size hidden_size"},
    {"deberta-v2", "learned", kBertTensor, kPositions, 512, "embedding_size hidden_size"},
    {"xlm", "learned", "position_embeddings.weight", kPositions, 512, "emb_dim"},
    {"flaubert", "learned", "position_embeddings.weight", kPositions, 512, "emb_dim"},
    {"clip", "learned", "text_model.embeddings.position_embedding.weight", kPositions, 77, kWidth},
    {"clip_text_model", "learned", "text_model.embeddings.position_embedding.weight", kPositions,
     77, kWidth},
    {"roberta", "learned", kBertTensor, kPositions, 512, kWidth, First::kAfterPadding},
    {"xlm-roberta", "learned", kBertTensor, kPositions, 512, kWidth, First::kAfterPadding},
    {"camembert", "learned", kBertTensor, kPositions, 512, kWidth, First::kAfterPadding},
    {"data2vec-text", "learned", kBertTensor, kPositions, 512, kWidth, First::kAfterPadding},
    {"mpnet", "learned", kBertTensor, kPositions, 512, kWidth, First::kAfterPadding},
    {"esm", "learned", kBertTensor, kPositions, 1026, kWidth, First::kAfterPadding},
    {"opt", "learned", kDecoder, kPositions, 2048, kWidth, First::kRow2},
    {"biogpt", "learned", "embed_positions.weight", kPositions, 1024, kWidth, First::kRow2},
    {"trocr", "learned", kDecoder, kPositions, 512, kWidth, First::kRow2},
    {"bart", "encoder", kEncoder, kPositions, 1024, kWidth, First::kRow2},
    {"bart", "decoder", kDecoder, kPositions, 1024, kWidth, First::kRow2},
    {"mbart", "encoder", kEncoder, kPositions, 1024, kWidth, First::kRow2},
    {"mbart", "decoder", kDecoder, kPositions, 1024, kWidth, First::kRow2},
    {"mvp", "encoder", kEncoder, kPositions, 1024, kWidth, First::kRow2},
    {"mvp", "decoder", kDecoder, kPositions, 1024, kWidth, First::kRow2},
    {"plbart", "encoder", kEncoder, kPositions, 1024, kWidth, First::kRow2},
    {"plbart", "decoder", kDecoder, kPositions, 1024, kWidth, First::kRow2},
    {"bigbird_pegasus", "encoder", kEncoder, kPositions, 4096, kWidth},
    {"bigbird_pegasus", "decoder", kDecoder, kPositions, 4096, kWidth},
    {"blenderbot", "encoder", kEncoder, kPositions, 128, kWidth},
    {"blenderbot", "decoder", kDecoder, kPositions, 128, kWidth},
    {"blenderbot-small", "encoder", kEncoder, kPositions, 512, kWidth},
    {"blenderbot-small", "decoder", kDecoder, kPositions, 512, kWidth},
    {"led", "encoder", kEncoder, "max_encoder_position_embeddings", 16384, kWidth},
    {"led", "decoder", kDecoder, "max_decoder_position_embeddings", 1024, kWidth},
    {"whisper", "decoder", kDecoder, "max_target_positions", 448, kWidth},
};

// A row a patch, behind those of tokens that the model puts before them.
struct PatchFamily {
  absl::string_view model_type;
  std::int64_t tokens;
  absl::string_view height_key = "image_size";
  absl::string_view height_stride_key = "patch_size";
  absl::string_view width_key = "image_size";
  absl::string_view width_stride_key = "patch_size";
};

constexpr PatchFamily kPatches[] = {
    {"audio-spectrogram-transformer", 2, "num_mel_bins", "frequency_stride", "max_length",
     "time_stride"},
    {"deit", 2},
    {"dinov2", 1},
    {"vit", 1},
};
constexpr std::int64_t kMaxImage = std::int64_t{1} << 20;

struct SinusoidalFamily {
  absl::string_view model_type;
  absl::string_view table;
  absl::string_view width_keys;
  bool inclusive;
  Layout layout;
  First first = First::kRow0;  // kAfterPadding: within the phase, the padding's row zero
  /// The key that says `is` where the table is this one and not learned.
  absl::string_view when = "";
  bool is = true;
};

constexpr SinusoidalFamily kSinusoidal[] = {
    {"marian", "sinusoidal", kWidth, false, Layout::kSinCosHalves},
    {"pegasus", "sinusoidal", kWidth, false, Layout::kSinCosHalves},
    {"roformer", "sinusoidal", kWidth, false, Layout::kSinCosHalves},
    {"xlm", "sinusoidal", "emb_dim", false, Layout::kSinCosInterleaved, First::kRow0,
     "sinusoidal_embeddings"},
    {"flaubert", "sinusoidal", "emb_dim", false, Layout::kSinCosInterleaved, First::kRow0,
     "sinusoidal_embeddings"},
    {"distilbert", "sinusoidal", kWidth, false, Layout::kSinCosInterleaved, First::kRow0,
     "sinusoidal_pos_embds"},
    {"fsmt", "sinusoidal", kWidth, true, Layout::kSinCosHalves, First::kAfterPadding},
    {"m2m_100", "sinusoidal", kWidth, true, Layout::kSinCosHalves, First::kAfterPadding},
    {"nllb-moe", "sinusoidal", kWidth, true, Layout::kSinCosHalves, First::kAfterPadding},
    {"speech_to_text", "sinusoidal", kWidth, true, Layout::kSinCosHalves, First::kAfterPadding},
    {"trocr", "sinusoidal", kWidth, true, Layout::kSinCosHalves, First::kAfterPadding,
     "use_learned_position_embeddings", false},
    {"xglm", "sinusoidal", kWidth, true, Layout::kSinCosHalves, First::kRow2},
    {"musicgen_decoder", "sinusoidal", kWidth, true, Layout::kCosSinHalves},
    {"whisper", "encoder", kWidth, true, Layout::kSinCosHalves},
    {"transfo-xl", "sinusoidal", kWidth, false, Layout::kSinCosHalves},
    {"xlnet", "sinusoidal", kWidth, false, Layout::kSinCosHalves},
};

constexpr std::int64_t kUsualPadding = 1;
constexpr char kAbsolute[] = "absolute";

std::int64_t WidthOf(const Config& model, absl::string_view keys) {
  for (const absl::string_view key : absl::StrSplit(keys, ' ')) {
    if (const auto width = model.Integer(key)) return *width;
  }
  const absl::string_view first = keys.substr(0, keys.find(' '));
  return model.RequiredInteger(first, "the table's width");
}

std::int64_t Padding(const Config& model) {
  const std::int64_t padding = model.Integer("pad_token_id").value_or(kUsualPadding);
  if (padding >= 0 && padding < kMaxPosition) return padding;
  model.Refuse("pad_token_id", absl::StrCat(padding, " is not the number of a token"));
  return 0;
}

ModelTable LearnedTable(const Config& model, const LearnedFamily& family) {
  CheckpointTable table{.tensors = absl::StrSplit(family.tensors, ' ')};
  table.rows = family.rows;
  absl::string_view rows_key;
  for (const absl::string_view key : absl::StrSplit(family.rows_keys, ' ')) {
    const std::optional<std::int64_t> rows = model.Integer(key);
    if (!rows.has_value()) continue;
    table.rows = *rows;
    rows_key = key;
    break;
  }
  table.width = WidthOf(model, family.width_keys);
  switch (family.first) {
    case First::kRow0: break;
    case First::kRow2:
      table.row_offset = 2;
      table.rows += 2;
      break;
    case First::kAfterPadding: table.row_offset = Padding(model) + 1; break;
  }
  if (table.rows <= table.row_offset || table.rows > kMaxPosition) {
    model.Refuse(rows_key, absl::StrCat(table.rows, " rows leave none for position 0, at row ",
                                        table.row_offset));
  }
  std::string description =
      absl::StrCat("learned, ", table.rows, " rows of ", table.width, "; position p is row p + ",
                   table.row_offset, ", for ", table.rows - table.row_offset, " positions");
  return {.name = std::string(family.table),
          .description = std::move(description),
          .checkpoint = std::move(table)};
}

// How many patches lie side by side along a length, one every `stride`.
std::int64_t Patches(const Config& model, absl::string_view length_key,
                     absl::string_view stride_key) {
  const std::int64_t length = model.RequiredInteger(length_key, "the number of rows");
  const std::int64_t patch = model.RequiredInteger("patch_size", "the number of rows");
  const std::int64_t stride = model.RequiredInteger(stride_key, "the number of rows");
  if (patch >= 1 && length >= patch && stride >= 1 && length <= kMaxImage) {
    return (length - patch) / stride + 1;
  }
  model.Refuse(length_key, absl::StrCat(length, " holds no patches of ", patch, ", one every ",
                                        stride, "; at most ", kMaxImage));
  return 1;
}

ModelTable PatchTable(const Config& model, const PatchFamily& family) {
  const std::int64_t patches = Patches(model, family.height_key, family.height_stride_key) *
                               Patches(model, family.width_key, family.width_stride_key);
  CheckpointTable table{.tensors = {"embeddings.position_embeddings"}};
  table.rows = family.tokens + patches;
  table.width = WidthOf(model, kWidth);
  std::string description =
      absl::StrCat("learned, ", table.rows, " rows of ", table.width, ": ", family.tokens,
                   " before those of ", patches, " patches, which are row-major");
  return {.name = "learned", .description = std::move(description), .checkpoint = std::move(table)};
}

ModelTable SinusoidalTableOf(const Config& model, const SinusoidalFamily& family,
                             const ModelOptions& options) {
  Sinusoidal scheme{.width = WidthOf(model, family.width_keys), .layout = family.layout};
  if (family.inclusive) scheme.ladder = InclusiveLadder();
  switch (family.first) {
    case First::kRow0: break;
    case First::kRow2: scheme.position_offset = 2; break;
    case First::kAfterPadding: scheme.position_offset = Padding(model) + 1; break;
  }
  // Row pad_token_id is zero wherever position 0 stands.
  if (family.first != First::kRow0) scheme.zero_row = Padding(model);
  const TableSpec spec(scheme, options.element_type);
  const absl::StatusOr<CanonicalSpec> canonical = CanonicalSpec::Create(spec);
  if (!canonical.ok()) {
    model.Refuse("", absl::StrCat("means no table: ", canonical.status().message()));
  }
  return {.name = std::string(family.table),
          .description = absl::StrCat(
              "sinusoidal, width ", scheme.width, ", ", family.inclusive ? "inclusive" : "paper",
              " ladder, ", absl::string_view(LayoutName(family.layout)),
              scheme.position_offset == 0
                  ? ""
                  : absl::StrCat("; position p has the phase of p + ", scheme.position_offset)),
          .spec = spec};
}

}  // namespace

bool IsAbsoluteModel(const Config& model, absl::string_view model_type) {
  const auto is_it = [&](const auto& family) { return family.model_type == model_type; };
  if (model_type == "esm") {
    // Other ESMs turn queries and keys.
    return model.Text("position_embedding_type").value_or(kAbsolute) == kAbsolute;
  }
  return absl::c_any_of(kLearned, is_it) || absl::c_any_of(kPatches, is_it) ||
         absl::c_any_of(kSinusoidal, is_it);
}

std::vector<ModelTable> AbsoluteTables(const Config& model, absl::string_view model_type,
                                       const ModelOptions& options) {
  std::vector<ModelTable> tables;
  for (const SinusoidalFamily& family : kSinusoidal) {
    if (family.model_type != model_type) continue;
    if (!family.when.empty() && model.Boolean(family.when).value_or(!family.is) != family.is) {
      continue;
    }
    tables.push_back(SinusoidalTableOf(model, family, options));
    if (!family.when.empty()) return tables;
  }
  for (const LearnedFamily& family : kLearned) {
    if (family.model_type == model_type) tables.push_back(LearnedTable(model, family));
  }
  // DeBERTa's.
  if (!model.Boolean("position_biased_input").value_or(true)) {
    model.Refuse("position_biased_input", "is false: the model adds no rows");
  }
  for (const PatchFamily& family : kPatches) {
    if (family.model_type == model_type) tables.push_back(PatchTable(model, family));
  }
  return tables;
}

}  // namespace phasor::models
