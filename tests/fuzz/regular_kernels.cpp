#include "tests/fuzz/regular_kernels.h"

#include <functional>
#include <vector>

#include "tests/fuzz/kernel_maker.h"
#include "tests/fuzz/random_races.h"

namespace kiln::test {
namespace {

enum Slot : std::uint64_t { slot_c, slot_d, slot_a = race_data, slot_y, slot_z, slot_square, slot_flat };

class Maker : KernelMaker {
 public:
  explicit Maker(std::uint64_t seed) : KernelMaker(seed, "regular") {}

  Tables make() {
    scalar_ = t_.shape({});
    const auto* n = t_.shape({Tables::text("N")});
    t_.symbol("N", 0, std::int64_t{1} << 13);  // no product of two indices wraps
    t_.param("c", 0, KILN_I32, scalar_);
    t_.param("d", 0, KILN_I32, scalar_);
    t_.param("a", 0, KILN_I32, n);
    t_.param("y", 2, KILN_I32, n);
    t_.param("z", 2, KILN_I32, n);
    t_.param("square", 2, KILN_I32, t_.shape({Tables::text("N"), Tables::text("N")}));
    t_.param("flat", 2, KILN_I32, t_.shape({Tables::text("N*N")}));
    c_ = node(op::param, {}, slot_c), d_ = node(op::param, {}, slot_d), n_ = node_dim();
    using Family = void (Maker::*)();
    constexpr Family families[] = {&Maker::pivot,    &Maker::pivot_of_square, &Maker::residues,   &Maker::shifts,
                                   &Maker::triangle, &Maker::transposed,      &Maker::tiles,      &Maker::digits,
                                   &Maker::affine,   &Maker::affine_square,   &Maker::neighbours, &Maker::swaps,
                                   &Maker::strided,  &Maker::modular};
    (this->*families[random_.pick(0, std::ssize(families) - 1)])();
    return std::move(t_);
  }

 private:
  // Calls body with the number of a pivot: the counter of a loop around the kernel, or an argument.
  void with_pivot(const std::function<void(int)>& body) {
    switch (random_.pick(0, 2)) {
      case 0: return body(c_);
      case 1: return body(node(op::max, {number(0), node(op::min, {c_, plus({n_, -1})})}));
      default: loop(-1, body);
    }
  }
  int is_other(Two x) {
    const auto [a, b] = x;
    switch (random_.pick(0, 5)) {
      case 0: return flag(op::ne, {a, b});
      case 1: return flag(op::not_, {flag(op::eq, {a, b})});
      case 2: {
        const int below = flag(op::lt, {a, b});
        return flag(op::or_, {below, flag(op::lt, {b, a})});
      }
      case 3: return flag(op::lt, {a, b});
      case 4: return flag(op::lt, {b, a});
      default: return flag(op::ne, {a, plus({b, random_.one_in(6) ? 1 : 0})});
    }
  }
  void pivot() {
    with_pivot([&](int k) {
      kernel({0}, [&](std::vector<int> at) {
        const int t = at[0], other = plus({k, random_.one_in(8) ? 1 : 0}), apart = is_other({t, k});
        when(apart, [&] {
          if (coin())
            put(slot_square, {add({read(slot_square, {t, k}), read(slot_square, {k, coin() ? k : other})}), t, k});
          else
            put(slot_y, {add({read(slot_y, {t}), read_or_0(slot_y, {other})}), t});
        });
      });
    });
  }
  void pivot_of_square() {
    with_pivot([&](int k) {
      kernel({0, 0}, [&](std::vector<int> at) {
        const int i = at[0], j = at[1];
        const auto update = [&] {
          const int sum = add({read_or_0(slot_square, {i, k}), read_or_0(slot_square, {k, j})});
          put(slot_square,
              {node(op::min, {read(slot_square, {i, j}), random_.one_in(3) ? add({sum, read_or_0(slot_square, {k, k})}) : sum}),
               i, j});
        };
        if (coin()) {
          const int rows = is_other({i, k});
          when(random_.one_in(8) ? rows : flag(op::and_, {rows, is_other({j, k})}), update);
        } else {
          const int row = flag(op::eq, {i, k}), either = flag(op::or_, {row, flag(op::eq, {j, k})});
          when(either, [&] { put(slot_flat, {i, add({node(op::mul, {i, n_}), j})}); });
          otherwise(update);
        }
      });
    });
  }

