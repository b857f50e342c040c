#include "tests/trace/store/testing/child_process.h"

#include <grp.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

namespace shardlens::trace::test {

std::string in_child(const std::function<std::string()>& work) {
  int ends[2];
  if (pipe(ends) != 0) return "no pipe";
  const pid_t process = fork();
  if (process == 0) {
    close(ends[0]);
    const std::string answer = work();
    const bool written = write(ends[1], answer.data(), answer.size()) >= 0;
    _exit(written ? 0 : 1);
  }
  close(ends[1]);
  std::string answer;
  char buffer[4096];
  for (ssize_t got = 0; (got = read(ends[0], buffer, sizeof buffer)) > 0;) {
    answer.append(buffer, static_cast<std::size_t>(got));
  }
  close(ends[0]);
  int status = 0;
  waitpid(process, &status, 0);
  if (WIFSIGNALED(status)) return "signal " + std::to_string(WTERMSIG(status));
  if (WEXITSTATUS(status) != 0) return "exit " + std::to_string(WEXITSTATUS(status));
  return answer;
}

std::string as_nobody(const std::function<std::string()>& work) {
  return in_child([&]() -> std::string {
    constexpr unsigned kNobody = 65534;
    if (geteuid() == 0 &&
        (setgroups(0, nullptr) != 0 || setgid(kNobody) != 0 || setuid(kNobody) != 0)) {
      return "cannot drop privileges";
    }
    return work();
  });
}

EndlessChild::EndlessChild(const std::function<void()>& work) : process_(fork()) {
  if (process_ != 0) return;
  work();
  _exit(0);
}

void EndlessChild::kill() {
  if (process_ <= 0) return;
  ::kill(process_, SIGKILL);
  waitpid(process_, nullptr, 0);
  process_ = -1;
}

}  // namespace shardlens::trace::test
