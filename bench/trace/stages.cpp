#include "bench/trace/stages.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace shardlens::bench {

namespace {

constexpr double kMib = 1 << 20;

std::string text_of(const Figures& figures) {
  std::ostringstream text;
  text.precision(12);
  for (const auto& [name, value] : figures) text << name << ' ' << value << '\n';
  return text.str();
}

// In the new process: what it measured, or why it could not, goes to `output`.
[[noreturn]] void be_stage(const std::function<Figures()>& stage, int output) {
  std::string text;
  try {
    text = text_of(stage());
  } catch (const std::exception& error) {
    text = std::string("! ") + error.what();
  }
  for (std::size_t written = 0; written < text.size();) {
    const auto count = write(output, text.data() + written, text.size() - written);
    if (count <= 0) break;
    written += static_cast<std::size_t>(count);
  }
  // Nothing of the parent's is to be flushed or destroyed here.
  _exit(0);
}

std::string read_all(int input) {
  std::string text;
  char part[4096];
  for (ssize_t count = 0; (count = read(input, part, sizeof part)) > 0;) {
    text.append(part, static_cast<std::size_t>(count));
  }
  return text;
}

}  // namespace

Figures run_stage(const std::function<Figures()>& stage) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("no pipe to be had");
  std::fflush(stdout);
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("no process to be had");
  if (child == 0) {
    close(ends[0]);
    be_stage(stage, ends[1]);
  }
  close(ends[1]);
  const std::string text = read_all(ends[0]);
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (text.starts_with("! ")) throw std::runtime_error(text.substr(2));
  if (!WIFEXITED(status)) throw std::runtime_error("a stage of the benchmark was killed");
  Figures figures;
  std::istringstream lines(text);
  std::string name;
  for (double value = 0; lines >> name >> value;) figures[name] = value;
  return figures;
}

double resident_mib() {
  std::ifstream statm("/proc/self/statm");
  double size = 0, resident = 0;
  statm >> size >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE)) / kMib;
}

}  // namespace shardlens::bench
