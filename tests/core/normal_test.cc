#include "core/normal.h"

#include <mpfr.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "tests/oracle/oracle.h"

namespace phasor {
namespace {

using oracle::Number;

// The deviate by its definition, to 300 bits.
void Deviate(UniformPair uniforms, bool sine, mpfr_ptr out) {
  Number u(300);
  Number angle(300);
  mpfr_set_ui(u.v, uniforms.a, MPFR_RNDN);
  mpfr_add_d(u.v, u.v, 0.5, MPFR_RNDN);
  mpfr_div_2ui(u.v, u.v, 32, MPFR_RNDN);
  mpfr_log(u.v, u.v, MPFR_RNDN);
  mpfr_mul_si(u.v, u.v, -2, MPFR_RNDN);
  mpfr_sqrt(u.v, u.v, MPFR_RNDN);
  mpfr_const_pi(angle.v, MPFR_RNDN);
  mpfr_mul_ui(angle.v, angle.v, 2 * std::uint64_t{uniforms.b} + 1, MPFR_RNDN);
  mpfr_div_2ui(angle.v, angle.v, 32, MPFR_RNDN);
  (sine ? mpfr_sin : mpfr_cos)(angle.v, angle.v, MPFR_RNDN);
  mpfr_mul(out, u.v, angle.v, MPFR_RNDN);
}

// |value / exact - 1|
double RelativeError(DoubleDouble value, mpfr_srcptr exact) {
  Number error(300);
  mpfr_set_d(error.v, value.hi, MPFR_RNDN);
  mpfr_add_d(error.v, error.v, value.lo, MPFR_RNDN);
  mpfr_div(error.v, error.v, exact, MPFR_RNDN);
  mpfr_sub_ui(error.v, error.v, 1, MPFR_RNDN);
  return std::abs(mpfr_get_d(error.v, MPFR_RNDN));
}

// Around every power of two, every node of both tables, and at random.
std::vector<UniformPair> Inputs() {
  std::vector<std::uint32_t> values;
  for (int shift = 0; shift < 32; ++shift) {
    for (std::uint32_t off = 0; off < 3; ++off) values.push_back((1u << shift) - 1 + off);
  }
  for (std::uint32_t node = 0; node < 1024; ++node) {
    for (std::uint32_t off = 0; off < 3; ++off) values.push_back((node << 22) - 1 + off);
  }
  // u near 181/256, where the power of two changes, and near 1.
  for (std::uint32_t off = 0; off < 4; ++off) {
    values.push_back((181u << 24) - 2 + off);
    values.push_back(~off);
    values.push_back(0xff000000u - 2 + off);
  }
  std::mt19937 random(1);
  std::vector<UniformPair> inputs;
  for (std::uint32_t value : values) {
    inputs.push_back({value, static_cast<std::uint32_t>(random())});
    inputs.push_back({static_cast<std::uint32_t>(random()), value});
    inputs.push_back({value, value});
  }
  return inputs;
}

TEST(NormalTest, ErrorsAreWithinTheirBounds) {
  double worst_estimate = 0;
  double worst = 0;
  Number exact(300);
  for (const UniformPair uniforms : Inputs()) {
    const NormalPair<double> estimate = EstimateNormals(uniforms);
    const NormalPair<DoubleDouble> normals = Normals(uniforms);
    Deviate(uniforms, /*sine=*/false, exact.v);
    worst_estimate = std::max(worst_estimate, RelativeError({estimate.cosine, 0}, exact.v));
    worst = std::max(worst, RelativeError(normals.cosine, exact.v));
    Deviate(uniforms, /*sine=*/true, exact.v);
    worst_estimate = std::max(worst_estimate, RelativeError({estimate.sine, 0}, exact.v));
    worst = std::max(worst, RelativeError(normals.sine, exact.v));
  }
  // One more product, by stddev, has to fit into the bound of the estimate.
  EXPECT_LE(worst_estimate + 0x1p-53, kEstimateNormalsError);
  EXPECT_LE(worst, kNormalsError);
  RecordProperty("log2_worst_estimate", std::to_string(std::log2(worst_estimate)));
  RecordProperty("log2_worst", std::to_string(std::log2(worst)));
}

TEST(NormalTest, MagnitudesStayWithinWhatIsPromised) {
  for (const UniformPair uniforms : Inputs()) {
    const NormalPair<double> normals = EstimateNormals(uniforms);
    for (double value : {normals.cosine, normals.sine}) {
      EXPECT_GT(std::abs(value), 0x1p-47);
      EXPECT_LT(std::abs(value), 6.77);
    }
  }
  // The extremes: u nearest 0 along an axis, u nearest 1 across it.
  EXPECT_GT(EstimateNormals({0, 0}).cosine, 6.76);
  EXPECT_LT(EstimateNormals({0xffffffff, 0}).sine, 0x1p-45);
}

TEST(NormalTest, RoundNormalIsTheRoundedDeviate) {
  const std::vector<UniformPair> inputs = Inputs();
  Number exact(300);
  for (std::size_t i = 0; i < inputs.size(); i += 17) {
    for (bool sine : {false, true}) {
      Deviate(inputs[i], sine, exact.v);
      mpfr_mul_d(exact.v, exact.v, 0.02, MPFR_RNDN);
      for (ElementType type : {ElementType::kFloat32, ElementType::kFloat64, ElementType::kFloat16,
                               ElementType::kBfloat16}) {
        EXPECT_EQ(RoundNormal(type, 0.02, inputs[i], sine), oracle::Round(type, exact.v));
      }
    }
  }
}

}  // namespace
}  // namespace phasor
