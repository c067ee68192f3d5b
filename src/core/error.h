/*
 * error.h - the one table of internal error codes.
 *
 * Internal functions return 0 (or a count) or one of these negative codes. The function that first decides an error logs
 * it; callers only pass it on. pvmi_error_public() maps a code to the PvmXxx one at the edge of the API, and only there.
 */
#ifndef PVMI_ERROR_H
#define PVMI_ERROR_H

#include "pvm3.h"

/* X(name, public code, text) */
#define PVMI_ERRORS(X)                                                                                                 \
    X(AGAIN, PvmSysErr, "would block, try again")                                                                      \
    X(NOMEM, PvmNoMem, "out of memory")                                                                                \
    X(PARAM, PvmBadParam, "bad parameter")                                                                             \
    X(SHORT, PvmNoData, "data ends too early")                                                                         \
    X(LIMIT, PvmOutOfRes, "a limit is exceeded")                                                                       \
    X(FORMAT, PvmBadMsg, "malformed data")                                                                             \
    X(OVERFLOW, PvmOverflow, "value does not fit the receiver's type")                                                 \
    X(UNSUPPORTED, PvmNotImpl, "not supported")                                                                        \
    X(VERSION, PvmBadVersion, "versions differ")                                                                       \
    X(DENIED, PvmDenied, "permission denied")                                                                          \
    X(DOWN, PvmSysErr, "connection is down")                                                                           \
    X(TIMEOUT, PvmSysErr, "no answer in time")                                                                         \
    X(SYSTEM, PvmSysErr, "system call failed")                                                                         \
    X(UNREACHABLE, PvmNoHost, "no way to the destination")                                                             \
    X(EXISTS, PvmExists, "exists already")                                                                             \
    X(NOTFOUND, PvmNotFound, "not found")

enum pvmi_error {
    PVMI_OK = 0,
    PVMI_ERROR_BASE = -1000,
#define X(name, public_code, text) PVMI_E##name,
    PVMI_ERRORS(X)
#undef X
};

/* Text of an internal code or of a public PvmXxx code. Static storage, never NULL. */
const char *pvmi_error_text(int code);

/* The public PvmXxx code for an internal code; public codes and values >= 0 pass unchanged. */
int pvmi_error_public(int code);

#endif
