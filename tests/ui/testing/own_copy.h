// A part of a snapshot to be changed by a test. One thread.
#pragma once

#include <memory>

namespace shardlens::ui {

// Takes the place of what it is a copy of, as when it is published anew.
template <typename Part>
Part& own_copy(std::shared_ptr<const Part>& part) {
  const auto copy = std::make_shared<Part>(*part);
  part = copy;
  return *copy;
}

}  // namespace shardlens::ui
