/* fit.h - finds the parameter with which a simulation gives a printed number. Each run repeats the fit. */
#ifndef PVMA_FIT_H
#define PVMA_FIT_H

/* A simulated number that grows with a parameter. */
typedef double fit_function(void *arg, double parameter);

/* The parameter in [low, high] for which f is `target`, to a 4000th of the interval; else the nearer end. */
double fit_growing(double low, double high, double target, fit_function *f, void *arg);

#endif
