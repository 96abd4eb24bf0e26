#include "diagnose/ladder_guess.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "diagnose/measurement.h"
#include "phasor/core/local_table.h"

namespace phasor::diagnose {
namespace {

/// Bases of models.
constexpr double kUsualBases[] = {10000, 500000,  1000000, 150000,  160000,   100000,
                                  50000, 2000000, 5000000, 8000000, 10000000, 20000};

/// How far rounding to float32 may take a ladder's step from pair to pair.
constexpr double kRoundedStep = 0x1p-20;

constexpr double kCostOfBase = 1;
constexpr double kCostOfVariant = 1;
constexpr double kCostOfExponent = 1.2;
constexpr double kCostOfFoundBase = 1.5;
constexpr double kCostOfFound = 2;

std::string Shown(double value) { return absl::StrCat(value); }

std::optional<double> BaseOf(const TableSpec& spec) {
  if (const auto* s = std::get_if<Sinusoidal>(&spec.scheme)) {
    if (std::holds_alternative<ExplicitLadder>(s->ladder)) return std::nullopt;
    if (const auto* scales = std::get_if<TimescaleLadder>(&s->ladder)) {
      return scales->max_timescale / scales->min_timescale;
    }
    return s->base.value_or(kDefaultBase);
  }
  if (const auto* r = std::get_if<Rotary>(&spec.scheme)) {
    if (std::holds_alternative<ExplicitLadder>(r->scaling)) return std::nullopt;
    return r->base.value_or(kDefaultBase);
  }
  if (const auto* t = std::get_if<Timestep>(&spec.scheme)) return t->max_period;
  return std::nullopt;
}

// The rotary width or width that exponents are divided by.
double WidthOf(const TableSpec& spec) {
  if (const auto* s = std::get_if<Sinusoidal>(&spec.scheme)) return static_cast<double>(s->width);
  if (const auto* r = std::get_if<Rotary>(&spec.scheme)) return static_cast<double>(r->width);
  if (const auto* t = std::get_if<Timestep>(&spec.scheme)) return static_cast<double>(t->width);
  return 0;
}

std::vector<double> Geometric(double first, double base, double over, std::size_t pairs) {
  std::vector<double> frequencies(pairs);
  for (std::size_t i = 0; i < pairs; ++i) {
    frequencies[i] = first * std::pow(base, -static_cast<double>(i) / over);
  }
  return frequencies;
}

class Guesses {
 public:
  explicit Guesses(const CanonicalSpec& spec) : spec_(spec) { Add(spec.spec(), {}, 0); }

  // The ladder of `spec`, if there is such a table of as many pairs.
  void Add(TableSpec spec, std::vector<Finding> findings, double cost) {
    const absl::StatusOr<CanonicalSpec> canonical = CanonicalSpec::Create(std::move(spec));
    if (!canonical.ok() || canonical->pairs() != spec_.pairs()) return;
    absl::StatusOr<std::vector<double>> frequencies = Frequencies(*canonical);
    if (!frequencies.ok()) return;
    Add(LadderGuess{*std::move(frequencies), canonical->attention_factor().value_or(1),
                    std::move(findings), cost});
  }
  void Add(LadderGuess guess) {
    for (const LadderGuess& other : guesses_) {
      if (other.frequencies == guess.frequencies && other.factor == guess.factor) return;
    }
    guesses_.push_back(std::move(guess));
  }

  std::vector<LadderGuess>& list() { return guesses_; }

