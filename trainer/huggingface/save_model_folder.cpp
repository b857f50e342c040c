#include "trainer/huggingface/save_model_folder.h"

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <system_error>
#include <utility>

#include "trace/base/file_system.h"
#include "trace/job/huggingface/find_model.h"
#include "trainer/checkpoint/disk_file.h"
#include "trainer/checkpoint/rank_exchange.h"
#include "trainer/checkpoint/tensor_bytes.h"
#include "trainer/checkpoint/whole_folder.h"
#include "trainer/huggingface/chat_templates.h"
#include "trainer/huggingface/folder_source.h"
#include "trainer/huggingface/saved_config.h"
#include "trainer/huggingface/weight_files.h"

namespace shardlens::trainer::huggingface {

namespace fs = std::filesystem;
using trace::base::ErrorKind;
using trace::base::fail;
using trace::base::quoted;
using trace::base::Result;

namespace {

constexpr const char* kTag = "model folder";
constexpr std::int64_t kPieceValues = 2 << 20;

// Everything beside the weights and chat templates that transformers reads: of the model,
constexpr std::array kOfModel{"chat_template.json", "generation_config.json"};
// of its tokenizer, whichever of them it has,
constexpr std::array kTokenizers{"tokenizer.json", "vocab.json", "merges.txt", "vocab.txt",
                                 "tokenizer.model"};
// and what is said of its tokens.
constexpr std::array kOfTokens{"tokenizer_config.json", "special_tokens_map.json",
                               "added_tokens.json"};

Result<checkpoint::DataType> type_of_source(const SaveModelOptions& options) {
  if (options.type) return *options.type;
  if (options.source.empty()) return checkpoint::DataType::kF32;
  TRY_ASSIGN(const FolderSource source, FolderSource::open(options.source, options.shape));
  return source.stored_type();
}

bool was_saved_here(const fs::path& folder) {
  const auto files = open_weight_files(folder);
  return files && !files->empty() && files->front().metadata() == saved_metadata();
}

// One model being saved, seen from one rank.
class Saving {
 public:
  Saving(const SaveModelOptions& options, std::span<const strategy::LocalParameter> parameters,
         comm::Communicator& communicator)
      : options_(options),
        parameters_(parameters),
        communicator_(communicator),
        is_first_(communicator.rank() == 0) {}

  // Rank 0 makes the folder, all learn its name and the type of the values.
  Result<void> begin() {
    Result<std::string> opening = std::string();
    if (is_first_) opening = make_folder();
    TRY_ASSIGN(const auto texts, checkpoint::exchange(communicator_, opening, kTag));
    const std::string& text = texts.front();
    const auto end = text.find('\n');
    type_ = checkpoint::data_type_from(text.substr(0, end)).value_or(checkpoint::DataType::kF32);
    temporary_ = text.substr(end + 1);
    layout_ = layout_of(options_.shape, type_, options_.file_bytes);
    return {};
  }

  Result<void> write_tensors() {
    TRY_ASSIGN(const auto counts, checkpoint::exchange(communicator_, written_values(), kTag));
    std::int64_t written = 0;
    for (const std::string& count : counts) written += std::stoll(count);
    if (written == layout_.values) return {};
    return fail(ErrorKind::kFailed, "cannot save the model: the ranks have " +
                                        std::to_string(written) + " of its " +
                                        std::to_string(layout_.values) + " values");
  }

  // What is not spread over ranks, and the last: the headers, without which a file is none.
  Result<void> finish() {
    return checkpoint::agree(communicator_, is_first_ ? write_rest() : Result<void>(), kTag);
  }

  void abandon() {
    if (is_first_ && !temporary_.empty()) checkpoint::abandon_folder(temporary_);
  }

 private:
  Result<std::string> make_folder() {
    std::error_code error;
    const fs::path& folder = options_.folder;
    const bool is_free = !fs::exists(folder, error) ||
                         (fs::is_directory(folder, error) && fs::is_empty(folder, error));
    if (!is_free && !was_saved_here(folder)) {
      return fail(ErrorKind::kUsage, "cannot save the model: " + quoted(folder) +
                                         " exists and was not saved by this program. Choose "
                                         "another place, or delete it.");
    }
    TRY_ASSIGN(const checkpoint::DataType type, type_of_source(options_));
    TRY_ASSIGN(temporary_, checkpoint::begin_folder(folder));
    return std::string(checkpoint::name_of(type)) + "\n" + temporary_.string();
  }

  // Writes this rank's parts; how many values they are.
  Result<std::string> written_values() {
    std::vector<std::unique_ptr<checkpoint::DiskFile>> files(layout_.files.size());
    std::int64_t values = 0;
    for (const strategy::LocalParameter& kept : parameters_) {
      if (!kept.is_primary) continue;
      const auto expanded = options_.expand ? options_.expand(kept) : std::optional(kept);
      if (!expanded) continue;
      const strategy::LocalParameter& part = *expanded;
      const auto at = layout_.places.find(part.name);
      if (at == layout_.places.end()) continue;
      const SavedFile& file = layout_.files[at->second.file];
      std::unique_ptr<checkpoint::DiskFile>& out = files[at->second.file];
      if (!out) {
        TRY_ASSIGN(checkpoint::DiskFile made,
                   checkpoint::DiskFile::create(temporary_ / file.name, file.bytes()));
        out = std::make_unique<checkpoint::DiskFile>(std::move(made));
      }
      TRY(write_part(part, file, file.tensors[at->second.tensor], *out));
      values += part.end - part.begin;
    }
    for (const auto& file : files) {
      if (file) TRY(file->synchronize());
    }
    return std::to_string(values);
  }

