// The weight gradient: spectra of both images multiplied tile by tile, summed, and transformed back once.
#include <algorithm>

#include "memory.h"
#include "plan.h"
#include "pool.h"
#include "tiles.h"

namespace ringconv {

namespace {

struct Job {
    const Plan& plan;
    const float *x, *y;
    float* weight;
    const int64_t* strides;
    int parts;
    float* sums;  // one set per part

    int64_t inputs() const { return int64_t{plan.phases_in()} * plan.channels.group_in; }
    int64_t row() const { return round_up(plan.channels.group_out, plan.kernels->lanes); }
    int64_t group_floats() const { return 2 * inputs() * row(); }
    int64_t point_floats() const {
        return plan.depthwise ? 2 * plan.phase_in : plan.channels.groups * group_floats();
    }
    int64_t part_floats() const { return plan.points * point_floats(); }
};

void analyse_block(const Job& job, int64_t first, int tiles, const Slabs& x, const Slabs& y, float* scratch) {
    const Plan& plan = job.plan;
    const Kernels& k = *plan.kernels;
    const int h = plan.axis[0].n, w = plan.axis[1].n;
    for (int t = 0; t < tiles; ++t) {
        const Place at = place_of(plan, first + t);
        for (int phase = 0; phase < plan.phases_in(); ++phase) {
            for (int64_t c = 0; c < plan.phase_in; c += k.lanes) {
                k.analyse(h, w, input_tile(plan, job.x, at, phase, c), x.of(t, phase * plan.phase_in + c), scratch);
            }
        }
        for (int64_t c = 0; c < plan.phase_out; c += k.lanes) {
            k.analyse(h, w, output_tile(plan, job.y, at, c), y.of(t, c), scratch);
        }
    }
}

void add_block(const Job& job, int64_t first, int tiles, float* sums, Buffer& own) {
    const Plan& plan = job.plan;
    const int lanes = plan.kernels->lanes, scratch_floats = plan.scratch();
    const Channels& c = plan.channels;
    const int64_t packed_floats = 3 * plan.block * (round_up(job.inputs(), lanes) + lanes + job.row());
    const int64_t x_floats = Slabs::floats(plan.points, plan.half_in, plan.block);
    const int64_t y_floats = Slabs::floats(plan.points, plan.half_out, plan.block);
    float* scratch = own.floats(static_cast<size_t>(scratch_floats + packed_floats + x_floats + y_floats));
    float* packed = scratch + scratch_floats;
    const Slabs x(packed + packed_floats, plan.half_in, tiles), y(packed + packed_floats + x_floats, plan.half_out, tiles);
    analyse_block(job, first, tiles, x, y, scratch);
    plan.kernels->add_outer({plan.points, tiles, c.groups, plan.phases_in(), c.group_in, c.group_out, plan.phase_in,
                             x.base, x.slab, x.row, x.half, y.base, y.slab, y.row, y.half, sums, packed});
}

void add_depthwise_tile(const Job& job, int64_t tile, int64_t channel, float* sums, Buffer& own) {
    const Plan& plan = job.plan;
    const Kernels& k = *plan.kernels;
    const int h = plan.axis[0].n, w = plan.axis[1].n;
    const int64_t floats = int64_t{plan.points} * 2 * k.lanes;
    float* scratch = own.floats(static_cast<size_t>(plan.scratch() + 2 * floats));
    const Spectrum x{scratch + plan.scratch(), 2 * k.lanes, k.lanes}, y{x.base + floats, 2 * k.lanes, k.lanes};
    const Place at = place_of(plan, tile);
    k.analyse(h, w, input_tile(plan, job.x, at, 0, channel), x, scratch);
    k.analyse(h, w, output_tile(plan, job.y, at, channel), y, scratch);
    k.add_depthwise(plan.points, x.base, y.base, sums + channel * plan.points * 2);
}

// Part p of the tiles, always the same ones and in the same order.
void add_part(const Job& job, int part, Buffer& own) {
    const Plan& plan = job.plan;
    float* sums = job.sums + part * job.part_floats();
    std::fill(sums, sums + job.part_floats(), 0.0f);
    const int64_t first = plan.tiles() * part / job.parts, last = plan.tiles() * (part + 1) / job.parts;
    if (plan.depthwise) {
        for (int64_t c = 0; c < plan.phase_in; c += plan.kernels->lanes) {
            for (int64_t t = first; t < last; ++t) add_depthwise_tile(job, t, c, sums, own);
        }
        return;
    }
    for (int64_t t = first; t < last; t += plan.block) {
        add_block(job, t, static_cast<int>(std::min<int64_t>(plan.block, last - t)), sums, own);
    }
}

void join_parts(const Job& job, Team& team) {
    constexpr int64_t piece = 1 << 16;
    const int64_t floats = job.part_floats();
    team.run(static_cast<int>((floats + piece - 1) / piece), [&](int task, Buffer&) {
        const int64_t first = task * piece, last = std::min(floats, first + piece);
        for (int part = 1; part < job.parts; ++part) {
            const float* from = job.sums + part * floats;
            for (int64_t i = first; i < last; ++i) job.sums[i] += from[i];
        }
    });
}

// One vector of output channels and one input channel of one phase, back to taps.
struct Taps {
    const Job& job;
    std::vector<int64_t> rows, cols;  // offsets in a buffer of the kernel's size, per phase

