#include "phasor/core/element_survey.h"

#include <cmath>

#include "core/element_access.h"
#include "core/fp_environment.h"
#include "core/rounding.h"

namespace phasor {

ElementSurvey SurveyElements(ElementType type, absl::Span<const std::byte> elements) {
  const FpEnvironment environment;
  ElementSurvey survey;
  WithType(type, [&](auto constant) {
    constexpr ElementType kType = decltype(constant)::value;
    constexpr BinaryFormat kFormat = FormatOf(kType);
    const auto count = static_cast<std::int64_t>(elements.size()) / ElementBytes(kType);
    for (std::int64_t i = 0; i < count; ++i) {
      const auto bits = Load<BitsOf<kType>>(elements.data() + i * ElementBytes(kType));
      if (!IsFiniteBits(kType, bits)) {
        const bool infinite = (bits & (kFormat.sign_bit() - 1)) == kFormat.infinity();
        ++(infinite ? survey.infinities : survey.nans);
        continue;
      }
      const double value = WidenBits(kType, bits);
      if (std::abs(value) > std::abs(survey.largest)) {
        survey.largest = value;
        survey.largest_index = i;
      }
    }
  });
  return survey;
}

bool RoundsToInfinity(ElementType type, double value) {
  const FpEnvironment environment;
  return !IsFiniteBits(type, RoundToBits(type, value));
}

}  // namespace phasor
