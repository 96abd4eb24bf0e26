#ifndef PHASOR_CORE_SPEC_H_
#define PHASOR_CORE_SPEC_H_

/// \file
/// Which table: the description a caller writes (`TableSpec`) and the checked,
/// canonical form that everything else works with (`CanonicalSpec`).

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "phasor/core/alibi.h"
#include "phasor/core/element_type.h"
#include "phasor/core/export.h"
#include "phasor/core/learned_table.h"
#include "phasor/core/no_position.h"
#include "phasor/core/relative_buckets.h"
#include "phasor/core/rotary.h"
#include "phasor/core/sinusoidal.h"
#include "phasor/core/timestep.h"

namespace phasor {

inline constexpr double kDefaultStddev = 0.02;
inline constexpr std::int64_t kMaxElements = std::int64_t{1} << 62;  // of a seeded table

/// A learned table's initial value: independent draws from N(0, stddev^2), a
/// pure function of (seed, stream, width, stddev, row, column). Generator:
/// PCG32 (O'Neill 2014), then Box and Muller (1958); docs/seeded-init.md.
struct LearnedInit {
  std::int64_t max_positions = 0;  ///< rows: >= 1; required
  std::int64_t width = 0;          ///< d: 1 ... 65536, odd allowed; required
  double stddev = kDefaultStddev;  ///< > 0 and finite
  std::int64_t seed = 0;           ///< taken mod 2^64
  std::int64_t stream = 0;         ///< 0 ... 2^63-1
  bool operator==(const LearnedInit&) const = default;
};

/// What the elements are held to.
enum class Numerics : std::uint8_t {
  /// The real value of the formula, rounded once to the element type, to
  /// nearest, ties to even.
  kExact = 0,
};

using Scheme = std::variant<Sinusoidal, LearnedInit, Rotary, LearnedTable, Timestep, NoPosition,
                            Alibi, RelativeBuckets>;

/// The scheme's field of the wire message TableSpec: "sinusoidal".
PHASOR_EXPORT absl::string_view SchemeName(const Scheme& scheme);

/// The element type where none is asked for: INT32 for relative_buckets, which
/// has no other; FLOAT32.
constexpr ElementType DefaultElementType(const Scheme& scheme) {
  return std::holds_alternative<RelativeBuckets>(scheme) ? ElementType::kInt32
                                                         : ElementType::kFloat32;
}

/// The description of a table as a caller writes it; nothing is checked yet.
struct TableSpec {
  // Implicit: a scheme alone is a whole description, `Open(Sinusoidal{...})`.
  // NOLINTBEGIN(google-explicit-constructor)
  TableSpec(Scheme s, ElementType type, Numerics n = Numerics::kExact)
      : scheme(std::move(s)), element_type(type), numerics(n) {}
  TableSpec(Scheme s) : TableSpec(std::move(s), ElementType::kFloat32) {
    element_type = DefaultElementType(scheme);
  }
  TableSpec(Sinusoidal s, ElementType type = ElementType::kFloat32)
      : TableSpec(Scheme(std::move(s)), type) {}
  TableSpec(LearnedInit s, ElementType type = ElementType::kFloat32) : TableSpec(Scheme(s), type) {}
  TableSpec(Rotary s, ElementType type = ElementType::kFloat32)
      : TableSpec(Scheme(std::move(s)), type) {}
  TableSpec(LearnedTable s, ElementType type = ElementType::kFloat32)
      : TableSpec(Scheme(std::move(s)), type) {}
  TableSpec(Timestep s, ElementType type = ElementType::kFloat32) : TableSpec(Scheme(s), type) {}
  TableSpec(NoPosition s, ElementType type = ElementType::kFloat32) : TableSpec(Scheme(s), type) {}
  TableSpec(Alibi s, ElementType type = ElementType::kFloat32) : TableSpec(Scheme(s), type) {}
  TableSpec(RelativeBuckets s, ElementType type = ElementType::kInt32)
      : TableSpec(Scheme(s), type) {}
  // NOLINTEND(google-explicit-constructor)

