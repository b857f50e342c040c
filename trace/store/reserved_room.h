// Room on a disk that is kept free for what must be said when the disk is full: a file without a
// name, which nobody can leave behind. One thread at a time.
#pragma once

#include <cstdint>
#include <filesystem>

namespace shardlens::trace {

class ReservedRoom {
 public:
  ReservedRoom() = default;
  // On the disk of `folder`. None where its file system cannot do that, or has no such room.
  ReservedRoom(const std::filesystem::path& folder, std::int64_t bytes);
  ~ReservedRoom() { release(); }
  ReservedRoom(ReservedRoom&& other) noexcept;
  ReservedRoom& operator=(ReservedRoom&& other) noexcept;

  void release();

 private:
  int descriptor_ = -1;
};

}  // namespace shardlens::trace
