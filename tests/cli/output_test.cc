#include "client/cli/output.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "tests/cli/temporary_directory.h"

namespace phasor::cli {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Output, AppearsWhole) {
  TemporaryDirectory directory;
  {
    auto output = Output::Open(directory.Path("out"));
    ASSERT_TRUE(output.ok()) << output.status();
    EXPECT_TRUE(output->Write("one ").ok());
    EXPECT_TRUE(output->Write("two").ok());
    EXPECT_FALSE(std::filesystem::exists(directory.Path("out")));
    EXPECT_TRUE(output->Commit().ok());
  }
  EXPECT_EQ(directory.Read("out"), "one two");
  EXPECT_THAT(directory.List(), ElementsAre("out"));
}

TEST(Output, LeavesNothingWithoutCommit) {
  TemporaryDirectory directory;
  directory.Write("out", "before");
  {
    auto output = Output::Open(directory.Path("out"));
    ASSERT_TRUE(output.ok()) << output.status();
    EXPECT_TRUE(output->Write("after").ok());
  }
  EXPECT_EQ(directory.Read("out"), "before");
  EXPECT_THAT(directory.List(), ElementsAre("out"));
}

TEST(Output, LeavesNothingWhenASignalEndsTheProcess) {
  TemporaryDirectory directory;
  for (int signal_number : {SIGINT, SIGTERM, SIGHUP}) {
    const pid_t child = fork();
    if (child == 0) {
      auto output = Output::Open(directory.Path("out"));
      raise(signal_number);
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status));
    EXPECT_EQ(WTERMSIG(status), signal_number);
    EXPECT_THAT(directory.List(), IsEmpty());
  }
}

TEST(Output, KeepsTheModeOfAFileAndTheUmaskOfANewOne) {
  TemporaryDirectory directory;
  chmod(directory.Write("old", "").c_str(), 0604);
  const mode_t mask = umask(027);
  for (const char* name : {"old", "new"}) {
    auto output = Output::Open(directory.Path(name));
    ASSERT_TRUE(output.ok()) << output.status();
    EXPECT_TRUE(output->Commit().ok());
  }
  umask(mask);
  struct stat file {};
  stat(directory.Path("old").c_str(), &file);
  EXPECT_EQ(file.st_mode & 0777, 0604U);
  stat(directory.Path("new").c_str(), &file);
  EXPECT_EQ(file.st_mode & 0777, 0640U);
}

TEST(Output, FollowsALink) {
  TemporaryDirectory directory;
  directory.Write("target", "before");
  std::filesystem::create_symlink("target", directory.Path("link"));
  auto output = Output::Open(directory.Path("link"));
  ASSERT_TRUE(output.ok()) << output.status();
  EXPECT_TRUE(output->Write("after").ok());
  EXPECT_TRUE(output->Commit().ok());
  EXPECT_TRUE(std::filesystem::is_symlink(directory.Path("link")));
  EXPECT_EQ(directory.Read("target"), "after");
}

TEST(Output, MakesWhatALinkLeadsToAndIsNotThereYet) {
  TemporaryDirectory directory;
  std::filesystem::create_directory(directory.Path("sub"));
  // A link to a link to nothing, each relative to its own directory.
  std::filesystem::create_symlink("sub/link", directory.Path("link"));
  std::filesystem::create_symlink("target", directory.Path("sub/link"));
  auto output = Output::Open(directory.Path("link"));
  ASSERT_TRUE(output.ok()) << output.status();
  EXPECT_TRUE(output->Write("new").ok());
  EXPECT_TRUE(output->Commit().ok());
  EXPECT_TRUE(std::filesystem::is_symlink(directory.Path("link")));
  EXPECT_TRUE(std::filesystem::is_symlink(directory.Path("sub/link")));
  EXPECT_EQ(directory.Read("sub/target"), "new");
}

TEST(Output, RefusesLinksThatLeadInACircle) {
  TemporaryDirectory directory;
  std::filesystem::create_symlink("b", directory.Path("a"));
  std::filesystem::create_symlink("a", directory.Path("b"));
  const absl::Status status = Output::Open(directory.Path("a")).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr(directory.Path("a")), HasSubstr("symbolic links")));
  EXPECT_THAT(directory.List(), ElementsAre("a", "b"));
}

TEST(Output, TellsOfAFullDisk) {
  auto output = Output::Open("/dev/full");
  ASSERT_TRUE(output.ok()) << output.status();
  const absl::Status status = output->Write("x");
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(status.message()), HasSubstr("/dev/full: No space left"));
  EXPECT_FALSE(IsReaderGone(status));
}

TEST(Output, TellsOfAMissingDirectory) {
  const absl::Status status = Output::Open("/nonexistent/out").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(status.message()), HasSubstr("/nonexistent/out"));
}

TEST(Output, DoesNotReplaceADirectory) {
  TemporaryDirectory directory;
  std::filesystem::create_directory(directory.Path("out"));
  {
    auto output = Output::Open(directory.Path("out"));
    ASSERT_TRUE(output.ok()) << output.status();
    EXPECT_EQ(output->Commit().code(), absl::StatusCode::kInternal);
  }
  EXPECT_THAT(directory.List(), ElementsAre("out"));
}

TEST(Output, KnowsAReaderThatHasGone) {
  TemporaryDirectory directory;
  const std::string path = directory.Path("pipe");
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  signal(SIGPIPE, SIG_IGN);
  FILE* reader = fopen(path.c_str(), "r+");
  auto output = Output::Open(path);
  ASSERT_TRUE(output.ok()) << output.status();
  fclose(reader);
  EXPECT_TRUE(IsReaderGone(output->Write("x")));
}

}  // namespace
}  // namespace phasor::cli
