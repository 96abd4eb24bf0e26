#include "core/bucket_table.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <variant>

#include "core/power_product.h"
#include "core/real.h"

namespace phasor {
namespace {

constexpr std::int64_t kCostOfBegin = 20'000;
constexpr std::int64_t kCostOfRow = 10;

// The least integer that is not below x = E (D/E)^(j/S), D > E.
std::int64_t Begin(std::int64_t single, std::int64_t distance, std::int64_t j, std::int64_t steps) {
  for (mpfr_prec_t bits = 192;; bits *= 2) {
    Real x(bits);
    mpfr_set_si(x, distance, MPFR_RNDN);
    mpfr_div_si(x, x, single, MPFR_RNDN);
    mpfr_log(x, x, MPFR_RNDN);
    mpfr_mul_si(x, x, j, MPFR_RNDN);
    mpfr_div_si(x, x, steps, MPFR_RNDN);
    mpfr_exp(x, x, MPFR_RNDN);
    mpfr_mul_si(x, x, single, MPFR_RNDN);
    // |ln| is below 2^6, and so is what the exponential adds to the errors before it.
    const mpfr_exp_t error = mpfr_get_exp(x) + 12 - bits;
    const std::int64_t near = mpfr_get_si(x, MPFR_RNDN);
    mpfr_sub_si(x, x, near, MPFR_RNDN);
    if (mpfr_zero_p(x) == 0 && mpfr_get_exp(x) > error + 1) {
      return mpfr_signbit(x) == 0 ? near + 1 : near;
    }
    // (near/E)^S = (D/E)^j
    PowerProduct product;
    product.Multiply(mpq_class(near, single), steps);
    product.Multiply(mpq_class(distance, single), -j);
    if (product.IsOne()) return near;
  }
}

}  // namespace

BucketTable::BucketTable(CanonicalSpec checked, StopCheck& stop)
    : LocalTable(std::move(checked)), rules_(std::get<RelativeBuckets>(spec().spec().scheme)) {
  const MpfrScope scope;
  const std::int64_t single = SingleBuckets(rules_);
  const std::int64_t steps = BucketsPerSide(rules_) - single;
  for (std::int64_t j = 1; j < steps && !stop.After(kCostOfBegin); ++j) {
    begins_.push_back(Begin(single, rules_.max_distance, j, steps));
  }
}

std::int64_t BucketTable::memory_bytes() const {
  return static_cast<std::int64_t>(sizeof(*this) + spec().text().capacity() +
                                   begins_.capacity() * sizeof(std::int64_t));
}

std::int32_t BucketTable::Bucket(std::int64_t position) const {
  const std::int64_t single = SingleBuckets(rules_);
  std::int64_t distance = -position;
  std::int64_t bucket = 0;
  if (position > 0) {
    distance = rules_.bidirectional ? position : 0;
    bucket = rules_.bidirectional ? BucketsPerSide(rules_) : 0;
  }
  if (distance < single) {
    bucket += distance;
  } else {
    bucket +=
        single + (std::upper_bound(begins_.begin(), begins_.end(), distance) - begins_.begin());
  }
  return static_cast<std::int32_t>(bucket);
}

void BucketTable::DoRead(std::int64_t start, std::int64_t count, std::byte* out,
                         StopCheck& stop) const {
  for (std::int64_t row = 0; row < count && !stop.After(kCostOfRow); ++row) {
    const std::int32_t bucket = Bucket(start + row);
    std::memcpy(out + row * static_cast<std::int64_t>(sizeof bucket), &bucket, sizeof bucket);
  }
}

void BucketTable::DoGather(absl::Span<const std::int64_t> positions, std::int64_t /*axes*/,
                           std::byte* out, StopCheck& stop) const {
  for (const std::int64_t position : positions) {
    DoRead(position, 1, out, stop);
    if (stop.stopped()) return;
    out += spec().row_bytes();
  }
}

// LocalTable refuses real positions of a table that has none.
void BucketTable::DoGather(absl::Span<const double> /*positions*/, std::int64_t /*axes*/,
                           std::byte* /*out*/, StopCheck& /*stop*/) const {}

}  // namespace phasor
