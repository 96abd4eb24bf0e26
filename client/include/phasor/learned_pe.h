#ifndef PHASOR_LEARNED_PE_H_
#define PHASOR_LEARNED_PE_H_

/// \file
/// A learned position table in training, on the caller's own arrays.

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "phasor/core/export.h"
#include "phasor/core/spec.h"
#include "phasor/table.h"

namespace phasor {

/// A weight [max_len, d], float32, row p at position p, and its gradient.
///
///     auto table = client->Open(phasor::LearnedInit{.max_positions = 512, .width = 64});
///     auto pe = phasor::LearnedPE::Create(*table);
///     pe->Forward(x, offset);                   // x = x + weight[offset ... offset+T-1]
///     pe->Backward(grad_of_the_output, offset); // adds into those rows of the gradient
///
/// Past its end there is nothing: an error, before anything is written.
///
/// **Thread safety**: const methods may be called concurrently, on different
/// arrays; the others need the object for themselves.
class PHASOR_EXPORT LearnedPE {
 public:
  /// Reads all rows of `table`: a LearnedInit's draws to begin with, or the rows
  /// of a LearnedTable to go on from.
  ///
  /// **Errors**: INVALID_ARGUMENT (spec) if the table has no end;
  /// (spec.element_type) if it is not FLOAT32; those of Table::Read.
  static absl::StatusOr<LearnedPE> Create(const Table& table);

  std::int64_t max_len() const { return spec_.last_position() + 1; }
  std::int64_t d() const { return spec_.row_width(); }

  /// [max_len, d], for an optimizer to change.
  absl::Span<float> weight() { return absl::MakeSpan(weight_); }
  absl::Span<const float> weight() const { return weight_; }
  /// Likewise; of the sum of what Backward was given since ZeroGrad.
  absl::Span<float> gradient() { return absl::MakeSpan(gradient_); }
  absl::Span<const float> gradient() const { return gradient_; }
  /// What training changes: the weight.
  std::array<absl::Span<float>, 1> Parameters() { return {weight()}; }

  /// Rows offset ... offset+T-1 of the weight, [T, d]; they live as long as this.
  ///
  /// **Errors**: INVALID_ARGUMENT (row_count) for a T below 0; OUT_OF_RANGE
  /// (start_position, row_count).
  absl::StatusOr<absl::Span<const float>> Positions(std::int64_t T, std::int64_t offset = 0) const;

  /// Adds rows offset ... offset+T-1 to `x`, [T, d], in place. T follows from
  /// the size of x.
  ///
  /// **Errors**: INVALID_ARGUMENT (x) if x is not whole rows; OUT_OF_RANGE
  /// (offsets[0]). `x` is then unchanged.
  absl::Status Forward(absl::Span<float> x, std::int64_t offset = 0) const;
  /// Adds rows offsets[b] ... offsets[b]+T-1 to sequence b of `x`, [B, T, d], in
  /// place. B is the number of offsets.
  ///
  /// **Errors**: as above (offsets[b]).
  absl::Status Forward(absl::Span<float> x, absl::Span<const std::int64_t> offsets) const;

  /// Adds the gradient of Forward's output, [T, d], into rows offset ...
  /// offset+T-1 of gradient(), and into no others. That of its input is the same
  /// numbers.
  ///
  /// **Errors**: as Forward (grad_output, offsets[0]). gradient() is then
  /// unchanged.
  absl::Status Backward(absl::Span<const float> grad_output, std::int64_t offset = 0);
  /// The same of [B, T, d]; rows that several sequences use get the sum, in
  /// their order.
  absl::Status Backward(absl::Span<const float> grad_output,
                        absl::Span<const std::int64_t> offsets);
  /// Makes the gradient zero.
  void ZeroGrad();

  /// Saves the weight as tensor `name` of a safetensors file at `path`, which it
  /// replaces as a whole.
  ///
  /// **Errors**: INVALID_ARGUMENT for a name that is not UTF-8; UNAVAILABLE
  /// (path) with the system's reason. The file is then as it was.
  absl::Status Save(const std::string& path, absl::string_view name = "weight") const;

 private:
  LearnedPE(CanonicalSpec spec, std::vector<float> weight)
      : spec_(std::move(spec)), weight_(std::move(weight)), gradient_(weight_.size()) {}

  CanonicalSpec spec_;
  std::vector<float> weight_;
  std::vector<float> gradient_;
};

}  // namespace phasor

#endif  // PHASOR_LEARNED_PE_H_
