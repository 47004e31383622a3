#include "cost.h"

#include <algorithm>
#include <cmath>

namespace ringconv {

namespace {

// Nanoseconds on one thread of a server core of 2024 with AVX-512, fitted to 82 measured plans of 64 and 128 channels
// and kernels of 3 to 11, when a filter had three planes: within 13 % of all but a few. Only ratios choose a plan.
constexpr double flops_per_lane = 13.2;   // per nanosecond, of the product's inner loop
constexpr double transform = 0.24;        // per vector of a tile's pixels and per doubling of the tile
constexpr double out_of_registers = 0.33; // more, for the doublings of a side that does not fit the registers
constexpr double slab_byte = 0.038;       // of a block that has left the core's own cache
constexpr double filter_byte = 0.066;     // of a filter that has left the shared cache, read once for each block
constexpr double sum_byte = 0.02;          // of the sums of a weight gradient that have not
constexpr double filled_byte = 0.18;      // of a filter being made
constexpr double image_byte = 0.074;
constexpr double own_cache = 0.9e6, shared_cache = 8e6;
constexpr int in_registers = 16;

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
    n.filter_bytes = plan.depthwise ? 0 : n.points * 8 * n.inputs * n.padded_outputs * c.groups;
    n.slab_bytes = n.points * 8 * c.groups * std::max(n.inputs, n.outputs);
    return n;
}

double doublings(int side) { return std::log2(side); }
double slow_doublings(int side) { return side > in_registers ? doublings(side) : 0; }

double cost(const Plan& plan, const Counts& n, int tile_h, int tile_w, int block) {
    const double per_pixel = transform * (doublings(tile_h) + doublings(tile_w)) +
                             out_of_registers * (slow_doublings(tile_h) + slow_doublings(tile_w));
    const double images = 4.0 * static_cast<double>(plan.batch) * static_cast<double>(plan.from.floats() + plan.to.floats());
    const double always = n.tiles * n.transforms * tile_h * tile_w * per_pixel + images * image_byte;
    if (plan.depthwise) return always;
    const double product = n.points * 6 * n.inputs * n.padded_outputs * plan.channels.groups /
                           (flops_per_lane * plan.kernels->lanes);
    const double spilled = std::max(0.0, 1 - own_cache / (block * n.slab_bytes));
    // A weight gradient reads and writes its sums for each block: both ways where a filter goes one way.
    const bool outer = plan.direction == RINGCONV_WEIGHT_GRADIENT;
    const double byte = n.filter_bytes > shared_cache ? filter_byte : outer ? sum_byte : 0;
    return always + n.filter_bytes * filled_byte +
           n.tiles * (product + 4 * n.slab_bytes * spilled * slab_byte +
                      (outer ? 2 : 1) * n.filter_bytes / block * byte);
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
        const double time = cost(plan, n, tile_h, tile_w, block) / threads;
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
