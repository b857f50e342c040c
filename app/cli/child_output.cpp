#include "app/cli/child_output.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace shardlens::app {
namespace {

std::string read_all(int descriptor) {
  std::string text;
  std::array<char, 65536> buffer;
  while (true) {
    const auto count = read(descriptor, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

trace::Error failure(const std::filesystem::path& program, const std::string& why) {
  return {trace::ErrorKind::kFailed, program.filename().string() + " " + why + "."};
}

}  // namespace

trace::Result<std::string> run_and_read(const std::filesystem::path& program,
                                        const std::vector<std::string>& arguments) {
  int pipe_ends[2];
  if (pipe2(pipe_ends, O_CLOEXEC) != 0) {
    return tl::make_unexpected(failure(program, std::string("got no pipe: ") + strerror(errno)));
  }
  std::vector<std::string> texts = {program.string()};
  texts.insert(texts.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (auto& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], STDOUT_FILENO);
  pid_t process = -1;
  const int error =
      posix_spawn(&process, program.c_str(), &actions, nullptr, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(pipe_ends[1]);
  std::string output = error == 0 ? read_all(pipe_ends[0]) : "";
  close(pipe_ends[0]);
  if (error != 0) {
    return tl::make_unexpected(failure(program, std::string("did not start: ") + strerror(error)));
  }
  int status = 0;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return output;
  return tl::make_unexpected(failure(
      program, WIFEXITED(status) ? "left with exit code " + std::to_string(WEXITSTATUS(status))
                                 : "was killed by signal " + std::to_string(WTERMSIG(status))));
}

}  // namespace shardlens::app
