#include "trainer/text/text_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

#include "tests/trainer/text/text_files.h"
#include "trainer/text/load_text.h"

namespace shardlens::trainer {
namespace {

using std::chrono::steady_clock;
using ::testing::AllOf;
using ::testing::HasSubstr;

// A program that is no Python, but is started as it is.
class TextProgramTest : public ::testing::Test {
 protected:
  void pretend(const std::string& script) {
    options_.program.python = files_.write("python", "#!/bin/sh\n" + script + "\n");
    chmod(options_.program.python.c_str(), 0755);
  }
  std::string error_of(const std::string& line = "{\"text\": \"a\"}") {
    options_.data = files_.write("data.jsonl", line + "\n");
    const auto begin = steady_clock::now();
    const auto text = load_text(options_, [](const std::string& message) { FAIL() << message; });
    taken_ = steady_clock::now() - begin;
    return text ? "" : text.error().message;
  }

  static bool waits_for(const std::function<bool()>& condition) {
    for (int i = 0; i < 600 && !condition(); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    return condition();
  }

  TextFiles files_;
  TextOptions options_;
  steady_clock::duration taken_{};
};

TEST_F(TextProgramTest, SaysTheCommandThatInstallsAPythonThatIsNotThere) {
  options_.program.python = "/no/such/python3";
  EXPECT_THAT(error_of(), AllOf(HasSubstr("\"/no/such/python3\" cannot be started"),
                                HasSubstr("pip install"), HasSubstr("tokenizers==")));
}

TEST_F(TextProgramTest, IsNotNeededForDocumentsOfBytes) {
  options_.program.python = "/no/such/python3";
  options_.data = files_.write("data.txt", "abc");
  const auto text = load_text(options_, {});
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_EQ(text->tokens(), 4);
}

TEST_F(TextProgramTest, TellsOfWhatItDied) {
  pretend("kill -9 $$");
  EXPECT_THAT(error_of(), AllOf(HasSubstr("data.jsonl"), HasSubstr("memory runs out")));
  pretend("echo 'memory allocation of 5 bytes failed' >&2; kill -ABRT $$");
  EXPECT_THAT(error_of(), AllOf(HasSubstr("died of Aborted"), HasSubstr("allocation of 5 bytes")));
  pretend("echo 'first' >&2; echo 'KeyError: x' >&2; exit 1");
  EXPECT_THAT(error_of(), HasSubstr("left with exit code 1 (KeyError: x)"));
  pretend("read request; echo nonsense");
  EXPECT_THAT(error_of(), HasSubstr("answered nonsense"));
}

TEST_F(TextProgramTest, IsEndedWhenItDoesNotGetOn) {
  options_.program.patience = std::chrono::seconds(1);
  pretend("while :; do :; done");
  EXPECT_THAT(error_of(), AllOf(HasSubstr("data.jsonl"), HasSubstr("without getting on")));
  EXPECT_LT(taken_, std::chrono::seconds(12));
}

TEST_F(TextProgramTest, IsEndedWhenNobodyWantsItAnyMore) {
  std::atomic<int> stop = 0;
  options_.program.stop = &stop;
  pretend("sleep 100");
  const std::jthread thread([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    stop = SIGINT;
  });
  EXPECT_THAT(error_of(), HasSubstr("was stopped"));
  EXPECT_LT(taken_, std::chrono::seconds(30));
}

TEST_F(TextProgramTest, EndsWithWhoeverStartedIt) {
  pretend("echo $$ > '" + (files_.folder() / "process").string() + "'; exec python3 \"$@\"");
  const pid_t parent = fork();
  if (parent == 0) {
    auto program = TextProgram::start(options_.program, -1);
    const std::string request =
        R"({"do": "decode", "tokenizer": "", "memory": 1000000000, "seconds": 60, "parent": )" +
        std::to_string(getpid()) + "}";
    if (!program || !program->ask(request)) _exit(1);
    files_.write("ready", "");
    pause();
  }
  ASSERT_TRUE(waits_for([&] { return std::filesystem::exists(files_.folder() / "ready"); }));
  kill(parent, SIGKILL);
  int status = 0;
  waitpid(parent, &status, 0);
  const pid_t child = std::stoi(files_.read("process"));
  EXPECT_TRUE(waits_for([&] { return kill(child, 0) != 0; }));
}

}  // namespace
}  // namespace shardlens::trainer
