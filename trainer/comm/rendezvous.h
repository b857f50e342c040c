// Where ranks find each other, a file of this run or torchrun's store, and what all of a group must
// do together to connect, tried again by all where it failed for one. Called by connect(), or
// before by a rank that has to tell something. The training thread.
#pragma once

#include <torch/types.h>

#include <chrono>
#include <functional>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include "trainer/comm/meeting_place.h"

namespace shardlens::trainer::comm {

// How long a rank waits for the others to start.
inline constexpr std::chrono::seconds kConnectTimeout{120};

// Throws c10::Error when the store cannot be reached within `patience`.
c10::intrusive_ptr<c10d::Store> meet(const MeetingPlace& place,
                                     std::chrono::seconds patience = kConnectTimeout);

inline constexpr int kConnectAttempts = 3;

// By a rank that is not ready yet: those who wait for all do so from now on.
void tell_preparing(c10d::Store& store);

// Until all `size` ranks of a group have called it. Throws c10::Error that names those who did not
// within `patience`, or since one of them told that it is preparing.
void wait_for_all(c10d::Store& store, int rank, int size, std::chrono::seconds patience);

// Calls `connect` with a part of `store` that no earlier attempt has written to, until an attempt
// succeeds on all `size` ranks; what it made in an attempt that failed on another rank must be
// given up by the next call. All ranks of the group call it. Throws c10::Error once
// kConnectAttempts have failed, on every rank, with this rank's reason or that of the lowest rank
// that has one; or when a rank does not say within a minute how an attempt went, as one that died.
void connect_together(const c10::intrusive_ptr<c10d::Store>& store, int rank, int size,
                      const std::function<void(const c10::intrusive_ptr<c10d::Store>&)>& connect);

}  // namespace shardlens::trainer::comm
