// The runtime's interface in C++: typed views, status, context. Generated headers include only this header.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "kiln/context.h"
#include "kiln/kiln.h"

namespace kiln {

inline constexpr std::int64_t dynamic_extent = -1;

// Storage of 16-bit floats: bit patterns, no arithmetic.
struct float16 {
  std::uint16_t bits;
};
struct bfloat16 {
  std::uint16_t bits;
};

namespace detail {
template <class T>
inline constexpr int dtype_code = -1;
#define KILN_X(code, name, bits, type) \
  template <>                          \
  inline constexpr int dtype_code<type> = KILN_##code;
KILN_DTYPES(KILN_X)
#undef KILN_X

template <class R, class T>
concept span_convertible = std::is_convertible_v<R, std::span<T>> && !requires(R r) { r.data_handle(); };

// Whether the size of R is E; true if one of both is dynamic.
template <class R, std::int64_t E>
inline constexpr bool span_fits =
    E == dynamic_extent || decltype(std::span(std::declval<R>()))::extent == std::dynamic_extent ||
    decltype(std::span(std::declval<R>()))::extent == static_cast<std::size_t>(E);

template <class A, class T>
concept nested_array = std::is_convertible_v<std::remove_all_extents_t<A> (*)[], T (*)[]>;

template <class A, std::size_t... R>
constexpr std::array<std::int64_t, sizeof...(R)> array_extents(std::index_sequence<R...>) {
  return {static_cast<std::int64_t>(std::extent_v<A, R>)...};
}
template <class A, std::int64_t... E>
inline constexpr bool array_fits = [] {
  const std::int64_t wanted[] = {E...};
  const auto given = array_extents<A>(std::make_index_sequence<sizeof...(E)>());
  for (std::size_t r = 0; r < sizeof...(E); ++r)
    if (wanted[r] != dynamic_extent && wanted[r] != given[r]) return false;
  return true;
}();

// std::mdspan, the reference implementation's mdspan, and other types with this interface over plain pointers.
template <class M, class T>
concept mdspan_like = requires(const M& m, std::size_t r) {
  { m.data_handle() } -> std::convertible_to<T*>;
  { m.extent(r) } -> std::convertible_to<std::int64_t>;
  { m.stride(r) } -> std::convertible_to<std::int64_t>;
  { M::static_extent(r) } -> std::convertible_to<std::size_t>;
  { M::rank() } -> std::convertible_to<std::size_t>;
} && std::is_convertible_v<std::remove_pointer_t<decltype(std::declval<const M&>().data_handle())> (*)[], T (*)[]>;

template <class M>
struct mdspan_element {
  using type = void;
};
template <class M>
  requires requires(const M& m) { *m.data_handle(); }
struct mdspan_element<M> {
  using type = std::remove_reference_t<decltype(*std::declval<const M&>().data_handle())>;
};

template <class T>
inline constexpr bool is_view = false;

template <class M, std::int64_t... E>
inline constexpr bool mdspan_fits = [] {
  const std::int64_t wanted[] = {E..., 0};
  if (M::rank() != sizeof...(E)) return false;
  for (std::size_t r = 0; r < sizeof...(E); ++r)
    if (wanted[r] != dynamic_extent && M::static_extent(r) != std::dynamic_extent &&
        static_cast<std::size_t>(wanted[r]) != M::static_extent(r))
      return false;
  return true;
}();

template <class A>
constexpr auto* first_element(A& array) {
  if constexpr (std::is_array_v<std::remove_reference_t<decltype(array[0])>>)
    return first_element(array[0]);
  else
    return &array[0];
}

// The mistake in an argument, in the words that g++ prints. clang prints the sentences of view's deleted constructors.
enum class argument : unsigned char {
  ok,
  a_pointer_has_no_size__write_kiln_view_of_pointer_and_extents,
  a_container_has_one_axis__write_kiln_view_of_data_and_extents,
  rows_of_their_own_do_not_lie_together__use_one_buffer_and_kiln_view,
  vector_bool_holds_bits__use_an_array_of_bool,
  an_output_is_written__the_argument_is_const,
  the_result_in_a_temporary_would_be_lost__name_the_container,
  the_argument_has_another_element_type,
  the_argument_has_another_static_size,
  the_argument_has_another_number_of_axes,
  an_argument_is_no_list_of_numbers__name_an_array,
};

// A container whose memory ends with the call: not an lvalue, and not a span or another range that owns no memory.
template <class R>
inline constexpr bool is_temporary =
    !std::is_lvalue_reference_v<R> && !std::ranges::enable_borrowed_range<std::remove_cvref_t<R>>;

template <class C>
concept has_data = requires(C& c) {
  { *c.data() };
  c.size();
};
template <class R>
constexpr auto* elements_of(R& r) {
  if constexpr (std::is_array_v<R>)
    return &r[0];
  else
    return r.data();
}

// A view, an mdspan or a nested array: elements of type U in Rank axes. fits: of their static extents.
template <class U, class T, std::size_t Rank, std::size_t Wanted>
consteval argument array_why(bool fits) {
  if (Rank != Wanted) return argument::the_argument_has_another_number_of_axes;
  if (!std::is_same_v<std::remove_cv_t<U>, std::remove_cv_t<T>>) return argument::the_argument_has_another_element_type;
  if (std::is_const_v<U> && !std::is_const_v<T>) return argument::an_output_is_written__the_argument_is_const;
  return fits ? argument::ok : argument::the_argument_has_another_static_size;
}
template <class V, std::int64_t... E>
inline constexpr bool view_fits = [] {
  const std::int64_t wanted[] = {E..., 0};
  for (std::size_t r = 0; r < sizeof...(E) && r < V::rank(); ++r)
    if (wanted[r] != dynamic_extent && wanted[r] != V::static_extent(r)) return false;
  return true;
}();

template <class R, class T, std::int64_t... E>
consteval argument argument_why() {
  using C = std::remove_reference_t<R>;
  using V = std::remove_cv_t<C>;
  if constexpr (std::is_pointer_v<V>) {
    return argument::a_pointer_has_no_size__write_kiln_view_of_pointer_and_extents;
  } else if constexpr (requires(V v) { v.flip(), v.push_back(true); }) {
    return argument::vector_bool_holds_bits__use_an_array_of_bool;
  } else if constexpr (is_view<V>) {
    return array_why<typename V::element_type, T, V::rank(), sizeof...(E)>(view_fits<V, E...>);
  } else if constexpr (mdspan_like<V, const typename mdspan_element<V>::type>) {
    return array_why<typename mdspan_element<V>::type, T, V::rank(), sizeof...(E)>(mdspan_fits<V, E...>);
  } else if constexpr (std::rank_v<C> > 1) {
    constexpr bool same_rank = std::rank_v<C> == sizeof...(E);
    return array_why<std::remove_all_extents_t<C>, T, std::rank_v<C>, sizeof...(E)>(!same_rank || array_fits<C, E...>);
  } else if constexpr (!requires(C& c) { c.data_handle(); } && (has_data<C> || std::rank_v<C> == 1)) {
    using Element = std::remove_pointer_t<decltype(elements_of(std::declval<C&>()))>;
    if constexpr (has_data<Element>)
      return argument::rows_of_their_own_do_not_lie_together__use_one_buffer_and_kiln_view;
    else if constexpr (!std::is_same_v<std::remove_cv_t<Element>, std::remove_cv_t<T>>)
      return argument::the_argument_has_another_element_type;
    else if constexpr (std::is_const_v<Element> && !std::is_const_v<T>)
      return argument::an_output_is_written__the_argument_is_const;
    else if constexpr (!std::is_const_v<T> && is_temporary<R>)
      return argument::the_result_in_a_temporary_would_be_lost__name_the_container;
    else if constexpr (sizeof...(E) > 1)
      return argument::a_container_has_one_axis__write_kiln_view_of_data_and_extents;
    else if constexpr (sizeof...(E) == 1 && span_convertible<C&, T>)
      return (span_fits<C&, E> && ...) ? argument::ok : argument::the_argument_has_another_static_size;
    else
      return argument::ok;
  } else {
    return argument::ok;
  }
}
}  // namespace detail

// clang 19 and later print the texts of deleted constructors. g++ prints the enumerators of `argument`, which say the same.
#if defined(__clang__)
#define KILN_DELETED_VIEW(text)                                                                     \
  _Pragma("clang diagnostic push") _Pragma("clang diagnostic ignored \"-Wunknown-warning-option\"") \
      _Pragma("clang diagnostic ignored \"-Wc++26-extensions\"") = delete (text)_Pragma("clang diagnostic pop")
#if __clang_major__ < 19
#undef KILN_DELETED_VIEW
#define KILN_DELETED_VIEW(text) = delete
#endif
#else
#define KILN_DELETED_VIEW(text) = delete
#endif

// A view of an array of T that another object owns: dense and row-major (layout_right), or with strides. Extents are numbers or
// dynamic_extent, outermost first. Names follow std::mdspan. If static extents or element types differ, the call does not
// compile. The program declares which parameters take strides, and the call checks this.
template <class T, std::int64_t... Extents>
class view {
 public:
  using element_type = T;
  using value_type = std::remove_cv_t<T>;
  using index_type = std::int64_t;
  using data_handle_type = T*;

