#include "trainer/huggingface/save_model_folder.h"

#include <algorithm>
#include <span>
#include <system_error>
#include <utility>

#include "trace/base/file_system.h"
#include "trace/job/huggingface/find_model.h"
#include "trainer/checkpoint/disk_file.h"
#include "trainer/checkpoint/rank_exchange.h"
#include "trainer/checkpoint/tensor_bytes.h"
#include "trainer/checkpoint/whole_folder.h"
#include "trainer/huggingface/saved_files.h"
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
        work_(communicator, kTag, options.on_piece),
        is_first_(communicator.rank() == 0) {}

  // Rank 0 makes the folder, all learn its name and the type of the values.
  Result<void> begin() {
    Result<std::string> opening = std::string();
    if (is_first_) opening = make_folder();
    TRY_ASSIGN(const auto texts, work_.exchange(opening));
    const std::string& text = texts.front();
    const auto end = text.find('\n');
    type_ = checkpoint::data_type_from(text.substr(0, end)).value_or(checkpoint::DataType::kF32);
    temporary_ = text.substr(end + 1);
    layout_ = layout_of(options_.shape, type_, options_.file_bytes);
    return {};
  }

  Result<void> write_tensors() {
    TRY_ASSIGN(const auto counts, work_.exchange(written_values()));
    std::int64_t written = 0;
    for (const std::string& count : counts) written += std::stoll(count);
    if (written == layout_.values) return {};
    return fail(ErrorKind::kFailed, "cannot save the model: the ranks have " +
                                        std::to_string(written) + " of its " +
                                        std::to_string(layout_.values) + " values");
  }

  // What is not spread over ranks, and the last: the headers, without which a file is none.
  Result<void> finish() { return work_.agree(is_first_ ? write_rest() : Result<void>()); }

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
    TRY_ASSIGN(temporary_, checkpoint::begin_folder(folder));
    return std::string(checkpoint::name_of(options_.type.value_or(options_.texts.type))) + "\n" +
           temporary_.string();
  }

  // Writes this rank's parts; how many values they are.
  Result<std::string> written_values() {
    std::vector<checkpoint::SafetensorsWriter> files;
    for (const auto& file : layout_.files) files.emplace_back(temporary_ / file.name, file);
    std::int64_t values = 0;
    for (const strategy::LocalParameter& kept : parameters_) {
      if (!kept.is_primary) continue;
      const auto expanded = options_.expand ? options_.expand(kept) : std::optional(kept);
      if (!expanded) continue;
      const strategy::LocalParameter& part = *expanded;
      const auto at = layout_.places.find(part.name);
      if (at == layout_.places.end()) continue;
      const auto [file, tensor] = at->second;
      TRY(write_part(part, layout_.files[file].tensors[tensor], files[file]));
      values += part.end - part.begin;
    }
    for (checkpoint::SafetensorsWriter& file : files) {
      TRY(file.synchronize());
      work_.piece_done();
    }
    return std::to_string(values);
  }

  Result<void> write_part(const strategy::LocalParameter& part,
                          const checkpoint::TensorEntry& tensor,
                          checkpoint::SafetensorsWriter& file) {
    if (part.sizes != tensor.sizes || part.value.numel() != part.end - part.begin) {
      return fail(ErrorKind::kFailed,
                  "cannot save the model: parameter '" + part.name + "' has another shape");
    }
    const torch::NoGradGuard no_grad;
    const torch::Tensor flat = part.value.detach().view({-1});
    for (std::int64_t done = 0; done < flat.numel(); done += kPieceValues) {
      const std::int64_t count = std::min(kPieceValues, flat.numel() - done);
      const torch::Tensor values = flat.narrow(0, done, count)
                                       .to(torch::kCPU, checkpoint::scalar_type_of(type_))
                                       .contiguous();
      TRY(file.write(tensor, part.begin + done, checkpoint::bytes_of_tensor(values)));
      work_.piece_done();
    }
    return {};
  }

  Result<void> write_rest() {
    for (const auto& file : layout_.files) {
      TRY(checkpoint::SafetensorsWriter(temporary_ / file.name, file).write_header());
      work_.piece_done();
    }
    if (const std::string index = layout_.index(); !index.empty()) {
      TRY(checkpoint::write_file(temporary_ / kIndexFile, index));
    }
    TRY_ASSIGN(const std::string config,
               saved_config(options_.texts.config, options_.shape, type_, options_.labels));
    TRY(checkpoint::write_file(temporary_ / trace::job::kConfigFile, config));
    for (const auto& [name, text] : options_.texts.files) {
      const fs::path file = temporary_ / name;
      std::error_code error;  // writing the file says it
      fs::create_directories(file.parent_path(), error);
      TRY(checkpoint::write_file(file, text));
    }
    return checkpoint::publish_folder(temporary_, options_.folder);
  }

  const SaveModelOptions& options_;
  std::span<const strategy::LocalParameter> parameters_;
  checkpoint::SharedWork work_;
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
