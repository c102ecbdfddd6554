#include "rnnopt/rnnopt.cuh"
