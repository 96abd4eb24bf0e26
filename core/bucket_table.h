#ifndef PHASOR_CORE_BUCKET_TABLE_H_
#define PHASOR_CORE_BUCKET_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/stop_check.h"
#include "phasor/core/local_table.h"

namespace phasor {

/// B and E of a RelativeBuckets.
constexpr std::int64_t BucketsPerSide(const RelativeBuckets& spec) {
  return spec.bidirectional ? spec.num_buckets / 2 : spec.num_buckets;
}
constexpr std::int64_t SingleBuckets(const RelativeBuckets& spec) {
  return BucketsPerSide(spec) / 2;
}

/// The table of a RelativeBuckets. Where a bucket begins, E (max_distance/E)^(j/(B-E)),
/// is compared with integers exactly: a distance that is one begins its bucket.
class BucketTable final : public LocalTable {
 public:
  /// `checked` is of a RelativeBuckets. Not to be used if `stop` stopped it.
  BucketTable(CanonicalSpec checked, StopCheck& stop);

  std::int64_t memory_bytes() const override;
  std::int64_t settled_elements() const override { return 0; }
  std::int64_t costly_elements() const override { return 0; }

 private:
  void DoRead(std::int64_t start, std::int64_t count, std::byte* out,
              StopCheck& stop) const override;
  void DoGather(absl::Span<const std::int64_t> positions, std::int64_t axes, std::byte* out,
                StopCheck& stop) const override;
  void DoGather(absl::Span<const double> positions, std::int64_t axes, std::byte* out,
                StopCheck& stop) const override;

  std::int32_t Bucket(std::int64_t position) const;

  const RelativeBuckets rules_;
  // The least distances in buckets E + 1 ... B - 1.
  std::vector<std::int64_t> begins_;
};

}  // namespace phasor

#endif  // PHASOR_CORE_BUCKET_TABLE_H_
