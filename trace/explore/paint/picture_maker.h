// A picture of any part of a run: its rows painted side by side, their names joined. Any thread.
#pragma once

#include <functional>

#include "trace/base/result.h"
#include "trace/explore/run/run_snapshot.h"
#include "trace/timeline/values/picture.h"

namespace shardlens::trace {

// Errors: kFailed when `wanted`, which is asked in between, says false; those of the files.
Result<TimelinePicture> make_picture(const RunSnapshot& run, const PictureRequest& request,
                                     const std::function<bool()>& wanted);

}  // namespace shardlens::trace
