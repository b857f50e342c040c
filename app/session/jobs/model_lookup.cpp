#include "app/session/jobs/model_lookup.h"

#include <utility>

#include "trace/job/huggingface/find_model.h"

namespace shardlens::app::session {

namespace {

constexpr std::chrono::seconds kFresh{3};

bool says_the_same(const trace::base::Result<trace::job::ModelShape>& a,
                   const trace::base::Result<trace::job::ModelShape>& b) {
  if (a.has_value() != b.has_value()) return false;
  return a ? *a == *b : a.error().message == b.error().message;
}

}  // namespace

ModelLookup::ModelLookup(std::function<void()> on_change)
    : on_change_(std::move(on_change)),
      worker_([this](const std::set<std::string>& models, const auto&) { read(models); }) {}

std::optional<trace::base::Result<trace::job::ModelShape>> ModelLookup::find(
    const std::string& model) {
  if (auto preset = trace::job::find_planning_model(model)) return preset;
  const std::lock_guard lock(mutex_);
  const auto at = known_.find(model);
  if (at == known_.end() || Clock::now() - at->second.read_at > kFresh) {
    // A newer request takes the place of one that waits, so it asks for all.
    if (awaited_.insert(model).second) worker_.ask(awaited_);
  }
  if (at == known_.end()) return std::nullopt;
  return at->second.shape;
}

std::uint64_t ModelLookup::version() const {
  const std::lock_guard lock(mutex_);
  return version_;
}

void ModelLookup::read(const std::set<std::string>& models) {
  bool has_news = false;
  for (const std::string& model : models) {
    auto shape = trace::job::find_planned_model(model);
    const std::lock_guard lock(mutex_);
    awaited_.erase(model);
    const auto at = known_.find(model);
    has_news = has_news || at == known_.end() || !says_the_same(at->second.shape, shape);
    known_.insert_or_assign(model, Known{std::move(shape), Clock::now()});
    if (has_news) ++version_;
  }
  if (has_news && on_change_) on_change_();
}

}  // namespace shardlens::app::session
