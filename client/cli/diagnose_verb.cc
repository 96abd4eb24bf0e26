#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "client/cli/model_flags.h"
#include "client/cli/npy_input.h"
#include "client/cli/output.h"
#include "client/cli/progress.h"
#include "client/cli/spec_flags.h"
#include "client/cli/verbs.h"
#include "phasor/diagnose/diagnosis.h"

namespace phasor::cli {
namespace {

/// Of a pipe, whose rows are kept in memory.
constexpr std::int64_t kMostPipedBytes = std::int64_t{1} << 28;
constexpr std::int64_t kPieceBytes = std::int64_t{1} << 20;

/// The element type that a type code means. ml_dtypes' bfloat16 is saved as two
/// bytes of no known kind.
absl::StatusOr<ElementType> TypeOf(const Arguments& arguments, absl::string_view code) {
  for (const ElementType type :
       {ElementType::kFloat32, ElementType::kFloat64, ElementType::kFloat16, ElementType::kInt32}) {
    if (NpyTypeCode(type) == code) return type;
  }
  if (code == "<V2" || code == "|V2") return ElementType::kBfloat16;
  if (code == NpyTypeCode(ElementType::kBfloat16)) {
    if (arguments.Text("type") == "bfloat16") return ElementType::kBfloat16;
    return arguments.Wrong("input", "holds <u2; if these are bfloat16 say --type=bfloat16");
  }
  return arguments.Wrong(
      "input", absl::StrCat("holds ", code,
                            "; tables are <f4, <f8, <f2, bfloat16 (V2, or <u2 with "
                            "--type=bfloat16) or <i4: numpy's astype() makes one of another"));
}

struct Shape {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
};

/// Rows and columns of a shape: [rows, columns], with sizes of 1 between as buffers
/// of models have them, [1, rows, columns], [rows, 1, columns].
std::optional<Shape> ShapeOf(const std::vector<std::int64_t>& sizes, std::int64_t row_width) {
  if (sizes.empty()) return std::nullopt;
  if (sizes.size() == 1 && row_width == 1) return Shape{sizes[0], 1};
  Shape shape{1, sizes.back()};
  for (std::size_t k = 0; k + 1 < sizes.size(); ++k) {
    if (sizes[k] == 1) continue;
    if (shape.rows != 1) return std::nullopt;
    shape.rows = sizes[k];
  }
  return shape;
}

/// A pipe's bytes, read to its end.
absl::StatusOr<std::shared_ptr<std::vector<std::byte>>> ReadAll(const Arguments& arguments,
                                                                NpyInput& input,
                                                                std::int64_t bytes) {
  if (bytes > kMostPipedBytes) {
    return arguments.Wrong(
        "input", absl::StrCat("promises ", bytes, " bytes, more than the ", kMostPipedBytes,
                              " that are read of a pipe; give a file"));
  }
  auto all = std::make_shared<std::vector<std::byte>>();
  // Memory is taken as bytes come, whatever the head promises.
  while (std::ssize(*all) < bytes) {
    const auto begin = all->size();
    all->resize(begin + static_cast<std::size_t>(
                            std::min<std::int64_t>(kPieceBytes, bytes - std::ssize(*all))));
    absl::Status status = input.Read(absl::MakeSpan(*all).subspan(begin));
    if (!status.ok()) return arguments.Wrong("input", status);
  }
  absl::Status status = input.ExpectEnd();
  if (!status.ok()) return arguments.Wrong("input", status);
  return all;
}

std::string Number(double value) { return absl::StrFormat("%.9g", value); }

std::string Units(double ulps) {
  if (std::isinf(ulps)) return "not a number";
  if (ulps == 0) return "the sign of zero";
  if (ulps == 1) return "1 unit in the last place";
  return absl::StrFormat("%.0f units in the last place", ulps);
}

std::string ElementLine(absl::string_view name, const WrongElement& element) {
  return absl::StrCat(name, ": position ", element.position, " (row ", element.row, "), column ",
                      element.column, ": ", Number(element.found), ", not ", Number(element.right),
                      ": ", Units(element.ulps), "\n");
}

/// What is wrong, in one line.
std::string Verdict(const Diagnosis& diagnosis) {
  if (diagnosis.findings.empty()) return "no mistake that is known explains it";
  return absl::StrJoin(diagnosis.findings, "; ", [](std::string* out, const Finding& finding) {
    absl::StrAppend(out, finding.words);
  });
}

std::string Report(const Diagnosis& diagnosis) {
  if (diagnosis.exact) {
    return absl::StrCat("exact: all ", diagnosis.compared, " elements, bit for bit\n",
                        absl::StrJoin(diagnosis.notes, "", [](std::string* out, const auto& note) {
                          absl::StrAppend(out, "note: ", note, "\n");
                        }));
  }
  std::string text;
  for (const Finding& finding : diagnosis.findings) {
    absl::StrAppend(&text, "wrong: ", finding.words, " [", FaultName(finding.fault), "]\n");
  }
  if (diagnosis.findings.empty()) absl::StrAppend(&text, "wrong: ", Verdict(diagnosis), "\n");
  absl::StrAppend(&text, "sure: ", SurenessName(diagnosis.sureness));
  if (diagnosis.tried > 0) {
    absl::StrAppendFormat(&text,
                          "; this gives %.4g %% of %d elements tried, the right table %.4g %%",
                          100 * diagnosis.explained, diagnosis.tried, 100 * diagnosis.right);
  }
  text += "\n";
  for (const std::string& also : diagnosis.also) {
    absl::StrAppend(&text, "or: ", also.empty() ? "the right table" : also, "\n");
  }
  if (diagnosis.first.has_value()) text += ElementLine("first", *diagnosis.first);
  if (diagnosis.largest.has_value()) text += ElementLine("largest", *diagnosis.largest);
  if (diagnosis.compared > 0) {
    absl::StrAppendFormat(&text, "different: %d of %d elements\n", diagnosis.different,
                          diagnosis.compared);
  }
  for (const std::string& note : diagnosis.notes) absl::StrAppend(&text, "note: ", note, "\n");
  return text;
}

/// The table that it should be, and what it may be taken for.
absl::StatusOr<TableAndOthers> Wanted(const Arguments& arguments) {
  if (arguments.scheme() == Scheme::kConfig) return TableAndOthersFromConfig(arguments);
  absl::StatusOr<TableSpec> spec = SpecFromFlags(arguments);
  if (!spec.ok()) return spec.status();
  return TableAndOthers{*std::move(spec), {}};
}

}  // namespace

absl::Status RunDiagnose(const Arguments& arguments) {
  const absl::StatusOr<absl::string_view> path = arguments.Required("input");
  if (!path.ok()) return path.status();
  const absl::StatusOr<std::int64_t> start = IntegerFlag(arguments, "start", 0);
  if (!start.ok()) return start.status();
  const absl::StatusOr<TableAndOthers> wanted = Wanted(arguments);
  if (!wanted.ok()) return wanted.status();
  const absl::StatusOr<CanonicalSpec> spec = CanonicalSpec::Create(wanted->spec);
  if (!spec.ok()) return spec.status();

  absl::StatusOr<NpyInput> input = NpyInput::Open(std::string(*path));
  if (!input.ok()) return arguments.Wrong("input", input.status());
  const absl::StatusOr<ElementType> type = TypeOf(arguments, input->header().type_code);
  if (!type.ok()) return type.status();
  const std::string sizes = absl::StrJoin(input->header().shape, ", ");
  const std::optional<Shape> shape = ShapeOf(input->header().shape, spec->row_width());
  if (!shape.has_value()) {
    return arguments.Wrong("input", absl::StrCat("shape [", sizes,
                                                 "] is not [rows, columns]; give one table, as "
                                                 "table[0]"));
  }
  ObservedTable table{.rows = shape->rows, .columns = shape->columns, .type = *type};
  const std::int64_t row_bytes = shape->columns * ElementBytes(*type);
  if (input->is_regular()) {
    table.read = [&input, row_bytes](std::int64_t first, std::int64_t, absl::Span<std::byte> out) {
      return input->ReadAt(first * row_bytes, out);
    };
  } else {
    const auto bytes = ReadAll(arguments, *input, shape->rows * row_bytes);
    if (!bytes.ok()) return bytes.status();
    table.read = [all = *bytes, row_bytes](std::int64_t first, std::int64_t,
                                           absl::Span<std::byte> out) {
      std::copy_n(all->begin() + first * row_bytes, out.size(), out.begin());
      return absl::OkStatus();
    };
  }

  DiagnoseOptions options{.start = *start};
  for (const TableAndOthers::Other& other : wanted->others) {
    options.others.push_back({other.words, other.spec});
  }
  std::optional<Progress> progress(std::in_place, shape->rows, "rows");
  options.progress = [&progress](std::int64_t rows) { progress->Advance(rows); };
  const absl::StatusOr<Diagnosis> diagnosis = Diagnose(*spec, table, options);
  progress.reset();
  if (!diagnosis.ok()) return arguments.Wrong("input", diagnosis.status());

  absl::StatusOr<Output> output = Output::Open("-");
  if (!output.ok()) return output.status();
  absl::Status status =
      output->Write(absl::StrCat(*path, ": ", absl::AsciiStrToLower(ElementTypeName(*type)), " [",
                                 sizes, "], from position ", *start, " on\n", Report(*diagnosis)));
  if (status.ok()) status = output->Commit();
  if (!status.ok() || diagnosis->exact) return status;
  return absl::FailedPreconditionError(absl::StrCat(*path,
                                                    ": not this table: ", Verdict(*diagnosis), " (",
                                                    SurenessName(diagnosis->sureness), ")"));
}

}  // namespace phasor::cli
