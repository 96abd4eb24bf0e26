#include "phasor/core/spec.h"

#include <sha2.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <variant>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "core/attention_factor.h"
#include "core/canonical_text.h"
#include "core/field_check.h"
#include "core/fp_environment.h"
#include "core/rotary_check.h"
#include "phasor/core/errors.h"

namespace phasor {
namespace {

absl::Status Missing(absl::string_view field, absl::string_view what) {
  return FieldError(absl::StatusCode::kOutOfRange, field, what);
}

// The largest stddev none of whose draws rounds to an infinity: the largest
// binary64 below T / sqrt(66 ln 2), where T = 2^(e+1) - 2^(e-p) is the least
// real that a type of p bits and largest exponent e rounds to an infinity, and
// sqrt(66 ln 2) = 6.7637... is the largest sqrt(-2 ln u), of u = 2^-33. The
// cosine beside it is less than 1 by 2.7e-19 at least, too little to move any
// of these numbers.
double LargestStddev(ElementType type) {
  switch (type) {
    case ElementType::kFloat32: return 0x1.2ecae7192735dp+125;
    case ElementType::kFloat64: return 0x1.2ecae7b08ca9ap+1021;
    case ElementType::kFloat16: return 0x1.2eb7fb0211a0ep+13;
    case ElementType::kBfloat16: return 0x1.2e33823cb4635p+125;
  }
  return 0;
}

struct LadderCheck {
  std::int64_t pairs;

  absl::Status operator()(const PaperLadder&) const { return absl::OkStatus(); }
  absl::Status operator()(const InclusiveLadder&) const { return absl::OkStatus(); }
  absl::Status operator()(const DownscaledLadder& ladder) const {
    constexpr absl::string_view kField = "spec.sinusoidal.downscaled.downscale_shift";
    const double most = static_cast<double>(pairs) - 0.5;
    if (!ladder.downscale_shift.has_value()) {
      return Invalid(kField, absl::StrCat("is required and has no default; set a number in 0 ... ",
                                          Text(most), " (models use 0 and 1 alike)"));
    }
    if (IsBetween(0, *ladder.downscale_shift, most)) return absl::OkStatus();
    return Invalid(kField, absl::StrCat(Text(*ladder.downscale_shift), " is not in 0 ... ",
                                        Text(most), " (width/2 - 1/2)"));
  }
  absl::Status operator()(const ExplicitLadder& ladder) const {
    return CheckFrequencies("spec.sinusoidal.explicit.frequencies", ladder, pairs);
  }
};

// Checks the fields of a scheme and fills in its defaults.
struct SchemeCheck {
  ElementType element_type;

  absl::Status operator()(Sinusoidal& s) const {
    if (absl::Status status = CheckWidth("spec.sinusoidal.width", s.width, /*pairs=*/true);
        !status.ok()) {
      return status;
    }
    if (absl::Status status = CheckBase("spec.sinusoidal.base", s.base,
                                        std::holds_alternative<ExplicitLadder>(s.ladder));
        !status.ok()) {
      return status;
    }
    if (absl::Status status = std::visit(LadderCheck{s.width / 2}, s.ladder); !status.ok()) {
      return status;
    }
    if (absl::Status status = CheckLayout("spec.sinusoidal.layout", s.layout); !status.ok()) {
      return status;
    }
    if (s.position_offset < -2 * kMaxPosition || s.position_offset > 2 * kMaxPosition) {
      return Invalid("spec.sinusoidal.position_offset",
                     absl::StrCat(s.position_offset, " leaves no position p with p and p + ",
                                  "position_offset in -2^53 ... 2^53; use -2^54 ... 2^54"));
    }
    return absl::OkStatus();
  }

  absl::Status operator()(Rotary& r) const { return CheckRotary(element_type, r); }

  absl::Status operator()(LearnedInit& l) const {
    if (absl::Status status = CheckWidth("spec.learned_init.width", l.width, /*pairs=*/false);
        !status.ok()) {
      return status;
    }
    if (l.max_positions < 1 || l.max_positions > kMaxElements / l.width) {
      return Invalid("spec.learned_init.max_positions",
                     absl::StrCat(l.max_positions, " is not in 1 ... ", kMaxElements / l.width,
                                  " (2^62 elements at width ", l.width, ")"));
    }
    if (!IsBetween(std::numeric_limits<double>::denorm_min(), l.stddev,
                   std::numeric_limits<double>::max())) {
      return Invalid("spec.learned_init.stddev",
                     absl::StrCat(Text(l.stddev), " is not positive and finite"));
    }
    if (l.stream < 0) {
      return Invalid("spec.learned_init.stream", absl::StrCat(l.stream, " is not in 0 ... 2^63-1"));
    }
    if (l.stddev > LargestStddev(element_type)) {
      return FieldError(absl::StatusCode::kOutOfRange, "spec.learned_init.stddev",
                        absl::StrCat(Text(l.stddev), " makes values that round to infinity in ",
                                     ElementTypeName(element_type), "; use at most ",
                                     Text(LargestStddev(element_type)), " or a wider type"));
    }
    return absl::OkStatus();
  }