  static_assert(detail::dtype_code<value_type> >= 0, "kiln::view: no such element type");

  static constexpr std::size_t rank() { return sizeof...(Extents); }
  static constexpr std::size_t rank_dynamic() { return (std::size_t{0} + ... + (Extents == dynamic_extent ? 1u : 0u)); }
  static constexpr index_type static_extent(std::size_t r) { return statics[r]; }

  // Data and the dynamic extents, outermost first.
  template <class... I>
    requires(sizeof...(I) == rank_dynamic() && (std::is_convertible_v<I, index_type> && ...))
  constexpr explicit(sizeof...(I) == 0) view(T* data, I... dynamic) : data_(data) {
    const index_type given[] = {static_cast<index_type>(dynamic)..., 0};
    std::size_t next = 0;
    for (std::size_t r = 0; r < rank(); ++r) extents_[r] = statics[r] == dynamic_extent ? given[next++] : statics[r];
  }

  // The same for a pointer to non-const, if all extents are static. It matches better than the deleted constructors below.
  template <class U>
    requires(rank_dynamic() == 0 && std::is_const_v<T> && std::is_same_v<U, std::remove_const_t<T>>)
  constexpr explicit view(U* data) : view(static_cast<T*>(data)) {}

  // Data at [0, 0, ..], extents and strides, outermost first. Strides are in elements: a column, a crop, rows with a pitch.
  constexpr view(T* data, const std::array<index_type, sizeof...(Extents)>& extents,
                 const std::array<index_type, sizeof...(Extents)>& strides)
      : data_(data), has_strides_(true) {
    for (std::size_t r = 0; r < rank(); ++r) extents_[r] = extents[r], strides_[r] = strides[r];
  }

