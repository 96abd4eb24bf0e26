#include "bench/report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "absl/strings/str_format.h"

namespace phasor::bench {
namespace {

int missed = 0;

std::string Text(const std::optional<double>& ratio) {
  return ratio.has_value() ? absl::StrFormat("%.2f", *ratio) : "";
}

}  // namespace

void PrintHeader() {
  std::puts(
      "| what | measured | beside | ratio | control | bar | |\n|---|---|---|---|---|---|---|");
  std::fflush(stdout);
}

void Print(const Line& line) {
  const char* verdict = line.bar.empty() ? "" : line.pass ? "pass" : "**miss**";
  if (!line.pass) ++missed;
  absl::PrintF("| %s | %s | %s | %s | %s | %s | %s |\n", line.what, line.measured, line.beside,
               Text(line.ratio), Text(line.control), line.bar, verdict);
  std::fflush(stdout);
}

int Missed() { return missed; }

double Quantile(std::vector<double> values, double part) {
  if (values.empty()) Die("nothing was measured");
  const auto middle =
      values.begin() + static_cast<std::ptrdiff_t>(part * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double Median(std::vector<double> values) { return Quantile(std::move(values), 0.5); }

double MedianRatio(const std::vector<double>& rounds, const std::vector<double>& beside) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < rounds.size(); ++i) ratios.push_back(rounds[i] / beside[i]);
  return Median(std::move(ratios));
}

std::string Rate(double bytes_per_second) {
  return absl::StrFormat("%.2f GB/s", bytes_per_second / 1e9);
}

std::string Microseconds(double seconds) { return absl::StrFormat("%.1f us", seconds * 1e6); }

std::string Mebibytes(double bytes) { return absl::StrFormat("%.1f MiB", bytes / (1 << 20)); }

void Die(const std::string& what) {
  absl::FPrintF(stderr, "phasor_bench: %s\n", what);
  std::exit(1);
}

}  // namespace phasor::bench
