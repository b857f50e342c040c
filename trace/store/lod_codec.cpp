#include "trace/store/lod_codec.h"

#include <zstd.h>

#include <array>
#include <string>

#include "trace/store/checksum.h"
#include "trace/store/lod_summary.h"
#include "trace/store/varint.h"

namespace shardlens::trace {

namespace {

// The first byte of a tile's data.
constexpr std::byte kPlainTile{1}, kZstdTile{2};
constexpr int kTileZstdLevel = 1;
// Longer is no tile: the numbers of its cells at their longest, and how many cells there are.
constexpr std::size_t kLongestTile = (kLodTileCells * 7 + 1) * kLongestVarint;

using TileBytes = std::vector<std::byte>;

tl::unexpected<Error> damaged_tile(const char* why) {
  return fail(ErrorKind::kDamaged, std::string("a tile of the pyramid is damaged (") + why + ")");
}

template <typename Cell>
void put_places(TileBytes& out, const std::vector<Cell>& cells) {
  std::size_t count = 0;
  for (const Cell& cell : cells) count += cell == Cell() ? 0u : 1u;
  put_varint(out, count);
  std::size_t last = 0;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (cells[i] == Cell()) continue;
    put_varint(out, i - last);
    last = i;
  }
}

template <typename Cell, typename Number>
void put_column(TileBytes& out, const std::vector<Cell>& cells, Number&& number) {
  for (const Cell& cell : cells) {
    if (!(cell == Cell())) put_varint(out, number(cell));
  }
}

void put_cells(TileBytes& out, const LodTile& tile) {
  put_places(out, tile.cells);
  put_column(out, tile.cells,
             [](const LodCell& c) { return static_cast<std::uint64_t>(c.busy_ns); });
  if (tile.level > 0) {
    put_column(out, tile.cells,
               [](const LodCell& c) { return static_cast<std::uint64_t>(c.busiest_ns); });
  }
  put_column(out, tile.cells, [](const LodCell& c) { return static_cast<std::uint64_t>(c.count); });
  // Where one event is all, it is as long as the cell is busy.
  put_column(out, tile.cells, [](const LodCell& c) { return zigzag(c.longest_ns - c.busiest_ns); });
  put_column(out, tile.cells, [](const LodCell& c) { return std::uint64_t{c.longest_name}; });
}

void put_classes(TileBytes& out, const LodTile& tile) {
  put_places(out, tile.classes);
  for (std::size_t i = 0; i < kLodClasses; ++i) {
    put_column(out, tile.classes,
               [i](const LodClassCell& c) { return static_cast<std::uint64_t>(c[i]); });
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
  for (std::size_t k = 0; k < kLodClasses; ++k) {
    for (const std::size_t i : places) tile.classes[i][k] = static_cast<std::int64_t>(in.next());
  }
}

// What is drawn must fit the cell that it is drawn in.
bool is_possible(const LodTile& tile) {
  const std::int64_t cell_ns = lod_cell_ns(tile.level);
  for (const LodCell& cell : tile.cells) {
    if (cell.busy_ns < 0 || cell.busy_ns > cell_ns || cell.busiest_ns < 0 ||
        cell.busiest_ns > lod_cell_ns(0) || cell.count < 0 || cell.longest_ns < 0) {
      return false;
    }
  }
  for (const LodClassCell& cell : tile.classes) {
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

LodCodec::LodCodec() : compressor_(ZSTD_createCCtx()), decompressor_(ZSTD_createDCtx()) {}

std::int64_t lod_checksum(const LodPlace& place, std::span<const std::byte> data) {
  const std::array<std::uint64_t, 5> words{
      static_cast<std::uint64_t>(place.rank), static_cast<std::uint64_t>(place.level),
      static_cast<std::uint64_t>(place.stream), static_cast<std::uint64_t>(place.tile),
      checksum_of(data)};
  return static_cast<std::int64_t>(checksum_of(std::as_bytes(std::span(words))));
}

std::span<const std::byte> LodCodec::encode(const LodTile& tile) {
  plain_.assign(1, kPlainTile);
  if (tile.classes.empty()) {
    put_cells(plain_, tile);
  } else {
    put_classes(plain_, tile);
  }
  packed_.resize(1 + ZSTD_compressBound(plain_.size()));
  packed_[0] = kZstdTile;
  const std::size_t size =
      ZSTD_compressCCtx(compressor_.get(), packed_.data() + 1, packed_.size() - 1,
                        plain_.data() + 1, plain_.size() - 1, kTileZstdLevel);
  if (ZSTD_isError(size) || size + 1 >= plain_.size()) return plain_;
  return std::span(packed_).first(size + 1);
}

Result<std::span<const std::byte>> LodCodec::unpacked(std::span<const std::byte> data) {
  if (data.empty()) return damaged_tile("it is empty");
  const std::byte form = data.front();
  data = data.subspan(1);
  if (form == kPlainTile) return data;
  if (form != kZstdTile) {
    return fail(ErrorKind::kNewer, "a tile of the pyramid has form " +
                                       std::to_string(std::to_integer<int>(form)) +
                                       ", which this version does not know: update Shardlens");
  }
  const unsigned long long size = ZSTD_getFrameContentSize(data.data(), data.size());
  if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN || size > kLongestTile) {
    return damaged_tile("its size is wrong");
  }
  plain_.resize(static_cast<std::size_t>(size));
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
