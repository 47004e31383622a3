#include "cost.h"

#include <algorithm>
#include <cmath>

namespace ringconv {

namespace {

// Measured on a server core of 2023 with AVX-512; only ratios between them choose a plan.
constexpr double flops_per_lane = 14.0;      // per nanosecond and lane, of the product's inner loop
constexpr double transform_per_pixel = 0.22;  // nanoseconds per vector of a tile and per unit of log2(pixels)
constexpr double far_bytes = 18.0;            // per nanosecond, from the shared cache
constexpr double near_cache = 1.7e6;          // bytes of a core's own cache that a block can have

struct Counts {
    double tiles, points, inputs, outputs, padded_outputs, transforms, filter_bytes, slab_bytes;
};

Counts count(const Plan& plan, int tile_h, int tile_w) {
    const bool adjoint = plan.direction == RINGCONV_INPUT_GRADIENT;
    const auto tiles = adjoint ? adjoint_tiles : correlation_tiles;
    const int lanes = plan.kernels->lanes;
    const double phases = static_cast<double>(std::min<int64_t>(plan.shape[0].stride, plan.shape[0].taps)) *
                          static_cast<double>(std::min<int64_t>(plan.shape[1].stride, plan.shape[1].taps));
    const Channels& c = plan.channels;
    Counts n{};
    n.tiles = static_cast<double>(plan.batch) * tiles(plan.shape[0], tile_h) * tiles(plan.shape[1], tile_w);
    n.points = points(tile_h, tile_w);
    n.inputs = c.group_in * (adjoint ? 1 : phases);
    n.outputs = c.group_out * (adjoint ? phases : 1);
    n.padded_outputs = static_cast<double>(round_up(c.group_out, lanes)) * (adjoint ? phases : 1);
    n.transforms = (static_cast<double>(round_up(c.in(), lanes)) * (adjoint ? 1 : phases) +
                    static_cast<double>(round_up(c.out(), lanes)) * (adjoint ? phases : 1)) / lanes;
    n.filter_bytes = plan.depthwise ? 0 : n.points * 12 * n.inputs * n.padded_outputs * c.groups;
    n.slab_bytes = n.points * 8 * c.groups * std::max(n.inputs, n.outputs);
    return n;
}

double cost(const Plan& plan, const Counts& n, int tile_h, int tile_w, int block) {
    const double pixels = tile_h * tile_w;
    const double transforms = n.transforms * pixels * std::log2(pixels) * transform_per_pixel;
    if (plan.depthwise) return n.tiles * transforms;
    const double product = n.points * 6 * n.inputs * n.padded_outputs * plan.channels.groups /
                           (flops_per_lane * plan.kernels->lanes);
    const double spilled = std::max(0.0, block * n.slab_bytes - near_cache);
    const bool outer = plan.direction == RINGCONV_WEIGHT_GRADIENT;
    const double far = ((outer ? 4.0 / 3 : 1) * n.filter_bytes + 4 * spilled) / far_bytes / block;
    return n.tiles * (transforms + std::max(product, far) + 0.3 * std::min(product, far));
}

// Blocks of about `most` tiles, as many as the threads share evenly.
int even_block(double tiles, int most, int threads) {
    const double blocks = std::ceil(tiles / most);
    const double shared = std::ceil(blocks / threads) * threads;
    return static_cast<int>(std::max(1.0, std::ceil(tiles / shared)));
}

void consider(const Plan& plan, int threads, int tile_h, int tile_w, Choice& best) {
    if (phase_taps(plan.shape[0]) > tile_h || phase_taps(plan.shape[1]) > tile_w) return;
    const Counts n = count(plan, tile_h, tile_w);
    for (int rows = 1; rows <= 8; ++rows) {
        const int block = even_block(n.tiles, rows * plan.kernels->rows_at_once, threads);
        if (block * n.slab_bytes > 48e6 && rows > 1) break;
        const double filter = n.filter_bytes / 2;
        const double time = (cost(plan, n, tile_h, tile_w, block) + filter / far_bytes) / threads;
        if (best.tile_h == 0 || time < best.nanoseconds) best = {tile_h, tile_w, block, time};
    }
}

}  // namespace

Choice choose_tile(const Plan& plan, int threads, const int64_t tile[2]) {
    Choice best{};
    for (int h = smallest_tile; h <= largest_tile; h *= 2) {
        for (int w = smallest_tile; w <= largest_tile; w *= 2) {
            if ((tile[0] == 0 || tile[0] == h) && (tile[1] == 0 || tile[1] == w)) consider(plan, threads, h, w, best);
        }
    }
    return best;
}

}  // namespace ringconv
