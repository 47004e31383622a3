// Complex Fourier transforms of N = 2, 4, 8, … vectors, each lane a transform of its own.
//
// Forward: natural order in, digit-reversed order out (frequency k stands at place<N>(k)). Inverse: the exact mirror,
// digit-reversed in, natural out, without the factor 1/N. Products of spectra need no order, so nobody sorts.
#pragma once

#include "vector.h"

namespace ringconv::RINGCONV_ISA {

constexpr int radix(int n) { return n == 2 ? 2 : 4; }

// Where the forward transform leaves frequency k.
constexpr int place(int n, int k) {
    if (n <= 4) return k;
    const int r = radix(n), m = n / r;
    return (k % r) * m + place(m, k / r);
}

// cos and sin of an angle in [0, 2π) by their series about the nearest quarter turn.
constexpr double sine_series(double x) {
    double term = x, sum = x;
    for (int i = 1; i < 12; ++i) sum += term *= -x * x / ((2 * i) * (2 * i + 1));
    return sum;
}
constexpr double cosine_series(double x) {
    double term = 1, sum = 1;
    for (int i = 1; i < 12; ++i) sum += term *= -x * x / ((2 * i - 1) * (2 * i));
    return sum;
}
constexpr double cosine(int e, int n) {
    constexpr double pi = 3.14159265358979323846;
    const int quarter = (8 * e + n) / (2 * n) % 4;
    const double x = 2 * pi * e / n - pi / 2 * ((8 * e + n) / (2 * n));
    return quarter == 0 ? cosine_series(x) : quarter == 1 ? -sine_series(x) : quarter == 2 ? -cosine_series(x)
                                                                                            : sine_series(x);
}
constexpr double sine(int e, int n) { return cosine((e + 3 * n / 4) % n, n); }

template <int N>
struct Roots {
    float c[N]{}, s[N]{};
    constexpr Roots() {
        for (int e = 0; e < N; ++e) {
            c[e] = static_cast<float>(cosine(e, N));
            s[e] = static_cast<float>(N % 4 == 0 ? sine(e, N) : 0);
        }
    }
};
template <int N>
inline constexpr Roots<N> roots{};

template <bool inverse>
RINGCONV_INLINE void turn(Vector& re, Vector& im, float c, float s) {
    const Vector x = re, y = im, cv = splat(c), sv = splat(inverse ? -s : s);
    re = x * cv + y * sv;
    im = y * cv - x * sv;
}

RINGCONV_INLINE void butterfly2(Vector& a, Vector& b) {
    const Vector t = a - b;
    a += b;
    b = t;
}

template <bool inverse>
RINGCONV_INLINE void butterfly4(Vector* re, Vector* im, int step) {
    const Vector ar = re[0] + re[2 * step], ai = im[0] + im[2 * step];
    const Vector br = re[0] - re[2 * step], bi = im[0] - im[2 * step];
    const Vector cr = re[step] + re[3 * step], ci = im[step] + im[3 * step];
    const Vector dr = re[step] - re[3 * step], di = im[step] - im[3 * step];
    re[0] = ar + cr, im[0] = ai + ci;
    re[2 * step] = ar - cr, im[2 * step] = ai - ci;
    const int down = inverse ? 3 * step : step, up = inverse ? step : 3 * step;
    re[down] = br + di, im[down] = bi - dr;
    re[up] = br - di, im[up] = bi + dr;
}

// The twiddles and butterflies of one column n of the first stage (forward) or the last (inverse).
template <int N, bool inverse>
RINGCONV_INLINE void stage_column(Vector* re, Vector* im, int n) {
    constexpr int step = N / 4;
    if constexpr (!inverse) butterfly4<false>(re + n, im + n, step);
    if (n > 0) {
        unroll<3>([&](auto i) __attribute__((always_inline)) {
            constexpr int k = i + 1;
            turn<inverse>(re[n + k * step], im[n + k * step], roots<N>.c[n * k], roots<N>.s[n * k]);
        });
    }
    if constexpr (inverse) butterfly4<true>(re + n, im + n, step);
}

// Up to this size a transform lives in registers and is unrolled; beyond it passes over memory in two stages.
constexpr int in_registers = 16;

template <int N, bool inverse>
RINGCONV_INLINE void stage(Vector* re, Vector* im) {
    if constexpr (N <= in_registers) {
        unroll<N / 4>([&](auto n) __attribute__((always_inline)) { stage_column<N, inverse>(re, im, n); });
    } else {
        for (int n = 0; n < N / 4; ++n) stage_column<N, inverse>(re, im, n);
    }
}

template <int N, bool inverse>
RINGCONV_INLINE void fft(Vector* re, Vector* im);

template <int N, bool inverse>
RINGCONV_INLINE void quarters(Vector* re, Vector* im) {
    if constexpr (N <= in_registers) {
        unroll<4>([&](auto k) __attribute__((always_inline)) { fft<N / 4, inverse>(re + k * (N / 4), im + k * (N / 4)); });
    } else {
        for (int k = 0; k < N; k += N / 4) fft<N / 4, inverse>(re + k, im + k);
    }
}

template <int N, bool inverse>
RINGCONV_INLINE void fft(Vector* re, Vector* im) {
    if constexpr (N == 2) {
        butterfly2(re[0], re[1]);
        butterfly2(im[0], im[1]);
    } else if constexpr (N == 4) {
        butterfly4<inverse>(re, im, 1);
    } else if constexpr (inverse) {
        quarters<N, true>(re, im);
        stage<N, true>(re, im);
    } else {
        stage<N, false>(re, im);
        quarters<N, false>(re, im);
    }
}

}  // namespace ringconv::RINGCONV_ISA
