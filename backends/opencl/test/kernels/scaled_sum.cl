// alpha (a + steps b) + OFFSET
kernel void scaled_sum(global float* output, const global float* a, const global float* b, const ulong count,
                       const float alpha, const long steps) {
    const ulong i = get_global_id(0);
    if (i < count) {
        output[i] = alpha * (a[i] + (float)steps * b[i]) + OFFSET;
    }
}
