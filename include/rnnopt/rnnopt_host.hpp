#pragma once

/// Everything that needs no CUDA: cells, schedules, the host executor, and what checks cells and schedules.

#include "rnnopt/cells/gru.hpp"
#include "rnnopt/cells/lstm.hpp"
#include "rnnopt/cells/vanilla.hpp"
#include "rnnopt/gradient_check.hpp"
#include "rnnopt/host_rnn.hpp"
#include "rnnopt/schedule_check.hpp"
#include "rnnopt/schedules/cluster.hpp"
#include "rnnopt/schedules/naive.hpp"
#include "rnnopt/schedules/stepwise.hpp"
#include "rnnopt/schedules/wavefront.hpp"
#include "rnnopt/version.hpp"
