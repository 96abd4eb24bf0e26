#include "diagnose/hypothesis.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "diagnose/measurement.h"

namespace phasor::diagnose {
namespace {

constexpr std::size_t kAngles = 5;
/// How far an angle may be off, relative to itself: roundings of frequency, position
/// and product, and a power function that is off by a unit or two. By repeated
/// multiplication the frequency of pair i is off by about i units.
constexpr std::array<double, kAngles> kAngleError = {0x1p-49, 0x1p-21, 0x1p-18, 3 * 0x1p-11,
                                                     3 * 0x1p-8};
/// How far what is computed from it may be off.
constexpr std::array<double, kAngles> kValueError = {0x1p-51, 0x1p-22, 0x1p-22, 0x1p-10, 0x1p-7};
/// An element that a precision says no more about than this is not tried.
constexpr double kTelling = 0.25;
constexpr double kEnough = 0.995;
constexpr std::int64_t kMostPairs = 64;
/// Explanations as far-fetched as the best one but for this are told beside it.
constexpr double kAsGood = 0.45;

double AngleAt(const Hypothesis& hypothesis, std::int64_t position, double frequency) {
  return (hypothesis.first + hypothesis.direction * static_cast<double>(position)) * frequency;
}

std::vector<std::int64_t> PairsToTry(std::int64_t pairs) {
  std::vector<std::int64_t> list;
  const std::int64_t count = std::min(pairs, kMostPairs);
  for (std::int64_t k = 0; k < count; ++k)
    list.push_back(k < 8 ? k : k * (pairs - 1) / (count - 1));
  list.erase(std::unique(list.begin(), list.end()), list.end());
  return list;
}

struct Counts {
  std::array<std::int64_t, kAngles> tried{};
  std::array<std::int64_t, kAngles> given{};
};

// Rows and pairs of the sample up to the given numbers of them.
Counts Count(const Sample& sample, const Hypothesis& hypothesis, std::size_t rows,
             const std::vector<std::int64_t>& pairs) {
  Counts counts;
  const double last_place = std::exp2(1.5 - PrecisionOf(sample.type));
  const double smallest = sample.type == ElementType::kFloat16 ? 0x1p-23 : 0x1p-120;
  for (std::size_t row = 0; row < rows; ++row) {
    for (const std::int64_t pair : pairs) {
      const double angle = AngleAt(hypothesis, sample.positions[row],
                                   hypothesis.ladder->frequencies[static_cast<std::size_t>(pair)]);
      for (const bool sine : {true, false}) {
        const double expected =
            hypothesis.factor * (sine ? hypothesis.sign * std::sin(angle) : std::cos(angle));
        for (const std::int64_t column : hypothesis.arrangement.Columns(pair, sine)) {
          if (column < 0) continue;
          const double off = std::abs(sample.Row(row)[column] - expected);
          for (std::size_t k = 0; k < kAngles; ++k) {
            const double allowed = std::abs(hypothesis.factor) * std::abs(angle) * kAngleError[k] +
                                   std::abs(expected) * (last_place + kValueError[k]) + smallest;
            if (allowed > kTelling * std::abs(hypothesis.factor)) continue;
            ++counts.tried[k];
            if (off <= allowed) ++counts.given[k];
          }
        }
      }
    }
  }
  return counts;
}

class Search {
 public:
  Search(const CanonicalSpec& spec, const Sample& sample, Explanation* explanation)
      : spec_(spec),
        sample_(sample),
        explanation_(explanation),
        right_(ArrangementOf(spec)),
        offset_(Offset(spec)) {}