  // Each branch has one residue of m. Its work items write at the quotient, or at one place of several.
  void residues() {
    const std::int64_t extent = extent_or(1, 90);
    kernel({extent}, [&](std::vector<int> at) {
      const int i = at[0];
      const std::int64_t m = random_.pick(2, 8), r = random_.pick(0, m - 1), wrong = random_.one_in(8) ? 1 : 0;
      const auto place = [&](std::int64_t residue) {
        const std::int64_t by = m + wrong;
        switch (random_.pick(0, 3)) {
          case 0: return over({i, by});
          case 1: return over({sub({i, number(residue)}), by});
          case 2: return plus({over({i, by}), random_.pick(-2, 2)});
          default: return over({plus({i, m - residue}), m});
        }
      };
      if (m == 2 && coin()) {
        const int is_odd = coin() ? flag(op::eq, {mod({i, 2}), number(1)}) : flag(op::ne, {mod({i, 2}), number(0)});
        when(is_odd, [&] { put(slot_y, {i, place(1)}); });
        otherwise([&] { put(slot_z, {i, place(0)}); });
        return;
      }
      const auto has = [&](std::int64_t residue) { return flag(op::eq, {mod({i, m}), number(residue)}); };
      const index_mode mode = any_mode();
      const int here = has(r);
      when(here, [&] { put(slot_y, {read(slot_a, {i}), place(r)}, mode); });
      if (coin()) return;
      const std::int64_t next = (r + 1) % m;
      const int there = has(next);
      when(there, [&] { put(slot_z, {i, place(next)}); });
    });
  }

  void shifts() {
    const std::int64_t extent = extent_or(1, 90);
    kernel({extent}, [&](std::vector<int> at) {
      const int i = at[0], by = static_cast<int>(random_.pick(0, 6)), s = random_.one_in(3) ? by + 32 : by;
      const std::int64_t low = random_.pick(0, 1 << by);
      const int shifted = node(op::shl, {i, number(s)});
      switch (random_.pick(0, 3)) {
        case 0: return put(slot_y, {i, plus({shifted, low})});
        case 1: put(slot_y, {i, shifted}); return put(slot_y, {read_or_0(slot_y, {shifted}), plus({shifted, low})});
        case 2: {
          const int down = node(op::shr, {i, number(s)}), lost = node(op::and_, {i, number((1 << by) - 1)});
          const int is_exact = flag(op::eq, {lost, number(0)});
          return when(is_exact, [&] { put(slot_y, {i, down}); });
        }
        default: return put(slot_y, {i, node(op::xor_, {shifted, number(random_.pick(0, 9))})});
      }
    });
  }

  // The rows of a triangle, one after the other.
  void triangle() {
    const bool is_strict = coin();
    const std::int64_t wrong = random_.one_in(8) ? 1 : 0;
    const auto place = [&](int i, int j) {
      const int area = node(op::mul, {i, plus({i, is_strict ? -1 : 1})});
      return add({over({area, 2}), j});
    };
    if (coin()) {
      kernel({0}, [&](std::vector<int> at) {
        const int end = plus({at[0], (is_strict ? 0 : 1) + wrong});
        loop(end, [&](int j) { put(slot_flat, {j, place(at[0], j)}); });
      });
      return;
    }
    kernel({0, 0}, [&](std::vector<int> at) {
      const int i = at[0], j = at[1];
      const int below = flag(is_strict ? op::lt : op::le, {j, plus({i, wrong})});
      when(below, [&] { put(slot_flat, {read_or_0(slot_square, {i, j}), place(i, j)}); });
    });
  }
  void transposed() {
    kernel({0, 0}, [&](std::vector<int> at) {
      const int i = at[0], j = at[1];
      const bool is_right = !random_.one_in(8);
      const int above = is_right ? flag(coin() ? op::lt : op::le, {i, j}) : flag(op::le, {i, plus({j, 1})});
      when(above, [&] {
        const int a = read(slot_square, {i, j}), b = read(slot_square, {j, i});
        put(slot_square, {b, i, j});
        put(slot_square, {a, j, i});
      });
    });
  }

