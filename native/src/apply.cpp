// An image and a filter to an image: the forward correlation and, with the filter turned round, its adjoint.
#include <algorithm>

#include "memory.h"
#include "plan.h"
#include "pool.h"
#include "tiles.h"

namespace ringconv {

namespace {

struct Job {
    const Plan& plan;
    const float *image, *filter, *bias;
    float *result, *outside;
};

int packed_floats(const Plan& plan, int tiles) {
    const int lanes = plan.kernels->lanes;
    const int64_t group = plan.phases_in() * round_up(plan.channels.group_in, lanes);
    return static_cast<int>(3 * group * plan.channels.groups * tiles);
}

Product product_of(const Job& job, const Slabs& slabs, int tiles, float* packed) {
    const Plan& plan = job.plan;
    const Channels& c = plan.channels;
    return {plan.points,   tiles,         c.groups,   plan.phases_in(), c.group_in, plan.phases_out(),
            c.group_out,   plan.phase_in, plan.phase_out, slabs.base,   slabs.slab, slabs.row,
            slabs.half,    job.filter,    plan.filter_point, packed};
}

void apply_block(const Job& job, int block, Buffer& own) {
    const Plan& plan = job.plan;
    const Kernels& k = *plan.kernels;
    const int64_t first = int64_t{block} * plan.block;
    const int tiles = static_cast<int>(std::min<int64_t>(plan.block, plan.tiles() - first));
    const int h = plan.axis[0].n, w = plan.axis[1].n, scratch_floats = plan.scratch();
    const int64_t half = std::max(plan.half_in, plan.half_out);
    float* scratch = own.floats(static_cast<size_t>(scratch_floats + packed_floats(plan, plan.block) +
                                                    Slabs::floats(plan.points, half, plan.block)));
    float* packed = scratch + scratch_floats;
    const Slabs slabs(packed + packed_floats(plan, plan.block), half, tiles);

    for (int t = 0; t < tiles; ++t) {
        const Place at = place_of(plan, first + t);
        for (int phase = 0; phase < plan.phases_in(); ++phase) {
            for (int64_t c = 0; c < plan.phase_in; c += k.lanes) {
                k.analyse(h, w, input_tile(plan, job.image, at, phase, c), slabs.of(t, phase * plan.phase_in + c), scratch);
            }
        }
    }
    k.multiply(product_of(job, slabs, tiles, packed));
    for (int t = 0; t < tiles; ++t) {
        const Place at = place_of(plan, first + t);
        for (int phase = 0; phase < plan.phases_out(); ++phase) {
            for (int64_t c = 0; c < plan.phase_out; c += k.lanes) {
                k.synthesise(h, w, slabs.of(t, phase * plan.phase_out + c),
                             result_tile(plan, job.result, job.outside, at, phase, c, job.bias), scratch);
            }
        }
    }
}

// Each vector of channels is its own correlation: a tile goes through in one piece and its spectrum stays near.
void apply_depthwise(const Job& job, int64_t channel, int64_t first, int64_t last, Buffer& own) {
    const Plan& plan = job.plan;
    const Kernels& k = *plan.kernels;
    const int h = plan.axis[0].n, w = plan.axis[1].n;
    float* scratch = own.floats(static_cast<size_t>(plan.scratch() + int64_t{plan.points} * 2 * k.lanes));
    const Spectrum spectrum{scratch + plan.scratch(), 2 * k.lanes, k.lanes};
    const float* filter = job.filter + channel * plan.points * 2;
    for (int64_t t = first; t < last; ++t) {
        const Place at = place_of(plan, t);
        k.analyse(h, w, input_tile(plan, job.image, at, 0, channel), spectrum, scratch);
        k.multiply_depthwise(plan.points, spectrum.base, filter);
        k.synthesise(h, w, spectrum, result_tile(plan, job.result, job.outside, at, 0, channel, job.bias), scratch);
    }
}

void apply_all_depthwise(const Job& job, Team& team) {
    const Plan& plan = job.plan;
    const int vectors = static_cast<int>(plan.phase_in / plan.kernels->lanes);
    team.run(vectors * plan.blocks, [&](int task, Buffer& own) {
        const int64_t first = int64_t{task / vectors} * plan.block;
        apply_depthwise(job, int64_t{task % vectors} * plan.kernels->lanes, first,
                        std::min(first + plan.block, plan.tiles()), own);
    });
}

// The adjoint of the height rule: each added row goes back to the row that it is a copy of.
void fold(const Job& job, Team& team) {
    const Plan& plan = job.plan;
    const int64_t row = plan.to.width * plan.to.channels;
    team.run(static_cast<int>(plan.batch), [&](int image, Buffer&) {
        for (int64_t e = 0; e < plan.added_rows; ++e) {
            const int64_t target = copied_from(plan.shape[0], e);
            const float* from = job.outside + (image * plan.added_rows + e) * row;
            float* to = job.result + image * plan.to.floats() + target * row;
            for (int64_t i = 0; i < row; ++i) to[i] += from[i];
        }
    });
}

}  // namespace

void apply(const Plan& plan, const float* image, const float* filter, const float* bias, float* result, Team& team) {
    const int64_t outside = plan.batch * plan.added_rows * plan.to.width * plan.to.channels;
    expect_writing(result, static_cast<size_t>(plan.batch * plan.to.floats()) * sizeof(float));
    const Job job{plan, image, filter, bias, result, outside ? team.shared(1).floats(static_cast<size_t>(outside)) : nullptr};
    if (plan.depthwise) {
        apply_all_depthwise(job, team);
    } else {
        team.run(plan.blocks, [&](int block, Buffer& own) { apply_block(job, block, own); });
    }
    if (outside) fold(job, team);
}

}  // namespace ringconv
