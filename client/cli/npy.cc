#include "client/cli/npy.h"

#include <optional>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/number_text.h"

namespace phasor::cli {
namespace {

constexpr absl::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kAlignment = 64;

absl::Status Malformed(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("not an .npy file as expected: ", what));
}

/// Takes tokens off the front of the dictionary's text.
class Reader {
 public:
  explicit Reader(absl::string_view text) : rest_(text) {}

  bool Skip(char c) {
    SkipSpace();
    if (rest_.empty() || rest_[0] != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  /// A quoted string without escapes.
  std::optional<absl::string_view> String() {
    SkipSpace();
    if (rest_.empty() || (rest_[0] != '\'' && rest_[0] != '"')) return std::nullopt;
    const std::size_t end = rest_.find(rest_[0], 1);
    if (end == absl::string_view::npos) return std::nullopt;
    return Take(end + 1).substr(1, end - 1);
  }
  /// Letters and digits: a number, True or False.
  absl::string_view Word() {
    SkipSpace();
    return Take(rest_.find_first_of(" ,:(){}\n"));
  }
  /// Whether nothing but the padding is left.
  bool AtEnd() {
    SkipSpace();
    return rest_ == "\n";
  }
  /// What comes next, to be quoted in an error.
  std::string Next() const {
    return absl::StrCat("\"", absl::CHexEscape(rest_.substr(0, 20)), "\"");
  }

 private:
  void SkipSpace() {
    while (!rest_.empty() && rest_[0] == ' ') rest_.remove_prefix(1);
  }
  absl::string_view Take(std::size_t size) {
    const absl::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(taken.size());
    return taken;
  }

  absl::string_view rest_;
};

absl::StatusOr<std::vector<std::int64_t>> ReadShape(Reader& reader) {
  if (!reader.Skip('(')) return Malformed(absl::StrCat("shape is ", reader.Next()));
  std::vector<std::int64_t> shape;
  std::int64_t product = 1;
  for (bool comma = true; !reader.Skip(')');) {
    if (!comma) return Malformed(absl::StrCat("shape goes on with ", reader.Next()));
    absl::StatusOr<std::int64_t> size = ParseInt64(reader.Word());
    if (!size.ok()) return Malformed(absl::StrCat("shape: ", size.status().message()));
    if (*size < 0) return Malformed(absl::StrCat("shape has a negative size, ", *size));
    if (__builtin_mul_overflow(product, *size, &product)) {
      return Malformed("shape has more elements than any file");
    }
    shape.push_back(*size);
    comma = reader.Skip(',');
    // (3) is a number in Python, not a shape.
    if (!comma && shape.size() == 1) return Malformed("shape of one size without a comma");
  }
  return shape;
}

}  // namespace

absl::string_view NpyTypeCode(ElementType type) {
  switch (type) {
    case ElementType::kFloat32: return "<f4";
    case ElementType::kFloat64: return "<f8";
    case ElementType::kFloat16: return "<f2";
    case ElementType::kBfloat16: return "<u2";
    case ElementType::kInt32: return "<i4";
  }
  return "";
}

std::string NpyHead(ElementType type, absl::Span<const std::int64_t> shape) {
  std::string dictionary =
      absl::StrCat("{'descr': '", NpyTypeCode(type), "', 'fortran_order': False, 'shape': (",
                   absl::StrJoin(shape, ", "), shape.size() == 1 ? ",), }" : "), }");
  const std::size_t unpadded = kNpyPreambleBytes + dictionary.size() + 1;
  dictionary.append((kAlignment - unpadded % kAlignment) % kAlignment, ' ');
  dictionary += '\n';
  std::string head(kMagic);
  head += {'\1', '\0', static_cast<char>(dictionary.size() & 0xff),
           static_cast<char>(dictionary.size() >> 8)};
  return head + dictionary;
}

absl::StatusOr<std::size_t> ParseNpyPreamble(absl::string_view preamble) {
  if (preamble.size() < kNpyPreambleBytes || preamble.substr(0, kMagic.size()) != kMagic) {
    return Malformed("it does not begin with \\x93NUMPY");
  }
  const auto byte = [preamble](std::size_t i) { return static_cast<unsigned char>(preamble[i]); };
  if (byte(6) != 1 || byte(7) != 0) {
    return Malformed(absl::StrCat("version ", byte(6), ".", byte(7), "; only 1.0 is read"));
  }
  return byte(8) | byte(9) << 8;
}

absl::StatusOr<NpyHeader> ParseNpyDictionary(absl::string_view dictionary) {
  Reader reader(dictionary);
  NpyHeader header;
  bool has_type = false, has_order = false, has_shape = false;
  if (!reader.Skip('{')) return Malformed(absl::StrCat("its head begins with ", reader.Next()));
  for (bool comma = true; !reader.Skip('}');) {
    if (!comma) return Malformed(absl::StrCat("its head goes on with ", reader.Next()));
    const std::optional<absl::string_view> key = reader.String();
    if (!key.has_value() || !reader.Skip(':')) {
      return Malformed(absl::StrCat("its head has no key at ", reader.Next()));
    }
    if (*key == "descr" && !has_type) {
      const std::optional<absl::string_view> code = reader.String();
      if (!code.has_value()) return Malformed(absl::StrCat("descr is ", reader.Next()));
      header.type_code = std::string(*code);
      has_type = true;
    } else if (*key == "fortran_order" && !has_order) {
      const absl::string_view order = reader.Word();
      if (order != "False") {
        return Malformed(absl::StrCat("fortran_order is \"", absl::CHexEscape(order),
                                      "\"; save it in C order, numpy.ascontiguousarray()"));
      }
      has_order = true;
    } else if (*key == "shape" && !has_shape) {
      absl::StatusOr<std::vector<std::int64_t>> shape = ReadShape(reader);
      if (!shape.ok()) return shape.status();
      header.shape = *std::move(shape);
      has_shape = true;
    } else {
      return Malformed(absl::StrCat("unknown or repeated key \"", absl::CHexEscape(*key), "\""));
    }
    comma = reader.Skip(',');
  }
  if (!reader.AtEnd()) return Malformed(absl::StrCat("its head ends with ", reader.Next()));
  if (!has_type || !has_order || !has_shape) {
    return Malformed("its head lacks descr, fortran_order or shape");
  }
  return header;
}

}  // namespace phasor::cli
