#ifndef PHASOR_BENCH_REPORT_H_
#define PHASOR_BENCH_REPORT_H_

/// \file
/// What an item of the benchmark says: lines of one Markdown table.

#include <optional>
#include <string>
#include <vector>

namespace phasor::bench {

/// One thing beside its limit.
struct Line {
  std::string what;
  std::string measured;
  std::string beside;             ///< the limit, and what it came to
  std::optional<double> ratio;    ///< of the two
  std::optional<double> control;  ///< the same ratio of two identical limits
  std::string bar;                ///< empty: for information alone
  bool pass = true;
};

/// Starts the table.
void PrintHeader();
/// Prints a line at once.
void Print(const Line& line);
/// How many lines missed their bar.
int Missed();

/// The middle of `values`, or the lower one of the two; `values` must not be empty.
double Median(std::vector<double> values);
/// The value below which `part` of the values are.
double Quantile(std::vector<double> values, double part);

/// The median of the quotients, round by round.
double MedianRatio(const std::vector<double>& rounds, const std::vector<double>& beside);

/// Numbers for people: "9.31 GB/s", "52.1 us", "37.2 MiB".
std::string Rate(double bytes_per_second);
std::string Microseconds(double seconds);
std::string Mebibytes(double bytes);

/// Ends the process, saying what is wrong: a result is not what it has to be,
/// or there is nothing to measure with.
[[noreturn]] void Die(const std::string& what);

}  // namespace phasor::bench

#endif  // PHASOR_BENCH_REPORT_H_
