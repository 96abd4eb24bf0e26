#include "phasor/core/stored_table.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "core/element_access.h"
#include "core/rounding.h"
#include "core/stop_check.h"
#include "phasor/core/errors.h"

namespace phasor {
namespace {

static_assert(std::endian::native == std::endian::little, "elements are stored as they are held");

// An infinity or a NaN of another type. The fractions are aligned at their
// upper ends; the uppermost bit makes a NaN quiet.
template <ElementType kFrom, ElementType kTo>
BitsOf<kTo> ConvertNotFinite(std::uint64_t bits) {
  constexpr BinaryFormat kSource = FormatOf(kFrom);
  constexpr BinaryFormat kTarget = FormatOf(kTo);
  constexpr int kShift = kTarget.precision - kSource.precision;
  const std::uint64_t sign = (bits & kSource.sign_bit()) != 0 ? kTarget.sign_bit() : 0;
  const std::uint64_t fraction = bits & (kSource.hidden_bit() - 1);
  if (fraction == 0) return static_cast<BitsOf<kTo>>(sign | kTarget.infinity());
  constexpr std::uint64_t kQuiet = kTarget.hidden_bit() >> 1;
  std::uint64_t payload = 0;
  if constexpr (kShift >= 0) {
    payload = fraction << kShift;
  } else {
    payload = fraction >> -kShift;
  }
  return static_cast<BitsOf<kTo>>(sign | kTarget.infinity() | kQuiet | payload);
}

template <ElementType kFrom, ElementType kTo>
void Convert(const std::byte* from, std::int64_t count, std::byte* out) {
  if constexpr (kFrom == kTo) {
    std::memcpy(out, from, static_cast<std::size_t>(count * ElementBytes(kTo)));
  } else {
    for (std::int64_t i = 0; i < count; ++i) {
      const auto bits = Load<BitsOf<kFrom>>(from + i * ElementBytes(kFrom));
      const BitsOf<kTo> converted = IsFiniteBits(kFrom, bits)
                                        ? RoundToBits<kTo>(WidenBits(kFrom, bits))
                                        : ConvertNotFinite<kFrom, kTo>(bits);
      std::memcpy(out + i * ElementBytes(kTo), &converted, sizeof converted);
    }
  }
}

class StoredTable final : public LocalTable {
 public:
  StoredTable(CanonicalSpec spec, ElementType stored, std::shared_ptr<const std::byte[]> elements)
      : LocalTable(std::move(spec)), stored_(stored), elements_(std::move(elements)) {}

  // Without the rows, which are others' as well.
  std::int64_t memory_bytes() const override {
    return static_cast<std::int64_t>(sizeof(*this) + spec().text().capacity());
  }
  std::int64_t settled_elements() const override { return 0; }
  std::int64_t costly_elements() const override { return 0; }

 private:
  void Fill(std::int64_t first, std::int64_t count, std::byte* out) const {
    const std::byte* from = elements_.get() + first * ElementBytes(stored_);
    WithType(stored_, [&](auto stored) {
      WithType(spec().element_type(), [&](auto type) {
        Convert<decltype(stored)::value, decltype(type)::value>(from, count, out);
      });
    });
  }

  void DoRead(std::int64_t start, std::int64_t count, std::byte* out,
              StopCheck& stop) const override {
    constexpr std::int64_t kElementsPerCheck = 4096;
    constexpr std::int64_t kCostOfElement = 2;
    const std::int64_t width = spec().row_width();
    const std::int64_t end = (start + count) * width;
    for (std::int64_t first = start * width; first < end;) {
      const std::int64_t some = std::min(kElementsPerCheck, end - first);
      Fill(first, some, out);
      if (stop.After(some * kCostOfElement)) return;
      first += some;
      out += some * ElementBytes(spec().element_type());
    }
  }

  void DoGather(absl::Span<const std::int64_t> positions, std::int64_t /*axes*/, std::byte* out,
                StopCheck& stop) const override {
    for (const std::int64_t position : positions) {
      DoRead(position, 1, out, stop);
      if (stop.stopped()) return;
      out += spec().row_bytes();
    }
  }

  // LocalTable refuses real positions of a table that ends.
  void DoGather(absl::Span<const double> /*positions*/, std::int64_t /*axes*/, std::byte* /*out*/,
                StopCheck& /*stop*/) const override {}

  const ElementType stored_;
  const std::shared_ptr<const std::byte[]> elements_;
};

}  // namespace

absl::StatusOr<std::shared_ptr<const LocalTable>> MakeStoredTable(
    CanonicalSpec spec, ElementType stored, std::shared_ptr<const std::byte[]> elements,
    std::size_t bytes) {
  const auto* table = std::get_if<LearnedTable>(&spec.spec().scheme);
  if (table == nullptr) {
    return FieldError(absl::StatusCode::kInvalidArgument, "spec", "is no learned table");
  }
  const std::int64_t needed = table->max_positions * table->width * ElementBytes(stored);
  if (static_cast<std::uint64_t>(needed) != bytes) {
    return FieldError(
        absl::StatusCode::kInvalidArgument, "spec",
        absl::StrCat(bytes, " bytes of rows given; ", table->max_positions, " rows of ",
                     table->width, " elements ", ElementTypeName(stored), " take ", needed));
  }
  return std::make_shared<const StoredTable>(std::move(spec), stored, std::move(elements));
}

}  // namespace phasor