  void Run() {
    Hypothesis right{.arrangement = right_,
                     .ladder = &explanation_->ladders.front(),
                     .first = offset_,
                     .factor = spec_.attention_factor().value_or(1)};
    const std::vector<Arrangement> arrangements = Arrangements();
    if (Contains(arrangements, right_)) {
      explanation_->right = PreciseShare(sample_, right);
    }
    // Fitted ladders are kept where they stay.
    std::vector<std::optional<Measurement>> measurements;
    std::vector<std::pair<std::size_t, std::size_t>> fitted;
    for (const Arrangement& arrangement : arrangements) {
      measurements.push_back(Measure(sample_, arrangement));
      const std::size_t begin = explanation_->fitted.size();
      if (measurements.back().has_value() &&
          std::ssize(measurements.back()->frequencies) == spec_.pairs()) {
        for (LadderGuess& guess : LaddersThatFit(spec_, *measurements.back())) {
          explanation_->fitted.push_back(std::move(guess));
        }
      }
      fitted.emplace_back(begin, explanation_->fitted.size());
    }
    for (std::size_t k = 0; k < arrangements.size(); ++k) {
      for (const LadderGuess& ladder : explanation_->ladders) {
        TryLadder(arrangements[k], measurements[k], ladder);
      }
      for (std::size_t i = fitted[k].first; i < fitted[k].second; ++i) {
        TryLadder(arrangements[k], measurements[k], explanation_->fitted[i]);
      }
    }
    Choose();
    if (!explanation_->best.has_value()) {
      for (std::size_t k = 0; k < arrangements.size(); ++k) {
        if (measurements[k].has_value()) DescribeFrequencies(arrangements[k], *measurements[k]);
      }
    }
  }

 private:
  static double Offset(const CanonicalSpec& spec) {
    const auto* sinusoidal = std::get_if<Sinusoidal>(&spec.spec().scheme);
    return sinusoidal == nullptr ? 0 : static_cast<double>(sinusoidal->position_offset);
  }

  static bool Same(const Arrangement& a, const Arrangement& b) {
    return a.form == b.form && a.sine_first == b.sine_first && a.odd_sine == b.odd_sine;
  }
  static bool Contains(const std::vector<Arrangement>& list, const Arrangement& one) {
    return std::any_of(list.begin(), list.end(),
                       [&one](const Arrangement& other) { return Same(one, other); });
  }

  std::vector<Arrangement> Arrangements() const {
    const std::int64_t pairs = spec_.pairs();
    if (sample_.columns % 2 == 0 || pairs == sample_.columns) {
      std::vector<Arrangement> list = ArrangementsOf(pairs, sample_.columns);
      // First what it should be: it is preferred where nothing tells.
      std::stable_partition(list.begin(), list.end(), [this](const Arrangement& arrangement) {
        return Same(arrangement, right_);
      });
      return list;
    }
    std::vector<Arrangement> list;
    for (Arrangement arrangement :
         ArrangementsOf(pairs, sample_.columns + (right_.odd_sine ? 1 : -1))) {
      arrangement.odd_sine = right_.odd_sine;
      // Rows of odd width have these alone (OddColumn).
      if (arrangement.form == Arrangement::Form::kInterleaved ||
          arrangement.form == Arrangement::Form::kHalves) {
        list.push_back(arrangement);
      }
    }
    return list;
  }

  std::optional<Finding> LayoutFinding(const Arrangement& arrangement, double* cost) const {
    if (Same(arrangement, right_)) return std::nullopt;
    const std::string words =
        absl::StrCat("the layout is ", arrangement.words(), ", not ", right_.words());
    if (arrangement.form == right_.form) {
      *cost += 1;
      return Finding{Fault::kSwapped, absl::StrCat("sines and cosines are swapped: ", words),
                     std::nullopt};
    }
    *cost += 1 + (arrangement.sine_first == right_.sine_first ? 0 : 0.1);
    return Finding{Fault::kLayout, words, std::nullopt};
  }

  void TryLadder(const Arrangement& arrangement, const std::optional<Measurement>& measured,
                 const LadderGuess& ladder) {
    Hypothesis hypothesis{.arrangement = arrangement, .ladder = &ladder, .first = offset_};
    hypothesis.cost = ladder.cost;
    if (const auto finding = LayoutFinding(arrangement, &hypothesis.cost)) {
      hypothesis.findings.push_back(*finding);
    }
    hypothesis.findings.insert(hypothesis.findings.end(), ladder.findings.begin(),
                               ladder.findings.end());
    for (const auto& [factor, finding] : Factors(arrangement, measured, ladder)) {
      Hypothesis scaled = hypothesis;
      scaled.factor = factor;
      if (finding.has_value()) {
        scaled.findings.push_back(*finding);
        scaled.cost += 0.8;
      }
      TryPositions(measured, scaled);
    }
  }

