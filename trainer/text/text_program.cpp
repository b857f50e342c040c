#include "trainer/text/text_program.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <utility>
#include <vector>

#include "trace/base/spawn.h"
#include "trace/base/this_machine.h"

namespace shardlens::trainer::text {

using trace::base::Descriptor;

namespace {

constexpr int kProgramDescriptor = 3;
constexpr int kPollMilliseconds = 50;
constexpr int kLeavingPolls = 40;
// Wall time is what a busy machine makes of the processor's; a disk that hangs ends, too.
constexpr double kSlowestMachine = 10;
constexpr int kFirstFreeDescriptor = 16;  // above those that the program knows

struct ToldPlace {
  TextPlace place;
  double allowed_seconds = 0;
  std::uint64_t times = 0;
};

tl::unexpected<trace::base::Error> not_started(const char* why) {
  return trace::base::fail(
      trace::base::ErrorKind::kFailed,
      std::string("The program that prepares texts did not start: ") + why + ".");
}

std::string python_of(const TextProgramOptions& options) {
  if (!options.python.empty()) return options.python;
  std::error_code error;
  const std::string beside = SHARDLENS_TEXT_PYTHON;
  if (!beside.empty() && std::filesystem::exists(beside, error)) return beside;
  return "python3";
}

bool is_about_the_file(int error) {
  return error == ENOENT || error == EACCES || error == ENOEXEC || error == ENOTDIR ||
         error == ELOOP || error == EISDIR;
}

tl::unexpected<trace::base::Error> no_python(const std::string& python, const char* why) {
  return trace::base::fail(
      trace::base::ErrorKind::kMissing,
      "Texts are prepared by Hugging Face's own code, which needs Python, but \"" + python +
          "\" cannot be started: " + why +
          ". Install it with this command, then start again: sudo apt-get install -y python3-pip "
          "&& python3 -m pip install --break-system-packages " +
          std::string(kTextPackages) +
          " (./run does it beside LibTorch; SHARDLENS_PYTHON names another Python).");
}

// In brackets.
std::string last_line(std::string_view text) {
  while (text.ends_with('\n')) text.remove_suffix(1);
  text.remove_prefix(text.find_last_of('\n') + 1);
  return text.empty() ? "" : " (" + std::string(text) + ")";
}

// The program as a file.
Descriptor program_file() {
  Descriptor file(memfd_create("prepare_text.zip", MFD_CLOEXEC));
  const auto size = static_cast<ssize_t>(kTextProgram.size());
  if (file.is_open() && pwrite(file.get(), kTextProgram.data(), kTextProgram.size(), 0) != size) {
    return {};
  }
  return file;
}

// The signals as they are by default, and no descriptors but those that the program knows.
class SpawnSetup {
 public:
  SpawnSetup() { posix_spawn_file_actions_init(&actions); }
  SpawnSetup(const SpawnSetup&) = delete;
  SpawnSetup& operator=(const SpawnSetup&) = delete;
  ~SpawnSetup() { posix_spawn_file_actions_destroy(&actions); }

  // Through a copy, as `from` may have the number of another. False, with errno: there is none.
  bool pass(int from, std::initializer_list<int> to) {
    const int copy = fcntl(from, F_DUPFD_CLOEXEC, kFirstFreeDescriptor);
    if (copy < 0) return false;
    copies_.emplace_back(copy);
    for (const int number : to) {
      const int error = posix_spawn_file_actions_adddup2(&actions, copy, number);
      if (error != 0) {
        errno = error;
        return false;
      }
      last_ = std::max(last_, number);
    }
    return true;
  }
  // Others of ours may have been opened by libraries that do not close them for children.
  void close_all_others() { posix_spawn_file_actions_addclosefrom_np(&actions, last_ + 1); }

  posix_spawn_file_actions_t actions;
  const trace::base::SpawnAttributes attributes{/*in_own_group=*/false};

 private:
  std::vector<Descriptor> copies_;
  int last_ = STDERR_FILENO;
};

}  // namespace

TextProgram::TextProgram(const TextProgramOptions& options, int image)
    : options_(options),
      memory_bytes_(std::min(options.most_memory_bytes,
                             static_cast<std::uint64_t>(trace::base::memory_bytes()) / 2)),
      image_(image) {}

TextProgram::TextProgram(TextProgram&& other) noexcept
    : options_(std::move(other.options_)),
      memory_bytes_(other.memory_bytes_),
      image_(other.image_),
      process_(std::exchange(other.process_, -1)),
      socket_(std::move(other.socket_)),
      errors_(std::move(other.errors_)),
      received_(std::move(other.received_)) {}

TextProgram::~TextProgram() {
  if (process_ > 0) ended("is no longer needed");
}

trace::base::Result<TextProgram> TextProgram::start(const TextProgramOptions& options, int image) {
  TextProgram program(options, image);
  TRY(program.spawn());
  return program;
}

trace::base::Result<void> TextProgram::spawn() {
  int ends[2] = {-1, -1};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return not_started(std::strerror(errno));
  }
  socket_ = Descriptor(ends[0]);
  const Descriptor theirs(ends[1]), program = program_file();
  errors_ = Descriptor(memfd_create("errors", MFD_CLOEXEC));
  if (!program.is_open() || !errors_.is_open()) return not_started(std::strerror(errno));
  SpawnSetup setup;
  const bool is_ready = setup.pass(theirs.get(), {STDIN_FILENO, STDOUT_FILENO}) &&
                        setup.pass(errors_.get(), {STDERR_FILENO}) &&
                        setup.pass(program.get(), {kProgramDescriptor}) &&
                        (image_ < 0 || setup.pass(image_, {kImageDescriptor}));
  if (!is_ready) return not_started(std::strerror(errno));
  setup.close_all_others();
  std::string python = python_of(options_), no_files = "-B";
  std::string script = "/proc/self/fd/" + std::to_string(kProgramDescriptor);
  const std::array<char*, 4> arguments{python.data(), no_files.data(), script.data(), nullptr};
  const int error = posix_spawnp(&process_, python.c_str(), &setup.actions, setup.attributes.get(),
                                 arguments.data(), environ);
  if (error == 0) {
    trace::base::limit_open_files_as_before(process_);
    return {};
  }
  process_ = -1;
  if (!is_about_the_file(error)) return not_started(std::strerror(error));
  return no_python(python, std::strerror(error));
}

