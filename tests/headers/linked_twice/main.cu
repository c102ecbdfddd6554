#include "rnnopt/rnnopt.cuh"

int other_version();
int other_cuda_version();

int main() { return other_version() == RNNOPT_VERSION_MINOR && other_cuda_version() == RNNOPT_VERSION_MINOR ? 0 : 1; }
