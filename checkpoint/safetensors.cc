#include "checkpoint/safetensors.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "checkpoint/dtype.h"
#include "checkpoint/header_reader.h"

namespace phasor::checkpoint {
namespace {

constexpr std::uint64_t kMinHeaderBytes = 2;  // "{}"
constexpr std::size_t kMaxQuotedBytes = 100;

struct Dtype {
  absl::string_view name;
  std::uint64_t bits;
};
// Those of version 0.8 of the format's own library.
constexpr Dtype kDtypes[] = {
    {"BOOL", 8}, {"F4", 4},          {"F6_E2M3", 6}, {"F6_E3M2", 6}, {"U8", 8},
    {"I8", 8},   {"F8_E5M2", 8},     {"F8_E4M3", 8}, {"F8_E8M0", 8}, {"F8_E4M3FNUZ", 8},
    {"I16", 16}, {"F8_E5M2FNUZ", 8}, {"U16", 16},    {"F16", 16},    {"BF16", 16},
    {"I32", 32}, {"U32", 32},        {"F32", 32},    {"C64", 64},    {"F64", 64},
    {"I64", 64}, {"U64", 64},
};

absl::Status Broken(absl::string_view what) { return absl::DataLossError(what); }

absl::Status BrokenTensor(const Tensor& tensor, absl::string_view what) {
  return Broken(absl::StrCat("tensor ", Quoted(tensor.name), ": ", what));
}

std::string Range(std::uint64_t begin, std::uint64_t end) {
  return absl::StrCat("data_offsets [", begin, ", ", end, "]");
}

// Bytes that dtype and shape of a tensor ask for.
absl::StatusOr<std::uint64_t> BytesOf(const Tensor& tensor) {
  const auto* dtype = std::find_if(std::begin(kDtypes), std::end(kDtypes),
                                   [&](const Dtype& known) { return known.name == tensor.dtype; });
  if (dtype == std::end(kDtypes)) {
    return BrokenTensor(tensor, absl::StrCat("dtype ", Quoted(tensor.dtype), " is not known"));
  }
  std::uint64_t bits = dtype->bits;
  for (const std::uint64_t length : tensor.shape) {
    if (__builtin_mul_overflow(bits, length, &bits)) {
      return BrokenTensor(tensor,
                          absl::StrCat(tensor.Description(), " has more than 2^64 bits of data"));
    }
  }
  if (bits % 8 != 0) {
    return BrokenTensor(tensor, absl::StrCat(tensor.Description(),
                                             " is not a whole number of "
                                             "bytes"));
  }
  return bits / 8;
}

// Checks the ranges of `tensors` against a data section of `data_bytes`, and
// sorts them by it.
absl::Status CheckRanges(std::uint64_t data_bytes, std::vector<Tensor>& tensors) {
  for (const Tensor& tensor : tensors) {
    if (tensor.begin > tensor.end || tensor.end > data_bytes) {
      return BrokenTensor(
          tensor, absl::StrCat(Range(tensor.begin, tensor.end), " is not in the ", data_bytes,
                               " bytes of data that the file has: it "
                               "was cut, or is still being written"));
    }
    const absl::StatusOr<std::uint64_t> bytes = BytesOf(tensor);
    if (!bytes.ok()) return bytes.status();
    if (*bytes != tensor.end - tensor.begin) {
      return BrokenTensor(tensor, absl::StrCat(tensor.Description(), " takes ", *bytes,
                                               " bytes, and ", Range(tensor.begin, tensor.end),
                                               " has ", tensor.end - tensor.begin));
    }
  }
  // Empty ones before those that begin at the same byte.
  std::sort(tensors.begin(), tensors.end(), [](const Tensor& a, const Tensor& b) {
    return std::tie(a.begin, a.end) < std::tie(b.begin, b.end);
  });
  std::uint64_t covered = 0;
  for (const Tensor& tensor : tensors) {
    if (tensor.begin < covered) {
      return BrokenTensor(tensor, absl::StrCat(Range(tensor.begin, tensor.end),
                                               " overlaps the data of another tensor, which ends "
                                               "at ",
                                               covered));
    }
    if (tensor.begin > covered) {
      return BrokenTensor(tensor, absl::StrCat("bytes ", covered, " ... ", tensor.begin - 1,
                                               " of the data, before its own, are no tensor's"));
    }
    covered = tensor.end;
  }
  if (covered == data_bytes) return absl::OkStatus();
  return Broken(absl::StrCat("the tensors have ", covered, " bytes of data, and the file has ",
                             data_bytes, ": ", data_bytes - covered,
                             " bytes at its end are no tensor's"));
}

}  // namespace

std::string Quoted(absl::string_view name) {
  const bool cut = name.size() > kMaxQuotedBytes;
  return absl::StrCat("\"", absl::CHexEscape(name.substr(0, kMaxQuotedBytes)), cut ? "..." : "",
                      "\"");
}

std::optional<ElementType> Tensor::element_type() const {
  for (const ElementType type : {ElementType::kFloat32, ElementType::kFloat64,
                                 ElementType::kFloat16, ElementType::kBfloat16}) {
    if (dtype == DtypeOf(type)) return type;
  }
  return std::nullopt;
}

std::string Tensor::Description() const {
  constexpr std::size_t kMaxLengths = 8;
  const absl::Span<const std::uint64_t> lengths(shape);
  const bool cut = lengths.size() > kMaxLengths;
  return absl::StrCat(dtype, " [", absl::StrJoin(lengths.subspan(0, kMaxLengths), ", "),
                      cut ? ", ..." : "", "]");
}

absl::StatusOr<std::vector<Tensor>> ReadTensors(std::uint64_t file_bytes, ReadAt read) {
  if (file_bytes < kLengthBytes) {
    return Broken(absl::StrCat("the file has ", file_bytes,
                               " bytes, and the length of the header alone takes ", kLengthBytes));
  }
  char length[kLengthBytes];
  absl::Status status = read(0, absl::MakeSpan(length));
  if (!status.ok()) return status;
  std::uint64_t header_bytes = 0;
  for (std::size_t i = kLengthBytes; i-- > 0;) {
    header_bytes = header_bytes << 8 | static_cast<unsigned char>(length[i]);
  }
  if (header_bytes < kMinHeaderBytes || header_bytes > kMaxHeaderBytes) {
    return Broken(absl::StrCat("the header's length, bytes 0 ... 7, is ", header_bytes,
                               "; it has to be in ", kMinHeaderBytes, " ... ", kMaxHeaderBytes,
                               ": is this a safetensors file?"));
  }
  if (header_bytes > file_bytes - kLengthBytes) {
    return Broken(absl::StrCat("the header is to end at byte ", kLengthBytes + header_bytes,
                               ", and the file has ", file_bytes,
                               " bytes: it was cut, or is still being written"));
  }
  std::string header(header_bytes, '\0');
  status = read(kLengthBytes, absl::MakeSpan(header));
  if (!status.ok()) return status;
  if (header.front() != '{') {
    return Broken(absl::StrCat("the header, from byte ", kLengthBytes,
                               " on, does not begin with '{': is this a safetensors file?"));
  }
  absl::StatusOr<std::vector<Tensor>> tensors = ReadHeaderJson(header);
  if (!tensors.ok()) return tensors.status();
  const std::uint64_t data_begin = kLengthBytes + header_bytes;
  status = CheckRanges(file_bytes - data_begin, *tensors);
  if (!status.ok()) return status;
  for (Tensor& tensor : *tensors) {
    tensor.begin += data_begin;
    tensor.end += data_begin;
  }
  return tensors;
}

}  // namespace phasor::checkpoint
