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
#include "core/alibi_table.h"
#include "core/attention_factor.h"
#include "core/bucket_table.h"
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
    case ElementType::kInt32: break;
  }
  return 0;
}

// How far min_timescale and a timestep's scale reach both ways, and max_timescale.
constexpr double kMostScale = 0x1p32;
constexpr double kMostTimescale = 0x1p64;

// 0 ... pairs - 1/2.
absl::Status CheckShift(absl::string_view field, const std::optional<double>& shift,
                        std::int64_t pairs) {
  const double most = static_cast<double>(pairs) - 0.5;
  if (!shift.has_value()) {
    return Invalid(field, absl::StrCat("is required and has no default; set a number in 0 ... ",
                                       Text(most), " (models use 0 and 1 alike)"));
  }
  if (IsBetween(0, *shift, most)) return absl::OkStatus();
  return Invalid(field, absl::StrCat(Text(*shift), " is not in 0 ... ", Text(most), " (", pairs,
                                     pairs == 1 ? " pair" : " pairs", " less 1/2)"));
}

struct LadderCheck {
  std::int64_t pairs;

  absl::Status operator()(const PaperLadder&) const { return absl::OkStatus(); }
  absl::Status operator()(const InclusiveLadder&) const { return absl::OkStatus(); }
  absl::Status operator()(const DownscaledLadder& ladder) const {
    return CheckShift("spec.sinusoidal.downscaled.downscale_shift", ladder.downscale_shift, pairs);
  }
  absl::Status operator()(const ExplicitLadder& ladder) const {
    return CheckFrequencies("spec.sinusoidal.explicit.frequencies", ladder, pairs);
  }
  absl::Status operator()(const TimescaleLadder& ladder) const {
    if (!IsBetween(1 / kMostScale, ladder.min_timescale, kMostScale)) {
      return Invalid("spec.sinusoidal.timescales.min_timescale",
                     absl::StrCat(Text(ladder.min_timescale), " is not in 2^-32 ... 2^32"));
    }
    if (!IsBetween(ladder.min_timescale, ladder.max_timescale, kMostTimescale) ||
        ladder.min_timescale == ladder.max_timescale) {
      return Invalid("spec.sinusoidal.timescales.max_timescale",
                     absl::StrCat(Text(ladder.max_timescale), " is not above min_timescale, ",
                                  Text(ladder.min_timescale), ", and at most 2^64"));
    }
    return absl::OkStatus();
  }
};

// The width, and how an odd one is filled.
absl::Status CheckSinusoidalWidth(const Sinusoidal& s) {
  constexpr absl::string_view kWidth = "spec.sinusoidal.width";
  constexpr absl::string_view kOddColumn = "spec.sinusoidal.odd_column";
  if (OddColumnName(s.odd_column).empty()) {
    return Invalid(kOddColumn,
                   absl::StrCat(static_cast<int>(s.odd_column), " is no known odd column"));
  }
  if (s.odd_column == OddColumn::kNone) {
    absl::Status status = CheckWidth(kWidth, s.width, /*pairs=*/true);
    if (status.ok() || s.width % 2 == 0) return status;
    return Invalid(kWidth, absl::StrCat(s.width, " is not an even number in 2 ... ", kMaxWidth,
                                        ", as a width without odd_column has to be"));
  }
  const int least = s.odd_column == OddColumn::kZero ? 3 : 1;
  if (s.width < least || s.width > kMaxWidth) {
    return Invalid(
        kWidth, absl::StrCat(s.width, " is not an odd number in ", least, " ... ", kMaxWidth - 1));
  }
  if (s.width % 2 == 0) {
    return Invalid(kOddColumn,
                   absl::StrCat(OddColumnName(s.odd_column), " has no meaning with the even width ",
                                s.width, "; leave it out"));
  }
  return absl::OkStatus();
}

constexpr std::int64_t kMaxBuckets = 8192;

// Whether a scheme has such elements.
absl::Status CheckElementType(const TableSpec& spec) {
  constexpr absl::string_view kField = "spec.element_type";
  // Enumerations may have been cast from any number.
  const absl::string_view name = ElementTypeName(spec.element_type);
  if (name.empty()) {
    return Invalid(kField,
                   absl::StrCat(static_cast<int>(spec.element_type), " is no known element type"));
  }
  const bool is_integer = spec.element_type == ElementType::kInt32;
  if (is_integer == std::holds_alternative<RelativeBuckets>(spec.scheme)) return absl::OkStatus();
  return Invalid(
      kField, absl::StrCat(
                  name, " is no type of ", SchemeName(spec.scheme), " elements; use ",
                  is_integer ? "FLOAT32, FLOAT64, FLOAT16 or BFLOAT16" : "INT32, or leave it out"));
}

