/*
 * stubs.h - a C library that only prints its calls.
 *
 * The probe is linked with Debian's libfpvm3.a and with ours. It calls each routine with distinguishable arguments, and
 * prints which C function was called with which arguments, and which arguments of the routine were changed to what.
 */
#ifndef STUBS_H
#define STUBS_H

#include <stddef.h>

enum { STUB_GIVEN = 12, STUB_ROOM = 20 }; /* lengths of input and output strings */

struct probe {
    const char *name;
    void (*call)(void);
};
extern const struct probe probes[]; /* generated; ends with a NULL */

/* Argument i of the routine under test. */
int *stub_integer(int i);
char *stub_given(int i);
char *stub_room(int i);

/* Within a stub. */
void stub_begin(const char *function);
void stub_int(int value);
void stub_text(const char *text);
void stub_out(int *out); /* sets it */
void stub_address(const void *address);
int stub_end(void); /* the result */

#endif
