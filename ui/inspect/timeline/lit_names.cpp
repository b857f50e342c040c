#include "ui/inspect/timeline/lit_names.h"

#include <string_view>
#include <unordered_set>
#include <utility>

namespace shardlens::ui::inspect {

void LitNames::forget_names() {
  picked_.clear();
  has_lit_ = false;
}

void LitNames::follow(const std::vector<std::string>& names,
                      std::shared_ptr<const trace::timeline::NameHits> hits,
                      const std::string& picked) {
  const bool has_lit = hits || !picked.empty();
  if (hits == hits_ && picked == picked_ && has_lit_ == has_lit) return;
  hits_ = std::move(hits);
  picked_ = picked;
  has_lit_ = has_lit;
  lit_.clear();
  if (!has_lit_) return;
  std::unordered_set<std::string_view> wanted{picked_};
  if (hits_) {
    for (const trace::timeline::NameHit& hit : hits_->names) wanted.insert(hit.name);
  }
  wanted.erase(std::string_view());
  for (const std::string& name : names) lit_.push_back(wanted.contains(name));
}

}  // namespace shardlens::ui::inspect
