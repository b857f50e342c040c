#include "bench/fuzz/fuzz_run.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <set>
#include <system_error>

#include "bench/benchmark.h"
#include "trace/base/file_system.h"

namespace shardlens::bench {

namespace {

namespace fs = std::filesystem;

constexpr timespec kLookEvery{.tv_sec = 0, .tv_nsec = 10'000'000};
constexpr std::size_t kLongestMessage = 4000;
constexpr std::int64_t kMostSaid = 1 << 16;
// How the process leaves that runs cases: not with 0, as what it runs may. The problem is in
// `problem`.
constexpr int kRanAll = 98, kFoundProblem = 99;

std::int64_t most_memory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return std::int64_t{usage.ru_maxrss} << 10;
}

std::int64_t memory_of(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/statm");
  std::int64_t size = 0, resident = 0;
  file >> size >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

// What both processes see, also after one has died.
struct Progress {
  std::atomic<std::int64_t> number{0};  // of the case that runs
  std::atomic<double> began{0}, began_computing{0};
  std::atomic<std::int64_t> slowest{0};
  std::atomic<double> slowest_s{0};
  std::array<std::atomic<std::int64_t>, 64> cases{};  // by subject
  std::array<char, kLongestMessage + 1> problem{};
};

struct Unmap {
  void operator()(Progress* shared) const { munmap(shared, sizeof(Progress)); }
};
using SharedProgress = std::unique_ptr<Progress, Unmap>;

SharedProgress share_progress() {
  void* const memory =
      mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return SharedProgress(memory == MAP_FAILED ? nullptr : new (memory) Progress);
}

std::set<std::string> names_in(const fs::path& folder) {
  std::set<std::string> names;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    names.insert(entry->path().lexically_relative(folder));
  }
  return names;
}

// One by one: a pipe among them cannot be copied, and would end it.
void copy_what_can_be(const fs::path& from, const fs::path& to) {
  std::error_code error, ignored;
  fs::create_directories(to, ignored);
  for (fs::recursive_directory_iterator entry(from, error), end; !error && entry != end;
       entry.increment(error)) {
    const fs::path place = to / entry->path().lexically_relative(from);
    const fs::file_status status = entry->symlink_status(ignored);
    if (fs::is_directory(status)) fs::create_directories(place, ignored);
    if (fs::is_regular_file(status)) fs::copy_file(entry->path(), place, ignored);
    if (fs::is_symlink(status)) fs::copy_symlink(entry->path(), place, ignored);
  }
}

void make_empty(const fs::path& folder) {
  std::error_code ignored;
  fs::remove_all(folder, ignored);
  fs::create_directories(folder, ignored);
}

class Fuzzer {
 public:
  Fuzzer(Subjects subjects, const FuzzOptions& options, const fs::path& work,
         const std::function<void(const FuzzFailure&)>& failed)
      : subjects_(subjects), options_(options), work_(work), failed_(failed) {}

  trace::base::Result<FuzzResult> run();

 private:
  // ---- the process that runs cases
  [[noreturn]] void run_cases(std::int64_t first);
  void run_case(std::int64_t number, Subject& subject);
  std::string problem_of(std::int64_t number, Subject& subject);
  std::string left_behind(const Subject& subject, const std::set<std::string>& before) const;

  // ---- the process that watches
  trace::base::Result<void> prepare();
  pid_t start(std::int64_t first);
  std::string watch(pid_t process);
  std::string broken_limit(pid_t process) const;
  void keep(const std::string& what);

  std::size_t subject_of(std::int64_t number) const;
  bool is_chosen(std::int64_t number) const {
    return options_.subject.empty() || subjects_[subject_of(number)]->name() == options_.subject;
  }
  fs::path input() const { return work_ / "input"; }
  fs::path scratch() const { return work_ / "scratch"; }
  fs::path temporary() const { return work_ / "temporary"; }
  fs::path said() const { return work_ / "said"; }