  void tiles() {
    const std::int64_t p = random_.pick(2, 5), q = random_.pick(2, 5), wrong = random_.one_in(8) ? 1 : 0;
    const std::vector<std::int64_t> extents{random_.pick(1, 6), random_.pick(1, 6), p + wrong, q};
    kernel(extents, [&](std::vector<int> at) {
      const int row = add({times({at[0], p}), at[2]}), column = add({times({at[1], q}), at[3]});
      if (coin()) return put(slot_square, {at[0], row, column});
      put(slot_flat, {at[0], coin() ? add({node(op::mul, {row, number(6 * q)}), column})
                                    : add({add({times({add({times({at[0], 6}), at[1]}), p * q}), times({at[2], q})}), at[3]})});
    });
  }
  // The digits of an index, in another order.
  void digits() {
    const std::int64_t p = random_.pick(2, 9), q = random_.pick(2, 9), wrong = random_.one_in(8) ? 1 : 0;
    const bool is_symbolic = coin();
    const std::int64_t extent = is_symbolic ? 0 : random_.pick(1, p * q);
    kernel({extent}, [&](std::vector<int> at) {
      const int k = at[0], low = mod({k, p}), high = over({k, p});
      switch (random_.pick(0, 3)) {
        case 0: return put(slot_square, {k, high, low});
        case 1: return put(slot_flat, {k, add({times({high, p + random_.pick(0, 3) - wrong}), low})});
        case 2: return put(slot_flat, {k, add({times({mod({high, q}), p}), add({times({over({high, q}), p * q}), low})})});
        default: return put(slot_flat, {k, add({is_symbolic ? node(op::mul, {low, n_}) : times({low, q}), high})});
      }
    });
  }

  void affine() {
    const std::int64_t extent = extent_or(1, 90);
    kernel({extent}, [&](std::vector<int> at) {
      const int i = at[0], scaled = times({i, random_.pick(1, 5)});
      const index_mode mode = any_mode();
      switch (random_.pick(0, 4)) {
        case 0: return put(slot_y, {i, sub({plus({n_, -1}), i})}, mode);
        case 1: return put(slot_y, {i, plus({scaled, random_.pick(-5, 5)})});
        case 2: return put(slot_y, {read(slot_a, {i}), sub({c_, scaled})});
        case 3: return put(slot_y, {i, node(op::xor_, {i, coin() ? d_ : number(random_.pick(0, 15))})});
        default: return put(slot_y, {i, add({scaled, times({d_, random_.pick(1, 3)})})});
      }
    });
  }
  void affine_square() {
    const std::vector<std::int64_t> extents{extent_or(1, 12), extent_or(1, 12)};
    kernel(extents, [&](std::vector<int> at) {
      const auto sum = [&] {
        const std::int64_t p = random_.pick(-2, 2), q = random_.pick(-2, 2);
        const auto term = [&](int x, std::int64_t by) { return by < 0 ? sub({number(0), times({x, -by})}) : times({x, by}); };
        const int first = p == 0 ? number(0) : term(at[0], p);
        return plus({q == 0 ? first : add({first, term(at[1], q)}), random_.pick(-3, 8)});
      };
      const int row = sum(), column = sum();
      put(slot_square, {at[0], row, column});
    });
  }

  // Elements with one parity or residue read their neighbours.
  void neighbours() {
    if (coin()) {
      kernel({0}, [&](std::vector<int> at) {
        const std::int64_t m = random_.pick(2, 4), far = random_.pick(1, m);
        const int is_chosen = flag(op::eq, {mod({at[0], m}), number(random_.pick(0, m - 1))});
        when(is_chosen, [&] {
          put(slot_y,
              {add({read_or_0(slot_y, {plus({at[0], far})}), read_or_0(slot_y, {plus({at[0], -random_.pick(1, m - 1)})})}),
               at[0]});
        });
      });
      return;
    }
    kernel({0, 0}, [&](std::vector<int> at) {
      const int i = at[0], j = at[1];
      const auto near = [&] { return random_.one_in(12) ? 2 : 1; };
      const int is_chosen = flag(op::eq, {mod({add({i, j}), 2}), coin() ? number(0) : node(op::and_, {c_, number(1)})});
      when(is_chosen, [&] {
        const bool at_border = coin();
        const auto beside = [&](int r, int s) {
          return at_border ? read(slot_square, {r, s}) : read_or_0(slot_square, {r, s});
        };
        const int rows = add({beside(plus({i, -1}), j), beside(plus({i, near()}), j)});
        put(slot_square, {add({rows, beside(i, plus({j, 1}))}), i, j});
      });
    });
  }

