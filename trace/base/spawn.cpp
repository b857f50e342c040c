#include "trace/base/spawn.h"

#include <signal.h>
#include <sys/resource.h>

#include <optional>

namespace shardlens::trace::base {

namespace {
std::optional<rlimit> open_files_before;
}  // namespace

SpawnAttributes::SpawnAttributes(bool in_own_group) {
  posix_spawnattr_init(&attributes_);
  sigset_t none, defaults;
  sigemptyset(&none);
  sigfillset(&defaults);
  for (const int signal : {SIGHUP, SIGINT, SIGQUIT}) {
    if (is_ignored(signal)) sigdelset(&defaults, signal);
  }
  posix_spawnattr_setsigmask(&attributes_, &none);
  posix_spawnattr_setsigdefault(&attributes_, &defaults);
  posix_spawnattr_setpgroup(&attributes_, 0);
  const int group = in_own_group ? POSIX_SPAWN_SETPGROUP : 0;
  posix_spawnattr_setflags(
      &attributes_, static_cast<short>(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | group));
}

bool is_ignored(int signal) {
  struct sigaction now = {};
  return sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

void allow_most_open_files() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  open_files_before = limit;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

void limit_open_files_as_before(pid_t child) {
  if (open_files_before) prlimit(child, RLIMIT_NOFILE, &*open_files_before, nullptr);
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (auto& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

std::string in_shell(std::string_view word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-/=,:@+%";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string_view::npos) {
    return std::string(word);
  }
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

}  // namespace shardlens::trace::base
