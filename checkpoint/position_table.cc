#include "checkpoint/position_table.h"

#include <sha2.h>

#include <algorithm>
#include <array>
#include <limits>
#include <new>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "checkpoint/dtype.h"
#include "checkpoint/safetensors_file.h"
#include "phasor/core/sinusoidal.h"

namespace phasor::checkpoint {
namespace {

// How the names of position tables end in public models.
constexpr absl::string_view kSuffixes[] = {
    "wpe.weight",                  // GPT-2, GPT-Neo
    "position_embeddings.weight",  // BERT, DistilBERT, RoBERTa, XLM
    "embed_positions.weight",      // OPT, BART, Whisper's decoder
    "position_embedding.weight",   // CLIP
    "position_embeddings",         // ViT, DeiT, DINOv2
    "position_embd.weight",        // converted from GGUF
};
constexpr std::size_t kMaxListed = 20;

// Whether the last parts of `name` are `suffix`.
bool EndsWithParts(absl::string_view name, absl::string_view suffix) {
  return name == suffix || absl::EndsWith(name, absl::StrCat(".", suffix));
}

std::string List(const std::vector<const Tensor*>& tensors) {
  const absl::Span<const Tensor* const> all(tensors);
  return absl::StrCat(
      absl::StrJoin(all.subspan(0, kMaxListed), ", ",
                    [](std::string* out, const Tensor* tensor) {
                      absl::StrAppend(out, Quoted(tensor->name), " ", tensor->Description());
                    }),
      all.size() > kMaxListed ? absl::StrCat(" and ", all.size() - kMaxListed, " more") : "");
}

absl::StatusOr<const Tensor*> Choose(const SafetensorsFile& file, absl::string_view wanted) {
  std::vector<const Tensor*> all;
  std::vector<const Tensor*> fitting;
  for (const Tensor& tensor : file.tensors()) {
    all.push_back(&tensor);
    if (wanted.empty()) {
      const bool fits = std::any_of(std::begin(kSuffixes), std::end(kSuffixes), [&](auto suffix) {
        return EndsWithParts(tensor.name, suffix);
      });
      if (fits) fitting.push_back(&tensor);
      continue;
    }
    // The whole name is meant before the end of a longer one.
    if (tensor.name == wanted) return &tensor;
    if (EndsWithParts(tensor.name, wanted)) fitting.push_back(&tensor);
  }
  if (fitting.empty() && wanted.empty() && all.size() == 1) return all.front();
  if (fitting.size() == 1) return fitting.front();
  if (!fitting.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        file.path(), ": ", fitting.size(), " tensors fit, name one by #TENSOR: ", List(fitting)));
  }
  return absl::NotFoundError(absl::StrCat(
      file.path(), ": ",
      wanted.empty() ? std::string("no tensor is named as a position table's are")
                     : absl::StrCat("no tensor is named, or ends with, ", Quoted(wanted)),
      all.empty() ? "; it has none" : "; name one of its by #TENSOR: ", List(all)));
}

struct Shape {
  ElementType type;
  std::int64_t rows;
  std::int64_t width;
};

absl::StatusOr<Shape> ShapeOf(const std::string& path, const Tensor& tensor) {
  const auto wrong = [&](absl::string_view what) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": tensor ", Quoted(tensor.name), ", ",
                                                   tensor.Description(), ", ", what));
  };
  const std::optional<ElementType> type = tensor.element_type();
  if (!type.has_value()) return wrong("is not of dtype F32, F64, F16 or BF16");
  absl::Span<const std::uint64_t> lengths(tensor.shape);
  if (lengths.size() == 3 && lengths[0] == 1) lengths.remove_prefix(1);
  if (lengths.size() != 2) return wrong("is not [rows, width] or [1, rows, width]");
  if (lengths[1] < 1 || lengths[1] > static_cast<std::uint64_t>(kMaxWidth)) {
    return wrong(absl::StrCat("has a width that is not in 1 ... ", kMaxWidth));
  }
  // At least an element a row: within the file's size.
  return Shape{*type, static_cast<std::int64_t>(lengths[0]), static_cast<std::int64_t>(lengths[1])};
}

}  // namespace

std::string ContentSha256(ElementType type, std::int64_t rows, std::int64_t width,
                          absl::Span<const std::byte> elements) {
  const std::string line = absl::StrCat(DtypeOf(type), " ", rows, " ", width, "\n");
  SHA2_CTX sha;
  SHA256Init(&sha);
  SHA256Update(&sha, reinterpret_cast<const std::uint8_t*>(line.data()), line.size());
  SHA256Update(&sha, reinterpret_cast<const std::uint8_t*>(elements.data()), elements.size());
  std::array<std::uint8_t, 32> digest;
  SHA256Final(digest.data(), &sha);
  return absl::BytesToHexString(
      absl::string_view(reinterpret_cast<const char*>(digest.data()), digest.size()));
}

absl::StatusOr<PositionTable> LoadPositionTable(const std::string& path, absl::string_view tensor,
                                                RowOffset row_offset) {
  const absl::StatusOr<SafetensorsFile> file = SafetensorsFile::Open(path);
  if (!file.ok()) return file.status();
  const absl::StatusOr<const Tensor*> chosen = Choose(*file, tensor);
  if (!chosen.ok()) return chosen.status();
  const absl::StatusOr<Shape> shape = ShapeOf(path, **chosen);
  if (!shape.ok()) return shape.status();

  PositionTable table;
  table.tensor = (*chosen)->name;
  table.type = shape->type;
  table.width = shape->width;
  const absl::StatusOr<std::int64_t> offset = row_offset(table.tensor, shape->rows, shape->width);
  if (!offset.ok()) return offset.status();
  table.row_offset = *offset;
  if (table.row_offset < 0 || table.row_offset >= shape->rows) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": row_offset ", table.row_offset,
                                                   " leaves none of the ", shape->rows,
                                                   " rows of tensor ", Quoted(table.tensor)));
  }
  table.max_positions = shape->rows - table.row_offset;
  const auto row_bytes = static_cast<std::uint64_t>(table.width * ElementBytes(table.type));
  const std::uint64_t skipped = static_cast<std::uint64_t>(table.row_offset) * row_bytes;
  const std::uint64_t bytes = (*chosen)->bytes() - skipped;
  if (bytes > kMaxTableBytes) {
    return absl::ResourceExhaustedError(absl::StrCat(path, ": tensor ", Quoted(table.tensor),
                                                     " has ", bytes,
                                                     " bytes of rows, more than "
                                                     "the ",
                                                     kMaxTableBytes, " of a table"));
  }
  std::byte* memory = new (std::nothrow) std::byte[bytes];
  if (memory == nullptr) {
    return absl::ResourceExhaustedError(absl::StrCat(path, ": no memory for ", bytes, " bytes"));
  }
  table.elements.reset(memory);
  table.bytes = bytes;
  const absl::Span<std::byte> elements(memory, bytes);
  if (absl::Status status = file->Read(**chosen, skipped, elements); !status.ok()) return status;
  table.content_sha256 = ContentSha256(table.type, table.max_positions, table.width, elements);
  table.survey = SurveyElements(table.type, elements);
  return table;
}

}  // namespace phasor::checkpoint
