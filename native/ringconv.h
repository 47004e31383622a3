/* The CPU engine of ringconv: correlation on the cylinder by fused transforms of tiles.
 *
 * Images are float32, channels last: (batch, height, width, channels), contiguous. Weights are float32 with any strides.
 * A plan belongs to one shape, may be used by several threads at once, and is made once. Every function that can fail
 * returns a ringconv_status; none throws. Results do not depend on timing, only on the shape and the thread count. */
#ifndef RINGCONV_H
#define RINGCONV_H

#include <stdint.h>

#if defined(_WIN32)
#define RINGCONV_API __declspec(dllexport)
#else
#define RINGCONV_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    RINGCONV_OK = 0,
    RINGCONV_NO_MEMORY = 1,
    RINGCONV_UNSUPPORTED = 2, /* the kernel does not fit a tile, or a size is not positive */
    RINGCONV_FAILED = 3
} ringconv_status;

typedef enum {
    RINGCONV_SYMMETRIC = 0,
    RINGCONV_ZEROS = 1,
    RINGCONV_REPLICATE = 2,
    RINGCONV_REFLECT = 3,
    RINGCONV_CIRCULAR = 4
} ringconv_rule;

typedef enum {
    RINGCONV_FORWARD = 0,        /* x, weight -> y */
    RINGCONV_INPUT_GRADIENT = 1, /* y, weight -> x: the exact adjoint */
    RINGCONV_WEIGHT_GRADIENT = 2 /* x, y -> weight */
} ringconv_direction;

/* The correlation y[i, j] = sum over u, v of w[u, v] x[i s_h + u d_h - top, (j s_w + v d_w - left) mod width].
 * Pairs are (height, width). Whatever the direction, `channels` and `size` are those of x, `out_` those of y. */
typedef struct {
    int64_t batch, channels, out_channels, groups;
    int64_t size[2], out_size[2];
    int64_t kernel[2], stride[2], dilation[2];
    int64_t top, bottom, left;
    int64_t rule;
} ringconv_shape;

typedef struct ringconv_plan ringconv_plan;

/* "avx512", "avx2" or "baseline". RINGCONV_NATIVE_ISA in the environment asks for a lesser one. */
RINGCONV_API const char* ringconv_isa(void);

/* `tile` is {height, width} of the tiles, each 8, 16, 32 or 64; zeros let the cost model choose. */
RINGCONV_API int ringconv_plan_create(const ringconv_shape* shape, int direction, int threads, const int64_t tile[2],
                                      ringconv_plan** plan);
RINGCONV_API void ringconv_plan_destroy(ringconv_plan* plan);

/* {tile height, tile width, tiles, tiles per block, floats of a filter, predicted nanoseconds}. */
RINGCONV_API void ringconv_plan_describe(const ringconv_plan* plan, int64_t facts[6]);

/* The spectrum of the weights, for a plan of either image direction. It fits every plan of the same shape, direction
 * and tile, whatever the batch. Strides are those of (out_channels, channels / groups, kernel height, kernel width). */
RINGCONV_API int ringconv_filter(const ringconv_plan* plan, const float* weight, const int64_t strides[4],
                                 float* filter, int threads);

/* y (or, for an input gradient, x) from the other image and a filter. `bias` may be null. */
RINGCONV_API int ringconv_apply(const ringconv_plan* plan, const float* image, const float* filter, const float* bias,
                                float* result, int threads);

/* ringconv_filter and ringconv_apply in one, without memory for the filter. */
RINGCONV_API int ringconv_run(const ringconv_plan* plan, const float* image, const float* weight,
                              const int64_t strides[4], const float* bias, float* result, int threads);

RINGCONV_API int ringconv_weight_gradient(const ringconv_plan* plan, const float* x, const float* y, float* weight,
                                          const int64_t strides[4], int threads);

#ifdef __cplusplus
}
#endif

#endif
