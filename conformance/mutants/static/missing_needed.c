/* Uses the mathematics library without saying so: works in a program that happens to have it, and only there. */
double lgamma(double);
double padding_of(double size);
double padding_of(double size) {
    return lgamma(size);
}
