#include "tests/run/fuse_rows_programs.h"

#include <cctype>
#include <sstream>
#include <utility>

namespace kiln::compiler::testing {
namespace {

// The lines of a program, numbered when they are added.
class Text {
 public:
  explicit Text(const std::string& declarations) : text_("program p\n" + declarations) {}

  std::string operator()(const std::string& operation) {
    const std::string name = "%" + std::to_string(next_++);
    text_ += name + " = " + operation + "\n";
    return name;
  }
  std::string number(const std::string& v) { return (*this)("const f32 [] " + v); }
  // Broadcasts each row's value to its elements: [M] -> [M, n].
  std::string spread(const std::string& value, const std::string& rows, const std::string& n) {
    return (*this)("expand [" + rows + ", " + n + "] " + (*this)("reshape [" + rows + ", 1] " + value));
  }
  std::string softmax(const std::string& x, const std::string& rows, const std::string& n) {
    Text& t = *this;
    const std::string most = t.spread(t("reduce " + x + ", max, axes [1]"), rows, n);
    const std::string e = t("exp " + t("sub " + x + ", " + most));
    return t("fdiv " + e + ", " + t.spread(t("reduce " + e + ", sum, axes [1]"), rows, n));
  }
  // [rows, inner] x [inner, columns]
  std::string product(const std::string& a, const std::string& b, const std::string& rows, const std::string& inner,
                      const std::string& columns) {
    Text& t = *this;
    const std::string all = "[" + rows + ", " + columns + ", " + inner + "] ";
    const std::string x = t("expand " + all + t("reshape [" + rows + ", 1, " + inner + "] " + a));
    const std::string across = t("permute " + b + ", axes [1, 0]");
    const std::string y = t("expand " + all + t("reshape [1, " + columns + ", " + inner + "] " + across));
    return t("reduce " + x + ", " + y + ", fma, axes [2]");
  }
  std::string store(const std::string& target, const std::string& value) {
    return text_ + "store " + target + ", " + value + "\n";
  }

 private:
  std::string text_;
  int next_ = 0;
};

std::string symbols(const std::string& names) {
  std::string out;
  for (const char c : names) out += std::string("symbol ") + c + " max 4096\n";
  return out;
}

// Weighted sum over a 3x3 window.
std::string stencil(Text& t, const std::string& x, const std::string& mode, const double (&weights)[3][3]) {
  const std::string wide = t("pad [M + 2, N + 2] " + x + ", " + t.number("0") + ", before [1, 1], mode " + mode);
  std::string sum;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      if (weights[i][j] == 0) continue;
      const std::string part = t("slice [M, N] " + wide + ", begin [" + std::to_string(i) + ", " + std::to_string(j) + "]");
      std::ostringstream w;
      w << weights[i][j];
      const std::string term = t("mul " + part + ", " + t.number(w.str()));
      sum = sum.empty() ? term : t("add " + sum + ", " + term);
    }
  return sum;
}

}  // namespace

std::string with_sizes(const std::string& text, const Sizes& sizes) {
  std::string out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("symbol ")) continue;
    for (std::size_t i = 0; i < line.size(); ++i) {
      const auto word = [&](std::size_t at) { return std::isalnum(static_cast<unsigned char>(line[at])) != 0; };
      const bool alone = (i == 0 || !word(i - 1)) && (i + 1 == line.size() || !word(i + 1));
      const auto size = sizes.find(std::string(1, line[i]));
      out += alone && size != sizes.end() ? std::to_string(size->second) : std::string(1, line[i]);
    }
    out += '\n';
  }
  return out;
}

std::string elementwise_chain_text() {
  Text t(symbols("MN") + "in f32 [M, N] x\nin f32 [N] y\nout f32 [M, N] z\n");
  const std::string x = t("param x"), y = t("expand [M, N] " + t("reshape [1, N] " + t("param y")));
  std::string v = x;
  for (int i = 0; i < 6; ++i) {
    v = t("add " + t("mul " + v + ", " + y) + ", " + t.number("0.5"));
    v = t("max " + t("tanh " + v) + ", " + x);
  }
  return t.store("z", v);
}

