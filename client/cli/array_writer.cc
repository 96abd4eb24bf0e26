#include "client/cli/array_writer.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace phasor::cli {

absl::StatusOr<std::string> OutputFlag(const Arguments& arguments) {
  const absl::string_view path = arguments.Text("output").value_or("-");
  if (path.empty()) return arguments.Wrong("output", "no path given");
  return std::string(path);
}

absl::StatusOr<Destination> DestinationFromFlags(const Arguments& arguments) {
  absl::StatusOr<std::string> path = OutputFlag(arguments);
  if (!path.ok()) return path.status();
  if (const std::optional<absl::string_view> name = arguments.Text("format")) {
    const std::optional<Format> format = FormatOfName(*name);
    if (!format.has_value()) {
      return arguments.Wrong("format", "unknown format; known: table, csv, npy, raw");
    }
    return Destination{*std::move(path), *format};
  }
  const bool on_terminal = *path == "-" && StdoutIsTerminal();
  const Format format = FormatOfSuffix(*path).value_or(on_terminal ? Format::kTable : Format::kCsv);
  return Destination{*std::move(path), format};
}

ArrayWriter::ArrayWriter(Destination destination, ArrayInfo info)
    : destination_(std::move(destination)),
      info_(std::move(info)),
      pending_(FormatHead(destination_.format, info_)) {}

absl::Status ArrayWriter::Write(absl::Span<const std::byte> rows) {
  AppendRows(destination_.format, info_, rows, pending_);
  return Flush();
}

absl::Status ArrayWriter::Finish() {
  absl::Status status = Flush();
  return status.ok() ? output_->Commit() : status;
}

absl::Status ArrayWriter::Flush() {
  if (!output_.has_value()) {
    absl::StatusOr<Output> output = Output::Open(destination_.path);
    if (!output.ok()) return output.status();
    output_.emplace(*std::move(output));
  }
  absl::Status status = output_->Write(pending_);
  pending_.clear();
  return status;
}

}  // namespace phasor::cli
