// Every elementwise operation of the DSL, in groups. End-to-end tests compile these programs and compare their
// results with the interpreter's.
#include <kiln/dsl.h>

using namespace kiln;

inline constexpr dim<"N"> N;
inline constexpr dim<"M"> M;

struct transcendental : program<transcendental> {
  in<f32, N> x;
  out<f32, N> e, e2, em, l, l2, l1, sq, rsq, s, c, t, th, er, pw;
  constexpr void body() {
    e = exp(x);
    e2 = exp2(x);
    em = expm1(x);
    l = log(x);
    l2 = log2(x);
    l1 = log1p(x);
    sq = sqrt(x);
    rsq = rsqrt(x);
    s = sin(x);
    c = cos(x);
    t = tan(x);
    th = tanh(x);
    er = erf(x);
    pw = pow(abs(x), 1.5);
  }
};

struct inverses : program<inverses> {
  in<f32, N> x;
  out<f32, N> l10, cr, sg, as, ac, at, sh, ch, ash, ach, ath, a2, fm, re, hy, cs, ld;
  constexpr void body() {
    l10 = log10(x);
    cr = cbrt(x);
    sg = sigmoid(x);
    as = asin(x);
    ac = acos(x);
    at = atan(x);
    sh = sinh(x);
    ch = cosh(x);
    ash = asinh(x);
    ach = acosh(x);
    ath = atanh(x);
    a2 = atan2(x, -1);
    fm = fmod(x, 0.3f);
    re = remainder(x, 0.3f);
    hy = hypot(x, 3);
    cs = copysign(x, -1);
    const auto [fraction, exponent] = frexp(x);
    ld = ldexp(fraction, exponent + 3);
  }
};

struct transcendental_f64 : program<transcendental_f64> {
  in<f64, N> x;
  out<f64, N> e, l, sq, s, c, th, er, pw;
  constexpr void body() {
    e = exp(x);
    l = log(x);
    sq = sqrt(x);
    s = sin(x);
    c = cos(x);
    th = tanh(x);
    er = erf(x);
    pw = pow(abs(x), x);
  }
};

struct rounding : program<rounding> {
  in<f32, N> x, y, z;
  out<f32, N> ab, sg, fl, ce, ro, tr, mi, ma, cl, fm, le, ng;
  constexpr void body() {
    ab = abs(x);
    sg = sign(x);
    fl = floor(x);
    ce = ceil(x);
    ro = round(x);
    tr = trunc(x);
    mi = min(x, y);
    ma = max(x, y);
    cl = clamp(x, -1, 1);
    fm = fma(x, y, z);
    le = lerp(x, y, z);
    ng = -x;
  }
};

// Arithmetic of one element type.
template <class D>
struct arithmetic : program<arithmetic<D>> {
  in<D, N> x, y;
  out<D, N> add, sub, mul, div, neg, mn, mx, ab, sg, fm, cl;
  constexpr void body() {
    add = x + y;
    sub = x - y;
    mul = x * y;
    div = x / y;
    neg = -x;
    mn = min(x, y);
    mx = max(x, y);
    ab = abs(x);
    sg = sign(x);
    fm = fma(x, y, x);
    cl = clamp(x, 2, 7);
  }
};

template <class D>
struct integer : program<integer<D>> {
  in<D, N> x, y;
  out<D, N> rem, fdiv, floor_rest, band, bor, bxor, bnot, shl, shr, compound;
  constexpr void body() {
    rem = x % y;
    fdiv = floordiv(x, y);
    floor_rest = floormod(x, y);
    band = x & y;
    bor = x | y;
    bxor = x ^ y;
    bnot = ~x;
    shl = x << y;
    shr = x >> y;
    compound = x;
    compound += y;
    compound *= 3;
    compound -= 1;
    compound ^= y;
    compound &= 63;
    compound |= x;
    compound <<= 1;
    compound >>= 2;
    compound /= 3;
    compound %= 5;
  }
};