std::string softmax_text() {
  Text t(symbols("MN") + "in f32 [M, N] x\nout f32 [M, N] y\n");
  return t.store("y", t.softmax(t("param x"), "M", "N"));
}

std::string layer_norm_text() {
  Text t(symbols("MN") + "in f32 [M, N] x\nin f32 [N] scale\nin f32 [N] shift\nout f32 [M, N] y\n");
  const std::string x = t("param x");
  const std::string n = t("expand [M] " + t("reshape [1] " + t("cast f32 (N)")));
  const auto mean = [&](const std::string& v) {
    return t.spread(t("fdiv " + t("reduce " + v + ", sum, axes [1]") + ", " + n), "M", "N");
  };
  const auto row = [&](const std::string& name) { return t("expand [M, N] " + t("reshape [1, N] " + t("param " + name))); };
  const std::string centred = t("sub " + x + ", " + mean(x));
  const std::string variance = mean(t("mul " + centred + ", " + centred));
  const std::string unit = t("mul " + centred + ", " + t("rsqrt " + t("add " + variance + ", " + t.number("1e-5"))));
  return t.store("y", t("add " + t("mul " + unit + ", " + row("scale")) + ", " + row("shift")));
}

std::string argmax_text() {
  Text t(symbols("MN") + "in f32 [M, N] x\nout i32 [M] y\n");
  return t.store("y", t("cast i32 [M] " + t("reduce " + t("param x") + ", argmax, axes [1]")));
}

std::string cross_entropy_text() {
  Text t(symbols("MN") + "in f32 [M, N] x\nin i32 [M] label\nout f32 [] loss\n");
  const std::string x = t("param x");
  const std::string shifted = t("sub " + x + ", " + t.spread(t("reduce " + x + ", max, axes [1]"), "M", "N"));
  const std::string whole = t("log " + t("reduce " + t("exp " + shifted) + ", sum, axes [1]"));
  const std::string place = t("expand [M, N] " + t("reshape [1, N] " + t("iota i32 [N]")));
  const std::string hit = t("eq " + t.spread(t("param label"), "M", "N") + ", " + place);
  const std::string none = t("expand [M, N] " + t("reshape [1, 1] " + t.number("0")));
  const std::string own = t("reduce " + t("where " + hit + ", " + shifted + ", " + none) + ", sum, axes [1]");
  const std::string sum = t("reduce " + t("sub " + whole + ", " + own) + ", sum, axes [0]");
  return t.store("loss", t("fdiv " + sum + ", " + t("cast f32 (M)")));
}

std::string two_products_text() {
  Text t(symbols("MNK") + "in f32 [M, K] a\nin f32 [K, N] b\nin f32 [N, K] c\nout f32 [M, K] d\n");
  const std::string ab = t.product(t("param a"), t("param b"), "M", "K", "N");
  return t.store("d", t.product(ab, t("param c"), "M", "N", "K"));
}

std::string gelu_layer_text() {
  Text t(symbols("MNK") + "in f32 [M, K] a\nin f32 [K, N] b\nin f32 [N] bias\nout f32 [M, N] y\n");
  const std::string bias = t("expand [M, N] " + t("reshape [1, N] " + t("param bias")));
  const std::string x = t("add " + t.product(t("param a"), t("param b"), "M", "K", "N") + ", " + bias);
  const std::string erf = t("erf " + t("mul " + x + ", " + t.number("0.70710678")));
  return t.store("y", t("mul " + t("mul " + x + ", " + t.number("0.5")) + ", " + t("add " + erf + ", " + t.number("1"))));
}

