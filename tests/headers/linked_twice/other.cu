#include "rnnopt/rnnopt.cuh"

int other_cuda_version() { return RNNOPT_VERSION_MINOR; }
