/* fit.c - see fit.h. */
#include "fit.h"

enum { HALVINGS = 12 };

double fit_growing(double low, double high, double target, fit_function *f, void *arg)
{
    for (int i = 0; i < HALVINGS; i++) {
        double middle = (low + high) / 2;

        if (f(arg, middle) < target)
            low = middle;
        else
            high = middle;
    }
    return (low + high) / 2;
}