  Subjects subjects_;
  const FuzzOptions& options_;
  const fs::path work_;
  const std::function<void(const FuzzFailure&)>& failed_;
  SharedProgress shared_ = share_progress();
  std::int64_t prepared_memory_ = 0;
  double ends_ = 0;
  FuzzResult result_;
};

// Subjects take turns by their weight.
std::size_t Fuzzer::subject_of(std::int64_t number) const {
  std::int64_t all = 0;
  for (const auto& subject : subjects_) all += subject->weight();
  std::int64_t place = number % all;
  std::size_t index = 0;
  while (place >= subjects_[index]->weight()) place -= subjects_[index++]->weight();
  return index;
}

std::string Fuzzer::left_behind(const Subject& subject, const std::set<std::string>& before) const {
  const auto temporary_names = names_in(temporary());
  if (!temporary_names.empty()) return "left behind a temporary " + *temporary_names.begin();
  const auto after = names_in(input());
  const auto is_kept = [&](const fs::path& name) {
    return std::ranges::any_of(
        name, [&](const fs::path& part) { return subject.is_kept(part.string()); });
  };
  for (const std::string& name : after) {
    if (!before.contains(name) && !is_kept(name)) return "left behind " + name;
  }
  for (const std::string& name : before) {
    if (!after.contains(name) && !is_kept(name)) return "took away " + name;
  }
  return {};
}

std::string Fuzzer::problem_of(std::int64_t number, Subject& subject) {
  for (const fs::path& folder : {input(), scratch(), temporary()}) make_empty(folder);
  trace::synthetic::RandomNumbers seeds(options_.seed);
  Mutation mutation(seeds.next() + static_cast<std::uint64_t>(number));
  subject.damage(mutation, input());
  const auto before = names_in(input());
  Findings findings;
  subject.read(input(), scratch(), findings);
  if (!findings.problem().empty()) return findings.problem();
  const std::int64_t memory = most_memory() - prepared_memory_;
  if (memory > options_.memory_bytes) {
    return "took " + std::to_string(memory >> 20) + " MiB of memory";
  }
  return left_behind(subject, before);
}

void Fuzzer::run_case(std::int64_t number, Subject& subject) {
  const double began = seconds_on(CLOCK_PROCESS_CPUTIME_ID);
  shared_->began_computing = began;
  shared_->began = seconds_on(CLOCK_MONOTONIC);
  shared_->number = number;
  static_cast<void>(ftruncate(STDERR_FILENO, 0));
  const std::string problem = problem_of(number, subject);
  const double took = seconds_on(CLOCK_PROCESS_CPUTIME_ID) - began;
  if (took > shared_->slowest_s) {
    shared_->slowest_s = took;
    shared_->slowest = number;
  }
  if (problem.empty()) return;
  problem.copy(shared_->problem.data(), kLongestMessage);
  _exit(kFoundProblem);
}

void Fuzzer::run_cases(std::int64_t first) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int file = open(said().c_str(), O_CREAT | O_WRONLY | O_APPEND | O_TRUNC, 0600);
  dup2(file, STDERR_FILENO);
  dup2(file, STDOUT_FILENO);
  setenv("TMPDIR", temporary().c_str(), 1);
  for (std::int64_t number = first; seconds_on(CLOCK_MONOTONIC) < ends_; ++number) {
    if (!options_.only && !is_chosen(number)) continue;
    const std::size_t subject = subject_of(number);
    run_case(number, *subjects_[subject]);
    ++shared_->cases[subject];
    if (options_.only) break;
  }
  for (const fs::path& folder : {input(), scratch(), temporary()}) make_empty(folder);
  _exit(kRanAll);
}

trace::base::Result<void> Fuzzer::prepare() {
  if (!shared_)
    return trace::base::fail(trace::base::ErrorKind::kFailed, "there is no memory to share");
  for (const auto& subject : subjects_) {
    const fs::path folder = work_ / "base" / subject->name();
    make_empty(folder);
    TRY(subject->prepare(folder));
  }
  prepared_memory_ = most_memory();
  return {};
}

pid_t Fuzzer::start(std::int64_t first) {
  shared_->problem.fill('\0');
  shared_->number = first;
  shared_->began = seconds_on(CLOCK_MONOTONIC);
  shared_->began_computing = 0;
  const pid_t process = fork();
  if (process == 0) run_cases(first);
  return process;
}

