// What child processes start with. Any thread.
#pragma once

#include <spawn.h>

#include <string>
#include <vector>

namespace shardlens::trace::base {

// No signal is blocked or ignored in the child, whatever this thread does.
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

// As posix_spawn() takes arguments and variables; valid as long as `texts` is unchanged.
std::vector<char*> pointers_to(std::vector<std::string>& texts);

}  // namespace shardlens::trace::base