 private:
  const CanonicalSpec& spec_;
  std::vector<LadderGuess> guesses_;
};

template <typename T>
void AddWith(Guesses& guesses, const T& scheme, ElementType type, Fault fault, std::string words,
             double cost = kCostOfVariant, std::optional<double> value = std::nullopt) {
  guesses.Add(TableSpec(scheme, type), {{fault, std::move(words), value}}, cost);
}

void AddSinusoidal(Guesses& guesses, const Sinusoidal& scheme, ElementType type) {
  const std::optional<double> base = BaseOf(TableSpec(scheme, type));
  const auto with = [&](const Ladder& ladder, absl::string_view name) {
    Sinusoidal other = scheme;
    other.ladder = ladder;
    other.base = base;
    AddWith(guesses, other, type, Fault::kLadder, absl::StrCat("the ladder is ", name));
  };
  with(PaperLadder{}, "paper (exponents i/h), not the one asked for");
  with(InclusiveLadder{}, "inclusive (exponents i/(h-1)), not the one asked for");
  with(DownscaledLadder{0.5}, "downscaled by 0.5 (exponents i/(h-0.5)), not the one asked for");
  if (const auto* scales = std::get_if<TimescaleLadder>(&scheme.ladder)) {
    // As its documentation has it and its code has not.
    LadderGuess divided = guesses.list().front();
    for (double& frequency : divided.frequencies) {
      frequency /= scales->min_timescale * scales->min_timescale;
    }
    divided.findings = {{Fault::kLadder,
                         "min_timescale divides the frequencies, where it multiplies them",
                         std::nullopt}};
    divided.cost = kCostOfVariant;
    guesses.Add(std::move(divided));
  }
}

void AddTimestep(Guesses& guesses, const Timestep& scheme, ElementType type) {
  for (const double shift : {0.0, 1.0}) {
    Timestep other = scheme;
    other.downscale_freq_shift = shift;
    AddWith(
        guesses, other, type, Fault::kLadder,
        absl::StrCat("downscale_freq_shift is ", shift, ", not ", *scheme.downscale_freq_shift));
  }
}

// What the scaling did to the pairs, once more.
void AddTwice(Guesses& guesses, const Rotary& scheme, ElementType type) {
  Rotary plain = scheme;
  plain.scaling = NoScaling{};
  plain.attention_factor = 1;
  const absl::StatusOr<CanonicalSpec> canonical = CanonicalSpec::Create(TableSpec(plain, type));
  if (!canonical.ok()) return;
  const absl::StatusOr<std::vector<double>> unscaled = Frequencies(*canonical);
  if (!unscaled.ok()) return;
  LadderGuess twice = guesses.list().front();
  for (std::size_t i = 0; i < twice.frequencies.size(); ++i) {
    twice.frequencies[i] *= twice.frequencies[i] / (*unscaled)[i];
  }
  const Finding finding = {Fault::kScalingTwice, "the scaling is applied twice", std::nullopt};
  twice.findings = {finding};
  twice.cost = kCostOfVariant;
  guesses.Add(twice);
  if (const auto* llama3 = std::get_if<Llama3Scaling>(&scheme.scaling)) {
    // Its bands as the scaled frequencies fall into them.
    for (std::size_t i = 0; i < twice.frequencies.size(); ++i) {
      const double once = guesses.list().front().frequencies[i];
      const double turns =
          static_cast<double>(llama3->original_max_position_embeddings) * once / (2 * M_PI);
      const double smooth = std::clamp(
          (turns - llama3->low_freq_factor) / (llama3->high_freq_factor - llama3->low_freq_factor),
          0.0, 1.0);
      twice.frequencies[i] = once * ((1 - smooth) / llama3->factor + smooth);
    }
    guesses.Add(twice);
  }
}

struct AddScalings {
  Guesses& guesses;
  const Rotary& scheme;
  ElementType type;

  template <typename Scaling>
  void With(Scaling scaling, std::string words) const {
    Rotary other = scheme;
    other.scaling = std::move(scaling);
    AddWith(guesses, other, type, Fault::kScaling, std::move(words));
  }
  void Factor(double factor) const {
    With(LinearScaling{factor}, absl::StrCat("the scaling is linear by ", factor));
    With(NtkScaling{factor}, absl::StrCat("the scaling is ntk by ", factor));
  }

