#include "diagnose/variants.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "core/rounding.h"
#include "diagnose/ladder_guess.h"
#include "phasor/core/local_table.h"

namespace phasor::diagnose {
namespace {

constexpr double kEnough = 0.995;

using Values = std::vector<double>;

// The rows of a table at the sample's positions, moved; nothing where there are none.
Values RowsOf(TableSpec spec, const Sample& sample, std::int64_t ahead, int direction = 1) {
  spec.element_type = std::holds_alternative<RelativeBuckets>(spec.scheme) ? ElementType::kInt32
                                                                           : ElementType::kFloat64;
  const absl::StatusOr<CanonicalSpec> canonical = CanonicalSpec::Create(std::move(spec));
  if (!canonical.ok() || canonical->row_width() != sample.columns) return {};
  std::vector<std::int64_t> positions;
  for (const std::int64_t position : sample.positions) {
    positions.push_back(direction * position + ahead);
  }
  std::vector<std::byte> bytes(positions.size() * static_cast<std::size_t>(canonical->row_bytes()));
  if (!LocalTable::Create(*canonical)->GatherInto(positions, absl::MakeSpan(bytes)).ok()) return {};
  Values values(positions.size() * static_cast<std::size_t>(sample.columns));
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (canonical->element_type() == ElementType::kInt32) {
      std::int32_t value = 0;
      std::memcpy(&value, bytes.data() + 4 * i, 4);
      values[i] = value;
    } else {
      std::memcpy(&values[i], bytes.data() + 8 * i, 8);
    }
  }
  return values;
}

class Variants {
 public:
  Variants(const Sample& sample, VariantExplanation* explanation)
      : sample_(sample), explanation_(explanation) {
    explanation_->tried = static_cast<std::int64_t>(sample.values.size());
  }

  double Share(const Values& values) const {
    if (values.size() != sample_.values.size() || values.empty()) return 0;
    std::size_t given = 0;
    const double last_place = std::exp2(1.5 - PrecisionOf(sample_.type));
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double allowed =
          sample_.type == ElementType::kInt32 ? 0 : std::abs(values[i]) * last_place;
      if (std::abs(sample_.values[i] - values[i]) <= allowed) ++given;
    }
    return static_cast<double>(given) / static_cast<double>(values.size());
  }

  void Try(const Values& values, Fault fault, std::string words,
           std::optional<double> value = std::nullopt) {
    if (done()) return;
    const double share = Share(values);
    explanation_->explained = std::max(explanation_->explained, share);
    if (share >= kEnough) explanation_->findings = {{fault, std::move(words), value}};
  }
  bool done() const { return !explanation_->findings.empty(); }

 private:
  const Sample& sample_;
  VariantExplanation* explanation_;
};

Values Mapped(Values values, const std::function<double(double)>& map) {
  std::transform(values.begin(), values.end(), values.begin(), map);
  return values;
}

// Slope k of the rows at positions p is values / p.
void TryAlibi(Variants& variants, const Alibi& scheme, const Sample& sample, const Values& right) {
  Alibi other = scheme;
  const bool distance = scheme.form == AlibiForm::kDistance;
  other.form = distance ? AlibiForm::kKeyPosition : AlibiForm::kDistance;
  variants.Try(RowsOf(other, sample, 0), Fault::kVariant,
               distance
                   ? "the biases are slopes times positions, not minus slopes times distances"
                   : "the biases are minus slopes times distances, not slopes times positions");
  variants.Try(Mapped(right, [](double value) { return -value; }), Fault::kVariant,
               "the biases have the other sign");

  // A constant a head, as softmax does not see: row r is slope * (position - shift).
  const auto columns = static_cast<std::size_t>(sample.columns);
  if (sample.rows.size() > 1 && right.size() == sample.values.size()) {
    const auto run = static_cast<double>(sample.positions[1] - sample.positions[0]);
    const double slope = (sample.values[columns] - sample.values[0]) / run;
    if (slope != 0) {
      const double shift =
          std::round(static_cast<double>(sample.positions[0]) - sample.values[0] / slope);
      Alibi keys = scheme;
      keys.form = AlibiForm::kKeyPosition;
      if (shift != 0 && std::abs(shift) < 0x1p50) {
        variants.Try(RowsOf(keys, sample, -static_cast<std::int64_t>(shift)), Fault::kPositions,
                     absl::StrCat("the biases are slopes times (position - ", shift,
                                  "): a constant a head more, which softmax does not see"),
                     -shift);
      }
    }
    // All divided by a number.
    for (std::size_t i = 0; i < right.size() && right[i] != 0; ++i) break;
    double divisor = 0;
    for (std::size_t i = right.size(); i-- > 0 && divisor == 0;) {
      if (right[i] != 0 && sample.values[i] != 0) divisor = right[i] / sample.values[i];
    }
    if (divisor != 0 && IsFinite(divisor)) {
      variants.Try(
          Mapped(right, [divisor](double value) { return value / divisor; }), Fault::kFactor,
          absl::StrCat("all biases are divided by ", ShortestWithin(divisor, 1e-5)), divisor);
    }
  }
  // Slopes in bfloat16, as BLOOM's and Falcon's code has them.
  Alibi keys = scheme;
  keys.form = AlibiForm::kKeyPosition;
  Sample one;
  one.columns = sample.columns;
  one.positions = {1};
  const Values slopes = RowsOf(keys, one, 0);
  if (!slopes.empty() && right.size() == sample.values.size()) {
    Values rounded = right;
    for (std::size_t i = 0; i < rounded.size(); ++i) {
      const double slope = slopes[i % columns];
      const double narrow =
          WidenBits(ElementType::kBfloat16, RoundToBits(ElementType::kBfloat16, slope));
      rounded[i] *= narrow / slope;
    }
    variants.Try(rounded, Fault::kBfloat16Angles, "slopes are rounded to bfloat16");
    // Heads that are no power of two: the slopes of the first heads of the next one.
    const double heads = std::exp2(std::ceil(std::log2(static_cast<double>(scheme.head_count))));
    Values ordered = right;
    Values formula = right;
    for (std::size_t i = 0; i < right.size(); ++i) {
      const auto head = static_cast<double>(i % columns + 1);
      ordered[i] *= std::exp2(-scheme.bias_max * head / heads) / slopes[i % columns];
      formula[i] *= std::exp2(-scheme.bias_max * head / static_cast<double>(scheme.head_count)) /
                    slopes[i % columns];
    }
    variants.Try(ordered, Fault::kVariant,
                 absl::StrCat("slopes are the first ones of ", heads, " heads"));
    variants.Try(formula, Fault::kVariant,
                 absl::StrCat("slopes are 2^(-", scheme.bias_max, "(k+1)/", scheme.head_count,
                              "), as if that were a power of two"));
  }
  for (const double bias_max : {8.0, 16.0, 4.0, 1.0}) {
    other = scheme;
    other.bias_max = bias_max;
    variants.Try(RowsOf(other, sample, 0), Fault::kVariant,
                 absl::StrCat("bias_max is ", bias_max, ", not ", scheme.bias_max));
  }
}

