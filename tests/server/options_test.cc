#include "server/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_split.h"

namespace phasor::server {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

Options Parsed(const std::vector<std::string>& arguments) {
  absl::StatusOr<CommandLine> line = ParseCommandLine(arguments);
  EXPECT_TRUE(line.ok()) << line.status();
  return line.ok() ? line->options : Options();
}

std::string Fault(const std::vector<std::string>& arguments) {
  absl::StatusOr<CommandLine> line = ParseCommandLine(arguments);
  EXPECT_EQ(line.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(line.status().message());
}

TEST(Options, HaveTheDocumentedDefaults) {
  const Options options = Parsed({});
  EXPECT_THAT(options.listen, ElementsAre("127.0.0.1:50051"));
  EXPECT_EQ(options.cache_bytes, 268435456);
  EXPECT_EQ(options.max_message_bytes, 4194304);
  EXPECT_EQ(options.max_queued_requests, 1024);
  EXPECT_FALSE(options.insecure_network);
  EXPECT_EQ(options.drain_delay, absl::ZeroDuration());
  EXPECT_EQ(options.drain_timeout, absl::Seconds(30));
}

TEST(Options, ReadEveryFlag) {
  const Options options = Parsed({"--listen=127.0.0.1:0,unix:/tmp/a", "--listen", "[::1]:7",
                                  "--cache_bytes=0", "--max_message_bytes=65536", "--threads=3",
                                  "--max_queued_requests=010", "--insecure_network",
                                  "--drain_delay=500ms", "--drain_timeout=0", "--log_level=warn"});
  EXPECT_THAT(options.listen, ElementsAre("127.0.0.1:0", "unix:/tmp/a", "[::1]:7"));
  EXPECT_EQ(options.cache_bytes, 0);
  EXPECT_EQ(options.max_message_bytes, 65536);
  EXPECT_EQ(options.threads, 3);
  EXPECT_EQ(options.max_queued_requests, 10);
  EXPECT_TRUE(options.insecure_network);
  EXPECT_EQ(options.drain_delay, absl::Milliseconds(500));
  EXPECT_EQ(options.drain_timeout, absl::ZeroDuration());
  EXPECT_EQ(options.log_level, "warn");
}

TEST(Options, ReadTables) {
  const Options options = Parsed(
      {"--table=a=/m/a", "--table=b=/m/b#wpe,row_offset=2", "--table_dir=/m", "--table_poll=1m"});
  EXPECT_THAT(options.tables.tables, ElementsAre(TableSource{"a", "/m/a", "", std::nullopt},
                                                 TableSource{"b", "/m/b", "wpe", 2}));
  EXPECT_EQ(options.tables.directory, "/m");
  EXPECT_EQ(options.table_poll, absl::Minutes(1));
  EXPECT_TRUE(Parsed({}).tables.empty());
  EXPECT_THAT(Fault({"--table=a", "--table==b", "--table_dir", ""}),
              AllOf(HasSubstr("--table=a: has no '='"), HasSubstr("--table==b: the name"),
                    HasSubstr("--table_dir=: names no directory")));
}

TEST(Options, ReadASwitchWithAValue) {
  EXPECT_TRUE(Parsed({"--insecure_network=true"}).insecure_network);
  EXPECT_FALSE(Parsed({"--insecure_network=false"}).insecure_network);
  EXPECT_THAT(Fault({"--insecure_network=yes"}),
              AllOf(HasSubstr("--insecure_network"), HasSubstr("yes")));
}

TEST(Options, RefuseNumbersThatAreNotInRangeNamingFlagAndValue) {
  for (const std::string value : {"99999999999999999999", "0x10", "1e6", "-1", "", "1.5", "4M"}) {
    EXPECT_THAT(Fault({"--cache_bytes=" + value}),
                AllOf(HasSubstr("--cache_bytes"), HasSubstr(value)));
  }
  EXPECT_THAT(Fault({"--max_message_bytes=65535"}), HasSubstr("65536 ... 1073741824"));
  EXPECT_THAT(Fault({"--max_queued_requests=0"}), HasSubstr("--max_queued_requests=0"));
}

TEST(Options, RefuseDurationsThatAreNone) {
  for (const std::string value : {"5", "-1s", "inf", "25h", "soon"}) {
    EXPECT_THAT(Fault({"--drain_delay=" + value}),
                AllOf(HasSubstr("--drain_delay"), HasSubstr(value)));
  }
}

TEST(Options, RefuseAWordBehindAValue) {
  for (const char* word : {"extra", "unix:/tmp/x"}) {
    EXPECT_THAT(Fault({"--listen=127.0.0.1:0", word}), HasSubstr(std::string(word) + ": no such"));
    EXPECT_THAT(Fault({"--listen", "127.0.0.1:0", word}),
                HasSubstr(std::string(word) + ": no such"));
  }
}

TEST(Options, RefuseARepeatedFlag) {
  EXPECT_THAT(Fault({"--threads=1", "--threads=2"}),
              AllOf(HasSubstr("--threads"), HasSubstr("1, 2")));
  EXPECT_THAT(Fault({"--insecure_network", "--insecure_network"}), HasSubstr("--insecure_network"));
}

TEST(Options, RefuseWhatTheyDoNotKnow) {
  EXPECT_THAT(Fault({"--cache_byte=1"}), HasSubstr("--cache_byte=1"));
  EXPECT_THAT(Fault({"serve"}), HasSubstr("serve"));
  EXPECT_THAT(Fault({"--threads"}), HasSubstr("--threads"));
  EXPECT_THAT(Fault({"--log_level=loud"}), HasSubstr("--log_level=loud"));
  EXPECT_THAT(Fault({"--listen=,"}), HasSubstr("--listen"));
}

TEST(Options, TellAllFaultsAtOnceALineEach) {
  const std::vector<std::string> lines =
      absl::StrSplit(Fault({"--threads=x", "--bogus", "--drain_delay=y"}), '\n');
  EXPECT_THAT(lines, SizeIs(3));
}

TEST(Options, AnswerHelpAndVersion) {
  EXPECT_THAT(ParseCommandLine({"--help"})->text,
              AllOf(HasSubstr("--cache_bytes"), HasSubstr("--drain_timeout"),
                    HasSubstr("--insecure_network")));
  EXPECT_EQ(ParseCommandLine({"--version"})->text, "phasord " PHASOR_VERSION "\n");
}

}  // namespace
}  // namespace phasor::server
