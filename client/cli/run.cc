#include "client/cli/run.h"

#include <cstdio>

#include "client/cli/arguments.h"
#include "client/cli/connection.h"
#include "client/cli/flags.h"
#include "client/cli/output.h"
#include "client/cli/verbs.h"

namespace phasor::cli {
namespace {

absl::Status Print(absl::string_view text) {
  absl::StatusOr<Output> output = Output::Open("-");
  if (!output.ok()) return output.status();
  absl::Status status = output->Write(text);
  return status.ok() ? output->Commit() : status;
}

absl::Status Run(const Arguments& arguments) {
  if (arguments.Switch("help")) return Print(HelpText(arguments.verb()));
  if (arguments.Switch("version")) return Print("phasor " PHASOR_VERSION "\n");
  switch (*arguments.verb()) {
    case Verb::kRows:
    case Verb::kExport: return RunRows(arguments);
    case Verb::kGather: return RunGather(arguments);
    case Verb::kShift: return RunShift(arguments);
    case Verb::kFreqs: return RunFreqs(arguments);
    case Verb::kTable: return RunTable(arguments);
    case Verb::kPlot: return RunPlot(arguments);
    case Verb::kDescribe: return RunDescribe(arguments);
    case Verb::kLock: return RunLock(arguments);
    case Verb::kVerify: return RunVerify(arguments);
    case Verb::kDiagnose: return RunDiagnose(arguments);
    case Verb::kTables: return RunTables(arguments);
    case Verb::kHealth: return RunHealth(arguments);
    case Verb::kInfo: return RunInfo(arguments);
  }
  return absl::InternalError("a verb without a function");
}

/// The error as one line for people.
std::string Explain(const absl::StatusOr<Arguments>& arguments, const absl::Status& status) {
  if (!arguments.ok()) return Arguments().Explain(status);
  const std::string message = arguments->Explain(status);
  const std::string no_answer = ExplainNoAnswer(*arguments, status, message);
  return no_answer.empty() ? message : no_answer;
}

}  // namespace

int ExitStatus(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk: return 0;
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kOutOfRange:
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kResourceExhausted: return 2;
    default: return 1;
  }
}

int RunTool(const std::vector<std::string>& words) {
  absl::StatusOr<Arguments> arguments = Arguments::Parse(words);
  const absl::Status status = arguments.ok() ? Run(*arguments) : arguments.status();
  if (!status.ok() && !IsReaderGone(status)) {
    std::fprintf(stderr, "phasor: %s\n", Explain(arguments, status).c_str());
  }
  return ExitStatus(status);
}

}  // namespace phasor::cli
