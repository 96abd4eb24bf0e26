// libFuzzer's function for the reader of checkpoints: whatever the file holds,
// it is refused, or its tensors are exactly its data. ./dev fuzz runs it;
// safetensors_replay.cc runs it without libFuzzer.

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "checkpoint/position_table.h"
#include "checkpoint/safetensors.h"

namespace phasor::checkpoint {
namespace {

void Check(bool holds) {
  if (!holds) std::abort();
}

// Ends in the middle of nothing: a byte read beyond it is seen.
std::unique_ptr<char[]> ExactCopy(const void* data, std::size_t size) {
  std::unique_ptr<char[]> copy(new char[size]);
  if (size > 0) std::memcpy(copy.get(), data, size);
  return copy;
}

void CheckTensors(const std::vector<Tensor>& tensors, const char* file, std::size_t size) {
  std::uint64_t end = tensors.empty() ? size : tensors.front().begin;
  for (const Tensor& tensor : tensors) {
    Check(tensor.begin == end && tensor.end >= tensor.begin && tensor.end <= size);
    end = tensor.end;
    Check(!tensor.Description().empty());
    if (!tensor.element_type().has_value()) continue;
    const auto elements = ExactCopy(file + tensor.begin, tensor.bytes());
    const ElementSurvey survey = SurveyElements(
        *tensor.element_type(),
        absl::MakeConstSpan(reinterpret_cast<const std::byte*>(elements.get()), tensor.bytes()));
    Check(survey.nans + survey.infinities <= static_cast<std::int64_t>(tensor.bytes()));
  }
  Check(end == size);
}

// The file as a file.
void CheckPositionTable(const void* data, std::size_t size) {
  static const int descriptor = memfd_create("checkpoint", MFD_CLOEXEC);
  static const std::string path = absl::StrCat("/proc/self/fd/", descriptor);
  Check(ftruncate(descriptor, 0) == 0);
  Check(pwrite(descriptor, data, size, 0) == static_cast<ssize_t>(size));
  const auto table =
      LoadPositionTable(path, "",
                        [](const std::string&, std::int64_t rows,
                           std::int64_t) -> absl::StatusOr<std::int64_t> { return rows % 3; });
  if (!table.ok()) {
    Check(table.status().message().size() < 8192);
    return;
  }
  Check(table->max_positions >= 1 && table->width >= 1);
  Check(static_cast<std::uint64_t>(table->max_positions * table->width *
                                   ElementBytes(table->type)) == table->bytes);
  Check(table->bytes < size);
}

}  // namespace
}  // namespace phasor::checkpoint

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace checkpoint = phasor::checkpoint;
  const auto file = checkpoint::ExactCopy(data, size);
  const auto tensors =
      checkpoint::ReadTensors(size, [&](std::uint64_t offset, absl::Span<char> out) {
        checkpoint::Check(offset <= size && out.size() <= size - offset);
        std::memcpy(out.data(), file.get() + offset, out.size());
        return absl::OkStatus();
      });
  if (tensors.ok()) {
    checkpoint::CheckTensors(*tensors, file.get(), size);
    checkpoint::CheckPositionTable(data, size);
  } else {
    checkpoint::Check(!tensors.status().message().empty());
    checkpoint::Check(tensors.status().message().size() < 2048);
  }
  return 0;
}
