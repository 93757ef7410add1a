// The demo's programs: a small camera pipeline on RGB images (rows x columns x 3), and a dense network. Borders
// repeat the nearest pixel.
#include <kiln/dsl.h>

using namespace kiln;

inline constexpr dim<"H", {.min = 1}> H;  // at least one row and one column, because a border repeats an element
inline constexpr dim<"W", {.min = 1}> W;
inline constexpr dim<"M"> M;

// Element i of the result is element i + Shift of x along the axis of extent N. Requires |Shift| <= Reach.
template <int Axis, auto N, int Reach>
struct neighbours {
  template <int Shift>
  static constexpr auto at(Operand auto const& padded) {
    return slice<Axis, Reach + Shift, N + (Reach + Shift)>(padded);
  }
};

// A filter of seven taps along one axis.
template <int Axis, auto N>
constexpr auto blur7(Operand auto const& x) {
  using near = neighbours<Axis, N, 3>;
  const auto p = pad<Axis, 3, 3, pad_mode::edge>(x);
  return 0.28125f * near::template at<0>(p) + 0.21875f * (near::template at<-1>(p) + near::template at<1>(p)) +
         0.109375f * (near::template at<-2>(p) + near::template at<2>(p)) +
         0.03125f * (near::template at<-3>(p) + near::template at<3>(p));
}

// The sums of nine neighbours along one axis.
template <int Axis, auto N>
constexpr auto box9(Operand auto const& x) {
  using near = neighbours<Axis, N, 4>;
  const auto p = pad<Axis, 4, 4, pad_mode::edge>(x);
  return near::template at<-4>(p) + near::template at<-3>(p) + near::template at<-2>(p) + near::template at<-1>(p) +
         near::template at<0>(p) + near::template at<1>(p) + near::template at<2>(p) + near::template at<3>(p) +
         near::template at<4>(p);
}

constexpr auto grey_of(Operand auto const& rgb) {
  auto [r, g, b] = split<2, 3>(rgb);
  return squeeze<2>(0.2126f * r + 0.7152f * g + 0.0722f * b);
}

// A test chart of rings whose frequency grows with the distance from the centre. The channels differ a little.
struct zone_plate : program<zone_plate> {
  out<f32, H, W, 3> chart;
  constexpr void body() {
    auto [row, column, channel] = grid<H, W, 3>();
    auto height = cast<f32>(size<H>()), width = cast<f32>(size<W>());
    auto dy = cast<f32>(row) - 0.5f * height, dx = cast<f32>(column) - 0.5f * width;
    auto phase = (dx * dx + dy * dy) * (3.14159265f / width);
    chart = 0.5f + 0.5f * cos(phase * (1.0f + 0.03f * cast<f32>(channel)));
  }
};

struct srgb_to_linear : program<srgb_to_linear> {
  in<u8, H, W, 3> srgb;
  out<f32, H, W, 3> linear;
  constexpr void body() {
    auto c = cast<f32>(srgb) / 255.0f;
    linear = select(c <= 0.04045f, c / 12.92f, pow((c + 0.055f) / 1.055f, 2.4f));
  }
};

struct linear_to_srgb : program<linear_to_srgb> {
  in<f32, H, W, 3> linear;
  out<u8, H, W, 3> srgb;
  constexpr void body() {
    auto c = clamp(linear, 0.0f, 1.0f);
    auto s = select(c <= 0.0031308f, c * 12.92f, 1.055f * pow(c, 1.0f / 2.4f) - 0.055f);
    srgb = cast<u8>(round(s * 255.0f));
  }
};

struct gaussian_blur : program<gaussian_blur> {
  in<f32, H, W, 3> image;
  out<f32, H, W, 3> blurred;
  constexpr void body() { blurred = blur7<1, W>(blur7<0, H>(image)); }
};

struct unsharp_mask : program<unsharp_mask> {
  in<f32, H, W, 3> image;
  out<f32, H, W, 3> sharp;
  constexpr void body() {
    auto blurred = blur7<1, W>(blur7<0, H>(image));
    sharp = clamp(image + 1.5f * (image - blurred), 0.0f, 1.0f);
  }
};

struct sobel : program<sobel> {
  in<f32, H, W, 3> image;
  out<f32, H, W> edges;
  constexpr void body() {
    using rows = neighbours<0, H, 1>;
    using columns = neighbours<1, W, 1>;
    const auto p = pad<1, 1, 1, pad_mode::edge>(pad<0, 1, 1, pad_mode::edge>(grey_of(image)));
    const auto above = rows::at<-1>(p), here = rows::at<0>(p), below = rows::at<1>(p);
    const auto slope = [](const auto& line) { return columns::at<1>(line) - columns::at<-1>(line); };
    auto gx = slope(above) + 2.0f * slope(here) + slope(below);
    auto down = below - above;
    auto gy = columns::at<-1>(down) + 2.0f * columns::at<0>(down) + columns::at<1>(down);
    edges = sqrt(gx * gx + gy * gy);
  }
};

struct half_size : program<half_size> {
  in<f32, 2 * H, 2 * W, 3> image;
  out<f32, H, W, 3> half;
  constexpr void body() {
    auto row = slice<0, 0, none, 2>(image) + slice<0, 1, none, 2>(image);
    half = 0.25f * (slice<1, 0, none, 2>(row) + slice<1, 1, none, 2>(row));
  }
};

// Each pixel is compared with the mean and deviation of the 9 x 9 pixels around it.
struct local_contrast : program<local_contrast> {
  in<f32, H, W, 3> image;
  out<f32, H, W> contrast;
  constexpr void body() {
    auto grey = grey_of(image);
    auto mean = box9<1, W>(box9<0, H>(grey)) * (1.0f / 81.0f);
    auto square = box9<1, W>(box9<0, H>(grey * grey)) * (1.0f / 81.0f);
    auto deviation = sqrt(max(square - mean * mean, 0.0f));
    contrast = 0.5f + 0.2f * (grey - mean) / (deviation + 0.02f);
  }
};

// Computes 10 class probabilities for each patch of 8 x 8 x 3.
struct network : program<network> {
  in<f32, M, 192> patches;
  in<f32, 192, 64> w1;
  in<f32, 64> b1;
  in<f32, 64, 10> w2;
  in<f32, 10> b2;
  out<f32, M, 10> probabilities;
  constexpr void body() { probabilities = softmax(matmul(relu(matmul(patches, w1) + b1), w2) + b2); }
};

static const programs<zone_plate, srgb_to_linear, linear_to_srgb, gaussian_blur, unsharp_mask, sobel, half_size, local_contrast,
                      network>
    exported;
