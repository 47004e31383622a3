// How long a plan takes, by a model of one core: transforms, products, and what must come from beyond its own cache.
#pragma once

#include "plan.h"

namespace ringconv {

struct Choice {
    int tile_h, tile_w, block;
    double nanoseconds;
};

// The best tile and block for a shape whose axes, channels and direction are set; tile = 0 if none fits.
Choice choose_tile(const Plan& plan, int threads, const int64_t tile[2]);

}  // namespace ringconv