std::string Fuzzer::broken_limit(pid_t process) const {
  clockid_t computing{};
  if (clock_getcpuclockid(process, &computing) != 0) return {};
  if (seconds_on(computing) - shared_->began_computing > options_.computing_s) {
    return "computed for more than " + std::to_string(std::lround(options_.computing_s)) + " s";
  }
  if (seconds_on(CLOCK_MONOTONIC) - shared_->began > options_.waiting_s) {
    return "did not end within " + std::to_string(std::lround(options_.waiting_s)) + " s";
  }
  const std::int64_t memory = memory_of(process) - prepared_memory_;
  if (memory <= options_.memory_bytes) return {};
  return "took " + std::to_string(memory >> 20) + " MiB of memory, and more";
}

// What is wrong with the case at which the process ended; "": there are no more cases.
std::string Fuzzer::watch(pid_t process) {
  std::string limit;
  int status = 0;
  while (waitpid(process, &status, limit.empty() ? WNOHANG : 0) == 0) {
    limit = broken_limit(process);
    if (!limit.empty()) {
      kill(process, SIGKILL);
    } else {
      nanosleep(&kLookEvery, nullptr);
    }
  }
  if (!limit.empty()) return limit;
  if (WIFSIGNALED(status)) {
    return std::string("was ended by signal ") + strsignal(WTERMSIG(status));
  }
  const int code = WEXITSTATUS(status);
  if (code == kFoundProblem && shared_->problem.front() != '\0') return shared_->problem.data();
  return code == kRanAll ? "" : "ended with exit code " + std::to_string(code);
}

void Fuzzer::keep(const std::string& what) {
  FuzzFailure failure;
  failure.number = shared_->number;
  failure.subject = subjects_[subject_of(failure.number)]->name();
  failure.what = what;
  failure.kept = options_.keep / (failure.subject + "_" + std::to_string(options_.seed) + "_" +
                                  std::to_string(failure.number));
  make_empty(failure.kept);
  std::error_code ignored;
  fs::copy_file(said(), failure.kept / said().filename(), ignored);
  copy_what_can_be(input(), failure.kept / input().filename());
  if (trace::base::file_size_or_zero(failure.kept / said().filename()) > kMostSaid) {
    fs::resize_file(failure.kept / said().filename(), kMostSaid, ignored);
  }
  result_.failures.push_back(failure);
  failed_(result_.failures.back());
}

trace::base::Result<FuzzResult> Fuzzer::run() {
  TRY(prepare());
  ends_ = options_.only ? INFINITY : seconds_on(CLOCK_MONOTONIC) + options_.seconds;
  std::int64_t next = options_.only.value_or(0);
  while (true) {
    const pid_t process = start(next);
    if (process < 0)
      return trace::base::fail(trace::base::ErrorKind::kFailed, "no process could be started");
    const std::string what = watch(process);
    if (what.empty()) break;
    keep(what);
    next = shared_->number + 1;
    if (options_.only || result_.failures.size() >= options_.most_failures) break;
    if (seconds_on(CLOCK_MONOTONIC) >= ends_) break;
  }
  for (std::size_t i = 0; i < subjects_.size(); ++i) {
    result_.cases[std::string(subjects_[i]->name())] = shared_->cases[i];
  }
  result_.slowest = shared_->slowest;
  result_.slowest_s = shared_->slowest_s;
  return result_;
}

}  // namespace

void Findings::check(const trace::base::Error& error) {
  const std::string& message = error.message;
  if (message.empty()) return add("refused without a word");
  if (message.size() > kLongestMessage) {
    return add("refused with a message of " + std::to_string(message.size()) +
               " bytes: " + message.substr(0, 200));
  }
  if (message.find('\n') != std::string::npos) add("refused with several lines: " + message);
}

trace::base::Result<FuzzResult> run_fuzzer(Subjects subjects, const FuzzOptions& options,
                                           const std::function<void(const FuzzFailure&)>& failed) {
  TRY_ASSIGN(const auto work, trace::base::TemporaryFolder::create());
  return Fuzzer(subjects, options, work.path(), failed).run();
}

}  // namespace shardlens::bench
