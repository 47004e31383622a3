// What one instruction set offers to the engine: transforms of tiles and products of their spectra.
//
// A tile is n_h × n_w pixels of one vector of channels. Its spectrum is that of real data, points(n_h, n_w) complex
// numbers: all rows of the columns 1 … n_w/2 − 1, then rows 0 … n_h/2 of the two real columns 0 and n_w/2.
// Transforms carry a factor 2 forward, and 2·n_h·n_w forward and back: whoever makes a filter's spectrum divides it out.
#pragma once

#include <cstdint>

namespace ringconv {

constexpr int points(int tile_h, int tile_w) { return (tile_w / 2 - 1) * tile_h + tile_h + 2; }
// Vectors of scratch that a transform needs.
constexpr int scratch_vectors(int tile_h, int tile_w) { return (tile_w / 2 + 1) * tile_h * 2; }
constexpr int smallest_tile = 8, largest_tile = 64;

// Where a tile's pixels stand: row and column offsets in floats from the origin, both −1 for zeros.
// `sparse` says that some offset is −1; `lanes` that only so many channels exist.
struct Read {
    const float* origin;
    const int64_t* rows;
    const int64_t* cols;
    int lanes;
    bool sparse;
};

// Where a tile's results go: the offset −1 for nowhere, −2 − r for offset r in `outside`; `bias` may be null.
struct Write {
    float* origin;
    float* outside;
    const int64_t* rows;
    const int64_t* cols;
    int row_count, col_count, lanes;
    const float* bias;
};

// Point f of a spectrum: real parts at f·stride, imaginary parts `imag` further. Floats.
struct Spectrum {
    float* base;
    int64_t stride, imag;
};

// The product of a block of tiles with a filter, in place. A point's slab holds `tiles` rows of `row` floats:
// `half` real parts and `half` imaginary parts, channels in phases of phase_in (or phase_out) floats.
struct Product {
    int points, tiles, groups;
    int phases_in, group_in, phases_out, group_out;
    int64_t phase_in, phase_out;
    float* slabs;
    int64_t slab, row, half;
    const float* filter;
    int64_t filter_point;
    float* packed;
};

// The correlation of two blocks of spectra over their tiles, added to `sums`, which has for each point and group
// real parts (phases_in · group_in) × padded group_out, then imaginary parts.
struct Outer {
    int points, tiles, groups;
    int phases_in, group_in, group_out;
    int64_t phase_in;
    const float* x;
    int64_t x_slab, x_row, x_half;
    const float* y;
    int64_t y_slab, y_row, y_half;
    float* sums;
    float* packed;
};

struct Kernels {
    const char* name;
    int lanes;
    int rows_at_once;  // tiles that the product takes in one go
    void (*analyse)(int tile_h, int tile_w, const Read&, const Spectrum&, float* scratch);
    // The conjugate, times `scale`: what a correlation multiplies with.
    void (*analyse_filter)(int tile_h, int tile_w, const Read&, const Spectrum&, float scale, float* scratch);
    void (*synthesise)(int tile_h, int tile_w, const Spectrum&, const Write&, float* scratch);
    void (*multiply)(const Product&);
    void (*add_outer)(const Outer&);
    // a ← a·b, and sum ← sum + a·conj(b), over spectra of one vector whose points are 2·lanes floats.
    void (*multiply_depthwise)(int points, float* a, const float* b);
    void (*add_depthwise)(int points, const float* a, const float* b, float* sum);
};

const Kernels& baseline_kernels();
#if defined(RINGCONV_X86)
const Kernels& avx2_kernels();
const Kernels& avx512_kernels();
#endif

// The best that this processor runs, or the one named by RINGCONV_NATIVE_ISA (baseline, avx2, avx512) if it can.
const Kernels& kernels();

}  // namespace ringconv
