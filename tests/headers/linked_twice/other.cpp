#include "rnnopt/rnnopt_host.hpp"

int other_version() { return RNNOPT_VERSION_MINOR; }
