// Products of spectra over channels (forward, input gradient) and over tiles (weight gradient).
//
// A complex product by three real ones: with a + ib from the tiles and c + id from the filter,
//     t = (a + b)·c,   re = t − b·(c + d),   im = t + a·(d − c).
// The three sums over channels run one after another in the same registers. c + d and d − c are formed anew as they are
// needed: an addition next to twelve products costs nothing, and a filter of two planes is read faster than one of three.
#pragma once

#include "kernels.h"
#include "vector.h"

namespace ringconv::RINGCONV_ISA {

constexpr int registers = lanes == 16 ? 32 : 16;
constexpr int rows_at_once = registers == 32 ? 12 : 6;
constexpr int widest_panel = 2;

constexpr int64_t round_up(int64_t n, int64_t unit) { return (n + unit - 1) / unit * unit; }

template <int R, int P>
struct Sums {
    Vector at[R][P];
};

template <int R, int P, class Body>
RINGCONV_INLINE void each(Body&& body) {
    unroll<R>([&](auto r) __attribute__((always_inline)) {
        unroll<P>([&](auto p) __attribute__((always_inline)) { body(r, p); });
    });
}

struct AsItIs {
    RINGCONV_INLINE Vector operator()(const float* c) const { return load(c); }
};
struct MinusSum {
    int64_t plane;
    RINGCONV_INLINE Vector operator()(const float* c) const { return -load(c) - load(c + plane); }
};
struct Difference {
    int64_t plane;
    RINGCONV_INLINE Vector operator()(const float* c) const { return load(c + plane) - load(c); }
};

// sums[r][p] += a[r·row + k·step] · of(b[k·pitch + p]), k < depth.
template <int R, int P, int row, class Of = AsItIs>
RINGCONV_INLINE void accumulate(Sums<R, P>& sums, const float* a, int64_t step, const float* b, int64_t pitch, int depth,
                                Of of = {}) {
    for (int k = 0; k < depth; ++k, a += step, b += pitch) {
        Vector right[P];
        unroll<P>([&](auto p) __attribute__((always_inline)) { right[p] = of(b + p * lanes); });
        unroll<R>([&](auto r) __attribute__((always_inline)) {
            const Vector left = splat(a[r * row]);
            unroll<P>([&](auto p) __attribute__((always_inline)) { sums.at[r][p] += left * right[p]; });
        });
    }
}

// The channels that a group's rows sum over, as packed: per phase, chunks of `lanes` channels for all rows.
struct Depth {
    int phases, channels;
    int chunks() const { return phases * static_cast<int>(round_up(channels, lanes) / lanes); }
};

template <int R, int P, class Of>
RINGCONV_INLINE void over_channels(Sums<R, P>& sums, const float* a, const float* b, Depth depth, Of of) {
    for (int phase = 0; phase < depth.phases; ++phase) {
        for (int c = 0; c < depth.channels; c += lanes) {
            const int count = depth.channels - c < lanes ? depth.channels - c : lanes;
            accumulate<R, P, lanes>(sums, a, 1, b, P * lanes, count, of);
            a += R * lanes;
            b += count * P * lanes;
        }
    }
}

// R tiles times P vectors of output channels at one point. `a` has the planes a + b, a, b; `b` the planes c, d.
template <int R, int P>
void multiply_panel(const float* a, const float* b, Depth depth, float* re, float* im, int64_t row) {
    const int64_t plane_a = static_cast<int64_t>(depth.chunks()) * R * lanes;
    const int64_t plane_b = static_cast<int64_t>(depth.phases) * depth.channels * P * lanes;
    Sums<R, P> sums{};
    over_channels(sums, a, b, depth, AsItIs{});
    each<R, P>([&](auto r, auto p) __attribute__((always_inline)) { store(im + r * row + p * lanes, sums.at[r][p]); });
    over_channels(sums, a + 2 * plane_a, b, depth, MinusSum{plane_b});
    each<R, P>([&](auto r, auto p) __attribute__((always_inline)) {
        store(re + r * row + p * lanes, sums.at[r][p]);
        sums.at[r][p] = load(im + r * row + p * lanes);
    });
    over_channels(sums, a + plane_a, b, depth, Difference{plane_b});
    each<R, P>([&](auto r, auto p) __attribute__((always_inline)) { store(im + r * row + p * lanes, sums.at[r][p]); });
}

using MultiplyPanel = void (*)(const float*, const float*, Depth, float*, float*, int64_t);

template <int P, int... R>
constexpr MultiplyPanel multiply_panel_of(int rows, std::integer_sequence<int, R...>) {
    constexpr MultiplyPanel all[] = {multiply_panel<R + 1, P>...};
    return all[rows - 1];
}

// `rows` rows of a slab for one group, as multiply_panel reads them. Returns the end of what it wrote.
inline float* pack_rows(const Product& p, const float* slab, int group, int first, int rows, float* out) {
    const Depth depth{p.phases_in, p.group_in};
    const int64_t plane = static_cast<int64_t>(depth.chunks()) * rows * lanes;
    for (int phase = 0; phase < p.phases_in; ++phase) {
        for (int c = 0; c < p.group_in; c += lanes) {
            const float* from = slab + first * p.row + phase * p.phase_in + group * p.group_in + c;
            for (int r = 0; r < rows; ++r, from += p.row, out += lanes) {
                const Vector a = load(from), b = load(from + p.half);
                store(out, a + b);
                store(out + plane, a);
                store(out + 2 * plane, b);
            }
        }
    }
    return out + 2 * plane;
}

// Splits `tiles` rows into as few runs of at most rows_at_once as there can be, all about equally long.
template <class Body>
RINGCONV_INLINE void each_run(int tiles, Body&& body) {
    const int runs = (tiles + rows_at_once - 1) / rows_at_once;
    for (int i = 0, first = 0; i < runs; ++i) {
        const int rows = (tiles - first) / (runs - i);
        body(first, rows);
        first += rows;
    }
}

inline void multiply_group(const Product& p, float* slab, int phase, int group, const float*& filter) {
    const Depth depth{p.phases_in, p.group_in};
    const int64_t inputs = static_cast<int64_t>(p.phases_in) * p.group_in;
    for (int64_t o = 0; o < p.group_out; o += widest_panel * lanes) {
        const bool wide = p.group_out - o > lanes;
        float* out = slab + phase * p.phase_out + group * p.group_out + o;
        const float* a = p.packed;
        each_run(p.tiles, [&](int first, int rows) {
            constexpr std::make_integer_sequence<int, rows_at_once> all{};
            const MultiplyPanel panel = wide ? multiply_panel_of<2>(rows, all) : multiply_panel_of<1>(rows, all);
            panel(a, filter, depth, out + first * p.row, out + first * p.row + p.half, p.row);
            a += 3 * static_cast<int64_t>(depth.chunks()) * rows * lanes;
        });
        filter += 2 * inputs * (wide ? 2 : 1) * lanes;
    }
}

// A group's last panel may write past its channels, into the next group's: groups go in order, and all are packed
// before the first is written.
inline void multiply(const Product& p) {
    const int64_t group_packed = 3 * static_cast<int64_t>(Depth{p.phases_in, p.group_in}.chunks()) * p.tiles * lanes;
    for (int f = 0; f < p.points; ++f) {
        const float* filter = p.filter + f * p.filter_point;
        float* slab = p.slabs + f * p.slab;
        for (int g = 0; g < p.groups; ++g) {
            float* out = p.packed + g * group_packed;
            each_run(p.tiles, [&](int first, int rows) { out = pack_rows(p, slab, g, first, rows, out); });
        }
        for (int phase = 0; phase < p.phases_out; ++phase) {
            for (int g = 0; g < p.groups; ++g) {
                Product group = p;
                group.packed = p.packed + g * group_packed;
                multiply_group(group, slab, phase, g, filter);
            }
        }
    }
}

// R inputs times P vectors of outputs at one point, summed over tiles and added to what is there.
// x has the planes a + b, a, b and y the planes c, −(c + d), d − c: the product is with the conjugate of c + id.
template <int R, int P>
void outer_panel(const float* x, int64_t x_pitch, int64_t x_plane, const float* y, int64_t y_pitch, int64_t y_plane,
                 int tiles, float* re, float* im, int64_t row) {
    Sums<R, P> sums{};
    accumulate<R, P, 1>(sums, x, x_pitch, y, y_pitch, tiles);
    const Sums<R, P> common = sums;
    accumulate<R, P, 1>(sums, x + 2 * x_plane, x_pitch, y + 2 * y_plane, y_pitch, tiles);
    each<R, P>([&](auto r, auto p) __attribute__((always_inline)) {
        float* at = re + r * row + p * lanes;
        store(at, load(at) + sums.at[r][p]);
    });
    sums = common;
    accumulate<R, P, 1>(sums, x + x_plane, x_pitch, y + y_plane, y_pitch, tiles);
    each<R, P>([&](auto r, auto p) __attribute__((always_inline)) {
        float* at = im + r * row + p * lanes;
        store(at, load(at) + sums.at[r][p]);
    });
}

using OuterPanel = void (*)(const float*, int64_t, int64_t, const float*, int64_t, int64_t, int, float*, float*, int64_t);

template <int P, int... R>
constexpr OuterPanel outer_panel_of(int rows, std::integer_sequence<int, R...>) {
    constexpr OuterPanel all[] = {outer_panel<R + 1, P>...};
    return all[rows - 1];
}

inline void pack_left(const Outer& o, const float* slab, int group, float* out, int64_t pitch, int64_t plane) {
    for (int t = 0; t < o.tiles; ++t) {
        for (int phase = 0; phase < o.phases_in; ++phase) {
            const float* from = slab + t * o.x_row + phase * o.phase_in + group * o.group_in;
            float* to = out + t * pitch + phase * o.group_in;
            for (int c = 0; c < o.group_in; c += lanes) {
                const Vector a = load(from + c), b = load(from + c + o.x_half);
                store(to + c, a + b);
                store(to + c + plane, a);
                store(to + c + 2 * plane, b);
            }
        }
    }
}

inline void pack_right(const Outer& o, const float* slab, int group, float* out, int64_t pitch, int64_t plane) {
    for (int t = 0; t < o.tiles; ++t) {
        const float* from = slab + t * o.y_row + group * o.group_out;
        float* to = out + t * pitch;
        for (int c = 0; c < o.group_out; c += lanes) {
            const Vector a = load(from + c), b = load(from + c + o.y_half);
            store(to + c, a);
            store(to + c + plane, -(a + b));
            store(to + c + 2 * plane, b - a);
        }
    }
}

inline void add_outer_group(const float* x, int64_t x_pitch, int64_t x_plane, int inputs, const float* y,
                            int64_t y_pitch, int64_t y_plane, int outputs, int tiles, float* sums) {
    const int64_t row = round_up(outputs, lanes), imag = inputs * row;
    for (int64_t o = 0; o < row; o += widest_panel * lanes) {
        const bool wide = row - o > lanes;
        each_run(inputs, [&](int first, int rows) {
            constexpr std::make_integer_sequence<int, rows_at_once> all{};
            const OuterPanel panel = wide ? outer_panel_of<2>(rows, all) : outer_panel_of<1>(rows, all);
            float* re = sums + first * row + o;
            panel(x + first, x_pitch, x_plane, y + o, y_pitch, y_plane, tiles, re, re + imag, row);
        });
    }
}

inline void add_outer(const Outer& o) {
    const int inputs = o.phases_in * o.group_in;
    const int64_t x_pitch = round_up(inputs, lanes) + lanes, x_plane = x_pitch * o.tiles;
    const int64_t y_pitch = round_up(o.group_out, lanes), y_plane = y_pitch * o.tiles;
    float* x = o.packed;
    float* y = o.packed + 3 * x_plane;
    float* sums = o.sums;
    for (int f = 0; f < o.points; ++f) {
        for (int g = 0; g < o.groups; ++g, sums += 2 * inputs * y_pitch) {
            pack_left(o, o.x + f * o.x_slab, g, x, x_pitch, x_plane);
            pack_right(o, o.y + f * o.y_slab, g, y, y_pitch, y_plane);
            add_outer_group(x, x_pitch, x_plane, inputs, y, y_pitch, y_plane, o.group_out, o.tiles, sums);
        }
    }
}

}  // namespace ringconv::RINGCONV_ISA
