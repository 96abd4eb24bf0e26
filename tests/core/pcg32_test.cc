#include "core/pcg32.h"

#include <cstdint>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace phasor {
namespace {

TEST(Pcg32Test, PublishedOutputsOfSeed42Stream54) {
  Pcg32 generator(42, 54);
  std::vector<std::uint32_t> outputs(6);
  for (std::uint32_t& output : outputs) output = generator.Next();
  EXPECT_THAT(outputs, testing::ElementsAre(0xa15c02b7, 0x7b47f409, 0xba1d3330, 0x83d2f293,
                                            0xbfa4784b, 0xcbed606e));
}

TEST(Pcg32Test, JumpingAheadIsStepping) {
  for (std::uint64_t stream : {std::uint64_t{0}, std::uint64_t{54}, ~std::uint64_t{0} >> 1}) {
    Pcg32 stepped(7, stream);
    for (std::uint64_t count = 0; count < 1000; ++count) {
      Pcg32 jumped(7, stream);
      jumped.Advance(count);
      EXPECT_EQ(jumped.Next(), stepped.Next()) << count;
    }
  }
}

TEST(Pcg32Test, JumpsAddUp) {
  const std::uint64_t far = (std::uint64_t{1} << 62) + 12345;
  Pcg32 once(1, 2);
  once.Advance(far);
  Pcg32 twice(1, 2);
  twice.Advance(far - 1000);
  for (int i = 0; i < 1000; ++i) twice.Next();
  EXPECT_EQ(once.Next(), twice.Next());
  // The period is 2^64: the complement leads back to the start.
  Pcg32 round(1, 2);
  const std::uint32_t first = Pcg32(1, 2).Next();
  round.Advance(far);
  round.Advance(-far);
  EXPECT_EQ(round.Next(), first);
}

}  // namespace
}  // namespace phasor