  std::vector<std::pair<double, std::optional<Finding>>> Factors(
      const Arrangement& arrangement, const std::optional<Measurement>& measured,
      const LadderGuess& ladder) const {
    const double right = ladder.factor;
    const auto other = [right](double factor, absl::string_view why) {
      return std::pair(
          factor,
          std::optional<Finding>(Finding{
              Fault::kFactor,
              absl::StrCat("sines and cosines are multiplied by ", factor, why, ", not ", right),
              factor}));
    };
    const auto near = [this](double a, double b) {
      return std::abs(a - b) <= std::max(std::exp2(3 - PrecisionOf(sample_.type)), 0x1p-40) * b;
    };
    std::vector<std::pair<double, std::optional<Finding>>> factors;
    if (!arrangement.has_both()) {
      factors.emplace_back(right, std::nullopt);
      if (right == 1) return factors;
      factors.push_back(other(1, ": the attention factor is not applied"));
      factors.push_back(other(right * right, ": the attention factor is applied twice"));
      return factors;
    }
    if (!measured.has_value() || near(measured->factor, right)) {
      factors.emplace_back(right, std::nullopt);
    } else if (near(measured->factor, 1)) {
      factors.push_back(other(1, ": the attention factor is not applied"));
    } else if (near(measured->factor, right * right)) {
      factors.push_back(other(right * right, ": the attention factor is applied twice"));
    } else {
      factors.push_back(other(measured->factor, ""));
      // The lengths of angles in few bits are no measure.
      factors.emplace_back(right, std::nullopt);
    }
    return factors;
  }

  void TryPositions(const std::optional<Measurement>& measured, const Hypothesis& hypothesis) {
    const auto moved = [&](double ahead, int sign) {
      Hypothesis other = hypothesis;
      other.first += ahead;
      other.sign = sign;
      if (ahead != 0) {
        other.cost += 0.7;
        other.findings.push_back({Fault::kPositions,
                                  absl::StrCat("the row of position p is that of position p ",
                                               ahead < 0 ? "- " : "+ ", std::abs(ahead)),
                                  ahead});
      }
      if (sign < 0) {
        other.cost += 0.8;
        other.findings.push_back({Fault::kSineSign, "sines have the other sign", std::nullopt});
      }
      Keep(std::move(other));
    };
    for (const int sign : {1, -1}) {
      if (sign < 0 && !hypothesis.arrangement.Has(/*sine=*/true)) continue;
      for (const int ahead : {0, 1, -1, 2, -2}) moved(ahead, sign);
    }
    Hypothesis still = hypothesis;
    still.direction = 0;
    still.first = offset_ + static_cast<double>(sample_.positions.front());
    still.cost += 1;
    still.findings.push_back({Fault::kConstantRows,
                              absl::StrCat("every row is that of position ", still.first - offset_),
                              still.first - offset_});
    if (sample_.rows.size() > 1) Keep(still);
    if (!measured.has_value() || !measured->first_position.has_value()) return;

    const auto first = static_cast<double>(sample_.positions.front());
    // measured: the angle of the first row is direction * first_position * w.
    const double found = *measured->first_position * measured->direction;
    const double whole = std::round(found);
    const double position =
        std::abs(found - whole) < 0x1p-10 ? whole : ShortestWithin(found, 0x1p-12);
    const double ahead = position - first - offset_;
    if (std::abs(ahead) > 2 || ahead != std::round(ahead)) {
      moved(ahead, 1);
    }
    const double mirrored = -position - first - offset_;
    if (measured->direction < 0 && std::abs(mirrored) > 2) moved(mirrored, -1);
    if (measured->direction < 0 && position > 0) {
      Hypothesis falling = hypothesis;
      falling.direction = -1;
      falling.first = position + first;
      falling.cost += 0.9;
      falling.findings.push_back(
          {Fault::kDescending,
           absl::StrCat("rows are in descending order, from position ", position - offset_, " on"),
           position - offset_});
      Keep(std::move(falling));
    }
  }

  void Keep(Hypothesis hypothesis) {
    if (Try(sample_, &hypothesis)) kept_.push_back(std::move(hypothesis));
  }