// Checks the fields of a scheme and fills in its defaults.
struct SchemeCheck {
  ElementType element_type;

  absl::Status operator()(Sinusoidal& s) const {
    if (absl::Status status = CheckSinusoidalWidth(s); !status.ok()) return status;
    const bool given = std::holds_alternative<ExplicitLadder>(s.ladder) ||
                       std::holds_alternative<TimescaleLadder>(s.ladder);
    if (absl::Status status = CheckBase("spec.sinusoidal.base", s.base, given); !status.ok()) {
      return status;
    }
    if (absl::Status status = std::visit(LadderCheck{PairsOf(s.width, s.odd_column)}, s.ladder);
        !status.ok()) {
      return status;
    }
    if (absl::Status status = CheckLayout("spec.sinusoidal.layout", s.layout); !status.ok()) {
      return status;
    }
    if (s.odd_column != OddColumn::kNone && RowWidth(s.layout, s.width) != s.width) {
      return Invalid("spec.sinusoidal.layout",
                     absl::StrCat(LayoutName(s.layout),
                                  " has no rows of an odd width; use a "
                                  "layout of as many elements as the width"));
    }
    if (s.position_offset < -2 * kMaxPosition || s.position_offset > 2 * kMaxPosition) {
      return Invalid("spec.sinusoidal.position_offset",
                     absl::StrCat(s.position_offset, " leaves no position p with p and p + ",
                                  "position_offset in -2^53 ... 2^53; use -2^54 ... 2^54"));
    }
    return absl::OkStatus();
  }

  absl::Status operator()(Rotary& r) const { return CheckRotary(element_type, r); }

  absl::Status operator()(Timestep& t) const {
    constexpr absl::string_view kWidth = "spec.timestep.width";
    if (t.width < 2 || t.width > kMaxWidth) {
      return Invalid(kWidth, absl::StrCat(t.width, " is not in 2 ... ", kMaxWidth));
    }
    std::optional<double> period = t.max_period;
    if (absl::Status status = CheckBase("spec.timestep.max_period", period, /*given=*/false);
        !status.ok()) {
      return status;
    }
    if (absl::Status status =
            CheckShift("spec.timestep.downscale_freq_shift", t.downscale_freq_shift, t.width / 2);
        !status.ok()) {
      return status;
    }
    if (IsBetween(1 / kMostScale, t.scale, kMostScale)) return absl::OkStatus();
    return Invalid("spec.timestep.scale", absl::StrCat(Text(t.scale), " is not in 2^-32 ... 2^32"));
  }

  absl::Status operator()(RelativeBuckets& b) const {
    const int least = b.bidirectional ? 4 : 2;
    if (b.num_buckets < least || b.num_buckets > kMaxBuckets) {
      return Invalid("spec.relative_buckets.num_buckets",
                     absl::StrCat(b.num_buckets, " is not in ", least, " ... ", kMaxBuckets));
    }
    if (b.max_distance > SingleBuckets(b) && b.max_distance <= kMaxPosition) {
      return absl::OkStatus();
    }
    return Invalid("spec.relative_buckets.max_distance",
                   absl::StrCat(b.max_distance, " is not above ", SingleBuckets(b),
                                ", the distances that have a bucket of their own, and at most "
                                "2^53"));
  }

  absl::Status operator()(Alibi& a) const {
    if (a.head_count < 1 || a.head_count > kMaxWidth) {
      return Invalid("spec.alibi.head_count",
                     absl::StrCat(a.head_count, " is not in 1 ... ", kMaxWidth));
    }
    if (!IsBetween(0x1p-32, a.bias_max, 128)) {
      return Invalid("spec.alibi.bias_max",
                     absl::StrCat(Text(a.bias_max), " is not in 2^-32 ... 128"));
    }
    if (!AlibiFormName(a.form).empty()) return absl::OkStatus();
    return Invalid("spec.alibi.form", absl::StrCat(static_cast<int>(a.form), " is no known form"));
  }

  absl::Status operator()(NoPosition& n) const {
    if (absl::Status status = CheckWidth("spec.none.width", n.width, /*pairs=*/!n.additive);
        !status.ok()) {
      return status;
    }
    if (absl::Status status = CheckLayout("spec.none.layout", n.layout); !status.ok()) {
      return status;
    }
    if (!n.additive || n.layout == NoPosition().layout) return absl::OkStatus();
    return Invalid("spec.none.layout", absl::StrCat(LayoutName(n.layout),
                                                    " has no meaning beside additive, whose rows "
                                                    "are zeros; leave it out"));
  }

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
  std::string beyond{};  // why there are no rows beyond
};

