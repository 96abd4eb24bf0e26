#include "models/absolute_model.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

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
constexpr char kWidth[] = "hidden_size d_model n_embd dim";
constexpr LearnedFamily kLearned[] = {
    {"gpt2", "learned", "wpe.weight", "n_positions max_position_embeddings", 1024, kWidth},
    {"gpt_bigcode", "learned", "wpe.weight", "n_positions max_position_embeddings", 1024, kWidth},
    {"gpt_neo", "learned", "wpe.weight", "max_position_embeddings", 2048, kWidth},
    {"bert", "learned", kBertTensor, "max_position_embeddings", 512, kWidth},
    {"electra", "learned", kBertTensor, "max_position_embeddings", 512, "embedding_size"},
    {"albert", "learned", kBertTensor, "max_position_embeddings", 512, "embedding_size"},
    {"roberta", "learned", kBertTensor, "max_position_embeddings", 512, kWidth,
     First::kAfterPadding},
    {"xlm-roberta", "learned", kBertTensor, "max_position_embeddings", 512, kWidth,
     First::kAfterPadding},
    {"camembert", "learned", kBertTensor, "max_position_embeddings", 512, kWidth,
     First::kAfterPadding},
    {"opt", "learned", "decoder.embed_positions.weight", "max_position_embeddings", 2048, kWidth,
     First::kRow2},
    {"bart", "encoder", "encoder.embed_positions.weight", "max_position_embeddings", 1024, kWidth,
     First::kRow2},
    {"bart", "decoder", "decoder.embed_positions.weight", "max_position_embeddings", 1024, kWidth,
     First::kRow2},
    {"mbart", "encoder", "encoder.embed_positions.weight", "max_position_embeddings", 1024, kWidth,
     First::kRow2},
    {"mbart", "decoder", "decoder.embed_positions.weight", "max_position_embeddings", 1024, kWidth,
     First::kRow2},
    {"led", "encoder", "encoder.embed_positions.weight", "max_encoder_position_embeddings", 16384,
     kWidth},
    {"led", "decoder", "decoder.embed_positions.weight", "max_decoder_position_embeddings", 1024,
     kWidth},
    {"whisper", "decoder", "decoder.embed_positions.weight", "max_target_positions", 448, kWidth},
    {"distilbert", "learned", kBertTensor, "max_position_embeddings", 512, kWidth},
    {"xlm", "learned", "position_embeddings.weight", "max_position_embeddings", 512, "emb_dim"},
    {"flaubert", "learned", "position_embeddings.weight", "max_position_embeddings", 512,
     "emb_dim"},
};

struct SinusoidalFamily {
  absl::string_view model_type;
  absl::string_view table;
  absl::string_view width_keys;
  bool inclusive;
  Layout layout;
  First first = First::kRow0;  // kAfterPadding: within the phase, the padding's row zero
  /// The key that says true where the table is this one and not learned.
  absl::string_view when = "";
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
    {"xglm", "sinusoidal", kWidth, true, Layout::kSinCosHalves, First::kRow2},
    {"musicgen_decoder", "sinusoidal", kWidth, true, Layout::kCosSinHalves},
    {"whisper", "encoder", kWidth, true, Layout::kSinCosHalves},
    {"transfo-xl", "sinusoidal", kWidth, false, Layout::kSinCosHalves},
    {"xlnet", "sinusoidal", kWidth, false, Layout::kSinCosHalves},
};

constexpr std::int64_t kUsualPadding = 1;

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

bool IsAbsoluteModel(absl::string_view model_type) {
  for (const LearnedFamily& family : kLearned) {
    if (family.model_type == model_type) return true;
  }
  for (const SinusoidalFamily& family : kSinusoidal) {
    if (family.model_type == model_type) return true;
  }
  return false;
}

std::vector<ModelTable> AbsoluteTables(const Config& model, absl::string_view model_type,
                                       const ModelOptions& options) {
  std::vector<ModelTable> tables;
  for (const SinusoidalFamily& family : kSinusoidal) {
    if (family.model_type != model_type) continue;
    if (!family.when.empty() && !model.Boolean(family.when).value_or(false)) continue;
    tables.push_back(SinusoidalTableOf(model, family, options));
    if (!family.when.empty()) return tables;
  }
  for (const LearnedFamily& family : kLearned) {
    if (family.model_type == model_type) tables.push_back(LearnedTable(model, family));
  }
  return tables;
}

}  // namespace phasor::models
