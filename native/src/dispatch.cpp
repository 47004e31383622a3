#include <cstdlib>
#include <cstring>

#include "kernels.h"

namespace ringconv {

namespace {

const Kernels& choose() {
#if defined(RINGCONV_X86)
    const char* wanted = std::getenv("RINGCONV_NATIVE_ISA");
    const bool baseline = wanted && !std::strcmp(wanted, "baseline");
    const bool avx2 = wanted && !std::strcmp(wanted, "avx2");
    __builtin_cpu_init();
    const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    const bool has_avx512 = has_avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                            __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw");
    if (has_avx512 && !baseline && !avx2) return avx512_kernels();
    if (has_avx2 && !baseline) return avx2_kernels();
#endif
    return baseline_kernels();
}

}  // namespace

const Kernels& kernels() {
    static const Kernels& chosen = choose();
    return chosen;
}

}  // namespace ringconv
