// Learned tables from files: what is served, what is refused, and what happens
// to those who hold a table whose file is replaced.

#include "server/learned_tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "checkpoint/safetensors_writer.h"
#include "tests/checkpoint/temporary_folder.h"
#include "tests/server/running_server.h"

namespace phasor::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

constexpr std::int64_t kRows = 50;
constexpr std::int64_t kWidth = 8;

// Element (row, column) is first + row + column / 8: exact in every type.
std::vector<float> Weights(float first, std::int64_t rows = kRows) {
  std::vector<float> weights;
  for (std::int64_t i = 0; i < rows * kWidth; ++i) {
    weights.push_back(first + static_cast<float>(i) / 8);
  }
  return weights;
}

std::string Bytes(const std::vector<float>& elements) {
  return std::string(reinterpret_cast<const char*>(elements.data()), elements.size() * 4);
}

// Writes a file of one tensor, by renaming.
void WriteTable(const std::string& path, const std::vector<float>& weights) {
  const checkpoint::NewTensor tensor = {
      "wpe.weight",
      ElementType::kFloat32,
      {static_cast<std::int64_t>(weights.size()) / kWidth, kWidth},
      {reinterpret_cast<const std::byte*>(weights.data()), weights.size() * 4}};
  ASSERT_TRUE(checkpoint::WriteSafetensors(path, absl::MakeConstSpan(&tensor, 1)).ok());
}

v1::TableSpec Named(const std::string& name) {
  v1::TableSpec spec;
  spec.mutable_learned_table()->set_name(name);
  return spec;
}

class LearnedTablesTest : public ::testing::Test {
 protected:
  LearnedTablesTest() { WriteTable(path_, Weights(1)); }

  Options TableOptions() const {
    Options options = TestOptions();
    options.tables.tables = {{.name = "t", .path = path_}};
    return options;
  }

