// The one vector type of the kernels: RINGCONV_LANES floats, with loads and stores of fewer than that.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace ringconv::RINGCONV_ISA {

constexpr int lanes = RINGCONV_LANES;

typedef float Vector __attribute__((vector_size(lanes * 4)));
typedef float Unaligned __attribute__((vector_size(lanes * 4), aligned(4), may_alias));

#define RINGCONV_INLINE inline __attribute__((always_inline))

RINGCONV_INLINE Vector load(const float* p) { return *reinterpret_cast<const Unaligned*>(p); }
RINGCONV_INLINE void store(float* p, Vector v) { *reinterpret_cast<Unaligned*>(p) = v; }

// x − 0 is x for every x, so that the compiler drops the subtraction without being told to bend the arithmetic.
RINGCONV_INLINE Vector splat(float x) { return x - Vector{}; }

#if defined(__AVX512F__)

RINGCONV_INLINE Vector load_some(const float* p, int n) {
    return reinterpret_cast<Vector>(_mm512_maskz_loadu_ps(static_cast<__mmask16>((1u << n) - 1), p));
}
RINGCONV_INLINE void store_some(float* p, Vector v, int n) {
    _mm512_mask_storeu_ps(p, static_cast<__mmask16>((1u << n) - 1), reinterpret_cast<__m512>(v));
}

#elif defined(__AVX2__)

RINGCONV_INLINE __m256i first(int n) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
RINGCONV_INLINE Vector load_some(const float* p, int n) {
    return reinterpret_cast<Vector>(_mm256_maskload_ps(p, first(n)));
}
RINGCONV_INLINE void store_some(float* p, Vector v, int n) {
    _mm256_maskstore_ps(p, first(n), reinterpret_cast<__m256>(v));
}

#else

RINGCONV_INLINE Vector load_some(const float* p, int n) {
    Vector v{};
    for (int i = 0; i < n; ++i) v[i] = p[i];
    return v;
}
RINGCONV_INLINE void store_some(float* p, Vector v, int n) {
    for (int i = 0; i < n; ++i) p[i] = v[i];
}

#endif

template <int... I, class Body>
RINGCONV_INLINE void unroll(std::integer_sequence<int, I...>, Body&& body) {
    (body(std::integral_constant<int, I>{}), ...);
}

// body(0), body(1), …, body(N − 1), each with its index as a constant.
template <int N, class Body>
RINGCONV_INLINE void unroll(Body&& body) {
    unroll(std::make_integer_sequence<int, N>{}, body);
}

}  // namespace ringconv::RINGCONV_ISA
