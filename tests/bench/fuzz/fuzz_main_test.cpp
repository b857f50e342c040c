// A fuzzer over a subject with a planted fault: found, told, kept, and repeated from what is told.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <iterator>
#include <regex>
#include <sstream>
#include <thread>

#include "bench/fuzz/fuzz_run.h"
#include "trace/base/file_system.h"

namespace shardlens::bench {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

enum class Fault { kNone, kCrash, kExit, kHang, kWait, kSays, kLeaves, kTakes, kLines };

constexpr char kBad = 5;     // the input that it cannot stand
constexpr int kBeside = 20;  // files beside a pipe

class PlantedSubject final : public Subject {
 public:
  explicit PlantedSubject(Fault fault) : fault_(fault) {}
  std::string_view name() const override { return "planted"; }
  void damage(Mutation& mutation, const fs::path& input) override {
    byte_ = static_cast<char>(mutation.below(16));
    std::ofstream(input / "byte") << byte_;
    if (byte_ != kBad) return;
    fs::create_directory(input / "deeper");
    mkfifo((input / "deeper" / "pipe").c_str(), 0600);
    for (int i = 0; i < kBeside; ++i) write_text_file(input / "deeper" / std::to_string(i), "x");
  }
  void read(const fs::path& input, const fs::path&, Findings& findings) override {
    if (byte_ != kBad) return;
    switch (fault_) {
      case Fault::kNone:
        return;
      case Fault::kCrash:
        raise(SIGKILL);  // which no sanitizer turns into something else
        return;
      case Fault::kExit:
        _exit(0);
      case Fault::kHang:
        while (getpid() > 0) continue;  // for ever
        return;
      case Fault::kWait:
        std::this_thread::sleep_for(std::chrono::hours(1));
        return;
      case Fault::kSays:
        return findings.add("a planted problem");
      case Fault::kLeaves:
        std::ofstream(input / "byte-journal") << "x";
        return;
      case Fault::kTakes: {
        std::vector<char> memory(std::size_t{200} << 20, 'x');
        findings.check(
            trace::base::Error{trace::base::ErrorKind::kIo, std::string(1, memory.back())});
        return;
      }
      case Fault::kLines:
        return findings.check(trace::base::Error{trace::base::ErrorKind::kIo, "one\ntwo"});
    }
  }

 private:
  Fault fault_;
  char byte_ = 0;
};

class Fuzz : public testing::Test {
 protected:
  // What the command line says on standard error.
  std::string run(Fault fault, const std::string& arguments) {
    std::istringstream words("bench_fuzz --keep " + keep_.string() + " --fail " + arguments);
    const std::vector<std::string> all{std::istream_iterator<std::string>(words), {}};
    std::vector<const char*> pointers;
    for (const std::string& word : all) pointers.push_back(word.c_str());
    std::vector<std::unique_ptr<Subject>> subjects;
    subjects.push_back(std::make_unique<PlantedSubject>(fault));
    testing::internal::CaptureStderr();
    testing::internal::CaptureStdout();
    code_ = fuzz_main(static_cast<int>(pointers.size()), pointers.data(), subjects);
    rows_ = testing::internal::GetCapturedStdout();
    return testing::internal::GetCapturedStderr();
  }

  void expect_found_and_repeated(Fault fault, const std::string& told) {
    const std::string limits = std::string(" --computing 1 --memory 100 --waiting ") +
                               (fault == Fault::kWait ? "2" : "60");
    const std::string said = run(fault, "--seconds 60 --failures 1 --seed 3" + limits);
    EXPECT_THAT(said, HasSubstr(told));
    EXPECT_EQ(code_, 1);
    std::smatch command;
    ASSERT_TRUE(std::regex_search(said, command, std::regex("to repeat it: bench_fuzz (.*)\n")))
        << said;
    std::smatch number;
    const std::string again = command[1];
    ASSERT_TRUE(std::regex_search(again, number, std::regex("--case ([0-9]+)")));
    const fs::path kept = keep_ / ("planted_3_" + number[1].str());
    EXPECT_EQ(text_of_file(kept / "input" / "byte"), std::string(1, kBad));
    for (int i = 0; i < kBeside; ++i) {
      EXPECT_EQ(text_of_file(kept / "input" / "deeper" / std::to_string(i)), "x") << i;
    }
    fs::remove_all(keep_);
    const std::string repeated = run(fault, again);
    EXPECT_THAT(repeated, HasSubstr(told));
    EXPECT_THAT(repeated, HasSubstr("case " + number[1].str() + ":"));
    EXPECT_EQ(text_of_file(kept / "input" / "byte"), std::string(1, kBad));
    EXPECT_EQ(run(Fault::kNone, again), "seed 3\n") << "once it is mended";
    EXPECT_EQ(code_, 0);
  }

  const trace::base::TemporaryFolder folder_ = *trace::base::TemporaryFolder::create();
  const fs::path keep_ = folder_.path() / "failures";
  std::string rows_;
  int code_ = -1;
};

TEST_F(Fuzz, FindsAndRepeatsACrash) { expect_found_and_repeated(Fault::kCrash, "signal"); }
TEST_F(Fuzz, FindsAndRepeatsAnEndThatLooksWell) {
  expect_found_and_repeated(Fault::kExit, "ended with exit code 0");
}
TEST_F(Fuzz, FindsAndRepeatsALoopWithoutEnd) {
  expect_found_and_repeated(Fault::kHang, "computed for more than 1 s");
}
TEST_F(Fuzz, FindsAndRepeatsAWaitWithoutEnd) {
  expect_found_and_repeated(Fault::kWait, "did not end within 2 s");
}
TEST_F(Fuzz, FindsAndRepeatsWhatItsSubjectSays) {
  expect_found_and_repeated(Fault::kSays, "a planted problem");
}
TEST_F(Fuzz, FindsAndRepeatsAFileLeftBehind) {
  expect_found_and_repeated(Fault::kLeaves, "left behind byte-journal");
}
TEST_F(Fuzz, FindsAndRepeatsMemoryWithoutBound) {
  expect_found_and_repeated(Fault::kTakes, "MiB of memory");
}
TEST_F(Fuzz, FindsAndRepeatsAnErrorOfSeveralLines) {
  expect_found_and_repeated(Fault::kLines, "several lines");
}

TEST_F(Fuzz, RunsAllCasesOfASubjectThatStandsThem) {
  EXPECT_EQ(run(Fault::kNone, "--seconds 2 --seed 3"), "seed 3\n");
  EXPECT_EQ(code_, 0);
  EXPECT_THAT(rows_, HasSubstr("planted: cases"));
  EXPECT_THAT(rows_, Not(HasSubstr("\"planted: cases\", \"value\": 0,")));
  EXPECT_FALSE(fs::exists(keep_));
}

TEST_F(Fuzz, GoesOnAfterAFailureUntilThereAreEnough) {
  const std::string said = run(Fault::kSays, "--seconds 60 --failures 3 --seed 3");
  EXPECT_EQ(std::ranges::count(said, '\n'), 1 + 3 * 3) << said;
}

TEST_F(Fuzz, FailsIfASubjectRanNoCase) {
  EXPECT_EQ(run(Fault::kNone, "--seconds 0 --seed 3"), "seed 3\nplanted: no case was run\n");
  EXPECT_EQ(code_, 1);
  run(Fault::kNone, "--seconds 0 --subject planted");
  EXPECT_EQ(code_, 0);
}

}  // namespace
}  // namespace shardlens::bench
