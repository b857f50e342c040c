#pragma once

namespace shardlens::trace::model {

inline int elsewhere() { return 0; }

}  // namespace shardlens::trace::model
