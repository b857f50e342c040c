// The window's icon, drawn by the program itself. Any thread.
#pragma once

#include <cstdint>
#include <vector>

namespace shardlens::app::window {

// `size` × `size` pixels of four bytes, rows from the top: three bars in the colours of computing,
// overlapped and exposed communication.
std::vector<std::uint8_t> draw_window_icon(int size);

}  // namespace shardlens::app::window
