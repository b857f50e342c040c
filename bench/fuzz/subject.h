// Something of strangers that the program reads, how a fuzzer damages and reads it, and all such
// there is. One thread.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bench/fuzz/mutation.h"
#include "trace/base/result.h"

namespace shardlens::bench {

// What is wrong with how an input was read. A subject adds to it; the first problem counts.
class Findings {
 public:
  void add(std::string problem) {
    if (problem_.empty()) problem_ = std::move(problem);
  }
  // What a user reads of an input that is refused: a line that can be printed.
  void check(const trace::base::Error& error);
  // True if there is a value; else its error is checked.
  template <typename T>
  bool check(const trace::base::Result<T>& result) {
    if (!result) check(result.error());
    return result.has_value();
  }

  const std::string& problem() const { return problem_; }  // "": none

 private:
  std::string problem_;
};

class Subject {
 public:
  virtual ~Subject() = default;

  virtual std::string_view name() const = 0;
  // How many of its cases are as long as one of the slowest subject.
  virtual int weight() const { return 1; }
  // Makes in a folder what its cases begin with. Once.
  virtual trace::base::Result<void> prepare(const std::filesystem::path&) { return {}; }
  // Writes a damaged input into the empty folder `input`; the same for the same mutation.
  virtual void damage(Mutation& mutation, const std::filesystem::path& input) = 0;
  // Reads what damage() just wrote, as the commands do. `scratch` is theirs, and is emptied.
  virtual void read(const std::filesystem::path& input, const std::filesystem::path& scratch,
                    Findings& findings) = 0;
  // Of a file or folder beside the input, whether readers keep it there on purpose.
  virtual bool is_kept(std::string_view) const { return false; }
};

std::unique_ptr<Subject> trace_subject();         // runs, as folders and packed
std::unique_ptr<Subject> kineto_subject();        // traces of PyTorch's profiler
std::unique_ptr<Subject> yaml_subject();          // jobs' and checkpoints' YAML
std::unique_ptr<Subject> framework_subject();     // files of DeepSpeed and Accelerate
std::unique_ptr<Subject> sweep_subject();         // files of sweeps and searches
std::unique_ptr<Subject> model_folder_subject();  // configuration, tokenizer, template, weights
std::unique_ptr<Subject> text_subject();          // what is learnt from
std::unique_ptr<Subject> cache_subject();         // of tokens, of figures, of the library
std::unique_ptr<Subject> costs_subject();         // of collectives, and tables of nccl-tests
std::unique_ptr<Subject> lesson_subject();        // Markdown

std::vector<std::unique_ptr<Subject>> all_subjects();

// Small files as texts.
inline std::string text_of_file(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}
inline void write_text_file(const std::filesystem::path& file, std::string_view text) {
  std::ofstream(file, std::ios::binary) << text;
}

}  // namespace shardlens::bench