  // Pairs of elements swap their values.
  void swaps() {
    kernel({0}, [&](std::vector<int> at) {
      const int i = at[0];
      const auto swap = [&](int p, int q) {
        const int a = read(slot_y, {p}), b = read(slot_y, {q});
        put(slot_y, {node(op::min, {a, b}), p});
        put(slot_y, {node(op::max, {a, b}), q});
      };
      switch (random_.pick(0, 3)) {
        case 0: {
          const op less = random_.one_in(8) ? op::le : op::lt;
          const int is_first = flag(less, {times({i, 2}), plus({n_, -1})});
          return when(is_first, [&] { swap(i, sub({plus({n_, -1}), i})); });
        }
        case 1: {
          const int p = add({times({i, 2}), mod({node(op::and_, {c_, number(7)}), 2})});
          const int fits = flag(op::lt, {plus({p, 1}), n_});
          return when(fits, [&] { swap(p, plus({p, random_.one_in(8) ? 2 : 1})); });
        }
        case 2: {
          const std::int64_t h = random_.pick(1, 6), period = random_.one_in(8) ? h + 1 : 2 * h;
          const int first = flag(op::lt, {mod({i, period}), number(h)});
          const int both = flag(op::and_, {first, flag(op::lt, {plus({i, h}), n_})});
          return when(both, [&] { swap(i, plus({i, h})); });
        }
        default: {
          const int other = node(op::xor_, {i, coin() ? d_ : number(random_.pick(1, 8))});
          const int first = flag(op::lt, {i, other}), fits = flag(op::lt, {other, n_});
          const int both = random_.one_in(8) ? fits : flag(op::and_, {first, fits});
          return when(both, [&] { swap(i, other); });
        }
      }
    });
  }

  // Each work item writes several places, which together fill an interval.
  void strided() {
    const std::int64_t extent = extent_or(1, 40);
    kernel({extent}, [&](std::vector<int> at) {
      const int i = at[0];
      const std::int64_t m = random_.pick(2, 6), most = random_.one_in(8) ? m : m - 1;
      if (coin()) {
        const int end = number(most + 1);
        return loop(end, [&](int k) { put(slot_y, {k, add({times({i, m}), k})}); });
      }
      for (std::int64_t k = 0; k <= most; k += random_.pick(1, 2))
        put(slot_y, {random_.one_in(3) ? read_or_0(slot_y, {plus({times({i, m}), random_.pick(0, m - 1)})}) : i,
                     plus({times({i, m}), k})});
    });
  }

  // a*i + b modulo the number of work items.
  void modular() {
    const std::int64_t n = random_.pick(2, 24), a = random_.pick(1, n + 3);
    if (random_.one_in(3)) {
      kernel({0}, [&](std::vector<int> at) {
        const int turned = coin() ? add({at[0], node(op::and_, {c_, number(7)})}) : plus({at[0], random_.pick(0, 9)});
        if (coin()) return put(slot_y, {at[0], turned}, index_mode::wrap);
        put(slot_y, {at[0], node(op::floormod, {turned, n_})});
      });
      return;
    }
    kernel({n}, [&](std::vector<int> at) {
      const int image = mod({plus({times({at[0], a}), random_.pick(0, 9)}), n});
      put(slot_y, {at[0], image});
      if (random_.one_in(3)) put(slot_z, {at[0], plus({mod({plus({at[0], random_.pick(0, n)}), n}), random_.pick(0, 2)})});
    });
  }
};

}  // namespace

tables::Tables regular_kernel(std::uint64_t seed) { return Maker(seed).make(); }

}  // namespace kiln::test