  // std::mdspan of any layout with strides, and types with its interface.
  template <class M>
    requires(!detail::is_view<M> && detail::mdspan_like<M, T> && detail::mdspan_fits<M, Extents...>)
  constexpr view(const M& m) : data_(m.data_handle()) {
    for (std::size_t r = 0; r < rank(); ++r) extents_[r] = static_cast<index_type>(m.extent(r));
    for (std::size_t r = 0; r < rank(); ++r) {
      strides_[r] = static_cast<index_type>(m.stride(r));
      has_strides_ = has_strides_ || strides_[r] != dense_stride(r);
    }
  }

  // Rank 1: anything that converts to a span. A static size must fit; a dynamic size is checked when the kernel is called.
  template <class R>
    requires(sizeof...(Extents) == 1 && detail::span_convertible<R&, T> && detail::span_fits<R&, Extents...> &&
             detail::argument_why<R, T, Extents...>() == detail::argument::ok)
  constexpr view(R&& range) : data_(std::span<T>(range).data()) {
    extents_[0] = static_cast<index_type>(std::span<T>(range).size());
  }

  // Rank 2 and more: a nested array.
  template <class A, std::size_t N>
    requires(sizeof...(Extents) > 1 && std::rank_v<A> + 1 == sizeof...(Extents) && detail::nested_array<A[N], T> &&
             detail::array_fits<A[N], Extents...>)
  constexpr view(A (&array)[N]) : data_(detail::first_element(array)) {
    const auto all = detail::array_extents<A[N]>(std::make_index_sequence<sizeof...(Extents)>());
    for (std::size_t r = 0; r < rank(); ++r) extents_[r] = all[r];
  }

  // Converts static extents to dynamic ones, and T to const T.
  template <class U, std::int64_t... Other>
    requires(sizeof...(Other) == sizeof...(Extents) && std::is_convertible_v<U (*)[], T (*)[]> &&
             ((Extents == dynamic_extent || Extents == Other) && ...))
  constexpr view(const view<U, Other...>& v) : data_(v.data_handle()), has_strides_(v.has_strides()) {
    for (std::size_t r = 0; r < rank(); ++r) extents_[r] = v.extent(r);
    for (std::size_t r = 0; r < rank() && has_strides_; ++r) strides_[r] = v.stride(r);
  }

#define KILN_X(reason, text)                                                       \
  template <class R, detail::argument Reason = detail::argument::reason>           \
    requires(detail::argument_why<R, T, Extents...>() == detail::argument::reason) \
  constexpr view(R&&) KILN_DELETED_VIEW("kiln: " text);
  KILN_X(a_pointer_has_no_size__write_kiln_view_of_pointer_and_extents,
         "a pointer has no size: write kiln::view<const float, -1, -1>(p, n, m), with an extent for each -1")
  KILN_X(a_container_has_one_axis__write_kiln_view_of_data_and_extents,
         "a container has one axis: write kiln::view<const float, -1, -1>(v.data(), n, m), with an extent for each -1")
  KILN_X(rows_of_their_own_do_not_lie_together__use_one_buffer_and_kiln_view,
         "the rows do not lie together: use one buffer and kiln::view<float, -1, -1>(buffer.data(), n, m)")
  KILN_X(vector_bool_holds_bits__use_an_array_of_bool,
         "std::vector<bool> holds bits: use an array of bool, std::array<bool, 4> or std::make_unique<bool[]>(n)")
  KILN_X(an_output_is_written__the_argument_is_const, "an output is written, and the argument is const")
  KILN_X(the_result_in_a_temporary_would_be_lost__name_the_container,
         "the result in a temporary would be lost: give the container a name")
  KILN_X(the_argument_has_another_element_type,
         "the argument has another element type: f16 is kiln::float16, bf16 kiln::bfloat16, i64 std::int64_t")
  KILN_X(the_argument_has_another_static_size, "the argument has another static size than the parameter")
  KILN_X(the_argument_has_another_number_of_axes, "the argument has another number of axes than the parameter")
#undef KILN_X
  template <class N, detail::argument Reason = detail::argument::an_argument_is_no_list_of_numbers__name_an_array>
    requires(std::is_arithmetic_v<N>)
  constexpr view(std::initializer_list<N>)
      KILN_DELETED_VIEW("kiln: an argument is no list of numbers: const float x[] = {1, 2, 3}; and then x");

