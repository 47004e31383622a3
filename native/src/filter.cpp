// Weights to the spectra of filters.
#include "memory.h"
#include "plan.h"
#include "pool.h"

namespace ringconv {

namespace {

// The weights seen as (group, out, in, u, v) in the direction of the plan.
struct Weights {
    const float* data;
    int64_t group, out, in, u, v;

    Weights(const Plan& plan, const float* weight, const int64_t s[4])
        : data(weight), group(s[0] * plan.channels.group_out), out(s[0]), in(s[1]), u(s[2]), v(s[3]) {
        if (plan.direction == RINGCONV_INPUT_GRADIENT) {
            group = s[0] * plan.channels.group_in;
            out = s[1], in = s[0];
        }
    }
};

// The taps of one input channel, output channels last and padded with zeros to `row`.
void collect(const Plan& plan, const float* from, const Weights& w, int64_t row, float* to) {
    for (int64_t i = 0; i < plan.kernel[0] * plan.kernel[1] * row; ++i) to[i] = 0;
    for (int64_t o = 0; o < plan.channels.group_out; ++o) {
        float* at = to + o;
        for (int64_t u = 0; u < plan.kernel[0]; ++u) {
            for (int64_t v = 0; v < plan.kernel[1]; ++v, at += row) *at = from[o * w.out + u * w.u + v * w.v];
        }
    }
}

// Offsets of the taps in what `collect` makes: [phase][place].
std::vector<int64_t> offsets(const AxisTiles& axis, int64_t pitch) {
    std::vector<int64_t> out(axis.taps);
    for (int64_t& tap : out) tap = tap < 0 ? -1 : tap * pitch;
    return out;
}

struct FilterJob {
    const Plan& plan;
    const Weights weights;
    float* filter;
    int64_t row;
    std::vector<int64_t> rows, cols;
    float scale;

    Read read(const float* taps, int phase_h, int phase_w, int64_t channel) const {
        const AxisTiles &h = plan.axis[0], &w = plan.axis[1];
        return {taps + channel, rows.data() + int64_t{phase_h} * h.n, cols.data() + int64_t{phase_w} * w.n,
                plan.kernels->lanes, true};
    }

    // Both the input's phases and the result's are those of the taps; one of the two counts is 1.
    void phases(const float* taps, int group, int in, int64_t channel, float* scratch) const {
        const int lanes = plan.kernels->lanes, wide = 2 * lanes;
        const AxisTiles &h = plan.axis[0], &w = plan.axis[1];
        const int64_t inputs = int64_t{plan.phases_in()} * plan.channels.group_in;
        const int64_t panel = channel / wide * wide;
        const int64_t width = round_up(plan.channels.group_out, lanes) - panel < wide ? lanes : wide;
        const int count_h = std::max(h.phases_in, h.phases_out), count_w = std::max(w.phases_in, w.phases_out);
        for (int ph = 0; ph < count_h; ++ph) {
            for (int pw = 0; pw < count_w; ++pw) {
                const int phase_in = (ph % h.phases_in) * w.phases_in + pw % w.phases_in;
                const int phase_out = (ph % h.phases_out) * w.phases_out + pw % w.phases_out;
                const int64_t input = int64_t{phase_in} * plan.channels.group_in + in;
                const int64_t block = (int64_t{phase_out} * plan.channels.groups + group) * 2 * inputs * row;
                float* at = filter + block + 2 * inputs * panel + input * width + channel % wide;
                plan.kernels->analyse_filter(h.n, w.n, read(taps, ph, pw, channel),
                                             {at, plan.filter_point, inputs * width}, scale, scratch);
            }
        }
    }

    void channel(int group, int in, Buffer& own) const {
        const int64_t taps = plan.kernel[0] * plan.kernel[1] * row;
        float* memory = own.floats(static_cast<size_t>(plan.scratch() + taps));
        float* collected = memory + plan.scratch();
        collect(plan, weights.data + group * weights.group + in * weights.in, weights, row, collected);
        for (int64_t o = 0; o < row; o += plan.kernels->lanes) phases(collected, group, in, o, memory);
    }
};

void fill_depthwise(const Plan& plan, const Weights& w, float scale, float* filter, Team& team) {
    const int lanes = plan.kernels->lanes;
    const int64_t taps = plan.kernel[0] * plan.kernel[1] * lanes;
    const auto rows = offsets(plan.axis[0], plan.kernel[1] * lanes), cols = offsets(plan.axis[1], lanes);
    team.run(static_cast<int>(plan.phase_in / lanes), [&](int vector, Buffer& own) {
        float* memory = own.floats(static_cast<size_t>(plan.scratch() + taps));
        float* collected = memory + plan.scratch();
        for (int64_t i = 0; i < taps; ++i) collected[i] = 0;
        for (int64_t c = int64_t{vector} * lanes, l = 0; l < lanes && c < plan.channels.groups; ++c, ++l) {
            float* at = collected + l;
            for (int64_t u = 0; u < plan.kernel[0]; ++u) {
                for (int64_t v = 0; v < plan.kernel[1]; ++v, at += lanes) *at = w.data[c * w.group + u * w.u + v * w.v];
            }
        }
        const Spectrum to{filter + int64_t{vector} * plan.points * 2 * lanes, 2 * lanes, lanes};
        plan.kernels->analyse_filter(plan.axis[0].n, plan.axis[1].n, {collected, rows.data(), cols.data(), lanes, true},
                                        to, scale, memory);
    });
}

}  // namespace

void fill_filter(const Plan& plan, const float* weight, const int64_t strides[4], float* filter, Team& team) {
    const AxisTiles &h = plan.axis[0], &w = plan.axis[1];
    const float scale = 1.0f / (4.0f * static_cast<float>(h.n) * static_cast<float>(w.n));
    const Weights weights(plan, weight, strides);
    if (plan.depthwise) return fill_depthwise(plan, weights, scale, filter, team);
    const int64_t row = round_up(plan.channels.group_out, plan.kernels->lanes);
    const FilterJob job{plan, weights, filter, row, offsets(h, plan.kernel[1] * row), offsets(w, row), scale};
    const int inputs = plan.channels.group_in;
    team.run(plan.channels.groups * inputs, [&](int i, Buffer& own) { job.channel(i / inputs, i % inputs, own); });
}

}  // namespace ringconv
