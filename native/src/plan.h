// What is decided once per shape: tiles, blocks, index tables and the layout of spectra.
#pragma once

#include <cstdint>
#include <vector>

#include "../ringconv.h"
#include "axis.h"
#include "kernels.h"

namespace ringconv {

struct Image {
    int64_t height, width, channels;
    int64_t floats() const { return height * width * channels; }
};

// Channels as the product sees them.
struct Channels {
    int groups, group_in, group_out;
    int64_t in() const { return int64_t{groups} * group_in; }
    int64_t out() const { return int64_t{groups} * group_out; }
};

struct Plan {
    const Kernels* kernels;
    int direction;
    int64_t batch;
    Image from, to;  // a weight gradient reads both
    Channels channels;
    int64_t kernel[2];
    bool depthwise;

    AxisShape shape[2];
    AxisTiles axis[2];
    std::vector<int64_t> read_rows, read_cols;    // axis tables in floats of `from`
    std::vector<int64_t> write_rows, write_cols;  // and of `to`
    int64_t added_rows;

    int points, block, blocks;
    int64_t phase_in, phase_out;    // padded channels
    int64_t half_in, half_out;      // floats of the real parts of a tile's channels at one point
    int64_t filter_point, filter_floats;
    double nanoseconds;

    int phases_in() const { return axis[0].phases_in * axis[1].phases_in; }
    int phases_out() const { return axis[0].phases_out * axis[1].phases_out; }
    int64_t tiles() const { return batch * axis[0].tiles * axis[1].tiles; }
    int scratch() const { return scratch_vectors(axis[0].n, axis[1].n) * kernels->lanes; }
};

// One tile of the batch, counted along the ring first.
struct Place {
    int64_t image;
    int row, col;
};

inline Place place_of(const Plan& plan, int64_t tile) {
    const int64_t per_image = int64_t{plan.axis[0].tiles} * plan.axis[1].tiles;
    const int64_t within = tile % per_image;
    return {tile / per_image, static_cast<int>(within / plan.axis[1].tiles), static_cast<int>(within % plan.axis[1].tiles)};
}

inline int64_t round_up(int64_t n, int64_t unit) { return (n + unit - 1) / unit * unit; }

// Throws std::invalid_argument where no tile fits.
Plan make_plan(const ringconv_shape& shape, int direction, int threads, const int64_t tile[2]);

void fill_filter(const Plan& plan, const float* weight, const int64_t strides[4], float* filter, class Team& team);
void apply(const Plan& plan, const float* image, const float* filter, const float* bias, float* result, class Team& team);
void weight_gradient(const Plan& plan, const float* x, const float* y, float* weight, const int64_t strides[4],
                     int threads, class Team& team);

}  // namespace ringconv
