#include "profiler/inject/steps/range_names.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

#include "trace/base/text.h"

namespace shardlens::profiler::inject {
namespace {

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool is_upper(char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; }
bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

struct Word {
  std::string text;  // in lower case
  std::size_t end = 0;
};

// "ProfilerStep#3" is "profiler", "step": at anything but letters, and where lower turns to upper
// case.
std::vector<Word> words_of(std::string_view text) {
  std::vector<Word> words;
  bool inside = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!is_letter(text[i])) {
      inside = false;
      continue;
    }
    const bool is_hump = i > 0 && is_upper(text[i]) && !is_upper(text[i - 1]);
    if (!inside || is_hump) words.emplace_back();
    inside = true;
    words.back().text += static_cast<char>(std::tolower(static_cast<unsigned char>(text[i])));
    words.back().end = i + 1;
  }
  return words;
}

bool has_any(const std::vector<Word>& words, std::initializer_list<std::string_view> any) {
  return std::ranges::any_of(
      words, [&](const Word& word) { return std::ranges::find(any, word.text) != any.end(); });
}

// "step" of "DeepSpeedEngine.step" and "scheduler.step()"; "": it is no method of anything.
std::string_view method_of(std::string_view range) {
  if (range.ends_with("()")) range.remove_suffix(2);
  const std::size_t dot = range.rfind('.');
  const bool has_object =
      dot != range.npos && dot > 0 && dot + 1 < range.size() && !is_digit(range[dot + 1]);
  return has_object ? range.substr(dot + 1) : std::string_view();
}

bool is_step(const Word& word) { return has_any({word}, {"step", "trainstep", "trainingstep"}); }
bool is_iteration(const Word& word) { return has_any({word}, {"iteration", "iter"}); }
// "Trainer.step": what has these does all of a step.
bool trains(const std::vector<Word>& words) {
  return has_any(words, {"trainer", "training", "train"});
}

template <typename IsWanted>
std::optional<std::int64_t> number_behind(std::string_view range, IsWanted is_wanted) {
  for (const Word& word : words_of(range)) {
    if (!is_wanted(word)) continue;
    std::string_view rest = range.substr(word.end);
    rest.remove_prefix(std::min(rest.find_first_not_of(" #:=_-"), rest.size()));
    const auto digits = std::ranges::find_if_not(rest, is_digit) - rest.begin();
    const auto number =
        trace::base::number_from<std::int32_t>(rest.substr(0, static_cast<std::size_t>(digits)));
    if (number) return number;
  }
  return std::nullopt;
}

}  // namespace

bool names_a_step(std::string_view range) {
  const auto words = words_of(range);
  if (phase_named(range) || has_any(words, {"scheduler", "sched"})) return false;
  if (method_of(range) == "step" && !trains(words)) return false;
  return std::ranges::any_of(words, is_step) || std::ranges::any_of(words, is_iteration);
}

std::optional<std::int64_t> step_number(std::string_view range) {
  // An iteration may be a part of a step.
  const auto number = number_behind(range, is_step);
  return number ? number : number_behind(range, is_iteration);
}

bool may_leave_out_the_update(std::string_view range) {
  return has_any(words_of(range), {"engine"});
}

std::optional<trace::base::Phase> phase_named(std::string_view range) {
  const auto words = words_of(range);
  // Whose it is says nothing then: "DeepSpeedZeroOptimizer.backward".
  const std::string_view method = method_of(range);
  if (method == "forward") return trace::base::Phase::kForward;
  if (method == "backward") return trace::base::Phase::kBackward;
  // "forward_backward" is neither, and "optimizer" may be followed by "step".
  const bool forward = has_any(words, {"forward", "fwd"});
  const bool backward = has_any(words, {"backward", "bwd"});
  if (has_any(words, {"optimizer", "optim", "opt"})) return trace::base::Phase::kOptimizer;
  if (has_any(words, {"zero"}) && has_any(words, {"grad", "grads"}))
    return trace::base::Phase::kOptimizer;
  if (forward != backward)
    return forward ? trace::base::Phase::kForward : trace::base::Phase::kBackward;
  const bool is_step_of_one = std::ranges::any_of(words, is_step) && !trains(words);
  if (is_step_of_one && has_any(words, {"engine", "scaler"})) return trace::base::Phase::kOptimizer;
  // Not "DistributedDataParallel".
  if (has_any(words, {"dataloader", "data", "loader"}) && !has_any(words, {"parallel"}))
    return trace::base::Phase::kData;
  if (has_any(words, {"eval", "evaluate", "evaluation", "validation", "validate"}))
    return trace::base::Phase::kEvaluation;
  // Not activation checkpointing.
  if (has_any(words, {"save", "write"}) && has_any(words, {"checkpoint"}))
    return trace::base::Phase::kCheckpoint;
  return std::nullopt;
}

bool is_of_a_library(std::string_view domain) {
  constexpr std::array<std::string_view, 7> kLibraries{"NCCL",  "CCCL",  "cuBLAS", "CUBLAS",
                                                       "cuDNN", "cudnn", "CUDNN"};
  return std::ranges::any_of(kLibraries,
                             [&](std::string_view name) { return domain.starts_with(name); });
}

std::string_view without_call_details(std::string_view range) {
  constexpr std::array<std::string_view, 3> kOfEmitNvtx{", seq = ", ", op_id = ", ", sizes = "};
  for (const std::string_view added : kOfEmitNvtx) range = range.substr(0, range.find(added));
  return range;
}

std::string without_numbers(std::string_view range) {
  std::string name;
  for (const char c : range) {
    if (!is_digit(c))
      name += c;
    else if (name.empty() || name.back() != '#')
      name += '#';
  }
  return name;
}

}  // namespace shardlens::profiler::inject
