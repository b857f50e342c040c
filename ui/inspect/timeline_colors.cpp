#include "ui/inspect/timeline_colors.h"

namespace shardlens::ui {

using trace::PieceClass;
using trace::RowKind;

Rgb piece_color(const Palette& p, PieceClass piece_class) {
  switch (piece_class) {
    case PieceClass::kCompute:
      return p.compute;
    case PieceClass::kOptimizer:
      return p.optimizer;
    case PieceClass::kOverlapped:
      return p.overlapped;
    case PieceClass::kExposed:
      return p.exposed;
    case PieceClass::kCopy:
      return p.copy;
    case PieceClass::kHost:
      return mix(p.panel, p.phase_edge, 0.5);
    case PieceClass::kForward:
    case PieceClass::kBackward:
      return p.phase_fill;
    case PieceClass::kOptimizerPhase:
      return p.phase_optimizer_fill;
    case PieceClass::kIdle:
    case PieceClass::kData:
    case PieceClass::kEvaluation:
    case PieceClass::kOtherPhase:
      return p.idle;
  }
  return p.idle;
}

Rgb piece_edge(const Palette& p, PieceClass piece_class) {
  switch (piece_class) {
    case PieceClass::kForward:
    case PieceClass::kBackward:
    case PieceClass::kHost:
      return p.phase_edge;
    case PieceClass::kOptimizerPhase:
      return p.phase_optimizer_edge;
    case PieceClass::kIdle:
    case PieceClass::kData:
    case PieceClass::kEvaluation:
    case PieceClass::kOtherPhase:
      return p.idle_edge;
    default:
      return piece_color(p, piece_class);
  }
}

bool is_quiet(PieceClass piece_class) { return piece_class >= PieceClass::kData; }

Rgb shade_by_name(const Palette& p, Rgb fill, std::size_t name_hash) {
  switch (name_hash % 4) {
    case 0:
      return fill;
    case 1:
      return mix(fill, p.text, 0.14);
    case 2:
      return mix(fill, p.panel, 0.12);
    default:
      return mix(fill, p.text, 0.07);
  }
}

std::string_view class_name(PieceClass piece_class) {
  switch (piece_class) {
    case PieceClass::kCompute:
      return "compute";
    case PieceClass::kOptimizer:
      return "optimizer";
    case PieceClass::kOverlapped:
      return "overlapped communication";
    case PieceClass::kExposed:
      return "exposed communication";
    case PieceClass::kCopy:
      return "copy";
    case PieceClass::kIdle:
      return "idle";
    case PieceClass::kHost:
      return "host";
    case PieceClass::kData:
      return "data phase";
    case PieceClass::kForward:
      return "forward phase";
    case PieceClass::kBackward:
      return "backward phase";
    case PieceClass::kOptimizerPhase:
      return "optimizer phase";
    case PieceClass::kEvaluation:
      return "evaluation phase";
    case PieceClass::kOtherPhase:
      return "other phase";
  }
  return "";
}

std::string_view kind_name(RowKind kind) {
  switch (kind) {
    case RowKind::kRibbon:
      return "Ribbon";
    case RowKind::kPhases:
      return "Phases";
    case RowKind::kOperators:
      return "Operators";
    case RowKind::kLaunches:
      return "Launches";
    case RowKind::kKernels:
      return "Kernels";
    case RowKind::kCommunication:
      return "Communication";
    case RowKind::kCopies:
      return "Copies";
    case RowKind::kReady:
      return "Gradients ready";
    case RowKind::kMemory:
      return "Memory";
    case RowKind::kCounter:
      return "Counters";
    case RowKind::kGpu:
      return "GPU";
  }
  return "";
}

}  // namespace shardlens::ui
