#include "trainer/text/text_program.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

#include "tests/trainer/text/text_files.h"
#include "trainer/text/load_text.h"

namespace shardlens::trainer::text {
namespace {

using std::chrono::steady_clock;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

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

TEST_F(TextProgramTest, TellsWhichPythonItIsOrWhatIsMissing) {
  pretend("read request; echo '{\"done\": {\"python\": \"/p\", \"packages\": \"a==1\"}}'");
  EXPECT_EQ(*check_text_program(options_.program), "/p with a==1");
  pretend("exec python3 -I -S \"$@\"");  // without packages
  const auto found = check_text_program(options_.program);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().kind, trace::base::ErrorKind::kMissing);
  EXPECT_THAT(found.error().message,
              AllOf(HasSubstr("Python has no package \"tokenizers\""), HasSubstr("pip install")));
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
  pretend("printf 'memory allocation of 5 bytes failed\nnote: run with …\n' >&2; kill -ABRT $$");
  EXPECT_THAT(error_of(), AllOf(HasSubstr("data.jsonl"), HasSubstr("needs more memory than "),
                                Not(HasSubstr("note"))));
  pretend("echo 'assertion failed' >&2; kill -ABRT $$");
  EXPECT_THAT(error_of(), HasSubstr("died of Aborted (assertion failed)"));
  pretend("echo 'first' >&2; echo 'KeyError: x' >&2; exit 1");
  EXPECT_THAT(error_of(), HasSubstr("left with exit code 1 (KeyError: x)"));
}

TEST_F(TextProgramTest, MayAnswerWhatItLikes) {
  for (const char* reply :
       {"nonsense", "[]", "{}", "7", R"({"done": 1})", R"({"done": {"kind": "x"}})",
        R"({"error": 5})", R"({"error": {"kind": 3, "message": "x"}})", R"({"error": {}})"}) {
    pretend("read request; echo '" + std::string(reply) + "'");
    EXPECT_THAT(error_of(), HasSubstr("answered nonsense")) << reply;
  }
  for (const char* reply : {R"({"text": 5})", "[]", R"({"error": 5})"}) {
    pretend("read request; echo '{\"done\": {}}'; read request; echo '" + std::string(reply) + "'");
    TextDecoder decoder(files_.folder(), options_.program);
    const auto text = decoder.decode(std::array<TokenId, 1>{1});
    ASSERT_FALSE(text) << reply;
    EXPECT_THAT(text.error().message, HasSubstr("answered nonsense")) << reply;
  }
}

TEST_F(TextProgramTest, IsToldOfFoldersWhateverTheirNames) {
  const std::string request = (files_.folder() / "request").string();
  pretend("read -r request; echo \"$request\" >'" + request + "'; exit 1");
  options_.preparation.chat = "a\xff";
  options_.preparation.tokenizer = "b\xfe";
  error_of();
  EXPECT_THAT(files_.read("request"),
              AllOf(HasSubstr(R"("chat":"61ff")"), HasSubstr(R"("tokenizer":"62fe")")));
}

TEST_F(TextProgramTest, InheritsNoDescriptors) {
  const int open_file = open("/dev/null", O_RDONLY);  // not closed for children
  const int high = fcntl(open_file, F_DUPFD, 40);
  pretend("[ -e /proc/$$/fd/" + std::to_string(high) + " ] && echo 'it is open' >&2; exit 1");
  EXPECT_THAT(error_of(), Not(HasSubstr("it is open")));
  close(high);
  close(open_file);
}

TEST_F(TextProgramTest, SaysWhyItDidNotStart) {
  pretend("exit 1");
  options_.data = files_.write("data.jsonl", "{\"text\": \"a\"}\n");
  const std::string large(200'000, 'x');  // more than an argument or a variable may have
  setenv("SHARDLENS_TEST_LARGE", large.c_str(), 1);
  EXPECT_THAT(error_of(), AllOf(HasSubstr("did not start: Argument list too long"),
                                Not(HasSubstr("pip install"))));
  unsetenv("SHARDLENS_TEST_LARGE");
  struct rlimit old = {};
  getrlimit(RLIMIT_NOFILE, &old);
  const rlimit few{16, old.rlim_max};  // no room for copies
  setrlimit(RLIMIT_NOFILE, &few);
  const std::string error = error_of();
  setrlimit(RLIMIT_NOFILE, &old);
  EXPECT_THAT(error, AllOf(HasSubstr("did not start: "), Not(HasSubstr("pip install"))));
}

// The first has room for nothing but the header's page.
TEST_F(TextProgramTest, OfAFullDiskTheCacheStepsAside) {
  const std::string first = (files_.folder() / "first").string();
  pretend("if [ ! -e '" + first + "' ]; then touch '" + first +
          "'; ulimit -f 8; fi; exec python3 \"$@\"");
  options_.data = files_.write("data.jsonl", "{\"text\": \"abc\"}\n");
  options_.cache_folder = files_.folder() / "cache";
  std::string warning;
  const auto text = load_text(options_, [&](const std::string& message) { warning += message; });
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_EQ(text->tokens(), 4);
  EXPECT_THAT(warning, AllOf(HasSubstr("cannot take the text"), HasSubstr("File too large")));
}

TEST_F(TextProgramTest, IsEndedWhenItDoesNotGetOn) {
  options_.program.patience = std::chrono::seconds(1);
  pretend("while :; do :; done");
  EXPECT_THAT(error_of(), AllOf(HasSubstr("data.jsonl"), HasSubstr("without getting on")));
  EXPECT_LT(taken_, std::chrono::seconds(12));
}

// A rank tells its launcher so that it does not hang.
TEST_F(TextProgramTest, AsksAllTheTimeWhetherItIsStillWanted) {
  int asked = 0;
  options_.program.is_stopped = [&] { return ++asked == 3; };
  pretend("exec sleep 100");
  EXPECT_THAT(error_of(), HasSubstr("was stopped"));
  EXPECT_LT(taken_, std::chrono::seconds(30));
}

TEST_F(TextProgramTest, IsEndedWhenNobodyWantsItAnyMore) {
  std::atomic<int> stop = 0;
  options_.program.is_stopped = [&] { return stop != 0; };
  const std::string started = (files_.folder() / "started").string();
  pretend("touch '" + started + "'; sleep 100");
  const std::jthread thread([&] {
    EXPECT_TRUE(waits_for([&] { return std::filesystem::exists(started); }));
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
}  // namespace shardlens::trainer::text