  absl::Status operator()(LearnedTable& l) const {
    if (absl::Status status = CheckTableName(l.name); !status.ok()) return status;
    const auto is_digit = [](char c) { return absl::ascii_isdigit(c) || (c >= 'a' && c <= 'f'); };
    if (!l.resolved()) {
      return Invalid("spec.learned_table.content_sha256",
                     "is required where no server is asked: GetTable fills it in");
    }
    if (l.content_sha256.size() != 64 ||
        !std::all_of(l.content_sha256.begin(), l.content_sha256.end(), is_digit)) {
      return Invalid("spec.learned_table.content_sha256",
                     absl::StrCat("\"", absl::CHexEscape(l.content_sha256.substr(0, 64)),
                                  "\" is not 64 lower-case hexadecimal digits"));
    }
    if (absl::Status status = CheckWidth("spec.learned_table.width", l.width, /*pairs=*/false);
        !status.ok()) {
      return status;
    }
    if (l.max_positions < 1 || l.max_positions > kMaxElements / l.width) {
      return Invalid("spec.learned_table.max_positions",
                     absl::StrCat(l.max_positions, " is not in 1 ... ", kMaxElements / l.width,
                                  " (2^62 elements at width ", l.width, ")"));
    }
    return absl::OkStatus();
  }
};

// Of a checked scheme: the shape of rows, and the positions that have one.
struct Extent {
  std::int64_t row_width;
  std::int64_t pairs;
  std::int64_t axes;
  std::optional<double> attention_factor;
  std::int64_t first_position;
  std::int64_t last_position;
};

struct ExtentOf {
  Extent operator()(const Sinusoidal& s) const {
    return {RowWidth(s.layout, s.width),
            s.width / 2,
            1,
            1.0,
            std::max(-kMaxPosition, -kMaxPosition - s.position_offset),
            std::min(kMaxPosition, kMaxPosition - s.position_offset)};
  }
  Extent operator()(const Rotary& r) const {
    return {RowWidth(r.layout, r.width),
            r.width / 2,
            std::max<std::int64_t>(1, std::ssize(r.mrope_section)),
            AttentionFactor(r).rounded(),
            -kMaxPosition,
            kMaxPosition};
  }
  Extent operator()(const LearnedInit& l) const {
    return {l.width, 0, 1, std::nullopt, 0, l.max_positions - 1};
  }
  Extent operator()(const LearnedTable& l) const {
    return {l.width, 0, 1, std::nullopt, 0, l.max_positions - 1};
  }
};

}  // namespace

absl::string_view SchemeName(const Scheme& scheme) {
  struct Visitor {
    absl::string_view operator()(const Sinusoidal&) const { return "sinusoidal"; }
    absl::string_view operator()(const Rotary&) const { return "rotary"; }
    absl::string_view operator()(const LearnedInit&) const { return "learned_init"; }
    absl::string_view operator()(const LearnedTable&) const { return "learned_table"; }
  };
  return std::visit(Visitor{}, scheme);
}

absl::Status CheckTableName(absl::string_view name) {
  const auto is_known = [](char c) {
    return absl::ascii_isalnum(c) || c == '.' || c == '_' || c == '-' || c == '/';
  };
  if (!name.empty() && name.size() <= kMaxTableNameBytes &&
      std::all_of(name.begin(), name.end(), is_known)) {
    return absl::OkStatus();
  }
  return Invalid(
      "spec.learned_table.name",
      absl::StrCat("\"", absl::CHexEscape(name.substr(0, kMaxTableNameBytes)), "\" is not 1 ... ",
                   kMaxTableNameBytes, " of ASCII letters, digits and \"._-/\""));
}

absl::string_view LayoutName(Layout layout) {
  switch (layout) {
    case Layout::kSinCosInterleaved: return "SIN_COS_INTERLEAVED";
    case Layout::kSinCosHalves: return "SIN_COS_HALVES";
    case Layout::kCosSinHalves: return "COS_SIN_HALVES";
    case Layout::kCosSinInterleaved: return "COS_SIN_INTERLEAVED";
    case Layout::kCosSinDuplicatedHalves: return "COS_SIN_DUPLICATED_HALVES";
    case Layout::kCosSinDuplicatedPairs: return "COS_SIN_DUPLICATED_PAIRS";
    case Layout::kCosOnly: return "COS_ONLY";
    case Layout::kSinOnly: return "SIN_ONLY";
  }
  return "";
}

absl::StatusOr<CanonicalSpec> CanonicalSpec::Create(TableSpec spec) {
  // A subnormal number is not a zero, whatever the caller's thread thinks.
  const FpEnvironment environment;
  // Enumerations may have been cast from any number.
  if (ElementTypeName(spec.element_type).empty()) {
    return Invalid("spec.element_type",
                   absl::StrCat(static_cast<int>(spec.element_type), " is no known element type"));
  }
  if (spec.numerics != Numerics::kExact) {
    return Invalid("spec.numerics",
                   absl::StrCat(static_cast<int>(spec.numerics), " is no known numerics"));
  }
  if (absl::Status status = std::visit(SchemeCheck{spec.element_type}, spec.scheme); !status.ok()) {
    return status;
  }

  CanonicalSpec result(std::move(spec));
  result.text_ = CanonicalText(result.spec_);
  SHA2_CTX sha;
  SHA256Init(&sha);
  SHA256Update(&sha, reinterpret_cast<const std::uint8_t*>(result.text_.data()),
               result.text_.size());
  SHA256Final(result.digest_.data(), &sha);
  const Extent extent = std::visit(ExtentOf{}, result.spec_.scheme);
  result.row_width_ = extent.row_width;
  result.pairs_ = extent.pairs;
  result.axes_ = extent.axes;
  result.attention_factor_ = extent.attention_factor;
  result.first_position_ = extent.first_position;
  result.last_position_ = extent.last_position;
  return result;
}

std::string CanonicalSpec::fingerprint() const {
  return absl::BytesToHexString(
      absl::string_view(reinterpret_cast<const char*>(digest_.data()), 16));
}

absl::Status CanonicalSpec::CheckRange(std::int64_t start, std::int64_t count) const {
  if (count < 0) return Invalid("row_count", absl::StrCat(count, " is negative"));
  if (start < first_position_ || start > last_position_ + (count == 0 ? 1 : 0)) {
    return Missing("start_position", absl::StrCat("row ", start, " does not exist; rows are at ",
                                                  first_position_, " ... ", last_position_));
  }
  // start <= last + 1, and neither bound is beyond +-2^62: no overflow.
  const std::int64_t present = last_position_ + 1 - start;
  if (count > present) {
    return Missing("row_count", absl::StrCat(count, " rows from ", start, " run past the end: row ",
                                             last_position_ + 1, " does not exist; at most ",
                                             present, " can be read from there"));
  }
  return absl::OkStatus();
}

absl::Status CanonicalSpec::CheckPosition(std::int64_t position, absl::string_view field) const {
  if (position >= first_position_ && position <= last_position_) return absl::OkStatus();
  return Missing(field, absl::StrCat("row ", position, " does not exist; rows are at ",
                                     first_position_, " ... ", last_position_));
}

absl::Status CanonicalSpec::CheckPositions(absl::Span<const std::int64_t> positions) const {
  for (std::size_t k = 0; k < positions.size(); ++k) {
    // The path is written only where it is needed: there may be millions.
    if (positions[k] >= first_position_ && positions[k] <= last_position_) continue;
    return CheckPosition(positions[k], absl::StrCat("positions[", k, "]"));
  }
  return absl::OkStatus();
}

absl::Status CanonicalSpec::CheckPositions(absl::Span<const double> positions) const {
  if (positions.empty()) return absl::OkStatus();
  if (bounded()) {
    return FieldError(absl::StatusCode::kInvalidArgument, "real_positions",
                      "a learned table has rows at integers alone; use positions");
  }
  // Both ends are integers of at most 2^53: exact.
  const auto first = static_cast<double>(first_position_);
  const auto last = static_cast<double>(last_position_);
  for (std::size_t k = 0; k < positions.size(); ++k) {
    if (positions[k] >= first && positions[k] <= last) continue;
    const std::string field = absl::StrCat("real_positions[", k, "]");
    const std::string value = Text(positions[k]);
    if (!std::isfinite(positions[k])) {
      return FieldError(absl::StatusCode::kInvalidArgument, field,
                        absl::StrCat(value, " is not finite; give a number"));
    }
    return Missing(field, absl::StrCat("row ", value, " does not exist; rows are at ",
                                       first_position_, " ... ", last_position_));
  }
  return absl::OkStatus();
}

absl::Status CanonicalSpec::CheckAxes(std::int64_t axes, std::int64_t positions,
                                      absl::string_view field) const {
  if (axes != 1 && axes != axes_) {
    return Invalid("axes",
                   absl::StrCat(axes, " is neither 1 nor the table's number of axes, ", axes_));
  }
  if (positions % axes == 0) return absl::OkStatus();
  return Invalid(
      field, absl::StrCat(positions, " positions are not whole rows of ", axes, ", one an axis"));
}

}  // namespace phasor
