// Reads a whole template. Pure; any thread.
#pragma once

#include <string_view>

#include "trainer/chat/template_nodes.h"

namespace shardlens::trainer::chat {

struct ParsedTemplate {
  Body body;
  // Has a {% generation %} somewhere.
  bool marks_answers = false;
};

// An error names the line and what is not known there.
Result<ParsedTemplate> parse_template(std::string_view source);

}  // namespace shardlens::trainer::chat