    static std::vector<int64_t> offsets(const AxisTiles& axis, int64_t pitch) {
        std::vector<int64_t> out(axis.taps);
        for (int64_t& tap : out) tap = tap < 0 ? -1 : tap * pitch;
        return out;
    }

    explicit Taps(const Job& job)
        : job(job),
          rows(offsets(job.plan.axis[0], job.plan.kernel[1] * job.plan.kernels->lanes)),
          cols(offsets(job.plan.axis[1], job.plan.kernels->lanes)) {}

    void bring_back(const Spectrum& from, int phase, float* taps, float* scratch) const {
        const AxisTiles &h = job.plan.axis[0], &w = job.plan.axis[1];
        const int count_h = phase_taps(job.plan.shape[0]), count_w = phase_taps(job.plan.shape[1]);
        const Write write{taps, nullptr, rows.data() + int64_t{phase / w.phases_in} * h.n,
                          cols.data() + int64_t{phase % w.phases_in} * w.n, count_h, count_w, job.plan.kernels->lanes, nullptr};
        job.plan.kernels->synthesise(h.n, w.n, from, write, scratch);
    }

    void store(const float* taps, int64_t first, int64_t in, int64_t count) const {
        const int64_t* s = job.strides;
        const int lanes = job.plan.kernels->lanes;
        const float scale = 1.0f / (4.0f * static_cast<float>(job.plan.axis[0].n) * static_cast<float>(job.plan.axis[1].n));
        for (int64_t o = 0; o < count; ++o) {
            const float* from = taps + o;
            float* to = job.weight + (first + o) * s[0] + in * s[1];
            for (int64_t u = 0; u < job.plan.kernel[0]; ++u) {
                for (int64_t v = 0; v < job.plan.kernel[1]; ++v, from += lanes) to[u * s[2] + v * s[3]] = *from * scale;
            }
        }
    }

    void channel(int group, int in, Buffer& own) const {
        const Plan& plan = job.plan;
        const int lanes = plan.kernels->lanes;
        const Channels& c = plan.channels;
        float* scratch = own.floats(static_cast<size_t>(plan.scratch() + plan.kernel[0] * plan.kernel[1] * lanes));
        float* taps = scratch + plan.scratch();
        for (int64_t o = 0; o < c.group_out; o += lanes) {
            for (int phase = 0; phase < plan.phases_in(); ++phase) {
                const int64_t input = int64_t{phase} * c.group_in + in;
                float* at = job.sums + group * job.group_floats() + input * job.row() + o;
                bring_back({at, job.point_floats(), job.inputs() * job.row()}, phase, taps, scratch);
            }
            store(taps, int64_t{group} * c.group_out + o, in, std::min<int64_t>(lanes, c.group_out - o));
        }
    }

    void depthwise_channels(int64_t channel, Buffer& own) const {
        const Plan& plan = job.plan;
        const int lanes = plan.kernels->lanes;
        float* scratch = own.floats(static_cast<size_t>(plan.scratch() + plan.kernel[0] * plan.kernel[1] * lanes));
        float* taps = scratch + plan.scratch();
        bring_back({job.sums + channel * plan.points * 2, 2 * lanes, lanes}, 0, taps, scratch);
        store(taps, channel, 0, std::min<int64_t>(lanes, plan.channels.groups - channel));
    }
};

}  // namespace

void weight_gradient(const Plan& plan, const float* x, const float* y, float* weight, const int64_t strides[4],
                     int threads, Team& team) {
    Job job{plan, x, y, weight, strides, std::max(1, threads), nullptr};
    job.sums = team.shared(0).floats(static_cast<size_t>(job.parts * job.part_floats()));
    team.run(job.parts, [&](int part, Buffer& own) { add_part(job, part, own); });
    if (job.parts > 1) join_parts(job, team);
    const Taps taps(job);
    const int inputs = plan.channels.group_in, lanes = plan.kernels->lanes;
    if (plan.depthwise) {
        team.run(static_cast<int>(plan.phase_in / lanes),
                 [&](int vector, Buffer& own) { taps.depthwise_channels(int64_t{vector} * lanes, own); });
    } else {
        team.run(plan.channels.groups * inputs, [&](int i, Buffer& own) { taps.channel(i / inputs, i % inputs, own); });
    }
}

}  // namespace ringconv
