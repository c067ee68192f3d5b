/* fit.h - finding the parameter that makes a simulation give a printed number. Done anew in each run. */
#ifndef PVMA_FIT_H
#define PVMA_FIT_H

/* A simulated number as a function of a parameter, growing with it. */
typedef double fit_function(void *arg, double parameter);

/* The parameter in [low, high] for which f is `target`, to a 4000th of the interval; an end when there is none. */
double fit_growing(double low, double high, double target, fit_function *f, void *arg);

#endif
