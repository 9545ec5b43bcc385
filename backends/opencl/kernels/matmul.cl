// MatMul in three steps: both inputs are packed into panels of TILE_ROWS rows and TILE_COLUMNS columns, each panel with its
// elements in the order in which they are used and padded with zeros; then each work-item multiplies two panels with its
// sums in registers. Packing also takes care of strides, transposition and halves.
#ifdef T_F64
typedef double8 vector;
#define LANES 8
#define load_vector vload8
#else
typedef float16 vector;
#define LANES 16
#define load_vector vload16
#endif
#define VECTORS (TILE_COLUMNS / LANES)

// Element `id` of the panels: line id % width of its panel, at depth (id / width) % depth. Strides count bytes.
kernel void pack(global uchar* packed, const global uchar* source, const long packed_offset, const long source_offset,
                 const long count, const long lines, const long depth, const long line_stride, const long depth_stride,
                 const long width) {
    const long id = get_global_id(0);
    if (id < count) {
        const long k = id / width % depth;
        const long line = id / (width * depth) * width + id % width;
        global value* to = (global value*)(packed + packed_offset);
        to[id] = line < lines ? load(source + source_offset + line * line_stride + k * depth_stride) : (value)0;
    }
}

// Work-items (panel of rows, panel of columns).
kernel void multiply(global uchar* output, const global uchar* packed, const long output_offset, const long a_offset,
                     const long b_offset, const long rows, const long columns, const long depth, const long row_stride,
                     const long column_stride) {
    const long first_row = (long)get_global_id(0) * TILE_ROWS;
    const long first_column = (long)get_global_id(1) * TILE_COLUMNS;
    if (first_row >= rows || first_column >= columns) {
        return;
    }
    const global value* a = (const global value*)(packed + a_offset) + first_row * depth;
    const global value* b = (const global value*)(packed + b_offset) + first_column * depth;
    vector sums[TILE_ROWS][VECTORS];
#pragma unroll
    for (int row = 0; row < TILE_ROWS; ++row) {
#pragma unroll
        for (int v = 0; v < VECTORS; ++v) {
            sums[row][v] = (vector)0;
        }
    }
    for (long k = 0; k < depth; ++k) {
        vector right[VECTORS];
#pragma unroll
        for (int v = 0; v < VECTORS; ++v) {
            right[v] = load_vector(v, b);
        }
#pragma unroll
        for (int row = 0; row < TILE_ROWS; ++row) {
            const vector left = (vector)a[row];
#pragma unroll
            for (int v = 0; v < VECTORS; ++v) {
                sums[row][v] = fma(left, right[v], sums[row][v]);
            }
        }
        a += TILE_ROWS;
        b += TILE_COLUMNS;
    }
#pragma unroll
    for (int row = 0; row < TILE_ROWS; ++row) {
        if (first_row + row < rows) {
            global uchar* to = output + output_offset + (first_row + row) * row_stride + first_column * column_stride;
#pragma unroll
            for (int v = 0; v < VECTORS; ++v) {
                const value* sum = (const value*)&sums[row][v];
                for (int lane = 0; lane < LANES && first_column + v * LANES + lane < columns; ++lane) {
                    store(to + (v * LANES + lane) * column_stride, sum[lane]);
                }
            }
        }
    }
}
