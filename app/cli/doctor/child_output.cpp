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

#include "trace/base/spawn.h"

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
  const trace::base::SpawnAttributes attributes(/*in_own_group=*/true);
  pid_t process = -1;
  const int error = posix_spawn(&process, program.c_str(), &actions, attributes.get(),
                                trace::base::pointers_to(texts).data(),
                                trace::base::pointers_to(variables).data());
  posix_spawn_file_actions_destroy(&actions);
  close(pipe_ends[1]);
  if (error == 0) trace::base::limit_open_files_as_before(process);
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
