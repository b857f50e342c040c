// Includes a folder that includes this one: the check must fail on it.
#include "trace/base/inner/inner.h"