  Scheme scheme;
  ElementType element_type = ElementType::kFloat32;
  Numerics numerics = Numerics::kExact;
  bool operator==(const TableSpec&) const = default;
};

/// A table's specification, checked: holding one means that every field is in
/// range. A value type, cheap to move, immutable; **thread-safe** as such.
///
/// Canonical means that a field that stands at its default counts as absent;
/// there is no other equivalence. Two specs with the same `text()` are the
/// same table, bit for bit.
class PHASOR_EXPORT CanonicalSpec {
 public:
  /// Checks every field of `spec`. A LearnedTable has to be resolved: that
  /// takes a server (Client::Open).
  ///
  /// **Errors**: INVALID_ARGUMENT naming the field's path and value;
  /// OUT_OF_RANGE for a seeded table whose values could round to an infinity
  /// of the element type (spec.learned_init.stddev).
  static absl::StatusOr<CanonicalSpec> Create(TableSpec spec);

  /// The spec with defaults at their values.
  const TableSpec& spec() const { return spec_; }

  /// The documented text form (proto/README.md): one line a field that does
  /// not stand at its default, "path=value\n", sorted by path.
  const std::string& text() const { return text_; }
  /// SHA-256 of text().
  const std::array<std::uint8_t, 32>& digest() const { return digest_; }
  /// First 16 bytes of digest(), in lower-case hex: 32 characters.
  const std::string& fingerprint() const { return fingerprint_; }

  ElementType element_type() const { return spec_.element_type; }
  /// Elements in a row; not the width for every layout.
  std::int64_t row_width() const { return row_width_; }
  std::int64_t row_bytes() const { return row_width_ * ElementBytes(spec_.element_type); }

  /// Pairs of sines and cosines in a row; 0 for tables without frequencies.
  std::int64_t pairs() const { return pairs_; }
  /// Positions that a row may have: 1, or one an axis (Rotary::mrope_section).
  std::int64_t axes() const { return axes_; }
  /// What sines and cosines are multiplied by, rounded to binary64; nothing for
  /// tables without any.
  std::optional<double> attention_factor() const { return attention_factor_; }

  /// First and last position that has a row. For formula tables such that the
  /// position and the position after the offset are within +-2^53, and that no
  /// element rounds to an infinity (Alibi of FLOAT16).
  std::int64_t first_position() const { return first_position_; }
  std::int64_t last_position() const { return last_position_; }
  /// Whether the table ends (learned tables) or is a formula over all positions.
  bool bounded() const {
    return std::holds_alternative<LearnedInit>(spec_.scheme) ||
           std::holds_alternative<LearnedTable>(spec_.scheme);
  }

  /// Checks that rows start ... start+count-1 exist. Zero rows exist at any
  /// start from the first position to one past the last.
  ///
  /// **Errors**: INVALID_ARGUMENT (row_count) for a negative count;
  /// OUT_OF_RANGE (start_position or row_count), naming the first missing row.
  absl::Status CheckRange(std::int64_t start, std::int64_t count) const;
  /// Checks that one row exists; `field` is the path named in the error.
  absl::Status CheckPosition(std::int64_t position, absl::string_view field) const;
  /// Checks that each of the rows exists.
  ///
  /// **Errors**: OUT_OF_RANGE (positions[k]) for the first one that does not.
  absl::Status CheckPositions(absl::Span<const std::int64_t> positions) const;
  /// The same for real positions, which formula tables alone have.
  ///
  /// **Errors**: INVALID_ARGUMENT (real_positions) for learned tables and
  /// relative_buckets, if any are given; (real_positions[k]) for one that is not finite;
  /// OUT_OF_RANGE (real_positions[k]).
  absl::Status CheckPositions(absl::Span<const double> positions) const;
  /// Checks that `positions` of them, `axes` a row, are whole rows of this
  /// table; `field` is the path named in the error.
  ///
  /// **Errors**: INVALID_ARGUMENT (axes) for a number that is neither 1 nor
  /// axes(), (`field`) for a remainder.
  absl::Status CheckAxes(std::int64_t axes, std::int64_t positions, absl::string_view field) const;

 private:
  explicit CanonicalSpec(TableSpec spec) : spec_(std::move(spec)) {}

  TableSpec spec_;
  std::string text_;
  std::array<std::uint8_t, 32> digest_{};
  std::string fingerprint_;
  std::int64_t row_width_ = 0;
  std::int64_t pairs_ = 0;
  std::int64_t axes_ = 1;
  std::optional<double> attention_factor_;
  std::int64_t first_position_ = 0;
  std::int64_t last_position_ = 0;
  // Why there are no rows beyond, for errors; empty where it goes without saying.
  std::string beyond_;
};

}  // namespace phasor

#endif  // PHASOR_CORE_SPEC_H_
