#include "tests/fuzz/shared_arrays.h"

#include <bit>

namespace kiln::test {

using dsl::record::atomic_kind;
using dsl::record::index_mode;
using dsl::record::op;

namespace {

std::uint64_t at(index_mode m, std::uint64_t array) {
  return static_cast<std::uint64_t>(m) << 32 | (dsl::record::local_tensors + array);
}
std::uint64_t atomically(atomic_kind k, std::uint64_t place) { return static_cast<std::uint64_t>(k) << 40 | place; }

}  // namespace

void SharedArrays::declare(std::uint64_t number, const std::vector<int>& shared) {
  const auto whole = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(size_)));
  arrays_.push_back({.number = number,
                     .extent = random_.one_in(2) ? whole : random_.pick(1, 20),
                     .use = Use::read,
                     .place = -1,
                     .kind = atomic_kind::add});
  t_.node(op::local, KILN_I32, t_.shape({tables::Tables::fixed(arrays_.back().extent)}), {}, {},
          number | dsl::record::shared_array);
  choose(arrays_.back(), shared);
}

void SharedArrays::begin_interval(const std::vector<int>& shared) {
  for (Array& a : arrays_) choose(a, shared);
}

// Own places: the work item's number, the numbers in reverse, every second one. Promised places, in arrays whose extent is a
// power of two: the number times an odd number, plus a distance from data, modulo the extent.
void SharedArrays::choose(Array& a, const std::vector<int>& shared) {
  const auto pick = [&] {
    return shared[static_cast<std::size_t>(random_.pick(0, static_cast<std::int64_t>(shared.size()) - 1))];
  };
  const bool is_power = std::has_single_bit(static_cast<std::uint64_t>(a.extent)) && a.extent >= size_;
  constexpr Use uses[] = {Use::read, Use::own, Use::add, Use::promised};
  a.use = uses[random_.pick(0, is_power ? 3 : 2)];
  a.kind = static_cast<atomic_kind>(random_.pick(0, 5));
  if (a.use == Use::promised) {
    const int odd = node(op::or_, {pick(), number(1)});
    const int moved = node(op::add, {node(op::mul, {own_, odd}), pick()});
    a.place = node(op::and_, {random_.one_in(2) ? node(op::xor_, {moved, pick()}) : moved, number(a.extent - 1)});
  } else if (a.use == Use::own) {
    const auto form = random_.pick(0, 3);
    a.place = form == 0   ? node(op::sub, {number(size_ - 1), own_})
              : form == 1 ? node(op::add, {node(op::mul, {own_, number(2)}), number(random_.pick(-3, 1))})
                          : own_;
  }
}

SharedArrays::Array* SharedArrays::any() {
  if (arrays_.empty()) return nullptr;
  return &arrays_[static_cast<std::size_t>(random_.pick(0, static_cast<std::int64_t>(arrays_.size()) - 1))];
}

std::optional<int> SharedArrays::read(int index, int otherwise) {
  const Array* a = any();
  if (a == nullptr || a->use == Use::add) return std::nullopt;
  if (a->use == Use::own) return node(op::element, {a->place, otherwise}, at(index_mode::constant, a->number));
  const auto mode = static_cast<index_mode>(random_.pick(0, 2));
  return node(op::element, {a->use == Use::read ? index : a->place}, at(mode, a->number));
}

std::optional<int> SharedArrays::read_shared() {
  const Array* a = any();
  if (a == nullptr || a->use != Use::read) return std::nullopt;
  return node(op::element, {number(random_.pick(0, a->extent))}, at(index_mode::clamp, a->number));
}

bool SharedArrays::write(int index, int value, std::optional<int>& old) {
  const Array* a = any();
  if (a == nullptr || a->use == Use::read) return false;
  const auto mode = static_cast<index_mode>(random_.pick(0, 2));
  if (a->use == Use::add) {
    node(op::atomic, {value, index}, atomically(a->kind, at(mode, a->number)));
  } else if (a->use == Use::promised) {
    node(op::put, {value, a->place}, dsl::record::unique_write | at(mode, a->number));
  } else if (random_.one_in(4)) {
    old = node(op::atomic, {value, a->place}, atomically(a->kind, at(index_mode::skip, a->number)));
  } else {
    node(op::put, {value, a->place}, at(index_mode::skip, a->number));
  }
  return true;
}

}  // namespace kiln::test