template <class D>
struct comparison : program<comparison<D>> {
  in<D, N> x, y;
  out<bool, N> lt, le, gt, ge, eq, ne, is_nan_free;
  out<D, N> chosen;
  constexpr void body() {
    lt = x < y;
    le = x <= y;
    gt = x > y;
    ge = x >= y;
    eq = x == y;
    ne = x != y;
    is_nan_free = x == x && y == y;
    chosen = select(x < y, x, y);
  }
};

struct logic : program<logic> {
  in<bool, N> p, q;
  out<bool, N> conj, disj, neg, exor, bits, less, low, high;
  out<i32, N> number;
  out<f32, N> weight;
  constexpr void body() {
    conj = p && q;
    disj = p || q;
    neg = !p;
    exor = p ^ q;
    bits = (p & q) | !q;
    less = p < q;
    low = min(p, q);
    high = max(p, q);
    number = select<i32>(p, 7, -3);
    weight = select(p, cast<f32>(q), 0.5f);
  }
};

// Casts of one source element type to every other type.
template <class D>
struct casts : program<casts<D>> {
  in<D, N> x;
  out<bool, N> b;
  out<i8, N> i_8;
  out<i16, N> i_16;
  out<i32, N> i_32;
  out<i64, N> i_64;
  out<u8, N> u_8;
  out<u16, N> u_16;
  out<u32, N> u_32;
  out<u64, N> u_64;
  out<f16, N> f_16;
  out<bf16, N> bf_16;
  out<f32, N> f_32;
  out<f64, N> f_64;
  constexpr void body() {
    b = cast<bool>(x);
    i_8 = cast<i8>(x);
    i_16 = cast<i16>(x);
    i_32 = cast<i32>(x);
    i_64 = cast<i64>(x);
    u_8 = cast<u8>(x);
    u_16 = cast<u16>(x);
    u_32 = cast<u32>(x);
    u_64 = cast<u64>(x);
    f_16 = cast<f16>(x);
    bf_16 = cast<bf16>(x);
    f_32 = cast<f32>(x);
    f_64 = cast<f64>(x);
  }
};

struct bitcasts : program<bitcasts> {
  in<f32, N> x;
  in<f64, N> y;
  in<f16, N> h;
  in<i8, N> k;
  out<i32, N> xi;
  out<u64, N> yu;
  out<bf16, N> hb;
  out<u8, N> ku;
  out<f32, N> halved;
  constexpr void body() {
    xi = bitcast<i32>(x);
    yu = bitcast<u64>(y);
    hb = bitcast<bf16>(h);
    ku = bitcast<u8>(k);
    halved = bitcast<f32>(bitcast<u32>(x) & 0x7fffffffu);
  }
};

struct broadcasting : program<broadcasting> {
  in<f32, N, M> x;
  in<f32, M> row;
  in<f32, N, 1> column;
  in<f32> scalar;
  out<f32, N, M> a, b, c, d;
  out<f32, N, M> e;
  constexpr void body() {
    a = x + row;
    b = x * column + row;
    c = scalar;
    d = select(x > row, column, 2 * scalar);
    e = column - row;
  }
};

static const programs<transcendental, inverses, transcendental_f64, rounding, arithmetic<i8>, arithmetic<i16>, arithmetic<i32>,
                      arithmetic<i64>, arithmetic<u8>, arithmetic<u16>, arithmetic<u32>, arithmetic<u64>, arithmetic<f16>,
                      arithmetic<bf16>, arithmetic<f32>, arithmetic<f64>, integer<i8>, integer<i16>, integer<i32>, integer<i64>,
                      integer<u8>, integer<u16>, integer<u32>, integer<u64>, comparison<bool>, comparison<i8>, comparison<i32>,
                      comparison<i64>, comparison<u8>, comparison<u64>, comparison<f16>, comparison<bf16>, comparison<f32>,
                      comparison<f64>, logic, casts<bool>, casts<i8>, casts<i16>, casts<i32>, casts<i64>, casts<u8>, casts<u16>,
                      casts<u32>, casts<u64>, casts<f16>, casts<bf16>, casts<f32>, casts<f64>, bitcasts, broadcasting>
    exported;
