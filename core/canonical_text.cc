#include "core/canonical_text.h"

#include <bit>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace phasor {
namespace {

std::string Value(std::int64_t value) { return absl::StrCat(value); }

std::string Value(double value) {
  return absl::StrCat(absl::Hex(std::bit_cast<std::uint64_t>(value), absl::kZeroPad16));
}

std::string Value(const std::vector<double>& values) {
  return absl::StrJoin(values, ",", [](std::string* out, double v) { out->append(Value(v)); });
}

class Lines {
 public:
  template <typename T>
  void Add(std::string path, const T& value) {
    lines_[std::move(path)] = Value(value);
  }
  template <typename T>
  void AddUnless(T standard, std::string path, T value) {
    if (value != standard) Add(std::move(path), value);
  }
  void AddEmptyMessage(std::string path) { lines_[std::move(path)] = "{}"; }
  void AddEnum(std::string path, absl::string_view prefix, absl::string_view name) {
    lines_[std::move(path)] = absl::StrCat(prefix, name);
  }

  std::string Text() const {
    std::string text;
    for (const auto& [path, value] : lines_) absl::StrAppend(&text, path, "=", value, "\n");
    return text;
  }

 private:
  std::map<std::string, std::string> lines_;
};

struct LadderLines {
  Lines* lines;

  void operator()(const PaperLadder&) const {}
  void operator()(const InclusiveLadder&) const { lines->AddEmptyMessage("sinusoidal.inclusive"); }
  void operator()(const DownscaledLadder& ladder) const {
    lines->Add("sinusoidal.downscaled.downscale_shift", *ladder.downscale_shift);
  }
  void operator()(const ExplicitLadder& ladder) const {
    lines->Add("sinusoidal.explicit.frequencies", ladder.frequencies);
  }
};

struct SchemeLines {
  Lines* lines;

  void operator()(const Sinusoidal& s) const {
    lines->Add("sinusoidal.width", s.width);
    if (s.base.has_value()) lines->AddUnless(kDefaultBase, "sinusoidal.base", *s.base);
    std::visit(LadderLines{lines}, s.ladder);
    if (s.layout != Layout::kSinCosInterleaved) {
      lines->AddEnum("sinusoidal.layout", "LAYOUT_", LayoutName(s.layout));
    }
    lines->AddUnless(std::int64_t{0}, "sinusoidal.position_offset", s.position_offset);
    if (s.zero_row.has_value()) lines->Add("sinusoidal.zero_row", *s.zero_row);
  }
  void operator()(const LearnedInit& l) const {
    lines->Add("learned_init.max_positions", l.max_positions);
    lines->Add("learned_init.width", l.width);
    lines->AddUnless(kDefaultStddev, "learned_init.stddev", l.stddev);
    lines->AddUnless(std::int64_t{0}, "learned_init.seed", l.seed);
    lines->AddUnless(std::int64_t{0}, "learned_init.stream", l.stream);
  }
};

}  // namespace

std::string CanonicalText(const TableSpec& spec) {
  Lines lines;
  std::visit(SchemeLines{&lines}, spec.scheme);
  if (spec.element_type != ElementType::kFloat32) {
    lines.AddEnum("element_type", "ELEMENT_TYPE_", ElementTypeName(spec.element_type));
  }
  // Numerics has one value so far, its default.
  return lines.Text();
}

}  // namespace phasor