  void operator()(const NoScaling&) const {}
  void operator()(const ExplicitLadder&) const {}
  void operator()(const LinearScaling& s) const { Factor(s.factor); }
  void operator()(const NtkScaling& s) const { Factor(s.factor); }
  void operator()(const DynamicNtkScaling& s) const {
    Factor(s.factor);
    for (const std::int64_t length : {2 * s.max_position_embeddings, 4 * s.max_position_embeddings,
                                      8 * s.max_position_embeddings, s.max_position_embeddings}) {
      DynamicNtkScaling other = s;
      other.sequence_length = length;
      With(other, absl::StrCat("the scaling is that of sequence length ", length));
    }
  }
  void operator()(const YarnScaling& s) const {
    Factor(s.factor);
    YarnScaling other = s;
    other.truncate = !s.truncate;
    With(other, absl::StrCat("YaRN's truncate is ", other.truncate ? "true" : "false"));
    other = s;
    other.beta_fast = kDefaultBetaFast;
    other.beta_slow = kDefaultBetaSlow;
    With(other, "YaRN's beta_fast and beta_slow are 32 and 1");
    for (const std::int64_t times : {4, 2, 8, 16, 32, 40}) {
      other = s;
      other.original_max_position_embeddings *= times;
      With(other, absl::StrCat("YaRN's ramp is that of original_max_position_embeddings ",
                               other.original_max_position_embeddings));
    }
    other = s;
    other.mscale = std::nullopt;
    other.mscale_all_dim = std::nullopt;
    With(other, "YaRN's attention factor is that without mscale and mscale_all_dim");
  }
  void operator()(const LongRopeScaling& s) const {
    LongRopeScaling other = s;
    other.short_factor = s.long_factor;
    other.long_factor = s.short_factor;
    const bool is_long = s.sequence_length > s.original_max_position_embeddings;
    With(other, absl::StrCat("the factors are LongRoPE's ", is_long ? "short" : "long",
                             "_factor, where those of a length of ", s.sequence_length, " are the ",
                             is_long ? "long" : "short", " ones"));
  }
  void operator()(const Llama3Scaling& s) const {
    Factor(s.factor);
    for (const std::int64_t times : {2, 4, 8, 16, 32}) {
      Llama3Scaling other = s;
      other.original_max_position_embeddings *= times;
      With(other, absl::StrCat("llama3's bands are those of original_max_position_embeddings ",
                               other.original_max_position_embeddings));
    }
  }
  void operator()(const ProportionalScaling& s) const {
    // The turned part as a rotary width of its own.
    const double pairs = std::floor(s.partial_rotary_factor * WidthOf(TableSpec(scheme)) / 2);
    if (pairs < 1) return;
    LadderGuess partial = guesses.list().front();
    const double base = *BaseOf(TableSpec(scheme));
    for (std::size_t i = 0; i < partial.frequencies.size(); ++i) {
      const auto index = static_cast<double>(i);
      partial.frequencies[i] = index < pairs ? std::pow(base, -index / pairs) / s.factor : 0;
    }
    partial.findings = {{Fault::kExponentWidth,
                         absl::StrCat("exponents are divided by ", 2 * pairs,
                                      ", the turned part, instead of the whole head's ",
                                      WidthOf(TableSpec(scheme))),
                         2 * pairs}};
    partial.cost = kCostOfExponent;
    guesses.Add(std::move(partial));
  }
};

void AddRotary(Guesses& guesses, const Rotary& scheme, ElementType type) {
  if (!std::holds_alternative<NoScaling>(scheme.scaling) && BaseOf(TableSpec(scheme))) {
    Rotary plain = scheme;
    plain.scaling = NoScaling{};
    AddWith(guesses, plain, type, Fault::kScalingMissing, "the scaling is not applied", 0.9);
    AddTwice(guesses, scheme, type);
    std::visit(AddScalings{guesses, scheme, type}, scheme.scaling);
  }
  if (std::holds_alternative<NoScaling>(scheme.scaling)) {
    const double base = scheme.base.value_or(kDefaultBase);
    const auto pairs = static_cast<std::size_t>(scheme.width / 2);
    if (pairs > 1) {
      guesses.Add(LadderGuess{
          Geometric(1, base, static_cast<double>(pairs) - 1, pairs),
          1,
          {{Fault::kLadder, "the ladder is inclusive (exponents i/(h-1)), not paper (i/h)",
            std::nullopt}},
          kCostOfVariant});
    }
  }
}

void AddBases(Guesses& guesses, const TableSpec& spec) {
  const std::optional<double> right = BaseOf(spec);
  if (!right.has_value()) return;
  for (const double base : kUsualBases) {
    TableSpec other = spec;
    if (auto* s = std::get_if<Sinusoidal>(&other.scheme)) {
      if (std::holds_alternative<TimescaleLadder>(s->ladder)) return;
      s->base = base;
    }
    if (auto* r = std::get_if<Rotary>(&other.scheme)) r->base = base;
    if (auto* t = std::get_if<Timestep>(&other.scheme)) t->max_period = base;
    guesses.Add(
        other,
        {{Fault::kBase, absl::StrCat("the base is ", Shown(base), ", not ", Shown(*right)), base}},
        kCostOfBase);
  }
}

void AddExponents(Guesses& guesses, const TableSpec& spec) {
  const std::optional<double> base = BaseOf(spec);
  if (!base.has_value()) return;
  const LadderGuess right = guesses.list().front();
  const double width = WidthOf(spec);
  for (const double times : {2.0, 0.5, 4.0, 0.25, 2.5, 8.0, 3.0, 4.0 / 3.0}) {
    // Whatever else the ladder does, its exponents are these.
    if (!std::holds_alternative<Sinusoidal>(spec.scheme) &&
        !(std::holds_alternative<Rotary>(spec.scheme) &&
          std::holds_alternative<NoScaling>(std::get<Rotary>(spec.scheme).scaling))) {
      return;
    }
    LadderGuess guess = right;
    for (double& frequency : guess.frequencies) {
      frequency = right.frequencies[0] * std::pow(frequency / right.frequencies[0], 1 / times);
    }
    const double other = width * times;
    if (times == 2) {
      guess.findings = {
          {Fault::kExponentHalf,
           absl::StrCat("exponents are i/d instead of 2i/d (or divided by ", other, " instead of ",
                        width, ", as where this width is half of the head's)"),
           other}};
    } else {
      guess.findings = {{Fault::kExponentWidth,
                         absl::StrCat("exponents are divided by ", other, " instead of ", width),
                         other}};
    }
    guess.cost = kCostOfExponent;
    guesses.Add(std::move(guess));
  }
}

// A straight line through the logarithms of measured frequencies.
struct Fit {
  double first = 1;  // frequency of pair 0
  double step = 0;   // logarithm from pair to pair
  double step_error = 0;
};

std::optional<Fit> FitGeometric(const Measurement& measured, bool from_one) {
  double n = 0, x = 0, y = 0, xx = 0, xy = 0;
  for (std::size_t i = 0; i < measured.frequencies.size(); ++i) {
    const double frequency = std::abs(measured.frequencies[i]);
    if (frequency < 64 * measured.errors[i]) continue;
    const double weight = std::pow(frequency / measured.errors[i], 2);
    const auto index = static_cast<double>(i);
    const double logarithm = std::log(frequency);
    n += weight;
    x += weight * index;
    y += weight * logarithm;
    xx += weight * index * index;
    xy += weight * index * logarithm;
  }
  const double spread = from_one ? xx : xx - x * x / n;
  if (!(n > 0) || !(spread > 0)) return std::nullopt;
  Fit fit;
  fit.step = (from_one ? xy : xy - x * y / n) / spread;
  fit.first = from_one ? 1 : std::exp((y - fit.step * x) / n);
  // What lies beside the line counts too: angles may be off by more than elements are.
  double beside = 0;
  double count = 0;
  for (std::size_t i = 0; i < measured.frequencies.size(); ++i) {
    const double frequency = std::abs(measured.frequencies[i]);
    if (frequency < 64 * measured.errors[i]) continue;
    const double off =
        (std::log(frequency) - std::log(fit.first) - fit.step * static_cast<double>(i)) *
        frequency / measured.errors[i];
    beside += off * off;
    ++count;
  }
  fit.step_error = std::sqrt(std::max(1.0, beside / std::max(1.0, count - 2)) / spread);
  return fit;
}

}  // namespace

double ShortestWithin(double value, double relative_error) {
  for (int digits = 1; digits < 15; ++digits) {
    char text[40];
    std::snprintf(text, sizeof text, "%.*e", digits - 1, value);
    const double rounded = std::strtod(text, nullptr);
    if (std::abs(rounded - value) <= relative_error * std::abs(value)) return rounded;
  }
  return value;
}

std::vector<LadderGuess> LaddersLike(const CanonicalSpec& spec,
                                     const std::vector<DiagnoseOptions::Other>& others) {
  Guesses guesses(spec);
  const ElementType type = spec.element_type();
  if (guesses.list().empty()) return {};
  if (const auto* s = std::get_if<Sinusoidal>(&spec.spec().scheme))
    AddSinusoidal(guesses, *s, type);
  if (const auto* r = std::get_if<Rotary>(&spec.spec().scheme)) AddRotary(guesses, *r, type);
  if (const auto* t = std::get_if<Timestep>(&spec.spec().scheme)) AddTimestep(guesses, *t, type);
  for (const DiagnoseOptions::Other& other : others) {
    guesses.Add(other.spec, {{Fault::kOtherTable, other.words, std::nullopt}}, kCostOfBase);
  }
  AddBases(guesses, spec.spec());
  AddExponents(guesses, spec.spec());
  return std::move(guesses.list());
}

std::vector<LadderGuess> LaddersThatFit(const CanonicalSpec& spec, const Measurement& measured) {
  std::vector<LadderGuess> guesses;
  const auto pairs = static_cast<std::size_t>(spec.pairs());
  const double h = static_cast<double>(pairs);
  const double factor = spec.attention_factor().value_or(1);
  const std::optional<double> right = BaseOf(spec.spec());
  const std::optional<Fit> through_one = FitGeometric(measured, /*from_one=*/true);
  if (through_one.has_value() && through_one->step < 0 && pairs > 1) {
    const double error = std::max(4 * h * through_one->step_error, 1e-12);
    const auto add = [&](double over, absl::string_view ladder) {
      const double found = std::exp(-through_one->step * over);
      for (const double base : {ShortestWithin(found, error), found}) {
        if (!(base > 1) || base > 1e30) continue;
        LadderGuess guess{Geometric(1, base, over, pairs), factor, {}, kCostOfFoundBase};
        guess.findings.push_back({Fault::kBase,
                                  absl::StrCat("the base is ", Shown(base), ladder,
                                               right ? absl::StrCat(", not ", Shown(*right)) : ""),
                                  base});
        if (!ladder.empty()) guess.cost += 0.5;
        if (base == found) guess.cost += 0.1;
        guesses.push_back(std::move(guess));
      }
    };
    add(h, "");
    if (pairs > 1) add(h - 1, " (exponents i/(h-1))");
    if (right.has_value()) {
      const double width = -2 * std::log(*right) / through_one->step;
      const double whole = std::round(width);
      if (whole >= 2 && whole != WidthOf(spec.spec()) &&
          std::abs(width - whole) <=
              4 * through_one->step_error * width / std::abs(through_one->step)) {
        guesses.push_back({Geometric(1, *right, whole / 2, pairs),
                           factor,
                           {{Fault::kExponentWidth,
                             absl::StrCat("exponents are divided by ", whole, " instead of ",
                                          WidthOf(spec.spec())),
                             whole}},
                           kCostOfFoundBase});
      }
    }
  }
  const std::optional<Fit> free = FitGeometric(measured, /*from_one=*/false);
  if (free.has_value()) {
    // The right ladder, and one that fits, all divided by a number.
    const double found = 1 / free->first;
    const double divisor = ShortestWithin(found, std::max(8 * h * free->step_error, 1e-9));
    guesses.push_back(
        {Geometric(1 / divisor, std::exp(-free->step * h), h, pairs),
         factor,
         {{Fault::kFrequencyScale, absl::StrCat("all frequencies are divided by ", Shown(divisor)),
           divisor},
          {Fault::kBase,
           absl::StrCat("the base is ",
                        Shown(ShortestWithin(std::exp(-free->step * h), 8 * h * free->step_error))),
           std::exp(-free->step * h)}},
         kCostOfFound + 1});
  }
  const absl::StatusOr<std::vector<double>> frequencies = Frequencies(spec);
  if (frequencies.ok() && frequencies->size() == pairs) {
    double weights = 0;
    double logarithms = 0;
    for (std::size_t i = 0; i < measured.frequencies.size(); ++i) {
      const double frequency = std::abs(measured.frequencies[i]);
      if (frequency < 64 * measured.errors[i] || !((*frequencies)[i] > 0)) continue;
      const double weight = std::pow(frequency / measured.errors[i], 2);
      weights += weight;
      logarithms += weight * std::log((*frequencies)[i] / frequency);
    }
    if (weights > 0) {
      const double found = std::exp(logarithms / weights);
      const double divisor = ShortestWithin(found, std::max(4 / std::sqrt(weights), 1e-9));
      LadderGuess guess{*frequencies,
                        factor,
                        {{Fault::kFrequencyScale,
                          absl::StrCat("all frequencies are divided by ", Shown(divisor),
                                       ", as linear scaling does"),
                          divisor}},
                        kCostOfFoundBase};
      for (double& frequency : guess.frequencies) frequency /= divisor;
      guesses.push_back(std::move(guess));
    }
  }
  // The right ladder but for frequencies that are rounded, again and again perhaps.
  const auto is_right = [&](const LadderGuess& guess) {
    if (!frequencies.ok() || frequencies->size() != pairs) return false;
    for (std::size_t i = 0; i < pairs; ++i) {
      if (!(std::abs(guess.frequencies[i] / (*frequencies)[i] - 1) < h * kRoundedStep))
        return false;
    }
    return true;
  };
  guesses.erase(std::remove_if(guesses.begin(), guesses.end(), is_right), guesses.end());
  return guesses;
}

}  // namespace phasor::diagnose
