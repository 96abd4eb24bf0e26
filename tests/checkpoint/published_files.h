#ifndef PHASOR_TESTS_CHECKPOINT_PUBLISHED_FILES_H_
#define PHASOR_TESTS_CHECKPOINT_PUBLISHED_FILES_H_

// Files of the kinds that were published as attacks on readers of safetensors,
// or as faults of them, and files that a reader has to take all the same.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace phasor::checkpoint {

struct PublishedFile {
  std::string name;
  std::string bytes;
  std::string fault;  // a part of the message; empty: the file is right
};

/// A file of this header, as it is, and `data_bytes` bytes of data.
std::string FileOf(absl::string_view header, std::size_t data_bytes);

std::vector<PublishedFile> PublishedFiles();

}  // namespace phasor::checkpoint

#endif  // PHASOR_TESTS_CHECKPOINT_PUBLISHED_FILES_H_
