// Fair prices of European options by the Black-Scholes formula, two options per thread.

struct Prices {
    float call;
    float put;
};

// The standard normal distribution up to d: a polynomial for the lower tail (Abramowitz and Stegun 26.2.17),
// mirrored for d above zero.
__device__ inline float normal_below(float d) {
    float k = __fdividef(1.0f, 1.0f + 0.2316419f * fabsf(d));
    float series = 1.330274429f;
    series = series * k + -1.821255978f;
    series = series * k + 1.781477937f;
    series = series * k + -0.356563782f;
    series = series * k + 0.31938153f;
    float tail = 0.39894228f * __expf(-0.5f * d * d) * (series * k);
    return d > 0.0f ? 1.0f - tail : tail;
}

__device__ inline Prices price(float stock, float strike, float years, float rate, float volatility) {
    float root = __fdividef(1.0f, rsqrtf(years));
    float spread = volatility * root;
    float d1 = __fdividef(__logf(stock / strike) + (rate + 0.5f * volatility * volatility) * years, spread);
    float below1 = normal_below(d1);
    float below2 = normal_below(d1 - spread);
    float discounted = strike * __expf(-rate * years);
    return {stock * below1 - discounted * below2,
            discounted * (1.0f - below2) - stock * (1.0f - below1)};
}

extern "C" __global__ void __launch_bounds__(128)
    blackscholes(float2 *__restrict__ call, float2 *__restrict__ put, const float2 *__restrict__ stock,
                 const float2 *__restrict__ strike, const float2 *__restrict__ years, float rate, float volatility,
                 int options) {
    int pair = blockIdx.x * blockDim.x + threadIdx.x;
    if (pair >= options / 2) {
        return;
    }
    float2 s = stock[pair];
    float2 x = strike[pair];
    float2 t = years[pair];
    Prices first = price(s.x, x.x, t.x, rate, volatility);
    Prices second = price(s.y, x.y, t.y, rate, volatility);
    call[pair] = make_float2(first.call, second.call);
    put[pair] = make_float2(first.put, second.put);
}
