#ifndef PHASOR_SERVER_KNOWN_SPECS_H_
#define PHASOR_SERVER_KNOWN_SPECS_H_

/// \file
/// Specs that were found good, by the bytes in which they came: a client sends
/// the same ones with every call.

#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "phasor/core/spec.h"

namespace phasor::server {

/// A bounded number of them. Decoding, checking and hashing a spec costs more
/// than all else that a small hot call needs; this saves a tenth of the call.
///
/// **Thread safety**: thread-safe.
class KnownSpecs {
 public:
  /// A longer spec is not remembered.
  static constexpr std::size_t kMaxBytes = 256;
  /// With one more, all are forgotten.
  static constexpr std::size_t kMaxSpecs = 256;

  /// What `bytes`, a message phasor.v1.TableSpec, were found to mean; or null.
  std::shared_ptr<const CanonicalSpec> Find(absl::string_view bytes) const
      ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    const auto found = specs_.find(bytes);
    return found == specs_.end() ? nullptr : found->second;
  }

  /// What was found is good no longer.
  void Forget() ABSL_LOCKS_EXCLUDED(mutex_) {
    absl::MutexLock lock(&mutex_);
    specs_.clear();
  }

  void Remember(absl::string_view bytes, std::shared_ptr<const CanonicalSpec> spec)
      ABSL_LOCKS_EXCLUDED(mutex_) {
    if (bytes.size() > kMaxBytes) return;
    absl::MutexLock lock(&mutex_);
    if (specs_.size() >= kMaxSpecs) specs_.clear();
    specs_.insert_or_assign(std::string(bytes), std::move(spec));
  }

 private:
  mutable absl::Mutex mutex_;
  absl::flat_hash_map<std::string, std::shared_ptr<const CanonicalSpec>> specs_
      ABSL_GUARDED_BY(mutex_);
};

}  // namespace phasor::server

#endif  // PHASOR_SERVER_KNOWN_SPECS_H_
