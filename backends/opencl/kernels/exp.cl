// Exp: e^x.
inline value apply(value x) { return exp(x); }
