// Relu: max(0, x). NaN stays NaN.
inline value apply(value x) { return x < (value)0 ? (value)0 : x; }
