#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <optional>
#include <string>
#include <vector>

#include "adam.hpp"
#include "checkpoint.hpp"
#include "corpus.hpp"
#include "interrupt.hpp"
#include "limits.hpp"
#include "model.hpp"
#include "options.hpp"
#include "progress.hpp"
#include "sample.hpp"
#include "text.hpp"

/// From options to a trained model: the loop, and what is printed around it.

namespace char_lm {

/// Which gate keeps the state when it is open (see initial_parameters); specialised beside a cell that has one.
template <class Cell>
inline constexpr int keep_gate = -1;

/// A loss beyond all reason.
inline bool diverged(float loss) { return !limits::within(1e9F, loss); }

template <class Backend, class Cell>
class session {
 public:
  /// `from` is the checkpoint to go on from; null: start afresh.
  session(options const& o, checkpoint const* from) : o_(o), from_(from), c_(from ? from->model : o.model) {
    if (o.learning_rate) c_.learning_rate = *o.learning_rate;
    if (o.clip) c_.clip = *o.clip;
    if (o.seed && from == nullptr) c_.seed = *o.seed;
  }

  void run() {
    if (o_.iterations == 0) {
      vocabulary const known(from_->characters);
      start(known);
      print_sample_of(known);
      return;
    }
    corpus const read = read_corpus(*o_.data);
    vocabulary const known = from_ ? vocabulary(from_->characters) : vocabulary::of(read.text);
    std::vector<symbol> const text = known.encode(read.text);
    text_checksum_ = checksum(text.data(), text.size() * sizeof(symbol));
    if (from_ && from_->text != text_checksum_)
      throw user_error(*o_.load + ": was trained on another text than " + *o_.data);
    split_text const parts = split(text);
    choose_batch(static_cast<std::int64_t>(parts.training.size()), text.size());
    if (known.size() == 1)
      throw user_error(*o_.data + ": no character occurs " + std::to_string(vocabulary::rare) +
                       " times, there is nothing to learn");

    double const unigram = unigram_entropy(text);
    std::printf("text: %zu characters of %zu files%s, %lld symbols, unigram entropy %.3f bits per character\n",
                text.size(), read.files, read.left_out().c_str(), static_cast<long long>(known.size()), unigram);
    start(known);
    train(known, parts.training);
    double const bits = validate(known, parts.validation);
    std::printf("validation, on text it was not trained on: %.3f bits per character", bits);
    if (unigram > 0) std::printf(", %.0f %% of the unigram entropy %.3f", 100 * bits / unigram, unigram);
    std::printf("\n");
    std::exception_ptr const failure = o_.save ? try_to_save(known) : nullptr;
    print_sample_of(known);
    if (failure) std::rethrow_exception(failure);
  }

 private:
  using float_buffer = typename Backend::template buffer<float>;
  using symbol_buffer = typename Backend::template buffer<symbol>;

  /// A short text has room for fewer rows than the default.
  void choose_batch(std::int64_t training, std::size_t all) {
    while (!from_ && !o_.batch_given && c_.batch > 1 && (training - 1) / c_.batch < c_.steps) c_.batch /= 2;
    std::int64_t const row = (training - 1) / c_.batch;
    if (row < c_.steps)
      throw user_error(*o_.data + ": has " + std::to_string(all) + " characters, too few for --batch " +
                       std::to_string(c_.batch) + " and --steps " + std::to_string(c_.steps));
    if (from_ && from_->position > row) throw wrong_checkpoint(*o_.load, "position");
  }

  /// Parameters, moments and states: fresh or from the checkpoint.
  void start(vocabulary const& known) {
    parameter_layout<Cell> const layout(c_, known.size());
    if (from_) check_sizes(*from_, *o_.load, layout.size, Cell::states);  // before anything of that size is allocated
    parameters_.emplace(layout.size);
    moments_.emplace(on_, layout.size);
    states_.emplace(c_, c_.batch);
    if (from_ == nullptr) {
      on_.upload(*parameters_, initial_parameters(layout, c_, keep_gate<Cell>).data());
    } else {
      on_.upload(*parameters_, from_->parameters.data());
      on_.upload(moments_->mean, from_->mean.data());
      on_.upload(moments_->variance, from_->variance.data());
      for (std::size_t s = 0; s < states_->count; ++s) on_.upload(states_->now[s], from_->states[s].data());
      iterations_ = from_->iterations;
      position_ = from_->position;
    }
    std::printf("model: %s, %lld layers of %lld units, %lld parameters, on %s\n", c_.cell.c_str(),
                static_cast<long long>(c_.layers), static_cast<long long>(c_.hidden),
                static_cast<long long>(layout.size), Backend::name().c_str());
  }

