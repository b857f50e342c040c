// What the stages of one collective tell alike: as it is asked for, while it is pending, once it is
// recorded. Any thread.
#pragma once

namespace shardlens::trace::model {

// What is asked of which group.
template <typename To, typename From>
void set_call(To& to, const From& from) {
  to.process_group = from.process_group;
  to.sequence = from.sequence;
  to.function = from.function;
  to.tag_kind = from.tag_kind;
  to.tag_index = from.tag_index;
  to.tag_name = from.tag_name;
  to.bytes = from.bytes;
}

// When and where in the job the host asks for it.
template <typename To, typename From>
void set_entry(To& to, const From& from) {
  to.step = from.step;
  to.phase = from.phase;
  to.enqueued_ns = from.enqueued_ns;
}

}  // namespace shardlens::trace::model
