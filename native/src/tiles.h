// Where one tile of a plan reads and writes.
#pragma once

#include <algorithm>

#include "plan.h"

namespace ringconv {

// Phases of the two axes are counted with the columns' running fastest.
inline Read input_tile(const Plan& plan, const float* image, const Place& at, int phase, int64_t channel) {
    const AxisTiles &h = plan.axis[0], &w = plan.axis[1];
    const int64_t row = int64_t{phase / w.phases_in} * h.tiles + at.row, col = int64_t{phase % w.phases_in} * w.tiles + at.col;
    return {image + at.image * plan.from.floats() + channel,
            plan.read_rows.data() + row * h.n,
            plan.read_cols.data() + col * w.n,
            static_cast<int>(std::min<int64_t>(plan.kernels->lanes, plan.channels.in() - channel)),
            h.sparse[row] || w.sparse[col]};
}

// The result's own samples of a tile, with zeros for what belongs to its neighbours.
inline Read output_tile(const Plan& plan, const float* image, const Place& at, int64_t channel) {
    const AxisTiles &h = plan.axis[0], &w = plan.axis[1];
    return {image + at.image * plan.to.floats() + channel,
            plan.write_rows.data() + int64_t{at.row} * h.n,
            plan.write_cols.data() + int64_t{at.col} * w.n,
            static_cast<int>(std::min<int64_t>(plan.kernels->lanes, plan.channels.out() - channel)),
            true};
}

// `outside` takes the rows that the height rule adds: (batch, added rows, width, channels).
inline Write result_tile(const Plan& plan, float* image, float* outside, const Place& at, int phase, int64_t channel,
                         const float* bias) {
    const AxisTiles &h = plan.axis[0], &w = plan.axis[1];
    const int64_t row = int64_t{phase / w.phases_out} * h.tiles + at.row;
    const int64_t col = int64_t{phase % w.phases_out} * w.tiles + at.col;
    const int64_t added = plan.added_rows * plan.to.width * plan.to.channels;
    return {image + at.image * plan.to.floats() + channel,
            outside ? outside + at.image * added + channel : nullptr,
            plan.write_rows.data() + row * h.n,
            plan.write_cols.data() + col * w.n,
            h.filled[row],
            w.filled[col],
            static_cast<int>(std::min<int64_t>(plan.kernels->lanes, plan.channels.out() - channel)),
            bias ? bias + channel : nullptr};
}

// The slabs of a block: for each point, a row per tile with `half` real and `half` imaginary parts.
struct Slabs {
    float* base;
    int64_t half, row, slab;

    // One cache line more per point, so that the points do not all fall into the same sets of the cache.
    Slabs(float* at, int64_t half, int tiles) : base(at), half(half), row(2 * half), slab(tiles * row + 16) {}
    Spectrum of(int tile, int64_t channel) const { return {base + tile * row + channel, slab, half}; }
    static int64_t floats(int points, int64_t half, int tiles) { return points * (tiles * 2 * half + 16); }
};

}  // namespace ringconv
