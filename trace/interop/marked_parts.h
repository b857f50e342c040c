// What an imported rank reduces and gathers as one, as rows: buckets of DDP, units of sharding
// programs. Any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "trace/interop/kineto_collectives.h"
#include "trace/interop/kineto_phases.h"
#include "trace/interop/marks/autograd_passes.h"
#include "trace/interop/marks/fsdp_units.h"
#include "trace/interop/row_ids.h"
#include "trace/model/batch.h"

namespace shardlens::trace::interop {

// Adds rows, and tags collectives. A clause says why there are no buckets; "": there are.
std::string add_buckets(std::span<const TrainingPass> passes, KinetoCollectives& collectives,
                        RowIds& ids, model::Batch& rows);
void add_units(const FsdpUnits& found, const KinetoPhases& phases, KinetoCollectives& collectives,
               RowIds& ids, model::Batch& rows);

}  // namespace shardlens::trace::interop
