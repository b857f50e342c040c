#include "trainer/huggingface/folder_source.h"

#include <algorithm>
#include <array>
#include <utility>

#include "trace/base/checksum.h"
#include "trace/base/file_system.h"
#include "trainer/checkpoint/tensor_bytes.h"
#include "trainer/huggingface/checkpoint_names.h"
#include "trainer/huggingface/weight_files.h"

namespace shardlens::trainer::huggingface {

using trace::base::ErrorKind;
using trace::base::fail;
using trace::base::quoted;
using trace::base::Result;

namespace {

// So many at the beginning, in the middle and at the end tell two matrices apart.
constexpr std::int64_t kComparedValues = 4096;
constexpr std::int64_t kPieceBytes = 4 << 20;  // that are read at once

std::array<std::int64_t, 3> compared_from(std::int64_t numel, std::int64_t compared) {
  return {0, (numel - compared) / 2, numel - compared};
}

}  // namespace

Result<FolderSource> FolderSource::open(const std::filesystem::path& folder,
                                        const trace::job::ModelShape& shape) {
  FolderSource source;
  TRY_ASSIGN(source.files_, open_weight_files(folder));
  std::vector<StoredTensor> stored;
  std::vector<Place> places;
  for (std::size_t i = 0; i < source.files_.size(); ++i) {
    for (const checkpoint::TensorEntry& tensor : source.files_[i].tensors()) {
      stored.push_back({tensor.name, tensor.sizes, std::string(checkpoint::name_of(tensor.type))});
      places.push_back({i, tensor});
    }
  }
  TRY_ASSIGN(MatchedNames matched, match_names(shape, stored, quoted(folder)));
  std::map<checkpoint::DataType, std::int64_t> values;
  for (const auto& [name, index] : matched.stored) {
    source.places_[name] = places[index];
    values[places[index].tensor.type] += places[index].tensor.numel();
  }
  const auto most =
      std::ranges::max_element(values, {}, [](const auto& each) { return each.second; });
  if (most != values.end()) source.stored_type_ = most->first;
  source.fresh_ = std::move(matched.fresh);
  source.other_classes_ = matched.other_classes;
  for (const Place& place : places) {
    if (shape.tied_head && place.tensor.name == kHeadName) source.tied_head_ = place;
  }
  TRY(source.check_tied(shape, folder));
  return source;
}

Result<FolderSource> FolderSource::open(const trace::job::Settings& settings,
                                        const trace::job::ModelShape& shape,
                                        std::function<void()> on_piece) {
  TRY_ASSIGN(FolderSource source, open(settings.model, shape));
  source.on_piece_ = std::move(on_piece);
  if (source.other_classes_ == 0 || settings.num_labels != trace::job::kAuto) return source;
  const std::string own = std::to_string(source.other_classes_);
  const std::string told = std::to_string(shape.labels);
  return fail(ErrorKind::kUsage,
              quoted(std::filesystem::path(settings.model)) + " has a head for " + own +
                  " classes, but its config.json is for " + told + ". Set num_labels: " + own +
                  " to train that head, or " + told + " to give the model a new one.");
}

Result<void> FolderSource::check_tied(const trace::job::ModelShape& shape,
                                      const std::filesystem::path& folder) {
  if (!tied_head_) return {};
  const Place& embedding = places_.at(std::string(embedding_name(shape.layout)));
  const std::int64_t numel = std::min(tied_head_->tensor.numel(), embedding.tensor.numel());
  const std::int64_t compared = std::min(numel, kComparedValues);
  for (const std::int64_t begin : compared_from(numel, compared)) {
    const torch::Tensor head = torch::empty({compared}), other = torch::empty({compared});
    TRY(read_place(*tied_head_, begin, head));
    TRY(read_place(embedding, begin, other));
    if (tied_head_->tensor.sizes == embedding.tensor.sizes && torch::equal(head, other)) continue;
    return fail(ErrorKind::kUsage,
                quoted(folder) + " has an output matrix (" + std::string(kHeadName) +
                    ") of its own, but its config.json says that the embedding is it. Set "
                    "tie_word_embeddings to false there.");
  }
  return {};
}

Result<std::uint64_t> FolderSource::sample_checksum(std::uint64_t seed) {
  std::uint64_t checksum = seed;
  for (const auto& [name, place] : places_) {
    const std::int64_t numel = place.tensor.numel();
    const torch::Tensor values = torch::empty({std::min(numel, kComparedValues)});
    for (const std::int64_t begin : compared_from(numel, values.numel())) {
      TRY(read_place(place, begin, values));
      checksum = trace::base::quick_checksum_of(checkpoint::bytes_of_tensor(values), checksum);
    }
  }
  return checksum;
}

Result<void> FolderSource::read(const std::string& name, std::int64_t begin,
                                const torch::Tensor& into) {
  const auto at = places_.find(name);
  if (at == places_.end()) {
    return fail(ErrorKind::kFailed, "the model folder has no parameter '" + name + "'");
  }
  return read_place(at->second, begin, into);
}

Result<void> FolderSource::read_place(const Place& place, std::int64_t begin,
                                      const torch::Tensor& into) {
  const torch::NoGradGuard no_grad;
  const torch::Tensor flat = into.view({-1});
  const std::int64_t numel = flat.numel();
  const torch::Tensor piece =
      torch::empty({std::min(numel, kPieceBytes / checkpoint::bytes_of(place.tensor.type))},
                   torch::dtype(checkpoint::scalar_type_of(place.tensor.type)));
  for (std::int64_t done = 0; done < numel; done += piece.numel()) {
    const torch::Tensor values = piece.narrow(0, 0, std::min(numel - done, piece.numel()));
    TRY(files_[place.file].read(place.tensor, begin + done,
                                checkpoint::writable_bytes_of_tensor(values)));
    flat.narrow(0, done, values.numel()).copy_(values);
    if (on_piece_) on_piece_();
  }
  return {};
}

}  // namespace shardlens::trainer::huggingface
