#include "phasor/diagnose/diagnosis.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "diagnose/comparison.h"
#include "diagnose/hypothesis.h"
#include "diagnose/sample.h"
#include "diagnose/variants.h"
#include "phasor/core/errors.h"

namespace phasor {
namespace {

using diagnose::Angles;
using diagnose::Comparison;
using diagnose::Explanation;
using diagnose::Sample;

/// Differences of a table that is right but for how it was rounded: units in the last
/// place, and what an angle of float64 is off by, relative to itself.
constexpr double kRoundingUlps = 2;
constexpr double kFloat64Angle = 0x1p-49;
constexpr std::int64_t kFewElements = 64;
constexpr std::int64_t kMostColumns = 2 * kMaxWidth;

std::optional<Finding> FindingOf(Angles angles) {
  switch (angles) {
    case Angles::kFloat64: return std::nullopt;
    case Angles::kFloat32:
      return Finding{Fault::kFloat32Angles, "angles are computed in float32", std::nullopt};
    case Angles::kFloat32Product:
      return Finding{Fault::kFloat32Product,
                     "angles are those of a running product in float32, or of a similar precision",
                     std::nullopt};
    case Angles::kFloat16:
      return Finding{Fault::kFloat16Angles,
                     "frequencies, positions or angles are rounded to float16", std::nullopt};
    case Angles::kBfloat16:
      return Finding{Fault::kBfloat16Angles,
                     "frequencies, positions or angles are rounded to bfloat16", std::nullopt};
  }
  return std::nullopt;
}

CanonicalSpec WithType(const CanonicalSpec& spec, ElementType type) {
  TableSpec other = spec.spec();
  other.element_type = type;
  // Seeded tables of small types may be refused; then elements are compared as they were asked for.
  const absl::StatusOr<CanonicalSpec> canonical = CanonicalSpec::Create(std::move(other));
  return canonical.ok() ? *canonical : spec;
}

absl::StatusOr<CanonicalSpec> WithLayout(const CanonicalSpec& spec, Layout layout) {
  TableSpec other = spec.spec();
  if (auto* sinusoidal = std::get_if<Sinusoidal>(&other.scheme)) sinusoidal->layout = layout;
  if (auto* rotary = std::get_if<Rotary>(&other.scheme)) rotary->layout = layout;
  if (auto* none = std::get_if<NoPosition>(&other.scheme)) none->layout = layout;
  return CanonicalSpec::Create(std::move(other));
}

std::optional<std::int64_t> ZeroRowPosition(const CanonicalSpec& spec) {
  const auto* sinusoidal = std::get_if<Sinusoidal>(&spec.spec().scheme);
  if (sinusoidal == nullptr || !sinusoidal->zero_row.has_value()) return std::nullopt;
  return *sinusoidal->zero_row - sinusoidal->position_offset;
}

class Diagnoser {
 public:
  Diagnoser(const CanonicalSpec& spec, const ObservedTable& table, const DiagnoseOptions& options)
      : asked_(spec), table_(table), options_(options) {}

  absl::StatusOr<Diagnosis> Run() {
    absl::Status status = Check();
    if (!status.ok()) return status;
    absl::StatusOr<Sample> sample = diagnose::TakeSample(table_, options_.start);
    if (!sample.ok()) return sample.status();
    diagnosis_.element_type = sample->type;
    if (sample->type != table_.type) {
      diagnosis_.notes.push_back(absl::StrCat("all values that were looked at are ",
                                              absl::AsciiStrToLower(ElementTypeName(sample->type)),
                                              " ones, and compared as such"));
    }
    const CanonicalSpec spec = WithType(asked_, sample->type);
    CanonicalSpec compared = spec;
    if (spec.pairs() > 0) {
      explanation_ = diagnose::Explain(spec, *sample, options_.others);
      if (spec.row_width() != table_.columns && explanation_.best.has_value()) {
        const auto layout = explanation_.best->arrangement.layout();
        const auto other =
            layout.has_value() ? WithLayout(spec, *layout) : absl::StatusOr<CanonicalSpec>(spec);
        if (other.ok()) compared = *other;
      }
    }
    if (compared.row_width() == table_.columns) {
      absl::StatusOr<Comparison> comparison = diagnose::Compare(compared, table_, options_);
      if (!comparison.ok()) return comparison.status();
      comparison_ = *std::move(comparison);
      diagnosis_.compared = comparison_.compared;
      diagnosis_.different = comparison_.different;
      diagnosis_.first = comparison_.first;
      diagnosis_.largest = comparison_.largest;
    } else {
      diagnosis_.notes.push_back(absl::StrCat(
          "a row has ", table_.columns, " elements, where the right table has ", spec.row_width()));
    }
    if (spec.row_width() == table_.columns && comparison_.different == 0) {
      Exact();
      return std::move(diagnosis_);
    }
    if (spec.pairs() > 0) {
      ByAngles();
    } else {
      ByVariants(spec, *sample);
    }
    AddRows(spec, *sample);
    return std::move(diagnosis_);
  }

