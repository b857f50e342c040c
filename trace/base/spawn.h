// What child processes start with, and how a shell is told it. Any thread.
#pragma once

#include <spawn.h>

#include <string>
#include <string_view>
#include <vector>

namespace shardlens::trace::base {

// No signal is blocked or ignored in the child, whatever this thread does, but those that nohup or
// a shell's & has this program ignore.
class SpawnAttributes {
 public:
  // `in_own_group`: of processes, so that a terminal's signals do not reach it, and it ends as one.
  explicit SpawnAttributes(bool in_own_group);
  ~SpawnAttributes() { posix_spawnattr_destroy(&attributes_); }
  SpawnAttributes(const SpawnAttributes&) = delete;
  SpawnAttributes& operator=(const SpawnAttributes&) = delete;
  const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_;
};

bool is_ignored(int signal);

// As many files at once as the system allows: of a large run each rank has several, and a login has
// room for 1,024. To be called before there are other threads.
void allow_most_open_files();
// To be called for each child, which may know no more than 1,024 (select()), or tell it to its own:
// it may have as many as this program had.
void limit_open_files_as_before(pid_t child);

// As posix_spawn() takes arguments and variables; valid as long as `texts` is unchanged.
std::vector<char*> pointers_to(std::vector<std::string>& texts);

// One word of a command line, quoted where a shell would take it apart.
std::string in_shell(std::string_view word);

}  // namespace shardlens::trace::base
