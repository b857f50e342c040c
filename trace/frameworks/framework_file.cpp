#include "trace/frameworks/framework_file.h"

namespace shardlens::trace::frameworks {

std::string remarks_text(const FrameworkFile& file) {
  std::string text = "start with: " + file.start + "\n";
  for (const LeftOut& each : file.left_out) {
    text += "left out: " + std::string(each.knob) + ": " + each.value + " (" + each.reason + ")\n";
  }
  for (const std::string& remark : file.remarks) text += "differs: " + remark + "\n";
  return text;
}

}  // namespace shardlens::trace::frameworks
