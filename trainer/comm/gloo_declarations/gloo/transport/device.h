// LibTorch's headers include this name; the declarations are all in context.h.
#pragma once

#include <gloo/context.h>
