// One axis of a correlation cut into tiles: which samples each tile reads and where its results go.
//
// All that is particular about an axis is in these tables: the ring's wrap, the height rules, dilation and stride.
// Dilation d makes d interleaved correlations of its own. Stride s makes s phases of the input, whose correlations
// with the taps of the same phase add up; the adjoint has s phases of the output.
#pragma once

#include <cstdint>
#include <vector>

namespace ringconv {

enum class Rule { symmetric, zeros, replicate, reflect, circular };

// The sample that stands at position i of n samples extended by the rule, −1 for zero.
int64_t source(Rule rule, int64_t i, int64_t n);

struct AxisShape {
    int64_t size, out;
    int taps, stride, dilation;
    int64_t before, after;
    Rule rule;
    bool ring;
};

struct AxisTiles {
    int n, step, tiles;
    int phases_in, phases_out;
    std::vector<int64_t> reads;   // [phase_in][tile][n]: a sample, or −1
    std::vector<int64_t> writes;  // [phase_out][tile][n]: a sample, −1 for nowhere, or −2 − e for added sample e
    std::vector<int64_t> taps;    // [phase][n]: the tap at each place of the filter's tile, or −1
    std::vector<char> sparse;     // [phase_in][tile]: some read is −1
    std::vector<int> filled;      // [phase_out][tile]: places up to the last one whose result goes somewhere
};

// Taps of the filter of one phase.
int phase_taps(const AxisShape& shape);

// Empty (tiles = 0) if the taps do not fit a tile of n.
AxisTiles correlation_axis(const AxisShape& shape, int n);
AxisTiles adjoint_axis(const AxisShape& shape, int n);

// How many tiles correlation_axis and adjoint_axis make, without making them.
int correlation_tiles(const AxisShape& shape, int n);
int adjoint_tiles(const AxisShape& shape, int n);

// Samples that the extension adds, and the sample that each is a copy of (−1: of none).
int64_t added(const AxisShape& shape);
int64_t copied_from(const AxisShape& shape, int64_t e);

}  // namespace ringconv