// For each element the sum of all elements up to it, by windows over x padded in front: [N] -> [N, N].
std::string running_sum_text() {
  Text t("symbol N min 1 max 4096\nin f32 [N] x\nout f32 [N] y\n");
  const std::string wide = t("pad [2*N - 1] " + t("param x") + ", " + t.number("0") + ", before [N - 1], mode constant");
  const std::string copies = t("expand [N + 1, 2*N - 1] " + t("reshape [1, 2*N - 1] " + wide));
  const std::string flat = t("reshape [2*N*N + N - 1] " + copies);
  const std::string cut = t("slice [2*N*N] " + flat + ", begin [0]");
  const std::string windows = t("slice [N, N] " + t("reshape [N, 2*N] " + cut) + ", begin [0, 0]");
  return t.store("y", t("reduce " + windows + ", sum, axes [1]"));
}

std::string blur_sobel_text(const std::string& pad_mode) {
  Text t("symbol M min 1 max 4096\nsymbol N min 1 max 4096\nin f32 [M, N] x\nout f32 [M, N] y\n");
  const std::string blurred =
      stencil(t, t("param x"), pad_mode, {{.0625, .125, .0625}, {.125, .25, .125}, {.0625, .125, .0625}});
  const std::string gx = stencil(t, blurred, pad_mode, {{-1, 0, 1}, {-2, 0, 2}, {-1, 0, 1}});
  const std::string gy = stencil(t, blurred, pad_mode, {{-1, -2, -1}, {0, 0, 0}, {1, 2, 1}});
  return t.store("y", t("sqrt " + t("add " + t("mul " + gx + ", " + gx) + ", " + t("mul " + gy + ", " + gy))));
}

std::string attention_text() {
  Text t(symbols("MNK") + "in f32 [M, K] q\nin f32 [N, K] k\nin f32 [N, K] v\nout f32 [M, K] y\n");
  const std::string across = t("permute " + t("param k") + ", axes [1, 0]");
  const std::string scores = t("mul " + t.product(t("param q"), across, "M", "K", "N") + ", " + t.number("0.125"));
  return t.store("y", t.product(t.softmax(scores, "M", "N"), t("param v"), "M", "N", "K"));
}

// M heads, N rows of K elements in each. with_gradients: also the derivatives by q, k and v.
std::string heads_text(bool with_gradients) {
  const std::string type = "f32 [1, M, N, K] ", pairs = "expand [1, M, N, N, K] ", scores = "expand [1, M, N, N] ";
  const std::string gradients = "in " + type + "d\nout " + type + "gq\nout " + type + "gk\nout " + type + "gv\n";
  Text t(symbols("MNK") + "in " + type + "q\nin " + type + "k\nin " + type + "v\nout " + type + "y\n" +
         (with_gradients ? gradients : ""));
  const auto of_row = [&](const std::string& x) { return t(scores + t("reshape [1, M, N, 1] " + x)); };
  const std::string of_q = t("param q"), of_k = t("param k"), of_v = t("param v");
  const std::string q = t(pairs + t("reshape [1, M, N, 1, K] " + of_q));
  const std::string k = t(pairs + t("reshape [1, M, 1, N, K] " + of_k));
  const std::string x = t("reduce " + q + ", " + k + ", fma, axes [4]");
  const std::string most = of_row(t("reduce " + x + ", max, axes [3]"));
  const std::string e = t("exp " + t("sub " + x + ", " + most));
  const std::string p = t("fdiv " + e + ", " + of_row(t("reduce " + e + ", sum, axes [3]")));
  const std::string across = t("reshape [1, M, 1, K, N] " + t("permute " + of_v + ", axes [0, 1, 3, 2]"));
  const std::string left = t("expand [1, M, N, K, N] " + t("reshape [1, M, N, 1, N] " + p));
  const std::string right = t("expand [1, M, N, K, N] " + across);
  const std::string y = t("reduce " + left + ", " + right + ", fma, axes [4]");
  if (!with_gradients) return t.store("y", y);
  std::string stores;
  const std::string d = t("param d");
  for (const auto& [name, by] : {std::pair{"gq", of_q}, {"gk", of_k}, {"gv", of_v}})
    stores += std::string("store ") + name + ", " + t("gradient " + y + ", " + d + ", " + by) + "\n";
  return t.store("y", y) + stores;
}

}  // namespace kiln::compiler::testing
