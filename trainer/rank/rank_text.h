// The text that a rank trains and evaluates on, from its settings. The main thread, before the
// first step.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>

#include "trace/base/result.h"
#include "trace/job/settings/settings.h"
#include "trainer/evaluate/sample_writer.h"
#include "trainer/loop/rank_log.h"
#include "trainer/rank/rank_place.h"
#include "trainer/text/image/encoded_text.h"

namespace shardlens::trainer::rank {

struct RankText {
  text::EncodedText training;
  std::optional<text::EncodedText> evaluation;  // absent: a share of the above is
  std::int64_t padding_token = 0;
  std::filesystem::path tokenizer;  // a folder or a file; empty: text is bytes
  evaluate::SampleText sample;
};

// What prepares texts that are not bytes: see check_text_program.
trace::base::Result<std::string> find_text_program(const VariableLookup& lookup,
                                                   const std::atomic<int>& stop_signal);

// `vocabulary` and `classes` (0: a language model) are the model's. Warns of a token cache that
// cannot be used. `is_stopped`: as of text::TextProgramOptions; samples ask it, too. Errors name
// the file, the line and what to do; a stop is one, too.
trace::base::Result<RankText> load_rank_text(const trace::job::Settings& settings,
                                             std::int64_t vocabulary, std::int64_t classes,
                                             const VariableLookup& lookup,
                                             std::function<bool()> is_stopped, loop::RankLog& log);

}  // namespace shardlens::trainer::rank