struct ExtentOf {
  ElementType element_type;

  Extent operator()(const Sinusoidal& s) const {
    return {RowWidth(s.layout, s.width),
            PairsOf(s.width, s.odd_column),
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
  Extent operator()(const Timestep& t) const {
    return {t.width, t.width / 2, 1, 1.0, -kMaxPosition, kMaxPosition};
  }
  Extent operator()(const RelativeBuckets&) const {
    return {1, 0, 1, std::nullopt, -kMaxPosition, kMaxPosition};
  }
  Extent operator()(const Alibi& a) const {
    const std::int64_t last = LastAlibiPosition(a, element_type);
    Extent extent{a.head_count, 0, 1, std::nullopt, -last, last, ""};
    if (last == kMaxPosition) return extent;
    extent.beyond = absl::StrCat("; column ", SteepestHead(a), " of row ", last + 1,
                                 " would round to an infinity of ", ElementTypeName(element_type),
                                 ": use a wider type");
    return extent;
  }
  Extent operator()(const NoPosition& n) const {
    if (n.additive) return {n.width, 0, 1, std::nullopt, -kMaxPosition, kMaxPosition};
    return {RowWidth(n.layout, n.width), n.width / 2, 1, 1.0, -kMaxPosition, kMaxPosition};
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
    absl::string_view operator()(const Timestep&) const { return "timestep"; }
    absl::string_view operator()(const NoPosition&) const { return "none"; }
    absl::string_view operator()(const Alibi&) const { return "alibi"; }
    absl::string_view operator()(const RelativeBuckets&) const { return "relative_buckets"; }
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

absl::string_view AlibiFormName(AlibiForm form) {
  switch (form) {
    case AlibiForm::kDistance: return "DISTANCE";
    case AlibiForm::kKeyPosition: return "KEY_POSITION";
  }
  return "";
}

absl::string_view OddColumnName(OddColumn odd_column) {
  switch (odd_column) {
    case OddColumn::kNone: return "UNSPECIFIED";
    case OddColumn::kZero: return "ZERO";
    case OddColumn::kSine: return "SINE";
  }
  return "";
}

absl::StatusOr<CanonicalSpec> CanonicalSpec::Create(TableSpec spec) {
  // A subnormal number is not a zero, whatever the caller's thread thinks.
  const FpEnvironment environment;
  if (absl::Status status = CheckElementType(spec); !status.ok()) return status;
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
  result.fingerprint_ = absl::BytesToHexString(
      absl::string_view(reinterpret_cast<const char*>(result.digest_.data()), 16));
  Extent extent = std::visit(ExtentOf{result.element_type()}, result.spec_.scheme);
  result.row_width_ = extent.row_width;
  result.pairs_ = extent.pairs;
  result.axes_ = extent.axes;
  result.attention_factor_ = extent.attention_factor;
  result.first_position_ = extent.first_position;
  result.last_position_ = extent.last_position;
  result.beyond_ = std::move(extent.beyond);
  return result;
}

absl::Status CanonicalSpec::CheckRange(std::int64_t start, std::int64_t count) const {
  if (count < 0) return Invalid("row_count", absl::StrCat(count, " is negative"));
  if (start < first_position_ || start > last_position_ + (count == 0 ? 1 : 0)) {
    return Missing("start_position",
                   absl::StrCat("row ", start, " does not exist; rows are at ", first_position_,
                                " ... ", last_position_, beyond_));
  }
  // start <= last + 1, and neither bound is beyond +-2^62: no overflow.
  const std::int64_t present = last_position_ + 1 - start;
  if (count > present) {
    return Missing("row_count", absl::StrCat(count, " rows from ", start, " run past the end: row ",
                                             last_position_ + 1, " does not exist; at most ",
                                             present, " can be read from there", beyond_));
  }
  return absl::OkStatus();
}

absl::Status CanonicalSpec::CheckPosition(std::int64_t position, absl::string_view field) const {
  if (position >= first_position_ && position <= last_position_) return absl::OkStatus();
  return Missing(field, absl::StrCat("row ", position, " does not exist; rows are at ",
                                     first_position_, " ... ", last_position_, beyond_));
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
  if (bounded() || std::holds_alternative<RelativeBuckets>(spec_.scheme)) {
    return FieldError(
        absl::StatusCode::kInvalidArgument, "real_positions",
        absl::StrCat(SchemeName(spec_.scheme), " has rows at integers alone; use positions"));
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
                                       first_position_, " ... ", last_position_, beyond_));
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
