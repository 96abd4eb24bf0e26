#ifndef PHASOR_DIAGNOSE_DIAGNOSIS_H_
#define PHASOR_DIAGNOSE_DIAGNOSIS_H_

/// \file
/// Which table is this? Compares rows that someone has with the table that they
/// should be, and names the mistake that makes the one of the other.
///
/// Tables of sines and cosines are tried against every combination of ladder,
/// layout, positions, sign, factor and precision of the angles that has been met
/// (docs/diagnose.md); a base, an offset or a factor is found by measuring the
/// angles. Other tables are tried against a list of variants.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "phasor/core/spec.h"

namespace phasor {

/// What can be wrong with a table.
enum class Fault : std::uint8_t {
  kBase,            ///< another base; value: that base
  kLadder,          ///< inclusive for paper, or another of sinusoidal's ladders
  kExponentHalf,    ///< exponents i/d instead of 2i/d
  kExponentWidth,   ///< exponents divided by another width; value: that width
  kScalingMissing,  ///< RoPE's scaling is not applied
  kScalingTwice,    ///< or applied twice
  kScaling,         ///< another scaling, or one with other parameters
  kFrequencyScale,  ///< all frequencies divided by a number; value: that number
  kFrequencies,     ///< frequencies of no ladder that is known
  kLayout,          ///< another layout; halves for interleaved
  kSwapped,         ///< sines where cosines belong and the other way round
  kSineSign,        ///< sines have the other sign
  kPositions,       ///< rows of other positions; value: how many they are ahead
  kDescending,      ///< rows in descending order; value: position of the first one
  kConstantRows,    ///< all rows are one row; value: its position
  kFactor,          ///< another attention factor; value: that factor
  kFloat32Angles,   ///< angles in float32
  kFloat32Product,  ///< frequencies by repeated multiplication in float32
  kFloat16Angles,   ///< frequencies, positions or angles in float16
  kBfloat16Angles,  ///< in bfloat16
  kRounding,        ///< right but for the last bits of some elements
  kElements,        ///< right but for a few elements
  kZeroRow,         ///< a padding row of zeros where none belongs, or none where one does
  kNotFinite,       ///< NaN or infinities
  kOtherTable,      ///< the table that options.others names
  kVariant,         ///< another variant of a table without sines and cosines
};

/// "base", "exponent_half", ...
absl::string_view FaultName(Fault fault);

struct Finding {
  Fault fault;
  std::string words;  ///< for people
  std::optional<double> value;
};

/// How sure the findings are.
enum class Sureness : std::uint8_t {
  kCertain,   ///< they give every element that was tried, and nothing else does
  kLikely,    ///< all but a few, or `also` gives as many
  kPossible,  ///< there are few elements to tell by
  kUnknown,   ///< nothing fits
};
absl::string_view SurenessName(Sureness sureness);

/// One element that is not what it should be.
struct WrongElement {
  std::int64_t row = 0;  ///< of the rows given, from 0
  std::int64_t position = 0;
  std::int64_t column = 0;
  double found = 0;
  double right = 0;
  /// Units in the last place of the element type between both; of zeros with
  /// different signs 0; infinite if `found` is not finite.
  double ulps = 0;
};

struct Diagnosis {
  /// Every bit is right. Then there are no findings.
  bool exact = false;
  /// What is wrong, all of it together; empty if nothing explains the rows.
  std::vector<Finding> findings;
  /// Other explanations that fit as well.
  std::vector<std::string> also;
  Sureness sureness = Sureness::kUnknown;
  /// Elements that were tried, and shares of them that the findings, and the
  /// right table, have within a few units in the last place (more, where the
  /// findings say that angles are less precise).
  std::int64_t tried = 0;
  double explained = 0;
  double right = 0;
  /// What the elements are: the given type, or a narrower one if all values
  /// have so few bits.
  ElementType element_type = ElementType::kFloat32;
  /// The comparison with the right table, element by element: in the layout found
  /// where a row has another number of elements; nothing if even that is unknown.
  std::int64_t compared = 0;
  std::int64_t different = 0;
  std::optional<WrongElement> first;
  std::optional<WrongElement> largest;
  /// What a reader should know beside that.
  std::vector<std::string> notes;
};

/// Rows that someone has.
struct ObservedTable {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  ElementType type = ElementType::kFloat32;
  /// Reads rows first ... first+count-1: [count, columns] elements,
  /// little-endian. Every row is asked for twice at most.
  std::function<absl::Status(std::int64_t first, std::int64_t count, absl::Span<std::byte> out)>
      read;
};

struct DiagnoseOptions {
  /// The position that the first row is meant to have.
  std::int64_t start = 0;
  /// Other tables that it may be taken for, with what they are in words.
  struct Other {
    std::string words;
    TableSpec spec;
  };
  std::vector<Other> others;
  /// Called with the number of rows that were compared since the last call.
  std::function<void(std::int64_t rows)> progress;
};

/// Compares `table` with the table of `spec`, whose element type does not matter.
///
/// **Memory**: bounded, whatever the number of rows.
///
/// **Errors**: INVALID_ARGUMENT (rows, columns, element_type) for a table without
/// rows or columns, or with more columns than any has, one of integers where numbers belong and the
/// other way round; OUT_OF_RANGE as CanonicalSpec::CheckRange; those of `table.read`.
///
/// **Thread safety**: a pure function.
absl::StatusOr<Diagnosis> Diagnose(const CanonicalSpec& spec, const ObservedTable& table,
                                   const DiagnoseOptions& options = {});

}  // namespace phasor

#endif  // PHASOR_DIAGNOSE_DIAGNOSIS_H_
