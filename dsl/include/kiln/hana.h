// Lists of modules of different types. A hana::tuple of modules may be a member of a program or of a module. Its modules are
// named by their index: the parameter w of the first module of `net` is `net_0_w`. A list has at most 100 modules.
//
// Boost.Hana's algorithms work on a list in a body. Example: each layer is applied to the result of the one before.
//
//   struct classifier : program<classifier> {
//     in<f32, N, 784> x;
//     hana::tuple<linear<784, 128>, tanh_layer, linear<128, 10>> net;
//     out<f32, N, 10> y;
//     constexpr void body() {
//       y = hana::fold_left(net, x, [](const auto& h, const auto& layer) { return layer(h); });
//     }
//   };
//
// Requires Boost.Hana (Debian: libboost-dev). dsl.h does not include it: Hana's headers take about 90 ms to compile.
#pragma once

#include <boost/hana/fold_left.hpp>
#include <boost/hana/for_each.hpp>
#include <boost/hana/transform.hpp>
#include <boost/hana/tuple.hpp>
#include <boost/hana/unpack.hpp>

#include "kiln/dsl.h"

namespace kiln::dsl::detail {

template <class... M>
struct module_list<boost::hana::tuple<M...>> {
  static constexpr bool is_list = true;
  static constexpr int size = sizeof...(M);
  static_assert(size <= 100, "kiln: a list of modules has at most 100 modules");
  template <int I>
  using element = std::remove_pointer_t<decltype(nth<I>(static_cast<M*>(nullptr)...))>;
  template <class List, class F>
  static constexpr auto unpack(List& list, F f) {
    return boost::hana::unpack(list, f);
  }
};

}  // namespace kiln::dsl::detail

namespace kiln {
namespace hana = boost::hana;
}