void TryBuckets(Variants& variants, const RelativeBuckets& scheme, const Sample& sample) {
  RelativeBuckets other = scheme;
  other.bidirectional = !scheme.bidirectional;
  variants.Try(RowsOf(other, sample, 0), Fault::kVariant,
               other.bidirectional ? "the buckets are bidirectional ones"
                                   : "the buckets are those of one direction");
  variants.Try(RowsOf(scheme, sample, 0, -1), Fault::kSineSign,
               "distances have the other sign: query minus key");
  variants.Try(RowsOf(other, sample, 0, -1), Fault::kVariant,
               "the buckets are of the other directions, and distances have the other sign");
  for (const std::int64_t buckets :
       {scheme.num_buckets, 2 * scheme.num_buckets, scheme.num_buckets / 2, std::int64_t{32}}) {
    for (const std::int64_t distance : {scheme.max_distance, std::int64_t{128}, std::int64_t{256},
                                        std::int64_t{64}, std::int64_t{512}, std::int64_t{800}}) {
      other = scheme;
      other.num_buckets = buckets;
      other.max_distance = distance;
      if (other == scheme) continue;
      variants.Try(RowsOf(other, sample, 0), Fault::kVariant,
                   absl::StrCat("num_buckets is ", buckets, " and max_distance ", distance));
    }
  }
}

void TryLearned(Variants& variants, const LearnedInit& scheme, const Sample& sample,
                const Values& right) {
  for (const std::int64_t change : {1, -1}) {
    LearnedInit other = scheme;
    other.seed += change;
    variants.Try(RowsOf(other, sample, 0), Fault::kVariant,
                 absl::StrCat("the seed is ", other.seed));
    other = scheme;
    other.stream += change;
    variants.Try(RowsOf(other, sample, 0), Fault::kVariant,
                 absl::StrCat("the stream is ", other.stream));
  }
  if (right.size() != sample.values.size() || right.empty() || right[0] == 0) return;
  const double times = sample.values[0] / right[0];
  variants.Try(Mapped(right, [times](double value) { return value * times; }), Fault::kFactor,
               absl::StrCat("the standard deviation is ",
                            ShortestWithin(scheme.stddev * times, 1e-5), ", not ", scheme.stddev),
               scheme.stddev * times);
}

}  // namespace

VariantExplanation ExplainVariants(const CanonicalSpec& spec, const Sample& sample) {
  VariantExplanation explanation;
  if (sample.rows.empty()) return explanation;
  Variants variants(sample, &explanation);
  const Values right = RowsOf(spec.spec(), sample, 0);
  explanation.right = variants.Share(right);
  explanation.explained = explanation.right;
  if (explanation.right >= kEnough) return explanation;
  for (const std::int64_t ahead : {1, -1, 2, -2}) {
    variants.Try(RowsOf(spec.spec(), sample, ahead), Fault::kPositions,
                 absl::StrCat("the row of position p is that of position p ",
                              ahead < 0 ? "- " : "+ ", std::abs(ahead)),
                 static_cast<double>(ahead));
  }
  if (const auto* s = std::get_if<Alibi>(&spec.spec().scheme))
    TryAlibi(variants, *s, sample, right);
  if (const auto* s = std::get_if<RelativeBuckets>(&spec.spec().scheme)) {
    TryBuckets(variants, *s, sample);
  }
  if (const auto* s = std::get_if<LearnedInit>(&spec.spec().scheme)) {
    TryLearned(variants, *s, sample, right);
  }
  return explanation;
}

}  // namespace phasor::diagnose
