// Max of two. NaN wins; of +0 and -0 either may come back.
inline value apply(value a, value b) {
    return a > b || a != a ? a : b;  // a NaN b fails the comparison and is taken
}
