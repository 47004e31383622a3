// The kernels of one instruction set. Compiled once for each, with RINGCONV_ISA and RINGCONV_LANES set by the build.
//
// Nothing here may come from the standard library's templates: the linker keeps one copy of such a function for the
// whole program, and it might be one that only a newer processor can run.
#include "kernels.h"

#include "product.h"
#include "tile.h"

namespace ringconv {
namespace RINGCONV_ISA {
namespace {

template <class Body>
void with_size(int n, Body&& body) {
    switch (n) {
        case 8: return body(std::integral_constant<int, 8>{});
        case 16: return body(std::integral_constant<int, 16>{});
        case 32: return body(std::integral_constant<int, 32>{});
        case 64: return body(std::integral_constant<int, 64>{});
    }
}

struct Scratch {
    Vector *re, *im;
    Scratch(int tile_h, int tile_w, float* from)
        : re(reinterpret_cast<Vector*>(from)), im(re + (tile_w / 2 + 1) * tile_h) {}
};

template <class Sink>
void transform(int tile_h, int tile_w, const Read& read, float* scratch, const Sink& sink) {
    const Scratch s(tile_h, tile_w, scratch);
    const bool careful = read.sparse || read.lanes < lanes;
    with_size(tile_w, [&](auto n) {
        careful ? rows_forward<n, true>(read, tile_h, s.re, s.im) : rows_forward<n, false>(read, tile_h, s.re, s.im);
    });
    with_size(tile_h, [&](auto n) { columns_forward<n>(tile_w, s.re, s.im, sink); });
}

struct ToSpectrum {
    Spectrum to;
    RINGCONV_INLINE void operator()(int f, Vector re, Vector im) const {
        store(to.base + f * to.stride, re);
        store(to.base + f * to.stride + to.imag, im);
    }
};

// A correlation multiplies with the conjugate of the filter's spectrum.
struct ToConjugate {
    Spectrum to;
    float scale;
    RINGCONV_INLINE void operator()(int f, Vector re, Vector im) const {
        store(to.base + f * to.stride, re * splat(scale));
        store(to.base + f * to.stride + to.imag, im * splat(-scale));
    }
};

struct FromSpectrum {
    Spectrum from;
    RINGCONV_INLINE void operator()(int f, Vector& re, Vector& im) const {
        re = load(from.base + f * from.stride);
        im = load(from.base + f * from.stride + from.imag);
    }
};

void analyse(int tile_h, int tile_w, const Read& read, const Spectrum& to, float* scratch) {
    transform(tile_h, tile_w, read, scratch, ToSpectrum{to});
}

void analyse_filter(int tile_h, int tile_w, const Read& read, const Spectrum& to, float scale, float* scratch) {
    transform(tile_h, tile_w, read, scratch, ToConjugate{to, scale});
}

void synthesise(int tile_h, int tile_w, const Spectrum& from, const Write& write, float* scratch) {
    const Scratch s(tile_h, tile_w, scratch);
    with_size(tile_h, [&](auto n) { columns_inverse<n>(tile_w, FromSpectrum{from}, s.re, s.im); });
    bool whole = write.lanes == lanes;
    for (int c = 0; c < write.col_count; ++c) whole = whole && write.cols[c] >= 0;
    with_size(tile_w, [&](auto n) {
        whole ? rows_inverse<n, true>(write, tile_h, s.re, s.im) : rows_inverse<n, false>(write, tile_h, s.re, s.im);
    });
}

void multiply_depthwise(int count, float* a, const float* b) {
    for (const float* end = a + count * 2 * lanes; a < end; a += 2 * lanes, b += 2 * lanes) {
        const Vector ar = load(a), ai = load(a + lanes), br = load(b), bi = load(b + lanes);
        store(a, ar * br - ai * bi);
        store(a + lanes, ar * bi + ai * br);
    }
}

void add_depthwise(int count, const float* a, const float* b, float* sum) {
    for (const float* end = a + count * 2 * lanes; a < end; a += 2 * lanes, b += 2 * lanes, sum += 2 * lanes) {
        const Vector ar = load(a), ai = load(a + lanes), br = load(b), bi = load(b + lanes);
        store(sum, load(sum) + (ar * br + ai * bi));
        store(sum + lanes, load(sum + lanes) + (ai * br - ar * bi));
    }
}

#define RINGCONV_TEXT_OF(name) #name
#define RINGCONV_TEXT(name) RINGCONV_TEXT_OF(name)

constexpr Kernels table{RINGCONV_TEXT(RINGCONV_ISA), lanes,    rows_at_once, analyse,            analyse_filter,
                        synthesise,                  multiply, add_outer,    multiply_depthwise, add_depthwise};

}  // namespace
}  // namespace RINGCONV_ISA

#define RINGCONV_JOIN_OF(a, b) a##b
#define RINGCONV_JOIN(a, b) RINGCONV_JOIN_OF(a, b)

const Kernels& RINGCONV_JOIN(RINGCONV_ISA, _kernels)() { return RINGCONV_ISA::table; }

}  // namespace ringconv