trace::base::Result<std::string> TextProgram::ask(std::string_view line) {
  if (process_ < 0) return not_started("it has ended");
  TRY(send(line));
  return receive();
}

trace::base::Result<void> TextProgram::send(std::string_view line) {
  std::string rest = std::string(line) + "\n";
  const timeval patience{.tv_sec = options_.patience.count(), .tv_usec = 0};
  setsockopt(socket_.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  while (!rest.empty()) {
    const ssize_t count = ::send(socket_.get(), rest.data(), rest.size(), MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    // What it has to say against that is received.
    if (count < 0 && errno == EPIPE) return {};
    if (count < 0) return tl::make_unexpected(ended("does not read what it is asked"));
    rest.erase(0, static_cast<std::size_t>(count));
  }
  return {};
}

trace::base::Result<std::string> TextProgram::receive() {
  Progress progress{"", Clock::now(), processor_seconds(),
                    static_cast<double>(options_.patience.count())};
  while (true) {
    const std::size_t end = received_.find('\n');
    if (end != std::string::npos) {
      std::string line = received_.substr(0, end);
      received_.erase(0, end + 1);
      return line;
    }
    pollfd ready{.fd = socket_.get(), .events = POLLIN, .revents = 0};
    if (poll(&ready, 1, kPollMilliseconds) > 0) {
      char bytes[65536];
      const ssize_t count = recv(socket_.get(), bytes, sizeof bytes, 0);
      if (count > 0) received_.append(bytes, static_cast<std::size_t>(count));
      if (count == 0 || (count < 0 && errno != EINTR)) return tl::make_unexpected(ended(""));
    } else if (const auto why = check_limits(progress)) {
      return tl::make_unexpected(ended(*why));
    }
  }
}

std::optional<std::string> TextProgram::check_limits(Progress& progress) const {
  if (options_.is_stopped && options_.is_stopped()) return "was stopped";
  ToldPlace told;
  std::string bytes(sizeof told, '\0');
  if (image_ >= 0 && pread(image_, bytes.data(), bytes.size(), 0) > 0 && bytes != progress.told) {
    std::memcpy(&told, bytes.data(), sizeof told);
    progress = {bytes, Clock::now(), processor_seconds(), told.allowed_seconds};
    return std::nullopt;
  }
  const std::chrono::duration<double> waited = Clock::now() - progress.time;
  const double taken = processor_seconds() - progress.processor_seconds;
  if (taken <= progress.allowed_seconds &&
      waited.count() <= progress.allowed_seconds * kSlowestMachine) {
    return std::nullopt;
  }
  return "was ended after " + std::to_string(static_cast<std::int64_t>(waited.count())) +
         " s without getting on, more than any text needs. A regular expression of the "
         "tokenizer's file, or a chat template, tries too much";
}

TextPlace TextProgram::place() const {
  ToldPlace told;
  if (image_ < 0 || pread(image_, &told, sizeof told, 0) != sizeof told) return {};
  return told.place;
}

double TextProgram::processor_seconds() const {
  clockid_t clock = 0;
  timespec time = {};
  if (clock_getcpuclockid(process_, &clock) != 0 || clock_gettime(clock, &time) != 0) return 0;
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

// Kills it; without a `why`, if it does not leave by itself as it seems to, for reasons it tells.
trace::base::Error TextProgram::ended(std::string_view why) {
  int status = 0;
  pid_t waited = 0;
  for (int i = 0; why.empty() && waited == 0 && i < kLeavingPolls; ++i) {
    waited = waitpid(process_, &status, WNOHANG);
    if (waited == 0) usleep(kPollMilliseconds * 1000);
  }
  if (waited == 0) {
    kill(process_, SIGKILL);
    while (waitpid(process_, &status, 0) < 0 && errno == EINTR) {
    }
  }
  process_ = -1;
  const std::string reason = why.empty() ? reason_of(status) : std::string(why);
  return {trace::base::ErrorKind::kFailed, "the program that prepares texts " + reason};
}

std::string TextProgram::reason_of(int status) const {
  const std::string said = last_words();
  if (!WIFSIGNALED(status)) {
    return "left with exit code " + std::to_string(WEXITSTATUS(status)) + last_line(said);
  }
  const int signal = WTERMSIG(status);
  if (signal == SIGKILL) return "was killed, as systems do when memory runs out" + last_line(said);
  if (signal == SIGINT) return "was stopped" + last_line(said);
  // So Rust ends, and adds advice.
  if (signal == SIGABRT && said.find("memory allocation of") != std::string::npos) {
    return "needs more memory than " + std::to_string(memory_bytes_ >> 20) +
           " MiB, which is all that it may take. Split the text";
  }
  return std::string("died of ") + strsignal(signal) + last_line(said);
}

// The end of what it wrote to its standard error.
std::string TextProgram::last_words() const {
  std::string text(4096, '\0');
  const auto size = lseek(errors_.get(), 0, SEEK_END);
  const auto begin = std::max<off_t>(0, size - static_cast<off_t>(text.size()));
  const ssize_t count = pread(errors_.get(), text.data(), text.size(), begin);
  text.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  return text;
}

}  // namespace shardlens::trainer::text
