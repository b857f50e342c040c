#include "app/cli/doctor/child_output.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace shardlens::app::cli {
namespace {

constexpr int kAskEveryMs = 50;

// All, or what came until `go_on` said no.
std::string read_all(int descriptor, const std::function<bool()>& go_on) {
  std::string text;
  std::array<char, 65536> buffer;
  while (go_on()) {
    pollfd ready{.fd = descriptor, .events = POLLIN, .revents = 0};
    if (poll(&ready, 1, kAskEveryMs) == 0) continue;
    const auto count = read(descriptor, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
  return text;
}

// Our variables, with this one set.
std::vector<std::string> environment_with(const std::string& name, const std::string& value) {
  std::vector<std::string> variables;
  for (char** each = environ; *each != nullptr; ++each) {
    if (!std::string_view(*each).starts_with(name + "=")) variables.emplace_back(*each);
  }
  variables.push_back(name + "=" + value);
  return variables;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (auto& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// A group of processes of its own, that ends as one, with the signals as they are by default.
struct ChildAttributes {
  posix_spawnattr_t value;
  ChildAttributes() {
    posix_spawnattr_init(&value);
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&value, &none);
    posix_spawnattr_setsigdefault(&value, &all);
    posix_spawnattr_setpgroup(&value, 0);
    posix_spawnattr_setflags(
        &value, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ~ChildAttributes() { posix_spawnattr_destroy(&value); }
  ChildAttributes(const ChildAttributes&) = delete;
  ChildAttributes& operator=(const ChildAttributes&) = delete;
};

trace::base::Error failure(const std::filesystem::path& program, const std::string& why) {
  return {trace::base::ErrorKind::kFailed, program.filename().string() + " " + why + "."};
}

}  // namespace

trace::base::Result<std::string> run_and_read(const std::filesystem::path& program,
                                              const std::vector<std::string>& arguments,
                                              const std::filesystem::path& temporary,
                                              const std::function<bool()>& go_on) {
  int pipe_ends[2];
  if (pipe2(pipe_ends, O_CLOEXEC) != 0) {
    return tl::make_unexpected(failure(program, std::string("got no pipe: ") + strerror(errno)));
  }
  std::vector<std::string> texts = {program.string()};
  texts.insert(texts.end(), arguments.begin(), arguments.end());
  std::vector<std::string> variables = environment_with("TMPDIR", temporary.string());
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], STDOUT_FILENO);
  const ChildAttributes attributes;
  pid_t process = -1;
  const int error = posix_spawn(&process, program.c_str(), &actions, &attributes.value,
                                pointers_to(texts).data(), pointers_to(variables).data());
  posix_spawn_file_actions_destroy(&actions);
  close(pipe_ends[1]);
  std::string output = error == 0 ? read_all(pipe_ends[0], go_on) : "";
  const bool is_stopped = !go_on();
  if (error == 0 && is_stopped) kill(-process, SIGKILL);
  close(pipe_ends[0]);
  if (error != 0) {
    return tl::make_unexpected(failure(program, std::string("did not start: ") + strerror(error)));
  }
  int status = 0;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  if (is_stopped) return tl::make_unexpected(failure(program, "was stopped"));
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return output;
  return tl::make_unexpected(failure(
      program, WIFEXITED(status) ? "left with exit code " + std::to_string(WEXITSTATUS(status))
                                 : "was killed by signal " + std::to_string(WTERMSIG(status))));
}

}  // namespace shardlens::app::cli
