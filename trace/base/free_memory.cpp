#include "trace/base/free_memory.h"

#include <malloc.h>

namespace shardlens::trace::base {

void give_back_memory() { malloc_trim(0); }

}  // namespace shardlens::trace::base
