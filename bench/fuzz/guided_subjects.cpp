// A subject of the fuzzers, damaged as an input has it: its bytes are the choices.
//   guided_subjects FOLDER --subject=traces -max_len=300 -max_total_time=3600
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string_view>

#include "bench/fuzz/subject.h"
#include "trace/base/file_system.h"

namespace shardlens::bench {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void leave(const std::string& why) {
  std::fprintf(stderr, "%s\n", why.c_str());
  std::exit(2);
}

std::unique_ptr<Subject> subject_named(std::string_view name) {
  std::string names;
  for (auto& subject : all_subjects()) {
    if (subject->name() == name) return std::move(subject);
    names += " " + std::string(subject->name());
  }
  leave("--subject= one of:" + names);
}

// Ends the program with what was found, so that libFuzzer keeps the input.
void stop_at(const Findings& findings) {
  if (findings.problem().empty()) return;
  std::fprintf(stderr, "found: %s\n", findings.problem().c_str());
  std::abort();
}

// What all inputs of the process share.
class Workshop {
 public:
  explicit Workshop(std::string_view subject) : subject_(subject_named(subject)) {
    auto folder = trace::base::TemporaryFolder::create();
    if (!folder) leave(folder.error().message);
    folder_.emplace(std::move(*folder));
    const fs::path base = folder_->path() / "base";
    fs::create_directory(base);
    const auto prepared = subject_->prepare(base);
    if (!prepared) leave(prepared.error().message);
  }

  void read(std::string_view choices) {
    const fs::path input = folder_->path() / "input", scratch = folder_->path() / "scratch";
    for (const fs::path& each : {input, scratch}) {
      fs::remove_all(each);
      fs::create_directory(each);
    }
    Mutation mutation(choices);
    subject_->damage(mutation, input);
    Findings findings;
    subject_->read(input, scratch, findings);
    stop_at(findings);
  }

 private:
  std::unique_ptr<Subject> subject_;
  std::optional<trace::base::TemporaryFolder> folder_;
};

std::unique_ptr<Workshop> workshop;

}  // namespace
}  // namespace shardlens::bench

using namespace shardlens::bench;

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  constexpr std::string_view kOption = "--subject=";
  std::string_view name;
  for (int i = 1; i < *argc; ++i) {
    const std::string_view argument = (*argv)[i];
    if (argument.starts_with(kOption)) name = argument.substr(kOption.size());
  }
  workshop = std::make_unique<Workshop>(name);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  workshop->read({reinterpret_cast<const char*>(data), size});
  return 0;
}
