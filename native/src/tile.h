// The two-dimensional transforms of real tiles: gather and forward, inverse and store.
//
// Two real rows travel as one complex row; the two real columns (frequencies 0 and n_w/2) as one complex column.
// Between the passes the tile stands column by column: frequency q of row r at q·n_h + r.
#pragma once

#include "fft.h"
#include "kernels.h"

namespace ringconv::RINGCONV_ISA {

template <bool careful>
RINGCONV_INLINE Vector pixel(const float* row, int64_t col, int count) {
    if constexpr (careful) return col < 0 ? Vector{} : load_some(row + col, count);
    return load(row + col);
}

template <int N, bool careful>
RINGCONV_INLINE void gather(const Read& read, int64_t row, Vector* out) {
    if (careful && row < 0) {
        for (int c = 0; c < N; ++c) out[c] = Vector{};
        return;
    }
    const float* from = read.origin + row;
    for (int c = 0; c < N; ++c) out[c] = pixel<careful>(from, read.cols[c], read.lanes);
}

// Two rows to their spectra (times 2, but for the real columns).
template <int N, bool careful>
void rows_forward(const Read& read, int tile_h, Vector* re, Vector* im) {
    for (int r = 0; r < tile_h; r += 2) {
        if (careful && read.rows[r] < 0 && read.rows[r + 1] < 0) {
            for (int q = 0; q <= N / 2; ++q) {
                re[q * tile_h + r] = re[q * tile_h + r + 1] = im[q * tile_h + r] = im[q * tile_h + r + 1] = Vector{};
            }
            continue;
        }
        Vector a[N], b[N];
        gather<N, careful>(read, read.rows[r], a);
        gather<N, careful>(read, read.rows[r + 1], b);
        fft<N, false>(a, b);
        constexpr int middle = place(N, N / 2);
        re[r] = a[0], re[r + 1] = b[0];
        re[N / 2 * tile_h + r] = a[middle], re[N / 2 * tile_h + r + 1] = b[middle];
        unroll<N / 2 - 1>([&](auto i) __attribute__((always_inline)) {
            constexpr int q = i + 1, up = place(N, q), down = place(N, N - q);
            re[q * tile_h + r] = a[up] + a[down], im[q * tile_h + r] = b[up] - b[down];
            re[q * tile_h + r + 1] = b[up] + b[down], im[q * tile_h + r + 1] = a[down] - a[up];
        });
    }
}

template <int N, class Sink>
void columns_forward(int tile_w, Vector* re, Vector* im, const Sink& sink) {
    const int middle = tile_w / 2;
    for (int q = 1; q < middle; ++q) {
        Vector* a = re + q * N;
        Vector* b = im + q * N;
        fft<N, false>(a, b);
        unroll<N>([&](auto j) __attribute__((always_inline)) { sink((q - 1) * N + j, a[j], b[j]); });
    }
    Vector* a = re;
    Vector* b = re + middle * N;
    fft<N, false>(a, b);
    const int first = (middle - 1) * N, second = first + N / 2 + 1;
    unroll<N / 2 + 1>([&](auto j) __attribute__((always_inline)) {
        constexpr int up = place(N, j), down = place(N, (N - j) % N);
        sink(first + j, a[up] + a[down], b[up] - b[down]);
        sink(second + j, b[up] + b[down], a[down] - a[up]);
    });
}

template <int N, class Source>
void columns_inverse(int tile_w, const Source& source, Vector* re, Vector* im) {
    const int middle = tile_w / 2;
    for (int q = 1; q < middle; ++q) {
        Vector* a = re + q * N;
        Vector* b = im + q * N;
        unroll<N>([&](auto j) __attribute__((always_inline)) { source((q - 1) * N + j, a[j], b[j]); });
        fft<N, true>(a, b);
    }
    Vector* a = re;
    Vector* b = re + middle * N;
    const int first = (middle - 1) * N, second = first + N / 2 + 1;
    unroll<N / 2 + 1>([&](auto j) __attribute__((always_inline)) {
        constexpr int up = place(N, j), down = place(N, (N - j) % N);
        Vector ar, ai, br, bi;
        source(first + j, ar, ai);
        source(second + j, br, bi);
        a[up] = ar - bi, b[up] = ai + br;
        if constexpr (up != down) a[down] = ar + bi, b[down] = br - ai;
    });
    fft<N, true>(a, b);
}

inline float* target(const Write& write, int r) {
    if (r >= write.row_count || write.rows[r] == -1) return nullptr;
    return write.rows[r] >= 0 ? write.origin + write.rows[r] : write.outside + (-2 - write.rows[r]);
}

template <bool whole>
RINGCONV_INLINE void scatter(const Write& write, float* row, const Vector* values, Vector bias) {
    for (int c = 0; c < write.col_count; ++c) {
        if (whole) {
            store(row + write.cols[c], values[c] + bias);
        } else if (write.cols[c] >= 0) {
            store_some(row + write.cols[c], values[c] + bias, write.lanes);
        }
    }
}

template <int N, bool whole>
void rows_inverse(const Write& write, int tile_h, const Vector* re, const Vector* im) {
    const Vector bias = write.bias ? load_some(write.bias, write.lanes) : Vector{};
    for (int r = 0; r < write.row_count; r += 2) {
        float* first = target(write, r);
        float* second = target(write, r + 1);
        if (!first && !second) continue;
        Vector a[N], b[N];
        constexpr int middle = place(N, N / 2);
        a[0] = re[r], b[0] = re[r + 1];
        a[middle] = re[N / 2 * tile_h + r], b[middle] = re[N / 2 * tile_h + r + 1];
        unroll<N / 2 - 1>([&](auto i) __attribute__((always_inline)) {
            constexpr int q = i + 1, up = place(N, q), down = place(N, N - q);
            const Vector xr = re[q * tile_h + r], xi = im[q * tile_h + r];
            const Vector yr = re[q * tile_h + r + 1], yi = im[q * tile_h + r + 1];
            a[up] = xr - yi, b[up] = xi + yr;
            a[down] = xr + yi, b[down] = yr - xi;
        });
        fft<N, true>(a, b);
        if (first) scatter<whole>(write, first, a, bias);
        if (second) scatter<whole>(write, second, b, bias);
    }
}

}  // namespace ringconv::RINGCONV_ISA
