#pragma once

/// @brief Marks a function as callable on the host and, under nvcc, on the device.
///
/// Every function of a user-written cell carries it.
#if defined(__CUDACC__)
#define RNNOPT_HD __host__ __device__
#else
#define RNNOPT_HD
#endif