 private:
  absl::Status Check() const {
    const auto wrong = [](absl::string_view field, absl::string_view what) {
      return FieldError(absl::StatusCode::kInvalidArgument, field, what);
    };
    if (table_.rows < 1) return wrong("rows", "a table without rows says nothing; give some");
    if (table_.columns < 1) return wrong("columns", "rows without elements say nothing");
    if (table_.columns > kMostColumns) {
      return wrong("columns",
                   absl::StrCat("rows of ", table_.columns, " elements; no table has more than ",
                                kMostColumns, ", so that is none: give [rows, columns]"));
    }
    if ((table_.type == ElementType::kInt32) != (asked_.element_type() == ElementType::kInt32)) {
      return wrong("element_type",
                   absl::StrCat(ElementTypeName(table_.type), " elements, where this table has ",
                                asked_.element_type() == ElementType::kInt32
                                    ? "INT32; give integers"
                                    : "real numbers; give FLOAT32, FLOAT64, FLOAT16 or BFLOAT16"));
    }
    return asked_.CheckRange(options_.start, table_.rows);
  }

  void Exact() {
    diagnosis_.exact = true;
    diagnosis_.sureness = Sureness::kCertain;
    diagnosis_.tried = comparison_.compared;
    diagnosis_.explained = 1;
    diagnosis_.right = 1;
  }

  void Add(Fault fault, std::string words, std::optional<double> value = std::nullopt) {
    diagnosis_.findings.push_back({fault, std::move(words), value});
  }

  // How far off the elements of such a table may be.
  double RoundingOff() const {
    double largest = 0;
    if (!explanation_.ladders.empty()) {
      for (const double frequency : explanation_.ladders.front().frequencies) {
        largest = std::max(largest, std::abs(frequency));
      }
    }
    const auto farthest = static_cast<double>(
        std::max(std::abs(options_.start), std::abs(options_.start + table_.rows)));
    const double factor = asked_.attention_factor().value_or(1);
    return factor * (kRoundingUlps * std::exp2(1 - diagnose::PrecisionOf(diagnosis_.element_type)) +
                     largest * farthest * kFloat64Angle);
  }
  bool InOneRow() const { return comparison_.different > 0 && comparison_.different_rows == 1; }

  // Right but for single elements, or for the last bits of some.
  void AlmostRight() {
    if (!comparison_.largest.has_value()) return;
    if (InOneRow() && comparison_.first->position == ZeroRowPosition(asked_)) {
      Add(Fault::kZeroRow,
          absl::StrCat("row ", comparison_.first->row, " is a padding row and should be all zero"));
    } else if (comparison_.not_finite == 0 && comparison_.largest_off <= RoundingOff()) {
      Add(Fault::kRounding,
          "the formula is right, some elements are not rounded to nearest: angles or functions of "
          "float64, or of float32 where rows are few");
    } else if (comparison_.not_finite == 0) {
      Add(Fault::kElements, "the formula is right, single elements are not");
    }
  }

  void ByAngles() {
    diagnosis_.right = explanation_.right;
    if (!explanation_.best.has_value()) {
      if (explanation_.frequencies.has_value()) {
        diagnosis_.findings.push_back(*explanation_.frequencies);
        diagnosis_.sureness = Sureness::kLikely;
      }
      return;
    }
    const diagnose::Hypothesis& best = *explanation_.best;
    diagnosis_.tried = best.tried;
    diagnosis_.explained = best.share();
    diagnosis_.findings = best.findings;
    diagnosis_.also = explanation_.also;
    if (const std::optional<Finding> angles = FindingOf(best.angles)) {
      diagnosis_.findings.push_back(*angles);
    } else if (best.findings.empty()) {
      AlmostRight();
    }
    diagnosis_.sureness = Sureness::kLikely;
    if (best.tried < kFewElements) {
      diagnosis_.sureness = Sureness::kPossible;
    } else if (best.given == best.tried && diagnosis_.also.empty()) {
      diagnosis_.sureness = Sureness::kCertain;
    }
  }

