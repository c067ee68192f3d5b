/*
 * error.h - the one table of internal error codes.
 *
 * Internal functions return 0 (or a count) or one of these negative codes. The function that detects an error logs it;
 * callers only pass it on. pvmc_error_public() maps a code to a PvmXxx code, and only at the edge of the API.
 */
#ifndef PVMC_ERROR_H
#define PVMC_ERROR_H

#include "pvm3.h"

/* X(name, public code, text) */
#define PVMC_ERRORS(X)                                                                                                 \
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
    X(ABORTED, PvmNoTask, "its sender has given the message up, or has ended")                                         \
    X(EXISTS, PvmExists, "exists already")                                                                             \
    X(NOTFOUND, PvmNotFound, "not found")

/* X(public code, text): the texts of pvm_errlist, in its order. The text of a code without a name is "Error N". */
#define PVMC_PUBLIC_ERRORS(X)                                                                                          \
    X(PvmBadParam, "Bad parameter")                                                                                    \
    X(PvmMismatch, "Parameter mismatch")                                                                               \
    X(PvmOverflow, "Value too large")                                                                                  \
    X(PvmNoData, "End of buffer")                                                                                      \
    X(PvmNoHost, "No such host")                                                                                       \
    X(PvmNoFile, "No such file")                                                                                       \
    X(PvmDenied, "Permission denied")                                                                                  \
    X(PvmNoMem, "Malloc failed")                                                                                       \
    X(PvmBadMsg, "Can't decode message")                                                                               \
    X(PvmSysErr, "Can't contact local daemon")                                                                         \
    X(PvmNoBuf, "No current buffer")                                                                                   \
    X(PvmNoSuchBuf, "No such buffer")                                                                                  \
    X(PvmNullGroup, "Null group name")                                                                                 \
    X(PvmDupGroup, "Already in group")                                                                                 \
    X(PvmNoGroup, "No such group")                                                                                     \
    X(PvmNotInGroup, "Not in group")                                                                                   \
    X(PvmNoInst, "No such instance")                                                                                   \
    X(PvmHostFail, "Host failed")                                                                                      \
    X(PvmNoParent, "No parent task")                                                                                   \
    X(PvmNotImpl, "Not implemented")                                                                                   \
    X(PvmDSysErr, "Pvmd system error")                                                                                 \
    X(PvmBadVersion, "Version mismatch")                                                                               \
    X(PvmOutOfRes, "Out of resources")                                                                                 \
    X(PvmDupHost, "Duplicate host")                                                                                    \
    X(PvmCantStart, "Can't start pvmd")                                                                                \
    X(PvmAlready, "Already in progress")                                                                               \
    X(PvmNoTask, "No such task")                                                                                       \
    X(PvmNotFound, "Not Found")                                                                                        \
    X(PvmExists, "Already Exists")                                                                                     \
    X(PvmHostrNMstr, "Hoster must run on master host")                                                                 \
    X(PvmParentNotSet, "Spawning parent set PvmNoParent")                                                              \
    X(PvmIPLoopback, "Master Host IP Address is Loopback! (See pvm3/Readme)")

#define PVMC_PUBLIC_ERROR_COUNT 37 /* pvm_nerr */

enum pvmc_error {
    PVMC_OK = 0,
    PVMC_ERROR_BASE = -1000,
#define X(name, public_code, text) PVMC_E##name,
    PVMC_ERRORS(X)
#undef X
};

/* Text of an internal code or of a public PvmXxx code; "Unknown Error" for any other. Static storage, never NULL. */
const char *pvmc_error_text(int code);

/* The public PvmXxx code for an internal code; public codes and values >= 0 pass unchanged. */
int pvmc_error_public(int code);

#endif
