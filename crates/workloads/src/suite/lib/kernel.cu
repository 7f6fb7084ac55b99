// LIBOR market model: the value of a portfolio of swaptions along random paths of forward rates, and its derivative by
// the last rate. A thread per path; rates, shocks and, for the derivative, all rates of all steps in local memory.

#define MOST_RATES 80
#define MOST_STEPS 40
#define SWAPTIONS 15
#define HISTORY (MOST_RATES * (MOST_STEPS + 1))

__constant__ int rates, steps, swaptions, maturities[SWAPTIONS];
__constant__ float period, swap_rates[SWAPTIONS], volatility[MOST_RATES];

__device__ __forceinline__ void begin_path(float shock_of_path, float *rate, float *shock) {
    for (int i = 0; i < rates; i++) {
        shock[i] = shock_of_path;
        rate[i] = 0.05f;
    }
}

// Moves all rates that have not matured through all steps. `history`, unless null, gets the rates before the first
// step and after each, `rates` apart.
__device__ __forceinline__ void follow_path(float *rate, const float *shock, float *history) {
    if (history) {
        for (int i = 0; i < rates; i++) {
            history[i] = rate[i];
        }
    }
    for (int n = 0; n < steps; n++) {
        float scaled_shock = sqrtf(period) * shock[n];
        float drift = 0.0f;
        for (int i = n + 1; i < rates; i++) {
            float sigma = volatility[i - n - 1];
            float scaled_sigma = period * sigma;
            drift += __fdividef(scaled_sigma * rate[i], 1.0f + period * rate[i]);
            rate[i] *= __expf(scaled_sigma * drift + sigma * (scaled_shock - 0.5f * scaled_sigma));
            if (history) {
                history[i + (n + 1) * rates] = rate[i];
            }
        }
    }
}

// Prices of zero-coupon bonds and of annuities at the last step.
__device__ __forceinline__ void price(const float *rate, float *bond, float *annuity) {
    float b = 1.0f;
    float s = 0.0f;
    for (int m = 0; m < rates - steps; m++) {
        b = __fdividef(b, 1.0f + period * rate[m + steps]);
        s += period * b;
        bond[m] = b;
        annuity[m] = s;
    }
}

// What a unit at the last step is worth at the first.
__device__ __forceinline__ float discount(const float *rate) {
    float b = 1.0f;
    for (int n = 0; n < steps; n++) {
        b /= 1.0f + period * rate[n];
    }
    return b;
}

__device__ __forceinline__ float portfolio(const float *rate) {
    float bond[MOST_STEPS], annuity[MOST_STEPS];
    price(rate, bond, annuity);
    float value = 0.0f;
    for (int option = 0; option < swaptions; option++) {
        int m = maturities[option] - 1;
        float swap = bond[m] + swap_rates[option] * annuity[m] - 1.0f;
        if (swap < 0.0f) {
            value -= 100.0f * swap;
        }
    }
    return discount(rate) * value;
}

// The same, and each rate is replaced by the value's derivative by it.
__device__ __forceinline__ float portfolio_with_adjoint(float *rate) {
    float bond[MOST_STEPS], annuity[MOST_STEPS], by_bond[MOST_STEPS], by_annuity[MOST_STEPS];
    price(rate, bond, annuity);
    for (int m = 0; m < rates - steps; m++) {
        by_bond[m] = 0.0f;
        by_annuity[m] = 0.0f;
    }
    float value = 0.0f;
    for (int option = 0; option < swaptions; option++) {
        int m = maturities[option] - 1;
        float swap = bond[m] + swap_rates[option] * annuity[m] - 1.0f;
        if (swap < 0.0f) {
            value -= 100.0f * swap;
            by_annuity[m] -= 100.0f * swap_rates[option];
            by_bond[m] -= 100.0f;
        }
    }
    float discounted = discount(rate);
    for (int m = rates - steps - 1; m >= 0; m--) {
        float growth = 1.0f + period * rate[m + steps];
        by_bond[m] += period * by_annuity[m];
        rate[m + steps] = discounted * (-by_bond[m] * bond[m] * __fdividef(period, growth));
        if (m > 0) {
            by_annuity[m - 1] += by_annuity[m];
            by_bond[m - 1] += __fdividef(by_bond[m], growth);
        }
    }
    value *= discounted;
    for (int n = 0; n < steps; n++) {
        rate[n] = -value * period / (1.0f + period * rate[n]);
    }
    return value;
}

// Derivatives by the rates at the end become derivatives by the rates at the beginning.
__device__ __forceinline__ void adjoint_path(float *derivative, const float *history) {
    for (int n = steps - 1; n >= 0; n--) {
        const float *before = history + n * rates;
        const float *after = before + rates;
        float by_drift = 0.0f;
        for (int i = rates - 1; i > n; i--) {
            float sigma = volatility[i - n - 1];
            by_drift += sigma * after[i] * derivative[i];
            float factor = __fdividef(period, 1.0f + period * before[i]);
            derivative[i] = derivative[i] * __fdividef(after[i], before[i]) + by_drift * sigma * factor * factor;
        }
    }
}

extern "C" __global__ void libor_value(int paths, const float *shocks, float *values) {
    float rate[MOST_RATES], shock[MOST_RATES];
    for (int path = blockIdx.x * blockDim.x + threadIdx.x; path < paths; path += blockDim.x * gridDim.x) {
        begin_path(shocks[path], rate, shock);
        follow_path(rate, shock, nullptr);
        values[path] = portfolio(rate);
    }
}

extern "C" __global__ void libor_derivative(int paths, const float *shocks, float *values, float *derivatives) {
    float rate[MOST_RATES], shock[MOST_RATES], history[HISTORY];
    for (int path = blockIdx.x * blockDim.x + threadIdx.x; path < paths; path += blockDim.x * gridDim.x) {
        begin_path(shocks[path], rate, shock);
        follow_path(rate, shock, history);
        values[path] = portfolio_with_adjoint(rate);
        adjoint_path(rate, history);
        derivatives[path] = rate[rates - 1];
    }
}
