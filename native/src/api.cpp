// The C border: no exception crosses it.
#include <memory>
#include <new>
#include <stdexcept>

#include "../ringconv.h"
#include "memory.h"
#include "plan.h"
#include "pool.h"

struct ringconv_plan {
    ringconv::Plan plan;
};

namespace {

template <class Body>
int guarded(Body&& body) {
    try {
        body();
        return RINGCONV_OK;
    } catch (const std::bad_alloc&) {
        return RINGCONV_NO_MEMORY;
    } catch (const std::invalid_argument&) {
        return RINGCONV_UNSUPPORTED;
    } catch (...) {
        return RINGCONV_FAILED;
    }
}

}  // namespace

const char* ringconv_isa(void) { return ringconv::kernels().name; }

int ringconv_plan_create(const ringconv_shape* shape, int direction, int threads, const int64_t tile[2],
                         ringconv_plan** plan) {
    return guarded([&] { *plan = new ringconv_plan{ringconv::make_plan(*shape, direction, threads, tile)}; });
}

void ringconv_plan_destroy(ringconv_plan* plan) { delete plan; }

void ringconv_plan_describe(const ringconv_plan* plan, int64_t facts[6]) {
    const ringconv::Plan& p = plan->plan;
    facts[0] = p.axis[0].n, facts[1] = p.axis[1].n;
    facts[2] = p.tiles(), facts[3] = p.block;
    facts[4] = p.filter_floats;
    facts[5] = static_cast<int64_t>(p.nanoseconds);
}

int ringconv_filter(const ringconv_plan* plan, const float* weight, const int64_t strides[4], float* filter,
                    int threads) {
    return guarded([&] {
        ringconv::with_team(threads, [&](ringconv::Team& team) { fill_filter(plan->plan, weight, strides, filter, team); });
    });
}

int ringconv_apply(const ringconv_plan* plan, const float* image, const float* filter, const float* bias,
                   float* result, int threads) {
    return guarded([&] {
        ringconv::with_team(threads, [&](ringconv::Team& team) { apply(plan->plan, image, filter, bias, result, team); });
    });
}

int ringconv_run(const ringconv_plan* plan, const float* image, const float* weight, const int64_t strides[4],
                 const float* bias, float* result, int threads) {
    return guarded([&] {
        ringconv::with_team(threads, [&](ringconv::Team& team) {
            float* filter = team.shared(0).floats(static_cast<size_t>(plan->plan.filter_floats));
            fill_filter(plan->plan, weight, strides, filter, team);
            apply(plan->plan, image, filter, bias, result, team);
        });
    });
}

int ringconv_weight_gradient(const ringconv_plan* plan, const float* x, const float* y, float* weight,
                             const int64_t strides[4], int threads) {
    return guarded([&] {
        ringconv::with_team(threads, [&](ringconv::Team& team) {
            weight_gradient(plan->plan, x, y, weight, strides, threads, team);
        });
    });
}
