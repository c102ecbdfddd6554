#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "loops.hpp"
#include "parameters.hpp"
#include "rnnopt/arguments.hpp"
#include "rnnopt/workspace.hpp"

/// Embedding, a stack of recurrent layers, a linear layer to one logit per symbol, softmax cross-entropy.

namespace char_lm {

/// The states that the rows of a batch carry from window to window.
template <class Backend, class Cell>
struct carried_states {
  using buffer = typename Backend::template buffer<float>;
  static constexpr std::size_t count = Cell::states;

  std::vector<buffer> now, next;  ///< count buffers of [layers, batch, hidden]; a run reads now and writes next

  carried_states(configuration const& c, std::int64_t batch) {
    for (std::size_t s = 0; s < count; ++s) {
      now.emplace_back(c.layers * batch * c.hidden);
      next.emplace_back(c.layers * batch * c.hidden);
    }
  }
  void advance() { std::swap(now, next); }
  void reset(Backend const& on) {
    for (buffer& b : now) on.clear(b);
  }
};

/// The model for one batch and number of steps: plans and memory. Parameters and gradients are the caller's.
template <class Backend, class Cell>
class model {
  using network = typename Backend::template network<Cell>;
  using product = typename Backend::product;
  template <class T>
  using buffer = typename Backend::template buffer<T>;

 public:
  using states = carried_states<Backend, Cell>;

  model(Backend const& on, configuration const& c, std::int64_t vocabulary_size, std::int64_t batch, std::int64_t steps,
        bool trains)
      : on_(on),
        c_(c),
        layout_(c, vocabulary_size),
        used_(vocabulary_size),
        rows_(batch * steps),
        network_(on, layout_.extents_of(c, batch, steps)),
        trains_(trains),
        x_(rows_ * c.embedding),
        y_(rows_ * c.hidden),
        logits_(rows_ * layout_.symbols),
        bits_(rows_),
        total_(1),
        ones_(rows_),
        dy_(trains ? rows_ * c.hidden : 1),
        dx_(trains ? rows_ * c.embedding : 1),
        one_hot_(trains ? rows_ * layout_.symbols : 1),
        workspace_(workspace_bytes()),
        reserve_(trains ? static_cast<std::int64_t>(network_.reserve_bytes()) : 1),
        to_logits_(on, {rows_, layout_.symbols, c.hidden, false, true}),
        from_logits_(on, {rows_, c.hidden, layout_.symbols, false, false}),
        output_gradient_(on, {layout_.symbols, c.hidden, rows_, true, false}),
        bias_gradient_(on, {layout_.symbols, 1, rows_, true, false}),
        embedding_gradient_(on, {layout_.symbols, c.embedding, rows_, true, false}) {
    on_.for_each(rows_, loops::constant{ones_.data(), 1.0F});
  }

  parameter_layout<Cell> const& layout() const { return layout_; }

  /// Sum of the losses of a window in bits; states move on.
  float evaluate(window const& w, float const* parameters, states& s) {
    run_forward(w, parameters, s, false);
    return loss(w, parameters);
  }

  /// The same, and its gradient with respect to all parameters, [layout().size].
  float train(window const& w, float const* parameters, float* gradient, states& s) {
    run_forward(w, parameters, s, true);
    float const bits = loss(w, parameters);
    output_gradient_(on_, logits_.data(), y_.data(), gradient + layout_.output);
    bias_gradient_(on_, logits_.data(), ones_.data(), gradient + layout_.bias);
    from_logits_(on_, logits_.data(), parameters + layout_.output, dy_.data());

    auto const weights = layout_.layers.bind(parameters + layout_.recurrent);
    auto const gradients = layout_.layers.bind(gradient + layout_.recurrent);
    typename network::backward_arguments a;
    a.x = x_.data();
    a.weights = weights.data();
    a.dy = dy_.data();
    a.dx = dx_.data();
    a.gradients = gradients.data();
    a.workspace = {workspace_.data(), static_cast<std::size_t>(workspace_.size())};
    a.reserve = {reserve_.data(), static_cast<std::size_t>(reserve_.size())};
    network_.backward(on_, a);

    // A scatter written as a product: the same bits in every run, without atomics.
    on_.for_each(one_hot_.size(), loops::one_hot{w, one_hot_.data(), layout_.symbols});
    embedding_gradient_(on_, one_hot_.data(), dx_.data(), gradient + layout_.embedding);
    return bits;
  }

  /// Logits of a window, [steps, batch, layout().symbols]; those beyond the vocabulary's size mean nothing.
  std::vector<float> predict(window const& w, float const* parameters, states& s) {
    run_forward(w, parameters, s, false);
    on_.for_each(logits_.size(), loops::add_bias{logits_.data(), parameters + layout_.bias, layout_.symbols});
    std::vector<float> logits(static_cast<std::size_t>(logits_.size()));
    on_.download(logits.data(), logits_);
    return logits;
  }

 private:
  std::int64_t workspace_bytes() const {
    std::size_t bytes = network_.workspace_bytes(rnnopt::pass::inference);
    if (trains_)
      bytes = std::max(
          {bytes, network_.workspace_bytes(rnnopt::pass::training), network_.workspace_bytes(rnnopt::pass::backward)});
    return static_cast<std::int64_t>(bytes);
  }

  void run_forward(window const& w, float const* parameters, states& s, bool training) {
    on_.for_each(x_.size(), loops::embed{w, parameters + layout_.embedding, x_.data(), c_.embedding});
    auto const weights = layout_.layers.bind(parameters + layout_.recurrent);
    typename network::forward_arguments a;
    a.x = x_.data();
    a.weights = weights.data();
    a.y = y_.data();
    a.initial.h = s.now[0].data();
    a.final.h = s.next[0].data();
    for (std::size_t i = 1; i < states::count; ++i) {
      a.initial.others[i - 1] = s.now[i].data();
      a.final.others[i - 1] = s.next[i].data();
    }
    a.workspace = {workspace_.data(), static_cast<std::size_t>(workspace_.size())};
    a.reserve = {reserve_.data(), static_cast<std::size_t>(reserve_.size())};
    if (training) network_.forward_training(on_, a);
    else network_.forward(on_, a);
    s.advance();
    to_logits_(on_, y_.data(), parameters + layout_.output, logits_.data());
  }

  float loss(window const& w, float const* parameters) {
    on_.for_each(rows_, loops::cross_entropy{w, logits_.data(), parameters + layout_.bias, bits_.data(),
                                             layout_.symbols, used_, 1 / float(rows_)});
    on_.sum(rows_, loops::element{bits_.data()}, total_.data());
    float result = 0;
    on_.download(&result, total_);
    return result;
  }

  Backend const& on_;
  configuration c_;
  parameter_layout<Cell> layout_;
  std::int64_t used_, rows_;
  network network_;
  bool trains_;
  buffer<float> x_, y_, logits_, bits_, total_, ones_, dy_, dx_, one_hot_;
  buffer<char> workspace_, reserve_;
  product to_logits_, from_logits_, output_gradient_, bias_gradient_, embedding_gradient_;
};

}  // namespace char_lm
