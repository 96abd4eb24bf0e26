#include "diagnose/arrangement.h"

#include <variant>

#include "absl/strings/str_cat.h"

namespace phasor::diagnose {
namespace {

using Form = Arrangement::Form;

constexpr Form kForms[] = {Form::kInterleaved,     Form::kHalves, Form::kDuplicatedHalves,
                           Form::kDuplicatedPairs, Form::kOne,    Form::kOneTwice,
                           Form::kOneInPairs};

std::int64_t ColumnsOf(Form form, std::int64_t pairs) {
  switch (form) {
    case Form::kInterleaved:
    case Form::kHalves:
    case Form::kOneTwice:
    case Form::kOneInPairs: return 2 * pairs;
    case Form::kDuplicatedHalves:
    case Form::kDuplicatedPairs: return 4 * pairs;
    case Form::kOne: return pairs;
  }
  return 0;
}

Layout LayoutOf(const TableSpec& spec) {
  if (const auto* sinusoidal = std::get_if<Sinusoidal>(&spec.scheme)) return sinusoidal->layout;
  if (const auto* rotary = std::get_if<Rotary>(&spec.scheme)) return rotary->layout;
  if (const auto* none = std::get_if<NoPosition>(&spec.scheme)) return none->layout;
  const auto* timestep = std::get_if<Timestep>(&spec.scheme);
  return timestep != nullptr && timestep->flip_sin_to_cos ? Layout::kCosSinHalves
                                                          : Layout::kSinCosHalves;
}

}  // namespace

std::array<std::int64_t, 2> Arrangement::Columns(std::int64_t i, bool sine) const {
  if (!Has(sine) || (odd_sine && !sine && i == pairs - 1)) return {-1, -1};
  const bool second = sine != sine_first;
  // Where the second half begins.
  const std::int64_t half = odd_sine && !sine_first ? pairs - 1 : pairs;
  switch (form) {
    case Form::kInterleaved: return {odd_sine && i == pairs - 1 ? 2 * i : 2 * i + second, -1};
    case Form::kHalves: return {i + (second ? half : 0), -1};
    case Form::kDuplicatedHalves: {
      const std::int64_t column = i + (second ? 2 * pairs : 0);
      return {column, column + pairs};
    }
    case Form::kDuplicatedPairs: {
      const std::int64_t column = 2 * i + (second ? 2 * pairs : 0);
      return {column, column + 1};
    }
    case Form::kOne: return {i, -1};
    case Form::kOneTwice: return {i, i + pairs};
    case Form::kOneInPairs: return {2 * i, 2 * i + 1};
  }
  return {-1, -1};
}

std::optional<Layout> Arrangement::layout() const {
  switch (form) {
    case Form::kInterleaved:
      return sine_first ? Layout::kSinCosInterleaved : Layout::kCosSinInterleaved;
    case Form::kHalves: return sine_first ? Layout::kSinCosHalves : Layout::kCosSinHalves;
    case Form::kDuplicatedHalves:
      return sine_first ? std::nullopt : std::optional(Layout::kCosSinDuplicatedHalves);
    case Form::kDuplicatedPairs:
      return sine_first ? std::nullopt : std::optional(Layout::kCosSinDuplicatedPairs);
    case Form::kOne: return sine_first ? Layout::kSinOnly : Layout::kCosOnly;
    case Form::kOneTwice:
    case Form::kOneInPairs: break;
  }
  return std::nullopt;
}

std::string Arrangement::words() const {
  const char* x = sine_first ? "s" : "c";
  const char* y = sine_first ? "c" : "s";
  std::string shape;
  switch (form) {
    case Form::kInterleaved: shape = absl::StrCat(x, "0 ", y, "0 ", x, "1 ", y, "1 ..."); break;
    case Form::kHalves: shape = absl::StrCat(x, "... | ", y, "..."); break;
    case Form::kDuplicatedHalves: shape = absl::StrCat(x, " ", x, " | ", y, " ", y); break;
    case Form::kDuplicatedPairs:
      shape = absl::StrCat(x, "0 ", x, "0 ", x, "1 ", x, "1 ... | ", y, "0 ", y, "0 ...");
      break;
    case Form::kOne: shape = absl::StrCat(x, "..."); break;
    case Form::kOneTwice: shape = absl::StrCat(x, "... | ", x, "..."); break;
    case Form::kOneInPairs: shape = absl::StrCat(x, "0 ", x, "0 ", x, "1 ", x, "1 ..."); break;
  }
  const std::optional<Layout> named = layout();
  return named.has_value() ? absl::StrCat(LayoutName(*named), " (", shape, ")")
                           : absl::StrCat("[", shape, "]");
}

Arrangement ArrangementOf(const CanonicalSpec& spec) {
  const Layout layout = LayoutOf(spec.spec());
  Arrangement arrangement{.pairs = spec.pairs()};
  if (const auto* sinusoidal = std::get_if<Sinusoidal>(&spec.spec().scheme)) {
    arrangement.odd_sine = sinusoidal->odd_column == OddColumn::kSine;
  }
  for (const Form form : kForms) {
    for (const bool sine_first : {true, false}) {
      arrangement.form = form;
      arrangement.sine_first = sine_first;
      if (arrangement.layout() == layout) return arrangement;
    }
  }
  return arrangement;
}

std::vector<Arrangement> ArrangementsOf(std::int64_t pairs, std::int64_t columns) {
  std::vector<Arrangement> arrangements;
  for (const Form form : kForms) {
    if (ColumnsOf(form, pairs) != columns) continue;
    for (const bool sine_first : {true, false}) {
      arrangements.push_back({.form = form, .sine_first = sine_first, .pairs = pairs});
    }
  }
  return arrangements;
}

}  // namespace phasor::diagnose
