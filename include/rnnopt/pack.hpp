#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include "rnnopt/config.hpp"

namespace rnnopt {

namespace detail {

template <std::size_t Index, class T>
struct pack_leaf {
  T value;
};

template <class Indices, class... Ts>
struct pack_base;

template <std::size_t... Indices, class... Ts>
struct pack_base<std::index_sequence<Indices...>, Ts...> : pack_leaf<Indices, Ts>... {
  pack_base() = default;
  RNNOPT_HD constexpr explicit pack_base(Ts const&... values) : pack_leaf<Indices, Ts>{values}... {}
};

}  // namespace detail

/// @brief A small tuple whose elements may differ in type, usable on host and device and in structured bindings.
///
/// `std::tuple` cannot be used in device code without a compiler flag.
template <class... Ts>
struct pack : detail::pack_base<std::index_sequence_for<Ts...>, Ts...> {
  pack() = default;
  RNNOPT_HD constexpr explicit pack(Ts const&... values)
      : detail::pack_base<std::index_sequence_for<Ts...>, Ts...>(values...) {}
};

template <>
struct pack<> {};

template <class... Ts>
pack(Ts const&...) -> pack<Ts...>;

/// @brief Element `Index` of a pack.
template <std::size_t Index, class T>
RNNOPT_HD constexpr T const& get(detail::pack_leaf<Index, T> const& leaf) {
  return leaf.value;
}
template <std::size_t Index, class T>
RNNOPT_HD constexpr T& get(detail::pack_leaf<Index, T>& leaf) {
  return leaf.value;
}
template <std::size_t Index, class T>
RNNOPT_HD constexpr T&& get(detail::pack_leaf<Index, T>&& leaf) {
  return static_cast<T&&>(leaf.value);
}

namespace detail {

template <class Function, std::size_t... Indices>
RNNOPT_HD constexpr void for_each_index(Function&& function, std::index_sequence<Indices...>) {
  (function(std::integral_constant<std::size_t, Indices>{}), ...);
}

/// function(0), .., function(Count - 1), with integral constants.
template <std::size_t Count, class Function>
RNNOPT_HD constexpr void for_each_index(Function&& function) {
  for_each_index(function, std::make_index_sequence<Count>{});
}

}  // namespace detail

}  // namespace rnnopt

template <class... Ts>
struct std::tuple_size<rnnopt::pack<Ts...>> : std::integral_constant<std::size_t, sizeof...(Ts)> {};

template <std::size_t Index, class... Ts>
struct std::tuple_element<Index, rnnopt::pack<Ts...>> : std::tuple_element<Index, std::tuple<Ts...>> {};