  void Choose() {
    if (kept_.empty()) return;
    const auto better = [](const Hypothesis& a, const Hypothesis& b) {
      return a.angles != b.angles ? a.angles < b.angles : a.cost < b.cost;
    };
    std::stable_sort(kept_.begin(), kept_.end(), better);
    const Hypothesis& best = kept_.front();
    const auto words = [](const Hypothesis& hypothesis) {
      return absl::StrJoin(hypothesis.findings, "; ",
                           [](std::string* out, const Finding& f) { out->append(f.words); });
    };
    for (const Hypothesis& other : kept_) {
      if (&other == &best || other.angles != best.angles || best.findings.empty()) continue;
      // The same base, not rounded.
      if (other.findings.size() == best.findings.size() &&
          other.findings.back().fault == best.findings.back().fault &&
          other.findings.back().value.has_value() && best.findings.back().value.has_value() &&
          std::abs(*other.findings.back().value / *best.findings.back().value - 1) < 1e-3) {
        continue;
      }
      if (other.cost <= best.cost + kAsGood && explanation_->also.size() < 3) {
        explanation_->also.push_back(words(other));
      }
    }
    explanation_->best = best;
  }

  // Which pairs turn by something else than they should.
  void DescribeFrequencies(const Arrangement& arrangement, const Measurement& measured) {
    if (explanation_->frequencies.has_value()) return;
    const std::vector<double>& right = explanation_->ladders.front().frequencies;
    std::int64_t off = 0;
    std::int64_t first = -1;
    for (std::size_t i = 0; i < measured.frequencies.size(); ++i) {
      const double found = std::abs(measured.frequencies[i]);
      if (std::abs(found - right[i]) <= 16 * measured.errors[i] + 0x1p-20 * right[i]) continue;
      if (off++ == 0) first = static_cast<std::int64_t>(i);
    }
    // Rows that do not turn at all have no frequencies.
    const auto turning = [&](double frequency) { return std::abs(frequency) > 0; };
    const auto turn =
        std::count_if(measured.frequencies.begin(), measured.frequencies.end(), turning);
    if (off == 0 || 2 * turn < std::ssize(measured.frequencies)) return;
    const double found = std::abs(measured.frequencies[static_cast<std::size_t>(first)]);
    explanation_->frequencies =
        Finding{Fault::kFrequencies,
                absl::StrCat("pairs turn evenly, in the layout ", arrangement.words(),
                             ", by frequencies of no ladder that was tried: ", off, " of ",
                             measured.frequencies.size(), " differ, the first pair ", first, ": ",
                             found, " radians a row, not ", right[static_cast<std::size_t>(first)]),
                std::nullopt};
  }

  const CanonicalSpec& spec_;
  const Sample& sample_;
  Explanation* explanation_;
  const Arrangement right_;
  const double offset_;
  std::vector<Hypothesis> kept_;
};

}  // namespace

bool Try(const Sample& sample, Hypothesis* hypothesis) {
  // Most are told by a glance.
  constexpr std::size_t kGlanceRows = 6;
  const std::vector<std::int64_t> pairs = PairsToTry(hypothesis->arrangement.pairs);
  const std::vector<std::int64_t> few(
      pairs.begin(),
      pairs.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(8, pairs.size())));
  const Counts glance = Count(sample, *hypothesis, std::min(kGlanceRows, sample.rows.size()), few);
  if (5 * glance.given.back() < 4 * glance.tried.back()) return false;
  const Counts counts = Count(sample, *hypothesis, sample.rows.size(), pairs);
  for (std::size_t k = 0; k < kAngles; ++k) {
    hypothesis->angles = static_cast<Angles>(k);
    hypothesis->tried = counts.tried[k];
    hypothesis->given = counts.given[k];
    if (counts.tried[k] > 0 && hypothesis->share() >= kEnough) return true;
  }
  return false;
}

double PreciseShare(const Sample& sample, const Hypothesis& hypothesis) {
  const Counts counts =
      Count(sample, hypothesis, sample.rows.size(), PairsToTry(hypothesis.arrangement.pairs));
  return counts.tried[0] == 0
             ? 0
             : static_cast<double>(counts.given[0]) / static_cast<double>(counts.tried[0]);
}

Explanation Explain(const CanonicalSpec& spec, const Sample& sample,
                    const std::vector<DiagnoseOptions::Other>& others) {
  Explanation explanation;
  explanation.ladders = LaddersLike(spec, others);
  if (explanation.ladders.empty() || sample.rows.empty()) return explanation;
  Search(spec, sample, &explanation).Run();
  return explanation;
}

}  // namespace phasor::diagnose
