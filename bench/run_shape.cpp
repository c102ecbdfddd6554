#include "run_shape.hpp"

#include <algorithm>
#include <exception>
#include <memory>
#include <stdexcept>

#include "cudnn_contender.hpp"

namespace bench {
namespace {

/// Does something for one row; what it throws is that row's reason.
template <class Work>
std::string reason_of(Work&& work) {
  try {
    work();
    return {};
  } catch (std::exception const& failure) {
    cudaGetLastError();
    return failure.what();
  }
}

std::unique_ptr<problem> make_problem(shape const& s, std::vector<problem_kind> const& kinds, cudaStream_t stream) {
  auto const kind = std::find_if(kinds.begin(), kinds.end(),
                                 [&](problem_kind const& k) { return k.cell == s.cell && k.precision == s.precision; });
  if (kind == kinds.end()) throw std::invalid_argument("not compiled in: cell " + s.cell + " in " + s.precision);
  return kind->make(s, stream);
}

}  // namespace

shape_result run_shape(shape const& s, shape_request const& asked, std::vector<problem_kind> const& kinds,
                       cudaStream_t stream) {
  shape_result result{s, {}, {}};
  for (std::string const& name : asked.schedules) result.schedules.push_back({name, {}, {}, {}, {}, {}});
  for (std::string const& name : asked.cudnn_algorithms) result.cudnn.push_back({name, {}, {}});

  std::unique_ptr<problem> data;
  std::string const no_data = reason_of([&] { data = make_problem(s, kinds, stream); });
  std::vector<std::unique_ptr<library_contender>> ours(result.schedules.size());
  std::vector<std::unique_ptr<contender>> cudnn(result.cudnn.size());
  for (std::size_t i = 0; i < ours.size(); ++i) {
    std::string& reason = result.schedules[i].reason;
    reason = no_data;
    if (data != nullptr)
      reason = reason_of([&] { ours[i] = data->plan(result.schedules[i].schedule, asked.products); });
  }
  for (std::size_t i = 0; i < cudnn.size(); ++i)
    result.cudnn[i].reason = reason_of([&] { cudnn[i] = make_cudnn_contender(s, result.cudnn[i].algorithm, stream); });

  struct entry {
    contender* runner;
    timings* times;
    std::string* reason;
  };
  std::vector<entry> entries;
  for (std::size_t i = 0; i < ours.size(); ++i)
    entries.push_back({ours[i].get(), &result.schedules[i].times, &result.schedules[i].reason});
  for (std::size_t i = 0; i < cudnn.size(); ++i)
    entries.push_back({cudnn[i].get(), &result.cudnn[i].times, &result.cudnn[i].reason});
  entries.erase(std::remove_if(entries.begin(), entries.end(), [](entry const& e) { return e.runner == nullptr; }),
                entries.end());
  std::string const no_times = reason_of([&] {
    std::vector<contender*> contenders;
    for (entry const& e : entries) contenders.push_back(e.runner);
    std::vector<timings> const measured = measure(contenders, asked.passes, asked.repetitions, stream);
    for (std::size_t i = 0; i < entries.size(); ++i) *entries[i].times = measured[i];
  });
  if (!no_times.empty())
    for (entry const& e : entries) *e.reason = no_times;

  cudnn.clear();
  for (std::size_t i = 0; i < ours.size(); ++i) {
    if (ours[i] == nullptr) continue;
    schedule_result& checked = result.schedules[i];
    checked.check_reason = reason_of([&] {
      if (asked.check) checked.errors = ours[i]->errors(stream);
      if (asked.fingerprint) checked.fingerprints = ours[i]->fingerprints(stream);
    });
  }
  return result;
}

}  // namespace bench
