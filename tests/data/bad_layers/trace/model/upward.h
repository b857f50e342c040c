// Breaks the layering on purpose: the check must fail on it.
#include "ui/state/snapshot.h"