  constexpr T* data_handle() const { return data_; }
  constexpr index_type extent(std::size_t r) const { return extents_[r]; }
  constexpr const index_type* extents() const { return extents_; }
  // False: dense and row-major.
  constexpr bool has_strides() const { return has_strides_; }
  constexpr index_type stride(std::size_t r) const { return has_strides_ ? strides_[r] : dense_stride(r); }
  constexpr const index_type* strides() const { return has_strides_ ? strides_ : nullptr; }
  // Makes the strides explicit, also for a dense array.
  constexpr view& with_strides() {
    for (std::size_t r = 0; r < rank() && !has_strides_; ++r) strides_[r] = dense_stride(r);
    has_strides_ = true;
    return *this;
  }
  constexpr index_type size() const {
    index_type n = 1;
    for (std::size_t r = 0; r < rank(); ++r) n *= extents_[r];
    return n;
  }

  // Unchecked element access.
  template <class... I>
    requires(sizeof...(I) == sizeof...(Extents))
  constexpr T& operator()(I... index) const {
    const index_type i[] = {static_cast<index_type>(index)..., 0};
    index_type offset = 0;
    for (std::size_t r = 0; r < rank(); ++r) offset = has_strides_ ? offset + i[r] * strides_[r] : offset * extents_[r] + i[r];
    return data_[offset];
  }

 private:
  constexpr index_type dense_stride(std::size_t r) const {
    index_type stride = 1;
    for (std::size_t inner = r + 1; inner < rank(); ++inner) stride *= extents_[inner];
    return stride;
  }

  static constexpr index_type statics[sizeof...(Extents) + 1] = {Extents..., 0};
  T* data_;
  index_type extents_[sizeof...(Extents) == 0 ? 1 : sizeof...(Extents)] = {};
  index_type strides_[sizeof...(Extents) == 0 ? 1 : sizeof...(Extents)] = {};
  bool has_strides_ = false;
};

template <class T, std::int64_t... E>
inline constexpr bool detail::is_view<view<T, E...>> = true;
#undef KILN_DELETED_VIEW

// The argument record of a view. It points into the view, which must outlive the call.
template <class T, std::int64_t... E>
kiln_tensor tensor_of(const view<T, E...>& v) {
  using value = std::remove_cv_t<T>;
  return {const_cast<value*>(v.data_handle()), v.extents(), v.strides(), detail::dtype_code<value>,
          static_cast<std::int32_t>(sizeof...(E))};
}
// The same for a parameter that takes strides. The record then names strides even for a dense array, so that the call can use
// its fast path.
template <class T, std::int64_t... E>
kiln_tensor strided_tensor_of(view<T, E...>& v) {
  return tensor_of(v.with_strides());
}
// A rank-0 argument.
template <class T>
kiln_tensor tensor_of(const T& scalar) {
  return {const_cast<T*>(&scalar), nullptr, nullptr, detail::dtype_code<T>, 0};
}

// Outcome of a call. After an error no output byte has changed. Exception: after R-check, outputs have any contents.
class [[nodiscard]] status {
 public:
  status(kiln_status s, const kiln_program_desc* program) : status_(s), program_(program) {}

  bool ok() const { return status_.code == KILN_OK; }
  explicit operator bool() const { return ok(); }
  std::int32_t code() const { return status_.code; }
  const kiln_status& detail() const { return status_; }

  // One line: code, program, argument, axis, expected and got.
  std::string message() const {
    std::string text(kiln_status_message(program_, status_, nullptr, 0), '\0');
    kiln_status_message(program_, status_, text.data(), text.size() + 1);
    return text;
  }

 private:
  kiln_status status_;
  const kiln_program_desc* program_;
};

}  // namespace kiln
