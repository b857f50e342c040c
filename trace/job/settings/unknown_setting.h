// What is said of a name that is no setting's. Any thread.
#pragma once

#include <string>
#include <string_view>

namespace shardlens::trace::job {

// "Unknown setting 'buket'. Did you mean 'bucket_cap_mb'? `shardlens settings` lists all."; without
// the question where no name is near.
std::string unknown_setting_text(std::string_view name);

}  // namespace shardlens::trace::job
