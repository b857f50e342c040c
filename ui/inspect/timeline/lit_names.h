// Which names of a picture stay lit while the others are dimmed: those that are searched, or else
// that of the event that is picked. Interface thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "trace/timeline/values/name_hits.h"

namespace shardlens::ui::inspect {

class LitNames {
 public:
  // `names`: of the picture. `hits`: null without a search; `picked`: "" for none.
  void follow(const std::vector<std::string>& names,
              std::shared_ptr<const trace::timeline::NameHits> hits, const std::string& picked);
  // Another picture has other names.
  void forget_names();

  // By the picture's number of a name; null: all are.
  const std::vector<bool>* lit() const { return has_lit_ ? &lit_ : nullptr; }
  bool are_searched() const { return hits_ != nullptr; }

 private:
  std::vector<bool> lit_;
  bool has_lit_ = false;
  // By what they were found.
  std::string picked_;
  std::shared_ptr<const trace::timeline::NameHits> hits_;
};

}  // namespace shardlens::ui::inspect
