#include "trace/store/lod/lod_codec.h"

#include <zstd.h>

#include <algorithm>
#include <array>
#include <string>

#include "trace/base/checksum.h"
#include "trace/base/varint.h"
#include "trace/store/lod/lod_event.h"
#include "trace/store/lod/lod_summary.h"

namespace shardlens::trace {

namespace {

// The first byte of a tile's data.
constexpr std::byte kPlainTile{1}, kZstdTile{2};
// Half the time of level 1 for a tenth more bytes.
constexpr int kTileZstdLevel = -1;
// Longer is no tile: the numbers of its cells at their longest, and how many cells there are.
constexpr std::size_t kLongestTile = (kLodTileCells * 7 + 1) * kLongestVarint;

// In a cell of level 0: so many that their sums stay numbers.
constexpr std::int64_t kMostEvents = std::int64_t{1} << 40;

tl::unexpected<Error> damaged_tile(const char* why) {
  return fail(ErrorKind::kDamaged, std::string("a tile of the pyramid is damaged (") + why + ")");
}

bool holds_something(const LodCell& cell) {
  return (cell.busy_ns | cell.count | cell.longest_ns | cell.longest_name) != 0;
}
bool holds_something(const TimeByClass& cell) {
  std::int64_t any = 0;
  for (const std::int64_t part : cell) any |= part;
  return any != 0;
}

// The cells that are written, their places first.
template <typename Cell>
std::vector<const Cell*> put_places(VarintWriter& out, const std::vector<Cell>& cells) {
  std::vector<const Cell*> held;
  held.reserve(cells.size());
  for (const Cell& cell : cells) {
    if (holds_something(cell)) held.push_back(&cell);
  }
  out.put(held.size());
  const Cell* last = cells.data();
  for (const Cell* cell : held) {
    out.put(static_cast<std::uint64_t>(cell - last));
    last = cell;
  }
  return held;
}

// What of a cell is in no class.
std::int64_t unknown_ns(const TimeByClass& cell, int level) {
  std::int64_t rest = lod_cell_ns(level);
  for (const std::int64_t part : cell) rest -= part;
  return rest;
}

void put_cells(VarintWriter& out, const LodTile& tile) {
  const auto held = put_places(out, tile.cells);
  const auto column = [&](auto&& number) {
    for (const LodCell* cell : held) out.put(static_cast<std::uint64_t>(number(*cell)));
  };
  column([](const LodCell& c) { return c.busy_ns; });
  if (tile.level > 0) column([](const LodCell& c) { return c.busiest_ns; });
  column([](const LodCell& c) { return c.count; });
  // Where one event is all, it is as long as the cell is busy.
  column([](const LodCell& c) { return zigzag(c.longest_ns - c.busiest_ns); });
  column([](const LodCell& c) { return c.longest_name; });
}

// Idle time is what the others leave, where all is known.
void put_classes(VarintWriter& out, const LodTile& tile) {
  const auto held = put_places(out, tile.classes);
  for (std::size_t k = 0; k < kPartitionClasses; ++k) {
    const bool is_idle = k == index_of(TimeClass::kIdle);
    for (const TimeByClass* cell : held) {
      out.put(static_cast<std::uint64_t>(is_idle ? unknown_ns(*cell, tile.level) : (*cell)[k]));
    }
  }
}

// The cells that hold something; `ok` false where they make no tile.
std::vector<std::size_t> read_places(VarintReader& in) {
  std::vector<std::size_t> places;
  const std::uint64_t count = in.next();
  if (count > kLodTileCells) in.ok = false;
  std::uint64_t at = 0;
  for (std::uint64_t i = 0; in.ok && i < count; ++i) {
    const std::uint64_t step = in.next();
    if (step >= kLodTileCells || (i > 0 && step == 0) || at + step >= kLodTileCells) {
      in.ok = false;
      break;
    }
    at += step;
    places.push_back(static_cast<std::size_t>(at));
  }
  return places;
}

void read_cells(VarintReader& in, LodTile& tile) {
  const auto places = read_places(in);
  const auto column = [&](auto&& set) {
    for (const std::size_t i : places) set(tile.cells[i], in.next());
  };
  column([](LodCell& c, std::uint64_t n) { c.busy_ns = static_cast<std::int64_t>(n); });
  if (tile.level > 0) {
    column([](LodCell& c, std::uint64_t n) { c.busiest_ns = static_cast<std::int64_t>(n); });
  } else {
    for (LodCell& cell : tile.cells) cell.busiest_ns = cell.busy_ns;
  }
  column([](LodCell& c, std::uint64_t n) { c.count = static_cast<std::int64_t>(n); });
  column([](LodCell& c, std::uint64_t n) {
    c.longest_ns = static_cast<std::int64_t>(static_cast<std::uint64_t>(unzigzag(n)) +
                                             static_cast<std::uint64_t>(c.busiest_ns));
  });
  column([](LodCell& c, std::uint64_t n) { c.longest_name = static_cast<StringId>(n); });
}

void read_classes(VarintReader& in, LodTile& tile) {
  const auto places = read_places(in);
  for (std::size_t k = 0; k < kPartitionClasses; ++k) {
    for (const std::size_t i : places) tile.classes[i][k] = static_cast<std::int64_t>(in.next());
  }
  constexpr auto kIdle = index_of(TimeClass::kIdle);
  const std::int64_t cell_ns = lod_cell_ns(tile.level);
  for (const std::size_t i : places) {
    TimeByClass& cell = tile.classes[i];
    // What is no part of a cell is left as it is, to be refused.
    const bool is_sane =
        std::ranges::all_of(cell, [&](std::int64_t part) { return part >= 0 && part <= cell_ns; });
    if (!is_sane) continue;
    const std::int64_t unknown = cell[kIdle];
    cell[kIdle] = 0;
    cell[kIdle] = unknown_ns(cell, tile.level) - unknown;
  }
}

// What is drawn must fit the cell that it is drawn in.
bool is_possible(const LodTile& tile) {
  const std::int64_t cell_ns = lod_cell_ns(tile.level);
  for (const LodCell& cell : tile.cells) {
    if (cell.busy_ns < 0 || cell.busy_ns > cell_ns || cell.busiest_ns < 0 ||
        cell.busiest_ns > lod_cell_ns(0) || cell.count < 0 ||
        cell.count > kMostEvents << (kLodFactorBits * tile.level) || cell.longest_ns < 0 ||
        cell.longest_ns > kLongestRowNs) {
      return false;
    }
  }
  for (const TimeByClass& cell : tile.classes) {
    std::int64_t rest = cell_ns;
    for (const std::int64_t part : cell) {
      if (part < 0 || part > rest) return false;
      rest -= part;
    }
  }
  return true;
}

}  // namespace

void LodCodec::Free::operator()(ZSTD_CCtx_s* context) const { ZSTD_freeCCtx(context); }
void LodCodec::Free::operator()(ZSTD_DCtx_s* context) const { ZSTD_freeDCtx(context); }

// Every rank has one, and most only ever read: what zstd needs comes with the first use.
LodCodec::LodCodec() = default;

std::int64_t lod_checksum(const LodPlace& place, std::span<const std::byte> data) {
  const std::array<std::uint64_t, 5> words{
      static_cast<std::uint64_t>(place.rank), static_cast<std::uint64_t>(place.level),
      static_cast<std::uint64_t>(place.stream), static_cast<std::uint64_t>(place.tile),
      checksum_of(data)};
  return static_cast<std::int64_t>(checksum_of(std::as_bytes(std::span(words))));
}

std::span<const std::byte> LodCodec::encode(const LodTile& tile) {
  plain_.resize(1 + kLongestTile);
  if (!compressor_) compressor_.reset(ZSTD_createCCtx());
  packed_.resize(1 + ZSTD_compressBound(kLongestTile));
  VarintWriter out{plain_.data() + 1};
  if (tile.classes.empty()) {
    put_cells(out, tile);
  } else {
    put_classes(out, tile);
  }
  const auto plain =
      std::span(plain_).first(static_cast<std::size_t>(out.position - plain_.data()));
  const std::size_t size =
      ZSTD_compressCCtx(compressor_.get(), packed_.data() + 1, packed_.size() - 1, plain.data() + 1,
                        plain.size() - 1, kTileZstdLevel);
  const bool is_shorter = !ZSTD_isError(size) && size + 1 < plain.size();
  plain_[0] = kPlainTile;
  packed_[0] = kZstdTile;
  return is_shorter ? std::span<const std::byte>(packed_).first(size + 1) : plain;
}

Result<std::span<const std::byte>> LodCodec::unpacked(std::span<const std::byte> data) {
  if (data.empty()) return damaged_tile("it is empty");
  const std::byte form = data.front();
  data = data.subspan(1);
  if (form == kPlainTile) return data;
  if (form != kZstdTile) return damaged_tile("its form is not known");
  const unsigned long long size = ZSTD_getFrameContentSize(data.data(), data.size());
  if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN || size > kLongestTile) {
    return damaged_tile("its size is wrong");
  }
  plain_.resize(static_cast<std::size_t>(size));
  if (!decompressor_) decompressor_.reset(ZSTD_createDCtx());
  const std::size_t got = ZSTD_decompressDCtx(decompressor_.get(), plain_.data(), plain_.size(),
                                              data.data(), data.size());
  if (ZSTD_isError(got) || got != plain_.size()) return damaged_tile("it cannot be decompressed");
  return std::span<const std::byte>(plain_);
}

Result<LodTile> LodCodec::decode(const LodPlace& place, bool is_ribbon, std::int64_t checksum,
                                 std::span<const std::byte> data) {
  if (lod_checksum(place, data) != checksum) return damaged_tile("its checksum is wrong");
  TRY_ASSIGN(const auto bytes, unpacked(data));
  VarintReader in{bytes.data(), bytes.data() + bytes.size()};
  LodTile tile = blank_lod_tile(place.level, place.tile, is_ribbon);
  if (is_ribbon) {
    read_classes(in, tile);
  } else {
    read_cells(in, tile);
  }
  if (!in.ok || in.position != in.end) return damaged_tile("its columns do not fit");
  if (!is_possible(tile)) return damaged_tile("its cells are wrong");
  return tile;
}

}  // namespace shardlens::trace
