// Texts that Hugging Face's own code turns into tokens, and tokens that it turns into text: what is
// asked of the program, and what it answers; and what needs no program, bytes as tokens and names
// of classes. One thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trace/base/result.h"
#include "trainer/text/image/token_file.h"
#include "trainer/text/image/token_layout.h"
#include "trainer/text/text_program.h"
#include "trainer/text/text_source.h"

namespace shardlens::trainer::text {

// Text as bytes: token 0-255 is the byte itself, one more ends a document. For presets, which have
// no tokenizer of their own.
inline constexpr TokenId kEndOfBytes = 256;

// Every byte as it is, also one that is not UTF-8.
std::vector<TokenId> byte_tokens(std::string_view text);

// What becomes of an example:
//   plain       the tokenizer's special tokens around the text, and its end_of_text
//   completion  prompt and completion tokenized as one text, and end_of_text; as many tokens as the
//               prompt alone has are out of the loss, also where a token holds the prompt's end and
//               the completion's beginning (counted); as TRL's SFTTrainer
//   chat        the rendered text, whose special tokens the template writes itself; a token is in
//               the loss if it ends inside an answer
//   labelled    the tokenizer's special tokens around the text
struct PreparationOptions {
  // A folder of the Hugging Face hub, or a file of its tokenizer; empty: text is bytes.
  std::filesystem::path tokenizer;
  // The folder whose chat template writes conversations; empty: ChatML.
  std::filesystem::path chat;
  bool completion_only_loss = true;
  // How many classes labels may name; 0: not known.
  std::int64_t classes = 0;
  // Numbers of labels that are names; empty: the sorted names are numbered from 0.
  std::map<std::string, std::int64_t> label_numbers;
  bool skip_bad_lines = false;
};

// Errors name the file, the line and what to do: kUsage for a text that cannot be used, kMissing,
// kDamaged, kFailed; kDiskFull and kIo for the image.
trace::base::Result<MappedImage> prepare_text(const std::string& data, const TextSource& source,
                                              const PreparationOptions& options,
                                              const TextProgramOptions& program, std::uint64_t key,
                                              TokenFile& image);
// Of one text with its special tokens.
trace::base::Result<MappedImage> prepare_prompt(const std::string& text,
                                                const PreparationOptions& options,
                                                const TextProgramOptions& program,
                                                std::uint64_t key, TokenFile& image);

// Equal for tokenizers and chat templates that give equal tokens: of the files that make them and
// of the program. Error kFailed: one cannot be read.
trace::base::Result<std::uint64_t> fingerprint_of(const PreparationOptions& options);

// The Python that prepares texts, with its packages. Error kMissing says the command that installs
// what is not there.
trace::base::Result<std::string> check_text_program(const TextProgramOptions& options);

// Tokens as text. Starts the program with the first, and keeps it.
class TextDecoder {
 public:
  // `tokenizer` as above.
  TextDecoder(std::filesystem::path tokenizer, TextProgramOptions program)
      : tokenizer_(std::move(tokenizer)), program_options_(std::move(program)) {}

  // Without special tokens; bytes that are not UTF-8 may be in it. After an error there is none
  // again.
  trace::base::Result<std::string> decode(std::span<const TokenId> tokens);

 private:
  trace::base::Result<void> start();

  std::filesystem::path tokenizer_;
  TextProgramOptions program_options_;
  std::optional<TextProgram> program_;
};

// What a classifier's folder calls its classes: `label2id` of its config.json. Empty: none there,
// or only the names LABEL_0, LABEL_1, … that transformers gives to classes without names. Error
// kDamaged: that is no such map.
trace::base::Result<std::map<std::string, std::int64_t>> read_label_numbers(
    const std::filesystem::path& model_folder);

}  // namespace shardlens::trainer::text
