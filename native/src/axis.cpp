#include "axis.h"

#include <algorithm>

namespace ringconv {

namespace {

int64_t modulo(int64_t i, int64_t n) {
    const int64_t r = i % n;
    return r < 0 ? r + n : r;
}

// Both mirroring rules read forwards up to n and then backwards from `turn`.
int64_t mirror(int64_t i, int64_t period, int64_t n, int64_t turn) {
    const int64_t r = modulo(i, period);
    return r < n ? r : turn - r;
}

int ceil_div(int64_t a, int64_t b) { return static_cast<int>((a + b - 1) / b); }

int dense_taps(const AxisShape& s) { return s.stride == 1 ? s.taps : (s.taps - 1) * s.dilation + 1; }

// Interleaved correlations that the dilation makes; a strided axis takes the taps with their gaps instead.
int lattices(const AxisShape& s) { return s.stride == 1 ? s.dilation : 1; }

// Positions of the adjoint's result, before they are folded back: those of the extended axis.
int64_t extended(const AxisShape& s) { return s.ring ? s.size : s.size + s.before + s.after; }

int64_t tap_at(const AxisShape& s, int phase, int64_t place) {
    if (place < 0 || place >= phase_taps(s)) return -1;
    if (s.stride == 1) return place;
    const int64_t position = place * s.stride + phase;
    return position % s.dilation == 0 && position / s.dilation < s.taps ? position / s.dilation : -1;
}

int64_t write_at(const AxisShape& s, int64_t position) {
    if (position >= extended(s)) return -1;
    if (s.ring) return modulo(position - s.before, s.size);
    const int64_t i = position - s.before;
    if (i >= 0 && i < s.size) return i;
    if (s.rule == Rule::zeros) return -1;
    return -2 - (i < 0 ? position : position - s.size);
}

// Calls body(lattice, first place, number of places) for every tile.
template <class Body>
void each_tile(int64_t positions, int lattice_count, int step, Body&& body) {
    for (int a = 0; a < lattice_count; ++a) {
        const int64_t places = std::max<int64_t>(0, ceil_div(positions - a, lattice_count));
        for (int64_t first = 0; first < places; first += step) body(a, first, std::min<int64_t>(step, places - first));
    }
}

int count_tiles(const AxisShape& s, int64_t positions, int n) {
    int tiles = 0;
    const int step = n - phase_taps(s) + 1;
    if (step > 0) each_tile(positions, lattices(s), step, [&](int, int64_t, int64_t) { ++tiles; });
    return tiles;
}

AxisTiles empty_axis(const AxisShape& s, int n, int tiles, int phases_in, int phases_out) {
    AxisTiles axis{n, n - phase_taps(s) + 1, tiles, phases_in, phases_out, {}, {}, {}, {}, {}};
    axis.reads.assign(static_cast<size_t>(phases_in) * tiles * n, -1);
    axis.writes.assign(static_cast<size_t>(phases_out) * tiles * n, -1);
    axis.taps.assign(static_cast<size_t>(std::max(phases_in, phases_out)) * n, -1);
    return axis;
}

void summarise(AxisTiles& axis) {
    for (size_t tile = 0; tile < axis.reads.size(); tile += axis.n) {
        const int64_t* first = axis.reads.data() + tile;
        axis.sparse.push_back(std::any_of(first, first + axis.n, [](int64_t i) { return i < 0; }));
    }
    for (size_t tile = 0; tile < axis.writes.size(); tile += axis.n) {
        int filled = axis.n;
        while (filled > 0 && axis.writes[tile + filled - 1] == -1) --filled;
        axis.filled.push_back(filled);
    }
}

int64_t correlation_positions(const AxisShape& s) { return s.out; }

int64_t adjoint_positions(const AxisShape& s) { return ceil_div(extended(s), s.stride); }

}  // namespace

int64_t source(Rule rule, int64_t i, int64_t n) {
    if (i >= 0 && i < n) return i;
    switch (rule) {
        case Rule::zeros: return -1;
        case Rule::replicate: return i < 0 ? 0 : n - 1;
        case Rule::circular: return modulo(i, n);
        case Rule::symmetric: return mirror(i, 2 * n, n, 2 * n - 1);
        case Rule::reflect: return n == 1 ? 0 : mirror(i, 2 * n - 2, n, 2 * n - 2);
    }
    return -1;
}

int phase_taps(const AxisShape& s) { return ceil_div(dense_taps(s), s.stride); }

int correlation_tiles(const AxisShape& s, int n) { return count_tiles(s, correlation_positions(s), n); }

int adjoint_tiles(const AxisShape& s, int n) { return count_tiles(s, adjoint_positions(s), n); }

AxisTiles correlation_axis(const AxisShape& s, int n) {
    const int d = lattices(s), tiles = correlation_tiles(s, n);
    AxisTiles axis = empty_axis(s, n, tiles, std::min(s.stride, dense_taps(s)), 1);
    for (int phase = 0; phase < axis.phases_in; ++phase) {
        for (int place = 0; place < n; ++place) axis.taps[phase * n + place] = tap_at(s, phase, place);
        int64_t* reads = axis.reads.data() + static_cast<int64_t>(phase) * tiles * n;
        int64_t* writes = axis.writes.data();
        each_tile(correlation_positions(s), d, axis.step, [&](int a, int64_t first, int64_t places) {
            for (int i = 0; i < n; ++i) {
                const int64_t place = a + d * (first + i);
                *reads++ = source(s.ring ? Rule::circular : s.rule, place * s.stride + phase - s.before, s.size);
                *writes++ = i < places ? place : -1;
            }
        });
    }
    summarise(axis);
    return axis;
}

AxisTiles adjoint_axis(const AxisShape& s, int n) {
    const int d = lattices(s), tiles = adjoint_tiles(s, n), last = phase_taps(s) - 1;
    AxisTiles axis = empty_axis(s, n, tiles, 1, s.stride);
    for (int phase = 0; phase < axis.phases_out; ++phase) {
        for (int place = 0; place < n; ++place) axis.taps[phase * n + place] = tap_at(s, phase, last - place);
        int64_t* reads = axis.reads.data();
        int64_t* writes = axis.writes.data() + static_cast<int64_t>(phase) * tiles * n;
        each_tile(adjoint_positions(s), d, axis.step, [&](int a, int64_t first, int64_t places) {
            for (int i = 0; i < n; ++i) {
                const int64_t place = a + d * (first + i);
                *reads++ = source(s.ring ? Rule::circular : Rule::zeros, place - d * last, s.out);
                *writes++ = i < places ? write_at(s, place * s.stride + phase) : -1;
            }
        });
    }
    summarise(axis);
    return axis;
}

int64_t added(const AxisShape& s) { return s.ring || s.rule == Rule::zeros ? 0 : s.before + s.after; }

int64_t copied_from(const AxisShape& s, int64_t e) {
    return source(s.rule, e < s.before ? e - s.before : e - s.before + s.size, s.size);
}

}  // namespace ringconv
