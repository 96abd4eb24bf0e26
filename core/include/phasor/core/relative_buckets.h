#ifndef PHASOR_CORE_RELATIVE_BUCKETS_H_
#define PHASOR_CORE_RELATIVE_BUCKETS_H_

/// \file
/// Buckets of relative positions (T5).

#include <cstdint>

namespace phasor {

/// Numbers of the buckets that relative positions fall into (Raffel et al. 2020):
/// row r, r = key's position - query's position, is one INT32, the row of the
/// model's own table of biases.
///
/// With B buckets a side (num_buckets, half of it if bidirectional, rounded down)
/// and E = floor(B/2), a distance n has bucket n if n < E, else
///     E + min(B-1-E, floor((B-E) ln(n/E) / ln(max_distance/E))).
/// Bidirectional: n = |r|, and B more where r > 0 (so bucket B is nobody's). Else
/// n = max(-r, 0): keys after the query are all in bucket 0.
struct RelativeBuckets {
  std::int64_t num_buckets = 32;    ///< 4 ... 8192, from 2 on if not bidirectional
  std::int64_t max_distance = 128;  ///< above E, at most 2^53
  bool bidirectional = true;        ///< encoders; false for decoders
  bool operator==(const RelativeBuckets&) const = default;
};

}  // namespace phasor

#endif  // PHASOR_CORE_RELATIVE_BUCKETS_H_