  void train(vocabulary const& known, std::vector<symbol> const& text) {
    symbol_buffer symbols(static_cast<std::int64_t>(text.size()));
    on_.upload(symbols, text.data());
    model<Backend, Cell> network(on_, c_, known.size(), c_.batch, c_.steps, true);
    float_buffer gradient(network.layout().size);
    std::int64_t const row = (symbols.size() - 1) / c_.batch, per_epoch = row / c_.steps;
    // Enough to learn what a text of this size has to teach, bounded so that it is a demonstration.
    std::int64_t const fitting = std::min<std::int64_t>(std::max<std::int64_t>(default_epochs * per_epoch, 300), 1200);
    bool const counted = o_.iterations || o_.epochs;
    std::int64_t const wanted = o_.iterations ? *o_.iterations
                                : o_.epochs   ? *o_.epochs * per_epoch
                                : o_.seconds  ? progress::endless
                                              : fitting;
    double const limit = o_.seconds ? *o_.seconds : counted ? 1e18 : default_seconds;
    std::printf("training: %lld x %lld characters an iteration, %lld iterations a pass over the text\n",
                static_cast<long long>(c_.batch), static_cast<long long>(c_.steps), static_cast<long long>(per_epoch));
    std::fflush(stdout);

    double const targets = double(c_.batch) * double(c_.steps);
    progress shown(iterations_, wanted, limit, c_.batch * c_.steps);
    std::int64_t done = 0;
    double bits = 0;
    for (; done < wanted && shown.seconds() < limit && !interrupted; shown.report(++done, bits)) {
      if (position_ + c_.steps > row) {
        position_ = 0;
        states_->reset(on_);
      }
      window const w{symbols.data(), symbols.size(), c_.batch, row, position_};
      float const sum = network.train(w, parameters_->data(), gradient.data(), *states_);
      bits = double(sum) / targets;
      if (diverged(sum)) throw user_error("training diverged; try a smaller --learning-rate");
      // Falls with the number of updates alone, so that where a run is cut in two makes no difference.
      double const rate = c_.learning_rate / std::sqrt(1 + double(iterations_) / 400);
      moments_->update(iterations_ + 1, rate, c_.clip, gradient.data(), parameters_->data());
      position_ += c_.steps;
      ++iterations_;
    }
    shown.finish();
    std::printf(
        "trained: %lld iterations (%lld in all) in %.1f s%s, %.0f characters/s, last loss %.6f bits per character\n",
        static_cast<long long>(done), static_cast<long long>(iterations_), shown.seconds(),
        done == wanted ? ""
        : interrupted  ? " (interrupted)"
                       : " (time is up)",
        double(done) * targets / shown.seconds(), bits);
    if (interrupted) catch_interrupts();  // this one is dealt with; the sample can be ended, too
  }

  /// Bits per character of a text read from the start, in as many rows as training has.
  double validate(vocabulary const& known, std::vector<symbol> const& text) {
    symbol_buffer symbols(static_cast<std::int64_t>(text.size()));
    on_.upload(symbols, text.data());
    model<Backend, Cell> network(on_, c_, known.size(), c_.batch, c_.steps, false);
    typename model<Backend, Cell>::states states(c_, c_.batch);
    std::int64_t const targets = symbols.size() - 1, row = (targets + c_.batch - 1) / c_.batch;
    double bits = 0;
    for (std::int64_t at = 0; at < row; at += c_.steps)
      bits += double(
          network.evaluate(window{symbols.data(), symbols.size(), c_.batch, row, at}, parameters_->data(), states));
    if (diverged(float(bits))) throw user_error("training diverged; try a smaller --learning-rate");
    return bits / double(targets);
  }

  /// A file that cannot be written must not cost the run its sample, so the failure is kept for later.
  std::exception_ptr try_to_save(vocabulary const& known) const {
    try {
      save(state_of(known), *o_.save);
    } catch (...) {
      return std::current_exception();
    }
    std::printf("saved: %s\n", o_.save->c_str());
    return nullptr;
  }

  checkpoint state_of(vocabulary const& known) const {
    checkpoint result;
    result.model = c_;
    result.characters = known.characters();
    result.text = text_checksum_;
    result.iterations = iterations_;
    result.position = position_;
    auto const values = [&](float_buffer const& from) {
      std::vector<float> to(static_cast<std::size_t>(from.size()));
      on_.download(to.data(), from);
      return to;
    };
    result.parameters = values(*parameters_);
    result.mean = values(moments_->mean);
    result.variance = values(moments_->variance);
    for (float_buffer const& state : states_->now) result.states.push_back(values(state));
    return result;
  }

  void print_sample_of(vocabulary const& known) {
    if (o_.sample == 0) return;
    std::printf("sample, temperature %g:\n", o_.temperature);
    print_sample<Backend, Cell>(on_, c_, known, parameters_->data(), o_.sample, o_.temperature,
                                o_.seed.value_or(c_.seed));
  }

  static constexpr std::int64_t default_epochs = 10;
  static constexpr double default_seconds = 60;

  options const& o_;
  checkpoint const* from_;
  configuration c_;
  Backend on_;
  std::optional<float_buffer> parameters_;
  std::optional<adam<Backend>> moments_;
  std::optional<carried_states<Backend, Cell>> states_;
  std::uint64_t text_checksum_ = 0;
  std::int64_t iterations_ = 0, position_ = 0;
};

}  // namespace char_lm
