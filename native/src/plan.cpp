#include "plan.h"

#include <algorithm>
#include <stdexcept>

#include "cost.h"

namespace ringconv {

namespace {

bool all_positive(const ringconv_shape& s) {
    const int64_t sizes[] = {s.channels,    s.out_channels, s.groups,    s.size[0],   s.size[1],     s.out_size[0],
                             s.out_size[1], s.kernel[0],    s.kernel[1], s.stride[0], s.stride[1],   s.dilation[0],
                             s.dilation[1]};
    return std::all_of(std::begin(sizes), std::end(sizes), [](int64_t n) { return n > 0; }) && s.batch >= 0 &&
           s.channels % s.groups == 0 && s.out_channels % s.groups == 0 && s.rule >= 0 && s.rule <= 4;
}

AxisShape axis_shape(const ringconv_shape& s, int axis) {
    const bool ring = axis == 1;
    return {s.size[axis],
            s.out_size[axis],
            static_cast<int>(s.kernel[axis]),
            static_cast<int>(s.stride[axis]),
            static_cast<int>(s.dilation[axis]),
            ring ? s.left : s.top,
            ring ? 0 : s.bottom,
            ring ? Rule::circular : static_cast<Rule>(s.rule),
            ring};
}

std::vector<int64_t> in_floats(const std::vector<int64_t>& samples, int64_t pitch) {
    std::vector<int64_t> offsets(samples.size());
    std::transform(samples.begin(), samples.end(), offsets.begin(), [&](int64_t i) {
        return i >= 0 ? i * pitch : i == -1 ? -1 : -2 - (-2 - i) * pitch;
    });
    return offsets;
}

void lay_out_spectra(Plan& plan) {
    const int lanes = plan.kernels->lanes;
    const Channels& c = plan.channels;
    const int64_t slack = c.groups > 1 ? lanes : 0;  // a group's last vector may reach beyond it
    plan.phase_in = round_up(c.in(), lanes);
    plan.phase_out = round_up(c.out(), lanes);
    plan.half_in = plan.phases_in() * plan.phase_in + slack;
    plan.half_out = plan.phases_out() * plan.phase_out + slack;
    if (plan.depthwise) {
        plan.filter_point = 2 * lanes;
        plan.filter_floats = plan.points * 2 * plan.phase_in;
        return;
    }
    const int64_t products = int64_t{plan.phases_in()} * c.group_in * round_up(c.group_out, lanes);
    // One cache line more, so that a filter's points do not all fall into the same set of the cache.
    plan.filter_point = 2 * products * plan.phases_out() * c.groups + 16;
    plan.filter_floats = plan.points * plan.filter_point;
}

}  // namespace

Plan make_plan(const ringconv_shape& s, int direction, int threads, const int64_t tile[2]) {
    if (!all_positive(s)) throw std::invalid_argument("sizes");
    const bool adjoint = direction == RINGCONV_INPUT_GRADIENT;
    const int in = static_cast<int>(s.channels / s.groups), out = static_cast<int>(s.out_channels / s.groups);
    Plan plan{};
    plan.kernels = &kernels();
    plan.direction = direction;
    plan.batch = s.batch;
    plan.from = {s.size[0], s.size[1], s.channels};
    plan.to = {s.out_size[0], s.out_size[1], s.out_channels};
    if (adjoint) std::swap(plan.from, plan.to);
    plan.channels = {static_cast<int>(s.groups), adjoint ? out : in, adjoint ? in : out};
    std::copy(s.kernel, s.kernel + 2, plan.kernel);
    plan.depthwise = in == 1 && out == 1 && s.stride[0] == 1 && s.stride[1] == 1;
    for (int i = 0; i < 2; ++i) plan.shape[i] = axis_shape(s, i);

    const Choice choice = choose_tile(plan, threads, tile);
    if (choice.tile_h == 0) throw std::invalid_argument("the kernel fits no tile");
    const int n[2] = {choice.tile_h, choice.tile_w};
    for (int i = 0; i < 2; ++i) plan.axis[i] = (adjoint ? adjoint_axis : correlation_axis)(plan.shape[i], n[i]);
    plan.read_rows = in_floats(plan.axis[0].reads, plan.from.width * plan.from.channels);
    plan.read_cols = in_floats(plan.axis[1].reads, plan.from.channels);
    plan.write_rows = in_floats(plan.axis[0].writes, plan.to.width * plan.to.channels);
    plan.write_cols = in_floats(plan.axis[1].writes, plan.to.channels);
    plan.added_rows = adjoint ? added(plan.shape[0]) : 0;
    plan.points = points(n[0], n[1]);
    plan.block = choice.block;
    plan.blocks = static_cast<int>((plan.tiles() + plan.block - 1) / plan.block);
    plan.nanoseconds = choice.nanoseconds;
    lay_out_spectra(plan);
    return plan;
}

}  // namespace ringconv
