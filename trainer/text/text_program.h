// The program that turns texts into tokens (prepare/), as a child process. It ends with us,
// with Ctrl-C, when it takes more than it may, and when it is no longer wanted. One thread.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "trace/base/file_system.h"
#include "trace/base/result.h"

namespace shardlens::trainer::text {

// An archive that Python starts, and the packages it needs, as pip is told them.
extern const std::string_view kTextProgram;
extern const std::string_view kTextPackages;

struct TextProgramOptions {
  // Empty: the Python beside LibTorch, else the python3 of PATH.
  std::string python;
  // Asked many times a second for as long as texts are read, prepared or waited for within what
  // they may take. True: that is given up.
  std::function<bool()> is_stopped;
  // Of the processor, for what takes no time at all; parts of a text are allowed more by their
  // length. Ten times as much may pass on a busy machine.
  std::chrono::seconds patience{60};
  // Half of the machine's, at most this.
  std::uint64_t most_memory_bytes = std::uint64_t{16} << 30;
};

// Where in the texts the program last said to be.
struct TextPlace {
  std::uint64_t file = 0;  // from 1; 0: nowhere yet
  std::uint64_t first_line = 0, last_line = 0;
};

class TextProgram {
 public:
  // `image`: an open file that the program writes to, whose first bytes say where it is; -1: none.
  // Error kMissing: there is no Python; the message says the command that installs it.
  static trace::base::Result<TextProgram> start(const TextProgramOptions& options, int image);
  TextProgram(TextProgram&& other) noexcept;
  TextProgram& operator=(TextProgram&&) = delete;
  ~TextProgram();

  // How the program knows the image.
  static constexpr int kImageDescriptor = 4;

  // A line, and the line it answers with. The error (kFailed) says why there is none: it has ended
  // then, and was not told about where.
  trace::base::Result<std::string> ask(std::string_view line);
  TextPlace place() const;
  std::uint64_t memory_bytes() const { return memory_bytes_; }

 private:
  using Clock = std::chrono::steady_clock;
  // When the program last said where it is, and how long it may go on from there.
  struct Progress {
    std::string told;
    Clock::time_point time;
    double processor_seconds = 0, allowed_seconds = 0;
  };

  TextProgram(const TextProgramOptions& options, int image);
  trace::base::Result<void> spawn();
  trace::base::Result<void> send(std::string_view line);
  trace::base::Result<std::string> receive();
  // Why it may not go on.
  std::optional<std::string> check_limits(Progress& progress) const;
  double processor_seconds() const;
  trace::base::Error ended(std::string_view why);
  std::string reason_of(int status) const;
  std::string last_words() const;

  TextProgramOptions options_;
  std::uint64_t memory_bytes_;
  int image_;
  pid_t process_ = -1;
  trace::base::Descriptor socket_, errors_;
  std::string received_;
};

}  // namespace shardlens::trainer::text
