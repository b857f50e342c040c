// Runs a function in a forked child, for what would end or weaken the test's own process. The child
// must be forked while the test has no other thread.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>

namespace shardlens::trace::test {

// What `work` returned in the child; "exit …" or "signal …" if it did not get that far.
std::string in_child(const std::function<std::string()>& work);
// As above, without the privileges of root: the user `nobody` where the test runs as root.
std::string as_nobody(const std::function<std::string()>& work);

// A child that runs until it is killed.
class EndlessChild {
 public:
  explicit EndlessChild(const std::function<void()>& work);
  ~EndlessChild() { kill(); }
  void kill();  // SIGKILL, and waits
  pid_t process() const { return process_; }

 private:
  pid_t process_ = -1;
};

}  // namespace shardlens::trace::test
