// Softmax: exp(x - max) / sum along an axis, a work-group for each row; the sum is a double where the device has it. A row
// that holds NaN or +infinity becomes NaN. In place works: an element is written by the work-item that read it last.
kernel void grouped(global uchar* output, const global uchar* input, STEPS2(rows), const long extent,
                    const long output_stride, const long input_stride, local value* tops, local sum_real* parts) {
    const long lane = get_local_id(0);
    const long lanes = get_local_size(0);
    long at[2];
    LOCATE2(rows, (long)get_group_id(0), at);
    global uchar* to = output + at[0];
    const global uchar* from = input + at[1];

    value top = load(from);
    for (long i = lane; i < extent; i += lanes) {
        const value x = load(from + i * input_stride);
        top = x > top ? x : top;
    }
    tops[lane] = top;
    for (long step = lanes / 2; step > 0; step /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < step) {
            tops[lane] = tops[lane + step] > tops[lane] ? tops[lane + step] : tops[lane];
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    top = tops[0];

    sum_real total = 0;
    for (long i = lane; i < extent; i += lanes) {
        total += (sum_real)exp(load(from + i * input_stride) - top);
    }
    parts[lane] = total;
    for (long step = lanes / 2; step > 0; step /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < step) {
            parts[lane] += parts[lane + step];
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const value scale = (value)((sum_real)1 / parts[0]);

    for (long i = lane; i < extent; i += lanes) {
        store(to + i * output_stride, exp(load(from + i * input_stride) - top) * scale);
    }
}
