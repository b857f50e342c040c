#include "trainer/huggingface/checkpoint_names.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "trace/base/text.h"
#include "trace/job/checkpoint/checkpoint_info.h"

namespace shardlens::trainer::huggingface {

using trace::base::ErrorKind;
using trace::base::fail;
using trace::base::Result;
using trace::job::ModelLayout;
using trace::job::ParameterShape;

namespace {

constexpr std::size_t kListed = 10;

std::string_view prefix_of(ModelLayout layout) {
  switch (layout) {
    case ModelLayout::kGpt2:
      return "transformer.";
    case ModelLayout::kLlama:
      return "model.";
    case ModelLayout::kBert:
      return "bert.";
    case ModelLayout::kRoberta:
      return "roberta.";
  }
  return "";
}

// Tensors that say nothing: tables that a model computes, and heads of other tasks.
bool is_ignored(std::string_view name, const trace::job::ModelShape& shape) {
  switch (shape.layout) {
    case ModelLayout::kGpt2:
      return name.ends_with(".attn.bias") || name.ends_with(".attn.masked_bias");
    case ModelLayout::kLlama:
      return name.ends_with(".rotary_emb.inv_freq");
    case ModelLayout::kBert:
      return name.ends_with("embeddings.position_ids") || name.starts_with("cls.");
    case ModelLayout::kRoberta:
      return name.ends_with("embeddings.position_ids") || name.starts_with("lm_head.") ||
             name.starts_with("roberta.pooler.") || name.starts_with("pooler.");
  }
  return false;
}

bool is_of_classifier(std::string_view name) {
  return name.starts_with("classifier.") || name.starts_with("bert.pooler.");
}

// Names of TensorFlow's, which BERT's first checkpoints have.
std::string with_new_norms(std::string name) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 2> kOld{
      {{"LayerNorm.gamma", "LayerNorm.weight"}, {"LayerNorm.beta", "LayerNorm.bias"}}};
  for (const auto& [old, now] : kOld) {
    if (name.ends_with(old)) name.replace(name.size() - old.size(), old.size(), now);
  }
  return name;
}

// The layer whose rows are the classes.
bool is_of_classes(std::string_view name, ModelLayout layout) {
  return name.starts_with(layout == ModelLayout::kBert ? "classifier." : "classifier.out_proj.");
}

std::string listed(std::string_view what, const std::vector<std::string>& names) {
  if (names.empty()) return "";
  return " " + std::string(what) + ": " + trace::base::some_of(names, kListed) + ".";
}

class Matcher {
 public:
  Matcher(const trace::job::ModelShape& shape, const std::vector<StoredTensor>& stored)
      : shape_(shape), stored_(stored), parameters_(trace::job::parameter_shapes(shape)) {
    for (const ParameterShape& each : parameters_) by_name_[each.name] = &each;
  }

  Result<MatchedNames> match(const std::string& source) {
    for (std::size_t i = 0; i < stored_.size(); ++i) place(i);
    if (!trace::job::is_encoder(shape_.layout) && shape_.tied_head) use_head_as_embedding();
    for (const ParameterShape& each : parameters_) {
      if (matched_.stored.contains(each.name)) continue;
      const bool is_fresh = trace::job::is_encoder(shape_.layout) && is_of_classifier(each.name);
      (is_fresh ? matched_.fresh : missing_).push_back(each.name);
    }
    if (!missing_.empty() || !extra_.empty() || !misshapen_.empty() || !unread_.empty()) {
      return fail(ErrorKind::kUsage, source + " does not fit its config.json (" +
                                         std::string(trace::job::to_string(shape_.layout)) + ", " +
                                         std::to_string(parameters_.size()) + " tensors)." +
                                         listed("Missing", missing_) + listed("Not known", extra_) +
                                         listed("Of another shape", misshapen_) +
                                         listed("Of a type other than F32, F16 and BF16", unread_) +
                                         " Download the folder again, or correct config.json.");
    }
    return std::move(matched_);
  }

 private:
  const ParameterShape* parameter_of(const std::string& stored_name) const {
    const std::string name = with_new_norms(stored_name);
    for (const std::string& tried : {name, std::string(prefix_of(shape_.layout)) + name}) {
      const auto at = by_name_.find(tried);
      if (at != by_name_.end()) return at->second;
    }
    return nullptr;
  }

  void place(std::size_t index) {
    const StoredTensor& tensor = stored_[index];
    const std::string shown = tensor.name.substr(0, 200);
    const ParameterShape* parameter = parameter_of(tensor.name);
    if (parameter == nullptr) {
      if (shape_.tied_head && tensor.name == kHeadName) {
        tied_head_ = index;
      } else if (!is_ignored(tensor.name, shape_)) {
        extra_.push_back(shown);
      }
      return;
    }
    if (is_for_other_classes(tensor, *parameter)) {
      matched_.other_classes = tensor.sizes[0];
      return;
    }
    if (!matched_.stored.emplace(parameter->name, index).second) {
      extra_.push_back(shown + " (a second " + parameter->name + ")");
      return;
    }
    check(tensor, *parameter);
  }

  // Then that layer begins anew, as with transformers' ignore_mismatched_sizes.
  bool is_for_other_classes(const StoredTensor& tensor, const ParameterShape& parameter) const {
    if (!trace::job::is_encoder(shape_.layout) || !is_of_classes(parameter.name, shape_.layout))
      return false;
    std::vector<std::int64_t> sizes = tensor.sizes;
    if (sizes.empty() || sizes[0] == shape_.labels) return false;
    sizes[0] = shape_.labels;
    return sizes == parameter.sizes;
  }

  void check(const StoredTensor& tensor, const ParameterShape& parameter) {
    const std::string shown = tensor.name.substr(0, 200);
    if (tensor.sizes != parameter.sizes) {
      misshapen_.push_back(shown + " " + trace::job::sizes_text(tensor.sizes) + " instead of " +
                           trace::job::sizes_text(parameter.sizes));
    }
    if (tensor.type != "F32" && tensor.type != "F16" && tensor.type != "BF16") {
      unread_.push_back(shown + " (" + tensor.type + ")");
    }
  }

  // As transformers: of two tied matrices a file may have either.
  void use_head_as_embedding() {
    const std::string_view embedding = embedding_name(shape_.layout);
    if (!tied_head_ || matched_.stored.contains(embedding)) return;
    matched_.stored.emplace(embedding, *tied_head_);
    check(stored_[*tied_head_], *by_name_.at(std::string(embedding)));
  }

  const trace::job::ModelShape& shape_;
  const std::vector<StoredTensor>& stored_;
  std::vector<ParameterShape> parameters_;
  std::map<std::string, const ParameterShape*> by_name_;
  MatchedNames matched_;
  std::optional<std::size_t> tied_head_;
  std::vector<std::string> missing_, extra_, misshapen_, unread_;
};

}  // namespace

std::string_view embedding_name(ModelLayout decoder) {
  return decoder == ModelLayout::kGpt2 ? "transformer.wte.weight" : "model.embed_tokens.weight";
}

Result<MatchedNames> match_names(const trace::job::ModelShape& shape,
                                 const std::vector<StoredTensor>& stored,
                                 const std::string& source) {
  return Matcher(shape, stored).match(source);
}

}  // namespace shardlens::trainer::huggingface
