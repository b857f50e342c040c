#include "trace/base/outer.h"
