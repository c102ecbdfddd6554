#pragma once

/// Everything.

#include "rnnopt/rnn.cuh"
#include "rnnopt/rnnopt_host.hpp"
