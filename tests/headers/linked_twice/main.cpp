#include "rnnopt/rnnopt_host.hpp"

int other_version();

int main() { return other_version() == RNNOPT_VERSION_MINOR ? 0 : 1; }
