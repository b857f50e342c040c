// What was probably meant by a name that does not exist: the one way in which commands, options,
// settings and runs are suggested. Any thread.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace shardlens::trace::base {

// The `count` names that are nearest to what was written, nearest first. A name is as near as its
// nearest beginning or part between “_” or “-”, so that “buket” finds “bucket_cap_mb”; of equals
// the one that is nearer as a whole. Views of `names`.
std::vector<std::string_view> nearest_names(std::string_view written,
                                            std::span<const std::string_view> names,
                                            std::size_t count = 1);

// Whether the name can be what was meant: no more than a third of its letters differ.
bool is_near(std::string_view written, std::string_view name);

}  // namespace shardlens::trace::base