  void ByVariants(const CanonicalSpec& spec, const Sample& sample) {
    diagnose::VariantExplanation explanation = diagnose::ExplainVariants(spec, sample);
    diagnosis_.tried = explanation.tried;
    diagnosis_.explained = explanation.explained;
    diagnosis_.right = explanation.right;
    diagnosis_.findings = std::move(explanation.findings);
    if (diagnosis_.findings.empty() && explanation.right > 0.99) {
      Add(Fault::kElements, "the formula is right, single elements are not");
    }
    if (diagnosis_.findings.empty()) return;
    diagnosis_.sureness = diagnosis_.tried < kFewElements ? Sureness::kPossible
                          : diagnosis_.explained == 1     ? Sureness::kCertain
                                                          : Sureness::kLikely;
  }

  // What single rows are that take no part in the sample.
  void AddRows(const CanonicalSpec& spec, const Sample& sample) {
    // Of sines alone, position 0 is all zero; so are biases of no distance.
    const bool has_both = explanation_.best.has_value()
                              ? explanation_.best->arrangement.has_both()
                              : spec.pairs() > 0 && diagnose::ArrangementOf(spec).has_both();
    if (sample.rows.empty() && std::ssize(sample.zero_rows) > 1) {
      Add(Fault::kElements, "every row that was looked at is all zero");
      diagnosis_.sureness = Sureness::kCertain;
      return;
    }
    for (const std::int64_t row : sample.zero_rows) {
      if (!has_both || options_.start + row == ZeroRowPosition(spec)) continue;
      const auto is_row = [](const Finding& finding) { return finding.fault == Fault::kZeroRow; };
      if (std::none_of(diagnosis_.findings.begin(), diagnosis_.findings.end(), is_row)) {
        const auto single = [](const Finding& f) { return f.fault == Fault::kElements; };
        diagnosis_.findings.erase(
            std::remove_if(diagnosis_.findings.begin(), diagnosis_.findings.end(), single),
            diagnosis_.findings.end());
        Add(Fault::kZeroRow, absl::StrCat("row ", row, " is all zero, as a padding row is"));
        if (diagnosis_.sureness == Sureness::kUnknown) diagnosis_.sureness = Sureness::kLikely;
      }
    }
    if (comparison_.first_not_finite.has_value()) {
      const WrongElement& element = *comparison_.first_not_finite;
      Add(Fault::kNotFinite,
          absl::StrCat(comparison_.not_finite, " elements are NaN or infinite, the first at row ",
                       element.row, ", column ", element.column));
      if (diagnosis_.sureness == Sureness::kUnknown) diagnosis_.sureness = Sureness::kCertain;
    }
  }

  const CanonicalSpec& asked_;
  const ObservedTable& table_;
  const DiagnoseOptions& options_;
  Explanation explanation_;
  Comparison comparison_;
  Diagnosis diagnosis_;
};

}  // namespace

absl::string_view FaultName(Fault fault) {
  switch (fault) {
    case Fault::kBase: return "base";
    case Fault::kLadder: return "ladder";
    case Fault::kExponentHalf: return "exponent_half";
    case Fault::kExponentWidth: return "exponent_width";
    case Fault::kScalingMissing: return "scaling_missing";
    case Fault::kScalingTwice: return "scaling_twice";
    case Fault::kScaling: return "scaling";
    case Fault::kFrequencyScale: return "frequency_scale";
    case Fault::kFrequencies: return "frequencies";
    case Fault::kLayout: return "layout";
    case Fault::kSwapped: return "swapped";
    case Fault::kSineSign: return "sine_sign";
    case Fault::kPositions: return "positions";
    case Fault::kDescending: return "descending";
    case Fault::kConstantRows: return "constant_rows";
    case Fault::kFactor: return "factor";
    case Fault::kFloat32Angles: return "float32_angles";
    case Fault::kFloat32Product: return "float32_product";
    case Fault::kFloat16Angles: return "float16_angles";
    case Fault::kBfloat16Angles: return "bfloat16_angles";
    case Fault::kRounding: return "rounding";
    case Fault::kElements: return "elements";
    case Fault::kZeroRow: return "zero_row";
    case Fault::kNotFinite: return "not_finite";
    case Fault::kOtherTable: return "other_table";
    case Fault::kVariant: return "variant";
  }
  return "";
}

absl::string_view SurenessName(Sureness sureness) {
  switch (sureness) {
    case Sureness::kCertain: return "certain";
    case Sureness::kLikely: return "likely";
    case Sureness::kPossible: return "possible";
    case Sureness::kUnknown: return "unknown";
  }
  return "";
}

absl::StatusOr<Diagnosis> Diagnose(const CanonicalSpec& spec, const ObservedTable& table,
                                   const DiagnoseOptions& options) {
  return Diagnoser(spec, table, options).Run();
}

}  // namespace phasor
