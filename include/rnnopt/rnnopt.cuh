#pragma once

/// Everything.

#include "rnnopt/best_of.cuh"
#include "rnnopt/rnn.cuh"
#include "rnnopt/rnnopt_host.hpp"