  static v1::GetTableResponse Table(RunningServer* server, const v1::TableSpec& spec) {
    v1::GetTableRequest request;
    *request.mutable_spec() = spec;
    grpc::ClientContext context;
    v1::GetTableResponse response;
    const grpc::Status status = (*server)->GetTable(&context, request, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response;
  }
  static grpc::Status TableStatus(RunningServer* server, const v1::TableSpec& spec) {
    v1::GetTableRequest request;
    *request.mutable_spec() = spec;
    grpc::ClientContext context;
    v1::GetTableResponse response;
    return (*server)->GetTable(&context, request, &response);
  }
  static std::string RowsOf(RunningServer* server, const v1::TableSpec& spec, std::int64_t start,
                            std::int64_t count) {
    v1::Rows rows;
    const grpc::Status status =
        GetRows(server, RangeRequest<v1::GetRowsRequest>(spec, start, count), &rows);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return rows.data();
  }

  const TemporaryFolder folder_;
  const std::string path_ = folder_ / "t.safetensors";
};

TEST_F(LearnedTablesTest, AreServedByTheirNameAndByWhatGetTableGives) {
  RunningServer server(TableOptions());
  const v1::GetTableResponse table = Table(&server, Named("t"));
  EXPECT_EQ(table.row_count(), kRows);
  EXPECT_EQ(table.first_position(), 0);
  EXPECT_EQ(table.last_position(), kRows - 1);
  EXPECT_EQ(table.row_bytes(), 4 * kWidth);
  EXPECT_EQ(table.nan_count(), 0);
  EXPECT_FALSE(table.has_attention_factor());
  EXPECT_EQ(table.spec().learned_table().name(), "t");
  EXPECT_EQ(table.spec().learned_table().max_positions(), kRows);
  EXPECT_EQ(table.spec().learned_table().width(), kWidth);
  EXPECT_EQ(SpecOf(table.spec()).fingerprint(), table.fingerprint());
  const std::string all = Bytes(Weights(1));
  for (const v1::TableSpec& spec : {Named("t"), table.spec()}) {
    ExpectSameRows(RowsOf(&server, spec, 0, kRows), all);
    ExpectSameRows(RowsOf(&server, spec, 49, 1), all.substr(all.size() - 32));
    std::vector<v1::Rows> messages;
    ASSERT_TRUE(ReadRows(&server, RangeRequest<v1::ReadRowsRequest>(spec, 7, 40), &messages).ok());
    ASSERT_EQ(messages.size(), 1U);
    EXPECT_EQ(messages[0].fingerprint(), table.fingerprint());
    ExpectSameRows(messages[0].data(), all.substr(7 * 32, 40 * 32));
  }
}

TEST_F(LearnedTablesTest, GatherGivesRowsCachedOrNot) {
  RunningServer server(TableOptions());
  const std::string all = Bytes(Weights(1));
  for (int time = 0; time < 2; ++time) {
    v1::GatherRowsRequest request;
    *request.mutable_spec() = Named("t");
    for (const std::int64_t position : {49, 0, 0}) request.add_positions(position);
    grpc::ClientContext context;
    v1::GatherRowsResponse response;
    ASSERT_TRUE(server->GatherRows(&context, request, &response).ok());
    ExpectSameRows(response.rows().data(),
                   all.substr(49 * 32) + all.substr(0, 32) + all.substr(0, 32));
    RowsOf(&server, Named("t"), 0, kRows);
  }
}

TEST_F(LearnedTablesTest, EndAtTheirLastRow) {
  RunningServer server(TableOptions());
  v1::Rows rows;
  using Request = v1::GetRowsRequest;
  ExpectError(GetRows(&server, RangeRequest<Request>(Named("t"), 50, 1), &rows),
              grpc::StatusCode::OUT_OF_RANGE, "start_position");
  ExpectError(GetRows(&server, RangeRequest<Request>(Named("t"), -1, 1), &rows),
              grpc::StatusCode::OUT_OF_RANGE, "start_position");
  ExpectError(GetRows(&server, RangeRequest<Request>(Named("t"), 0, 51), &rows),
              grpc::StatusCode::OUT_OF_RANGE, "row_count");
  EXPECT_TRUE(GetRows(&server, RangeRequest<Request>(Named("t"), 50, 0), &rows).ok());
}

TEST_F(LearnedTablesTest, HaveNeitherFrequenciesNorShiftsNorRealPositions) {
  RunningServer server(TableOptions());
  {
    v1::GetFrequenciesRequest request;
    *request.mutable_spec() = Named("t");
    grpc::ClientContext context;
    v1::GetFrequenciesResponse response;
    ExpectError(server->GetFrequencies(&context, request, &response),
                grpc::StatusCode::INVALID_ARGUMENT, "spec");
  }
  {
    v1::ShiftRowsRequest request;
    *request.mutable_spec() = Named("t");
    request.set_steps(1);
    grpc::ClientContext context;
    v1::ShiftRowsResponse response;
    ExpectError(server->ShiftRows(&context, request, &response), grpc::StatusCode::INVALID_ARGUMENT,
                "spec");
  }
  v1::GatherRowsRequest request;
  *request.mutable_spec() = Named("t");
  request.add_real_positions(0.5);
  grpc::ClientContext context;
  v1::GatherRowsResponse response;
  ExpectError(server->GatherRows(&context, request, &response), grpc::StatusCode::INVALID_ARGUMENT,
              "real_positions");
}

TEST_F(LearnedTablesTest, NamesThatAreNotLoadedAreNotFound) {
  RunningServer server(TableOptions());
  ExpectError(TableStatus(&server, Named("u")), grpc::StatusCode::NOT_FOUND,
              "spec.learned_table.name");
  ExpectError(TableStatus(&server, Named("")), grpc::StatusCode::INVALID_ARGUMENT,
              "spec.learned_table.name");
  ExpectError(TableStatus(&server, Named(std::string(100'000, 'x'))),
              grpc::StatusCode::INVALID_ARGUMENT, "spec.learned_table.name");
  v1::TableSpec none;
  none.mutable_learned_table();
  ExpectError(TableStatus(&server, none), grpc::StatusCode::INVALID_ARGUMENT,
              "spec.learned_table.name");
}

TEST_F(LearnedTablesTest, WhatIsFilledInHasToBeWhatIsHeld) {
  RunningServer server(TableOptions());
  const v1::TableSpec good = Table(&server, Named("t")).spec();
  const auto refused = [&](auto change, grpc::StatusCode code, const std::string& field) {
    v1::TableSpec spec = good;
    change(spec.mutable_learned_table());
    ExpectError(TableStatus(&server, spec), code, field);
  };
  using L = v1::LearnedTable*;
  constexpr auto kPrecondition = grpc::StatusCode::FAILED_PRECONDITION;
  constexpr auto kInvalid = grpc::StatusCode::INVALID_ARGUMENT;
  refused([](L l) { l->set_content_sha256(std::string(64, '0')); }, kPrecondition,
          "spec.learned_table.content_sha256");
  refused([](L l) { l->set_max_positions(49); }, kPrecondition, "spec.learned_table.max_positions");
  refused([](L l) { l->set_width(4); }, kPrecondition, "spec.learned_table.width");
  refused([](L l) { l->clear_width(); }, kInvalid, "spec.learned_table");
  refused([](L l) { l->clear_content_sha256(); }, kInvalid, "spec.learned_table");
  refused([](L l) { l->set_content_sha256(""); }, kInvalid, "spec.learned_table.content_sha256");
}

TEST_F(LearnedTablesTest, ATypeTooNarrowForANumberIsRefusedNamingItsPlace) {
  std::vector<float> weights = Weights(0);
  weights[3 * kWidth + 5] = -65520;
  weights[7] = std::nanf("");
  weights[9] = INFINITY;
  WriteTable(path_, weights);
  RunningServer server(TableOptions());
  const v1::GetTableResponse table = Table(&server, Named("t"));
  EXPECT_EQ(table.nan_count(), 1);
  EXPECT_EQ(table.infinity_count(), 1);
  ExpectSameRows(RowsOf(&server, Named("t"), 0, kRows), Bytes(weights));
  v1::TableSpec half = Named("t");
  half.set_element_type(v1::ELEMENT_TYPE_FLOAT16);
  const grpc::Status status = TableStatus(&server, half);
  ExpectError(status, grpc::StatusCode::OUT_OF_RANGE, "spec.element_type");
  EXPECT_THAT(status.error_message(), HasSubstr("row 3 column 5 of \"t\" holds -65520"));
  half.set_element_type(v1::ELEMENT_TYPE_BFLOAT16);
  EXPECT_TRUE(TableStatus(&server, half).ok());
}

TEST_F(LearnedTablesTest, AreNoIntegers) {
  RunningServer server(TableOptions());
  v1::TableSpec integers = Named("t");
  integers.set_element_type(v1::ELEMENT_TYPE_INT32);
  const grpc::Status status = TableStatus(&server, integers);
  ExpectError(status, grpc::StatusCode::INVALID_ARGUMENT, "spec.element_type");
  EXPECT_THAT(status.error_message(), HasSubstr("INT32 is no type of learned_table elements"));
}

TEST_F(LearnedTablesTest, AreListedOpenedOrNotPageByPage) {
  WriteTable(folder_ / "u.safetensors", Weights(2));
  Options options = TestOptions();
  options.tables.directory = folder_.path();
  RunningServer server(options);
  RowsOf(&server, SinusoidalProto(4), 0, 1);
  RowsOf(&server, Named("t"), 0, 1);
  std::vector<std::string> names;
  std::vector<std::string> fingerprints;
  v1::ListTablesRequest request;
  request.set_page_size(1);
  do {
    grpc::ClientContext context;
    v1::ListTablesResponse page;
    ASSERT_TRUE(server->ListTables(&context, request, &page).ok());
    ASSERT_EQ(page.tables_size(), 1);
    names.push_back(page.tables(0).spec().learned_table().name());
    fingerprints.push_back(page.tables(0).fingerprint());
    EXPECT_EQ(page.tables(0).cached_blocks(), names.back() == "u" ? 0 : 1);
    request.set_page_token(page.next_page_token());
  } while (!request.page_token().empty());
  EXPECT_THAT(names, UnorderedElementsAre("", "t", "u"));
  EXPECT_TRUE(std::is_sorted(fingerprints.begin(), fingerprints.end()));
}

TEST_F(LearnedTablesTest, AServerThatCannotLoadATableDoesNotStart) {
  Options options = TableOptions();
  options.tables.tables[0].path = folder_ / "absent";
  const auto server = Server::Start(options);
  EXPECT_EQ(server.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(server.status().message()),
              AllOf(HasSubstr("table \"t\""), HasSubstr(folder_ / "absent")));
}

TEST_F(LearnedTablesTest, ADirectoryGivesATableForEachOfItsFiles) {
  WriteTable(folder_ / "b.safetensors", Weights(2));
  folder_.Write("notes.txt", "no table");
  folder_.Write("config.json",
                R"({"model_type":"opt","max_position_embeddings":48,"hidden_size":8})");
  LearnedTables tables(TableSources{.tables = {}, .directory = folder_.path()});
  ASSERT_TRUE(tables.Reload().ok());
  ASSERT_EQ(tables.All().size(), 2U);
  EXPECT_EQ(tables.Find("b")->rows.row_offset, 2);
  EXPECT_EQ(tables.Find("t")->rows.max_positions, 48);
}

TEST_F(LearnedTablesTest, ARowOffsetThatIsGivenCountsBeforeTheConfiguration) {
  folder_.Write("config.json",
                R"({"model_type":"opt","max_position_embeddings":48,"hidden_size":8})");
  LearnedTables tables(
      TableSources{.tables = {{.name = "t", .path = path_, .row_offset = 1}}, .directory = ""});
  ASSERT_TRUE(tables.Reload().ok());
  EXPECT_EQ(tables.Find("t")->rows.row_offset, 1);
}

TEST_F(LearnedTablesTest, AConfigurationThatDoesNotFitIsRefusedWithTheWayOut) {
  LearnedTables tables(TableSources{.tables = {{.name = "t", .path = path_}}, .directory = ""});
  const auto fault = [&](const std::string& config) {
    folder_.Write("config.json", config);
    return std::string(tables.Reload().status().message());
  };
  EXPECT_THAT(
      fault(R"({"model_type":"opt","max_position_embeddings":50,"hidden_size":8})"),
      AllOf(HasSubstr(folder_ / "config.json"), HasSubstr("\"wpe.weight\""), HasSubstr("[52, 8]"),
            HasSubstr("[50, 8]"), HasSubstr("--table"), HasSubstr("row_offset")));
  EXPECT_THAT(fault(R"({"model_type":"tomorrow"})"),
              AllOf(HasSubstr("\"tomorrow\" is not known"), HasSubstr("row_offset")));
  EXPECT_THAT(fault("{"), HasSubstr("is no JSON object"));
  EXPECT_THAT(fault(std::string((1 << 20) + 1, ' ')), HasSubstr("1048577 bytes"));
}

TEST_F(LearnedTablesTest, NamesThatAreNoneOrComeTwiceAreRefused) {
  const auto fault = [](TableSources sources) {
    LearnedTables tables(std::move(sources));
    return std::string(tables.Reload().status().message());
  };
  EXPECT_THAT(fault({.tables = {{.name = "t", .path = path_}}, .directory = folder_.path()}),
              HasSubstr("the name \"t\" comes twice"));
  WriteTable(folder_ / "a b.safetensors", Weights(2));
  EXPECT_THAT(fault({.tables = {}, .directory = folder_.path()}),
              AllOf(HasSubstr("a b.safetensors: the name \"a b\" is not 1 ... 128")));
  const TemporaryFolder empty;
  EXPECT_THAT(fault({.tables = {}, .directory = empty.path()}),
              HasSubstr("holds no file NAME.safetensors"));
  EXPECT_THAT(fault({.tables = {}, .directory = empty / "absent"}), HasSubstr("cannot be listed"));
}

// ---------------------------------------------------------------- reload

TEST_F(LearnedTablesTest, TheOldFingerprintNeverGetsNewRows) {
  RunningServer server(TableOptions());
  const v1::GetTableResponse old_table = Table(&server, Named("t"));
  const std::string old_rows = RowsOf(&server, old_table.spec(), 0, kRows);
  WriteTable(path_, Weights(3));
  ASSERT_TRUE(server.server().ReloadTables().ok());

  const v1::GetTableResponse new_table = Table(&server, Named("t"));
  EXPECT_NE(new_table.fingerprint(), old_table.fingerprint());
  ExpectSameRows(RowsOf(&server, Named("t"), 0, kRows), Bytes(Weights(3)));
  // By the old spec, and by the name with the old fingerprint.
  v1::Rows rows;
  ExpectError(GetRows(&server, RangeRequest<v1::GetRowsRequest>(old_table.spec(), 0, kRows), &rows),
              grpc::StatusCode::FAILED_PRECONDITION, "spec.learned_table.content_sha256");
  auto request = RangeRequest<v1::GetRowsRequest>(Named("t"), 0, kRows);
  request.set_expected_fingerprint(old_table.fingerprint());
  ExpectError(GetRows(&server, request, &rows), grpc::StatusCode::FAILED_PRECONDITION,
              "expected_fingerprint");
  std::vector<v1::Rows> messages;
  ExpectError(
      ReadRows(&server, RangeRequest<v1::ReadRowsRequest>(old_table.spec(), 0, 1), &messages),
      grpc::StatusCode::FAILED_PRECONDITION, "spec.learned_table.content_sha256");
  EXPECT_TRUE(messages.empty());

  // The same rows again are the same table again.
  WriteTable(path_, Weights(1));
  ASSERT_TRUE(server.server().ReloadTables().ok());
  EXPECT_EQ(Table(&server, Named("t")).fingerprint(), old_table.fingerprint());
  ExpectSameRows(RowsOf(&server, old_table.spec(), 0, kRows), old_rows);
}

TEST_F(LearnedTablesTest, RowsAskedForByNameBeforeAReloadAreNotRemembered) {
  RunningServer server(TableOptions());
  for (const float first : {1.0F, 4.0F, 5.0F}) {
    WriteTable(path_, Weights(first));
    ASSERT_TRUE(server.server().ReloadTables().ok());
    for (int time = 0; time < 3; ++time) {
      ExpectSameRows(RowsOf(&server, Named("t"), 2, 5),
                     Bytes(Weights(first)).substr(2 * 32, 5 * 32));
    }
  }
}

TEST_F(LearnedTablesTest, AStreamUnderWayEndsWithTheRowsThatItBeganWith) {
  constexpr std::int64_t kMany = 262'144;  // 8 MiB: more than a connection buffers
  WriteTable(path_, Weights(1, kMany));
  RunningServer server(TableOptions());
  const std::string fingerprint = Table(&server, Named("t")).fingerprint();
  grpc::ClientContext context;
  auto reader = server->ReadRows(&context, RangeRequest<v1::ReadRowsRequest>(Named("t"), 0, kMany));
  std::string rows;
  v1::ReadRowsResponse response;
  ASSERT_TRUE(reader->Read(&response));
  WriteTable(path_, Weights(2, kMany));
  ASSERT_TRUE(server.server().ReloadTables().ok());
  do {
    EXPECT_EQ(response.rows().fingerprint(), fingerprint);
    rows += response.rows().data();
  } while (reader->Read(&response));
  EXPECT_TRUE(reader->Finish().ok());
  ExpectSameRows(rows, Bytes(Weights(1, kMany)));
}

TEST_F(LearnedTablesTest, WhatWasReplacedIsLetGo) {
  RunningServer server(TableOptions());
  RowsOf(&server, Named("t"), 0, kRows);
  const std::int64_t bytes = server.server().cache().live_bytes();
  EXPECT_GT(bytes, 0);
  for (int time = 0; time < 20; ++time) {
    WriteTable(path_, Weights(static_cast<float>(10 + time)));
    ASSERT_TRUE(server.server().ReloadTables().ok());
    RowsOf(&server, Named("t"), 0, kRows);
    EXPECT_LE(server.server().cache().live_bytes(), bytes + 512);
  }
}

TEST_F(LearnedTablesTest, AReloadThatFailsChangesNothingAtAll) {
  const std::string other = folder_ / "u.safetensors";
  WriteTable(other, Weights(2));
  Options options = TableOptions();
  options.tables.tables.push_back({.name = "u", .path = other});
  RunningServer server(options);
  const std::string fingerprint = Table(&server, Named("t")).fingerprint();
  // A new file that is right, and one that is not.
  WriteTable(path_, Weights(5));
  folder_.Write("u.safetensors", "broken");
  const absl::Status status = server.server().ReloadTables();
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("table \"u\""), HasSubstr(other), HasSubstr("has 6 bytes")));
  EXPECT_EQ(Table(&server, Named("t")).fingerprint(), fingerprint);
  ExpectSameRows(RowsOf(&server, Named("t"), 0, kRows), Bytes(Weights(1)));
  ExpectSameRows(RowsOf(&server, Named("u"), 0, kRows), Bytes(Weights(2)));

  WriteTable(other, Weights(6));
  ASSERT_TRUE(server.server().ReloadTables().ok());
  ExpectSameRows(RowsOf(&server, Named("t"), 0, kRows), Bytes(Weights(5)));
  ExpectSameRows(RowsOf(&server, Named("u"), 0, kRows), Bytes(Weights(6)));
}

TEST_F(LearnedTablesTest, FilesThatAreCutOrRemovedWhileServedChangeNoRow) {
  RunningServer server(TableOptions());
  std::filesystem::resize_file(path_, 100);
  ExpectSameRows(RowsOf(&server, Named("t"), 0, kRows), Bytes(Weights(1)));
  std::filesystem::remove(path_);
  ExpectSameRows(RowsOf(&server, Named("t"), 0, kRows), Bytes(Weights(1)));
  EXPECT_FALSE(server.server().ReloadTables().ok());
  ExpectSameRows(RowsOf(&server, Named("t"), 0, kRows), Bytes(Weights(1)));
}

TEST_F(LearnedTablesTest, PollingLoadsAFileOnceItIsReplacedAndAtRest) {
  RunningServer server(TableOptions());
  LearnedTables tables(TableOptions().tables);
  ASSERT_TRUE(tables.Reload().ok());
  EXPECT_FALSE(tables.ShouldReload());
  WriteTable(path_, Weights(2));
  EXPECT_FALSE(tables.ShouldReload());  // it may be being written
  WriteTable(path_, Weights(3));
  EXPECT_FALSE(tables.ShouldReload());  // and it was
  EXPECT_TRUE(tables.ShouldReload());
  ASSERT_TRUE(tables.Reload().ok());
  EXPECT_FALSE(tables.ShouldReload());

  // A broken file is tried once, and again when it is another one.
  folder_.Write("t.safetensors", "broken");
  EXPECT_FALSE(tables.ShouldReload());
  EXPECT_TRUE(tables.ShouldReload());
  EXPECT_FALSE(tables.Reload().ok());
  EXPECT_FALSE(tables.ShouldReload());
  EXPECT_FALSE(tables.ShouldReload());

  // A configuration that comes or goes counts too.
  WriteTable(path_, Weights(3));
  folder_.Write("config.json", R"({"row_offset":1})");
  EXPECT_FALSE(tables.ShouldReload());
  EXPECT_TRUE(tables.ShouldReload());
  ASSERT_TRUE(tables.Reload().ok());
  EXPECT_EQ(tables.Find("t")->rows.max_positions, kRows - 1);
}

// ---------------------------------------------------------------- --table

TEST(ParseTableSourceTest, ReadsItsParts) {
  using Source = TableSource;
  EXPECT_EQ(ParseTableSource("gpt2=/m/model.safetensors").value(),
            (Source{"gpt2", "/m/model.safetensors", "", std::nullopt}));
  EXPECT_EQ(ParseTableSource("o/pt=a=b#wpe.weight,row_offset=2").value(),
            (Source{"o/pt", "a=b", "wpe.weight", 2}));
  EXPECT_EQ(ParseTableSource("a=b,c,row_offset=0").value(), (Source{"a", "b,c", "", 0}));
}

TEST(ParseTableSourceTest, RefusesWhatIsNone) {
  const auto fault = [](absl::string_view text) {
    return std::string(ParseTableSource(text).status().message());
  };
  EXPECT_THAT(fault("gpt2"), HasSubstr("has no '='"));
  EXPECT_THAT(fault("=x"), HasSubstr("the name \"\" is not"));
  EXPECT_THAT(fault("a b=x"), HasSubstr("the name \"a b\" is not"));
  EXPECT_THAT(fault("a="), HasSubstr("names no file"));
  EXPECT_THAT(fault("a=#t"), HasSubstr("names no file"));
  EXPECT_THAT(fault("a=x#"), HasSubstr("names no tensor"));
  for (const char* number : {"-1", "", "1.5", "0x1", "99999999999999999999"}) {
    EXPECT_THAT(fault(absl::StrCat("a=x,row_offset=", number)), HasSubstr("is no number of rows"));
  }
}

}  // namespace
}  // namespace phasor::server