  Result<void> write_part(const strategy::LocalParameter& part, const SavedFile& file,
                          const checkpoint::TensorEntry& tensor, checkpoint::DiskFile& out) {
    if (part.sizes != tensor.sizes || part.value.numel() != part.end - part.begin) {
      return fail(ErrorKind::kFailed,
                  "cannot save the model: parameter '" + part.name + "' has another shape");
    }
    const torch::NoGradGuard no_grad;
    const torch::Tensor flat = part.value.detach().view({-1});
    const std::int64_t start = std::ssize(file.header) + tensor.begin;
    for (std::int64_t done = 0; done < flat.numel(); done += kPieceValues) {
      const std::int64_t count = std::min(kPieceValues, flat.numel() - done);
      const torch::Tensor values = flat.narrow(0, done, count)
                                       .to(torch::kCPU, checkpoint::scalar_type_of(type_))
                                       .contiguous();
      TRY(out.write(start + (part.begin + done) * checkpoint::bytes_of(type_),
                    checkpoint::bytes_of_tensor(values)));
    }
    return {};
  }

  Result<void> write_rest() {
    for (const SavedFile& file : layout_.files) {
      TRY_ASSIGN(checkpoint::DiskFile out,
                 checkpoint::DiskFile::create(temporary_ / file.name, file.bytes()));
      TRY(out.write(0, std::as_bytes(std::span(file.header))));
      TRY(out.synchronize());
    }
    if (const std::string index = layout_.index(); !index.empty()) {
      TRY(checkpoint::write_file(temporary_ / kIndexFile, index));
    }
    std::string original;
    if (!options_.source.empty()) {
      TRY_ASSIGN(original, trace::job::read_model_config(options_.source));
    }
    TRY_ASSIGN(const std::string config,
               saved_config(original, options_.shape, type_, options_.labels));
    TRY(checkpoint::write_file(temporary_ / trace::job::kConfigFile, config));
    TRY(copy_texts());
    return checkpoint::publish_folder(temporary_, options_.folder);
  }

  Result<void> copy_texts() {
    if (!options_.source.empty()) TRY(copy_all(options_.source, kOfModel));
    TRY(write_chat_templates());
    const fs::path& tokenizer = options_.tokenizer;
    if (tokenizer.empty()) return {};
    std::error_code error;
    if (fs::is_directory(tokenizer, error)) {
      TRY(copy_all(tokenizer, kTokenizers));
      return copy_all(tokenizer, kOfTokens);
    }
    const fs::path folder = tokenizer.parent_path(), name = tokenizer.filename();
    if (name == "vocab.json" || name == "merges.txt") {
      TRY(copy_all(folder, std::array{"vocab.json", "merges.txt"}));
    } else {
      TRY(copy(tokenizer, name == "vocab.txt" ? name : "tokenizer.json"));
    }
    return copy_all(folder, kOfTokens);
  }

  // As files, which come before what a tokenizer_config.json says.
  Result<void> write_chat_templates() {
    const fs::path folder = chat_folder(options_.tokenizer, options_.source);
    if (folder.empty()) return {};
    for (const auto& [name, text] : read_chat_templates(folder)) {
      const fs::path file = temporary_ / chat_template_file(name);
      std::error_code error;  // writing the file says it
      fs::create_directories(file.parent_path(), error);
      TRY(checkpoint::write_file(file, text));
    }
    return {};
  }

  // Those that are there.
  Result<void> copy_all(const fs::path& folder, std::span<const char* const> names) {
    for (const char* name : names) TRY(copy(folder / name, name));
    return {};
  }

  Result<void> copy(const fs::path& from, const fs::path& name) {
    std::error_code error;
    if (!fs::is_regular_file(from, error)) return {};
    if (fs::copy_file(from, temporary_ / name, error)) return {};
    return fail(ErrorKind::kIo, "cannot copy " + quoted(from) + ": " + error.message());
  }

  const SaveModelOptions& options_;
  std::span<const strategy::LocalParameter> parameters_;
  comm::Communicator& communicator_;
  const bool is_first_;
  fs::path temporary_;
  checkpoint::DataType type_ = checkpoint::DataType::kF32;
  SavedLayout layout_;
};

Result<void> saved(Saving& saving) {
  TRY(saving.begin());
  TRY(saving.write_tensors());
  return saving.finish();
}

}  // namespace

Result<void> save_model_folder(const SaveModelOptions& options,
                               std::span<const strategy::LocalParameter> parameters,
                               comm::Communicator& communicator) {
  Saving saving(options, parameters, communicator);
  const auto done = saved(saving);
  if (!done) saving.abandon();
  return done;
}

}  // namespace shardlens::trainer::huggingface
