// Sub: a - b. Integers wrap around.
typedef JOIN(wide_, T) wide;
inline value apply(value a, value b) { return (value)((wide)a - (wide)b); }
